-- The floating log of a task. It is read again while the task runs, and its end stays in view unless the user left it.

local float = require('legwork.render.float')
local tasks = require('legwork.tasks')

local M = {}

local EVERY_MS = 1000

---@param list string[]
---@return string[]
local function without_last_blank(list)
  if list[#list] == '' then
    list[#list] = nil
  end
  return list
end

---@param task string
local function is_over(task)
  local known = tasks.get(task)
  return known ~= nil and known.finished ~= nil
end

---@param task string
---@return string
local function title(task)
  local known = tasks.get(task)
  return known and ('Log: %s (%s)'):format(known.title, known.state) or 'Log: ' .. task
end

---@param task string
function M.open(task)
  local timer = assert(vim.uv.new_timer())
  local log = float.open(title(task), 'q close', function()
    timer:stop()
    if not timer:is_closing() then
      timer:close()
    end
  end)
  for _, lhs in ipairs({ 'q', '<Esc>' }) do
    float.key(log, lhs, function()
      float.close(log)
    end, 'close')
  end
  local asking, last = false, nil

  ---@param text string
  local function show(text)
    if not vim.api.nvim_win_is_valid(log.win) then
      return
    end
    if text ~= last then
      local rows = vim.api.nvim_buf_line_count(log.buf)
      local follows = vim.api.nvim_win_get_cursor(log.win)[1] == rows
      local lines = without_last_blank(vim.split(text, '\r?\n'))
      float.fill(log, #lines > 0 and lines or { 'nothing is written yet' })
      if follows then
        vim.api.nvim_win_set_cursor(log.win, { vim.api.nvim_buf_line_count(log.buf), 0 })
      end
      last = text
    end
    vim.api.nvim_win_set_config(log.win, { title = (' %s '):format(title(task)) })
  end

  local function read()
    if asking then
      return
    end
    asking = true
    -- Asked before the text is read: what is written last must not be missed.
    local over = is_over(task)
    require('legwork.call').request('legwork/log', { task = task }, function(result)
      asking = false
      show(result and result.text or '')
      if over then
        timer:stop()
      end
    end, function(problem)
      timer:stop()
      show(problem)
    end)
  end
  read()
  timer:start(EVERY_MS, EVERY_MS, vim.schedule_wrap(read))
end

return M
