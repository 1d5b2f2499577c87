-- A floating window with lines in it. What the lines say is written elsewhere.

local M = {}

---A line: plain, or pieces with their colours.
---@alias legwork.Line string|legwork.Chunk[]

---@class legwork.Float
---@field buf integer
---@field win integer
---@field title string
---@field footer? string

local namespace = vim.api.nvim_create_namespace('legwork-float')

---@param wanted integer rows
---@return vim.api.keyset.win_config
local function frame(wanted)
  local columns, lines = vim.o.columns, vim.o.lines - vim.o.cmdheight - 2
  local width = math.max(math.min(columns - 8, 110), math.min(columns - 2, 40))
  local height = math.max(math.min(wanted, lines - 4), 3)
  return {
    relative = 'editor',
    width = width,
    height = height,
    row = math.max(math.floor((lines - height) / 2) - 1, 0),
    col = math.max(math.floor((columns - width) / 2) - 1, 0),
  }
end

---@param title string
---@param footer string
---@param closed fun()
---@return legwork.Float
function M.open(title, footer, closed)
  require('legwork.render.groups')
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].modifiable = false
  local config = frame(3)
  config.style = 'minimal'
  config.border = 'rounded'
  config.title = ' ' .. title .. ' '
  config.footer = ' ' .. footer .. ' '
  local win = vim.api.nvim_open_win(buf, true, config)
  vim.wo[win].wrap = false
  vim.wo[win].winfixbuf = true
  vim.api.nvim_create_autocmd('BufWipeout', { buffer = buf, once = true, callback = closed })
  vim.api.nvim_create_autocmd('WinLeave', {
    buffer = buf,
    once = true,
    callback = function()
      vim.schedule(function()
        if vim.api.nvim_win_is_valid(win) then
          vim.api.nvim_win_close(win, true)
        end
      end)
    end,
  })
  return { buf = buf, win = win, title = title, footer = footer }
end

---@param line legwork.Line
---@return string
local function plain(line)
  if type(line) == 'string' then
    return line
  end
  return table.concat(vim.tbl_map(function(chunk)
    return chunk[1]
  end, line))
end

---@param float legwork.Float
---@param lines legwork.Line[]
function M.fill(float, lines)
  if not vim.api.nvim_buf_is_valid(float.buf) then
    return
  end
  vim.bo[float.buf].modifiable = true
  vim.api.nvim_buf_set_lines(float.buf, 0, -1, false, vim.tbl_map(plain, lines))
  vim.bo[float.buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(float.buf, namespace, 0, -1)
  for row, line in ipairs(lines) do
    local col = 0
    for _, chunk in ipairs(type(line) == 'table' and line or {}) do
      vim.api.nvim_buf_set_extmark(float.buf, namespace, row - 1, col, {
        end_col = col + #chunk[1],
        hl_group = chunk[2],
      })
      col = col + #chunk[1]
    end
  end
  if vim.api.nvim_win_is_valid(float.win) then
    local rows = #lines
    if vim.wo[float.win].wrap then
      local width = vim.api.nvim_win_get_width(float.win)
      rows = 0
      for _, line in ipairs(lines) do
        rows = rows + math.max(math.ceil(vim.fn.strdisplaywidth(plain(line)) / width), 1)
      end
    end
    vim.api.nvim_win_set_config(float.win, frame(rows))
  end
end

---@param float legwork.Float
function M.close(float)
  if vim.api.nvim_win_is_valid(float.win) then
    vim.api.nvim_win_close(float.win, true)
  end
end

---@param float legwork.Float
---@param lhs string
---@param run fun()
---@param about string
function M.key(float, lhs, run, about)
  vim.keymap.set('n', lhs, run, { buffer = float.buf, nowait = true, desc = 'Legwork: ' .. about })
end

return M
