-- `:Legwork delegate`: hands over a task in words, with the lines it is about.

local M = {}

M.about = 'hand over a task in words'

---@param row integer from 0
---@return string
local function line_at(row)
  return vim.api.nvim_buf_get_lines(0, row, row + 1, false)[1] or ''
end

---@param row integer from 0
---@param byte integer
---@param encoding string
---@return lsp.Position
local function position(row, byte, encoding)
  return { line = row, character = require('legwork.version').column(line_at(row), byte, encoding) }
end

---The diagnostics of those rows, as other servers gave them.
---@param first integer from 0
---@param last integer from 0
---@param encoding string
---@return lsp.Diagnostic[]
local function diagnostics(first, last, encoding)
  local out = {}
  for _, item in ipairs(vim.diagnostic.get(0)) do
    if item.lnum <= last and (item.end_lnum or item.lnum) >= first then
      table.insert(out, {
        range = {
          start = position(item.lnum, item.col, encoding),
          ['end'] = position(item.end_lnum or item.lnum, item.end_col or item.col, encoding),
        },
        severity = item.severity,
        source = item.source,
        code = item.code,
        message = item.message,
      })
    end
  end
  return out
end

---What was selected by characters; `nil` for whole lines.
---@param range { first: integer, last: integer, visual: boolean }
---@return string? text
---@return integer? from byte in the first line
---@return integer? to byte behind the last one
local function by_characters(range)
  if not range.visual or vim.fn.visualmode() ~= 'v' then
    return nil
  end
  local from, to = vim.fn.getpos("'<"), vim.fn.getpos("'>")
  local lines = vim.fn.getregion(from, to, { type = 'v' })
  local last = line_at(range.last - 1)
  local stop = to[3] > #last and #last or to[3] + #vim.fn.strcharpart(last:sub(to[3]), 0, 1) - 1
  return table.concat(lines, '\n'), from[3] - 1, stop
end

---@param range? { first: integer, last: integer, visual: boolean }
---@param encoding string
---@return lsp.Range range
---@return string? selection
local function place(range, encoding)
  if not range then
    local row, byte = unpack(vim.api.nvim_win_get_cursor(0))
    local here = position(row - 1, byte, encoding)
    return { start = here, ['end'] = here }, nil
  end
  local first, last = range.first - 1, range.last - 1
  local text, from, to = by_characters(range)
  if not text then
    text = table.concat(vim.api.nvim_buf_get_lines(0, first, last + 1, false), '\n')
    from, to = 0, #line_at(last)
  end
  return { start = position(first, from or 0, encoding), ['end'] = position(last, to or 0, encoding) }, text
end

---Hands it over.
---@param text string
---@param range? { first: integer, last: integer, visual: boolean } lines from 1
function M.send(text, range)
  text = vim.trim(text)
  if text == '' then
    return
  end
  local lsp = require('legwork.lsp')
  local buf = vim.api.nvim_get_current_buf()
  local is_file = require('legwork.attach').try(buf)
  -- The place is taken now: the cursor goes on while a server is still starting.
  lsp.ready(function(problem)
    local client = lsp.client()
    if problem or not client then
      require('legwork.message').fail(problem or 'the language server does not run; see :checkhealth legwork')
      return
    end
    local argument = { text = text }
    if is_file and vim.api.nvim_buf_is_loaded(buf) then
      vim.api.nvim_buf_call(buf, function()
        argument.uri = vim.uri_from_bufnr(buf)
        argument.range, argument.selection = place(range, client.offset_encoding)
        local from, to = argument.range.start.line, argument.range['end'].line
        argument.diagnostics = diagnostics(from, to, client.offset_encoding)
      end)
    end
    require('legwork.call').command('delegate', argument)
  end)
end

---@param given legwork.Invocation
function M.run(given)
  if vim.trim(given.text) ~= '' then
    M.send(given.text, given.range)
    return
  end
  vim.ui.input({ prompt = 'Delegate: ' }, function(text)
    M.send(text or '', given.range)
  end)
end

return M
