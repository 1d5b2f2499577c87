-- What the user is told: one line at a time, because two make Neovim wait for a key and answer nothing meanwhile.

local M = {}

local KEPT = 50
local TWICE_MS = 1000

---@class legwork.Said
---@field text string
---@field level integer
---@field at number milliseconds

---@type legwork.Said[]
local said = {}

---@param text string
---@param width integer cells there are
---@return string
function M.fit(text, width)
  local line = vim.trim((text:gsub('%s*[\r\n]+%s*', ' ')))
  if vim.fn.strdisplaywidth(line) <= width then
    return line
  end
  local count = vim.fn.strchars(line)
  while count > 1 and vim.fn.strdisplaywidth(vim.fn.strcharpart(line, 0, count)) > width - 1 do
    count = count - 1
  end
  return vim.fn.strcharpart(line, 0, count) .. '…'
end

---The whole of what is cut here is in `:Legwork messages`. What was said this very second is not said again.
---@param text string
---@param level? integer of `vim.log.levels`
function M.say(text, level)
  level = level or vim.log.levels.INFO
  if not text:match('^legwork') then
    text = 'legwork: ' .. text
  end
  local now = vim.uv.hrtime() / 1e6
  local last = said[#said]
  if last and last.text == text and now - last.at < TWICE_MS then
    return
  end
  table.insert(said, { text = text, level = level, at = now })
  if #said > KEPT then
    table.remove(said, 1)
  end
  vim.schedule(function()
    -- The last cells of the line are for the ruler and for what is typed.
    vim.notify(M.fit(text, math.max(vim.o.columns - 12, 20)), level, { title = 'legwork' })
  end)
end

---@param text string
function M.warn(text)
  M.say(text, vim.log.levels.WARN)
end

---@param text string
function M.fail(text)
  M.say(text, vim.log.levels.ERROR)
end

---@return legwork.Said[]
function M.all()
  return said
end

return M
