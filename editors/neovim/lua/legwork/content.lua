-- Buffers that show what a task wrote and no file has: `legwork:` URIs, read-only.

local M = {}

local namespace = vim.api.nvim_create_namespace('legwork-content')

---@class legwork.Uri
---@field task string
---@field part string `diff`, `log`, `proposed` or `base`
---@field path? string

---@param uri string
---@return legwork.Uri?
function M.parse(uri)
  local task, part, path = uri:match('^legwork:/+([^/]+)/([^/]+)/?(.*)$')
  if not task then
    return nil
  end
  return { task = task, part = part or '', path = path ~= '' and vim.uri_decode(path) or nil }
end

---@param buf integer
---@param lines string[]
local function fill(buf, lines)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
end

---Says above which decision the buffer waits for.
---@param buf integer
---@param items legwork.WalkItem[] those of this buffer
---@param part string
local function mark(buf, items, part)
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  require('legwork.keys').refresh(buf, #items > 0)
  local item = items[1]
  if not item then
    return
  end
  require('legwork.render.groups')
  local words = { 'legwork', item.title, part == 'base' and 'would be removed' or 'is proposed' }
  vim.api.nvim_buf_set_extmark(buf, namespace, 0, 0, {
    virt_text = {
      { ' ' .. table.concat(words, ' · '), 'LegworkHeader' },
      { (item.why or '') ~= '' and ' · ' .. item.why or '', 'LegworkWarning' },
    },
    sign_text = part == 'base' and '-' or '+',
    sign_hl_group = part == 'base' and 'LegworkSignDelete' or 'LegworkSignAdd',
  })
end

---@param buf integer
---@return string[] names of the hunks that wait in it
function M.waiting(buf)
  return vim.b[buf].legwork_waiting or {}
end

---Asks what waits in the buffer.
---@param buf integer
function M.refresh(buf)
  local uri = vim.api.nvim_buf_get_name(buf)
  local parsed = M.parse(uri)
  if not parsed or not parsed.path then
    return
  end
  require('legwork.walk').ask(parsed.task, function(items)
    if not vim.api.nvim_buf_is_loaded(buf) then
      return
    end
    local here = vim.tbl_filter(function(item)
      return item.uri == uri
    end, items)
    vim.b[buf].legwork_waiting = vim.tbl_map(function(item)
      return item.hunk
    end, here)
    mark(buf, here, parsed.part)
  end)
end

---Fills the buffer of a `legwork:` URI.
---@param buf integer
function M.read(buf)
  local uri = vim.api.nvim_buf_get_name(buf)
  local parsed = M.parse(uri)
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].swapfile = false
  vim.bo[buf].readonly = true
  fill(buf, { 'legwork: reading…' })
  if not parsed then
    fill(buf, { 'legwork: this is no URI of a task: ' .. uri })
    return
  end
  require('legwork.call').request('legwork/content', { uri = uri }, function(result)
    if not vim.api.nvim_buf_is_loaded(buf) then
      return
    end
    local text = (result and result.text or ''):gsub('\r\n', '\n'):gsub('\n$', '')
    fill(buf, vim.split(text, '\n', { plain = true }))
    local filetype = parsed.part == 'diff' and 'diff'
      or parsed.path and vim.filetype.match({ filename = parsed.path, buf = buf })
    if filetype then
      -- What others do for a kind of file may fail; that is no failure of the text.
      local ok, problem = pcall(vim.api.nvim_set_option_value, 'filetype', filetype, { buf = buf })
      if not ok then
        require('legwork.message').warn(tostring(problem))
      end
    end
    M.refresh(buf)
  end, function(problem)
    if vim.api.nvim_buf_is_loaded(buf) then
      fill(buf, vim.split('legwork: ' .. problem, '\n', { plain = true }))
    end
  end)
end

vim.api.nvim_create_autocmd('User', {
  group = vim.api.nvim_create_augroup('legwork-content', {}),
  pattern = 'LegworkTasks',
  callback = function()
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      if vim.b[buf].legwork_waiting and #vim.fn.win_findbuf(buf) > 0 then
        M.refresh(buf)
      end
    end
  end,
})

return M
