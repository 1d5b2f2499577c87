-- The review as a list of stops, in the order that the server finds best to read.

local M = {}

---@param item legwork.WalkItem
---@return vim.quickfix.entry
local function entry(item)
  local text = { item.title }
  if item.state == 'conflicted' then
    table.insert(text, 'conflicted')
  end
  if item.why and item.why ~= '' then
    table.insert(text, item.why)
  end
  return {
    bufnr = vim.uri_to_bufnr(item.uri),
    lnum = item.line + 1,
    col = 1,
    text = table.concat(text, ' · '),
    user_data = { hunk = item.hunk },
  }
end

---@param task? string
---@param callback fun(items: legwork.WalkItem[])
function M.ask(task, callback)
  require('legwork.call').request('legwork/walk', { task = task }, function(result)
    callback(result and result.items or {})
  end)
end

---Goes there, with a place to come back to.
---@param uri string
---@param line integer from 0
function M.jump(uri, line)
  local buf = vim.uri_to_bufnr(uri)
  if buf ~= vim.api.nvim_get_current_buf() then
    vim.cmd("normal! m'")
    vim.bo[buf].buflisted = true
    local shown = vim.fn.win_findbuf(buf)
    local here = vim.tbl_filter(function(window)
      return vim.api.nvim_win_get_tabpage(window) == vim.api.nvim_get_current_tabpage()
    end, shown)[1]
    if here then
      vim.api.nvim_set_current_win(here)
    else
      local ok, problem = pcall(vim.api.nvim_win_set_buf, 0, buf)
      if not ok then
        require('legwork.message').fail(tostring(problem))
        return
      end
    end
  elseif vim.api.nvim_win_get_cursor(0)[1] ~= line + 1 then
    vim.cmd("normal! m'")
  end
  local row = math.max(math.min(line + 1, vim.api.nvim_buf_line_count(0)), 1)
  vim.api.nvim_win_set_cursor(0, { row, 0 })
  vim.cmd('normal! zv')
end

---Goes to the hunk after or before the cursor, in whatever file it is.
---@param way 'next'|'prev'
function M.step(way)
  local uri = vim.uri_from_bufnr(0)
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  require('legwork.call').command(way, { uri = uri, line = line }, function(stop)
    if stop then
      -- The server shows it as well; there is only one place to go to. Where there is none, it says so.
      M.jump(stop.uri, stop.line)
    end
  end)
end

---Fills the quickfix list with all that waits and goes to the first stop.
---@param task? string
function M.review(task)
  M.ask(task, function(items)
    local first = items[1]
    if not first then
      require('legwork.message').say('nothing waits for review')
      return
    end
    vim.fn.setqflist({}, ' ', { title = 'Legwork review', items = vim.tbl_map(entry, items) })
    M.jump(first.uri, first.line)
    require('legwork.message').say(('%d hunks to review, :cnext goes on, :copen lists them'):format(#items))
  end)
end

return M
