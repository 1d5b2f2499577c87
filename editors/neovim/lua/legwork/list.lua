-- The floating list of tasks. It follows what the server tells while it is open.

local float = require('legwork.render.float')
local tasks = require('legwork.tasks')

local M = {}

---Letters of a task's name that are shown; all of them can be typed.
local SHORT = 6

---@type table<string, string>
local GROUPS = {
  running = 'LegworkRunning',
  ['needs-input'] = 'LegworkReady',
  ready = 'LegworkReady',
  failed = 'LegworkFailed',
}

---@class legwork.ListKey
---@field lhs string
---@field about string
---@field command string sub-command that is given the task
---@field stays? boolean whether the list stays open

---@type legwork.ListKey[]
local KEYS = {
  { lhs = '<CR>', about = 'review', command = 'review' },
  { lhs = 'l', about = 'log', command = 'log' },
  { lhs = 'd', about = 'diff', command = 'diff' },
  { lhs = 'c', about = 'cancel', command = 'cancel', stays = true },
  { lhs = 'r', about = 'retry', command = 'retry', stays = true },
  { lhs = 's', about = 'say something to its agent', command = 'say', stays = true },
  { lhs = 'a', about = 'accept all of it', command = 'accept-task', stays = true },
  { lhs = 'x', about = 'reject all of it', command = 'reject-task', stays = true },
  { lhs = 'u', about = 'undo its last decision', command = 'undo', stays = true },
}

---@type legwork.Float?
local open
local helping = false

---How long ago that was, in words.
---@param milliseconds integer since 1970
---@param now integer milliseconds since 1970
---@return string
function M.age(milliseconds, now)
  local seconds = math.max(math.floor((now - milliseconds) / 1000), 0)
  if seconds < 60 then
    return seconds .. ' s'
  elseif seconds < 3600 then
    return math.floor(seconds / 60) .. ' min'
  elseif seconds < 86400 then
    return math.floor(seconds / 3600) .. ' h'
  end
  return math.floor(seconds / 86400) .. ' d'
end

---@param task legwork.Task
---@param now integer milliseconds since 1970
---@return legwork.Chunk[]
function M.line(task, now)
  local counts = ''
  if task.pending > 0 then
    counts = ('  %d hunk%s in %d file%s'):format(
      task.pending,
      task.pending == 1 and '' or 's',
      task.files,
      task.files == 1 and '' or 's'
    )
  end
  local state = task.emulated and task.state .. ' (emulated)' or task.state
  return {
    { task.task:sub(1, SHORT), 'LegworkHeader' },
    { ('  %-11s'):format(state), GROUPS[task.state] or 'Normal' },
    { ('  %6s'):format(M.age(task.finished or task.created, now)), 'LegworkHeader' },
    { '  ' .. task.title, 'Normal' },
    { task.question and '  asks: ' .. vim.trim(task.question):gsub('%s*\n.*', ' …') or '', 'LegworkReady' },
    { counts, 'LegworkReady' },
    { task.outcome and '  ' .. task.outcome or '', task.state == 'failed' and 'LegworkFailed' or 'LegworkHeader' },
  }
end

---@return legwork.Line[]
local function lines()
  if helping then
    local help = vim.tbl_map(function(key)
      return ('%-5s %s'):format(key.lhs, key.about)
    end, KEYS)
    return vim.list_extend(help, { '?     back to the tasks', 'q     close' })
  end
  local now = os.time() * 1000
  local out = vim.tbl_map(function(task)
    return M.line(task, now)
  end, tasks.all())
  if #out == 0 then
    return { 'no tasks yet; :Legwork delegate starts one' }
  end
  return out
end

---Draws again; the cursor stays on its task.
---@param float_ legwork.Float
---@param shown string[] names of the tasks by row, replaced
local function draw(float_, shown)
  local row = vim.api.nvim_win_get_cursor(float_.win)[1]
  local name = shown[row]
  float.fill(float_, lines())
  for index in ipairs(shown) do
    shown[index] = nil
  end
  if helping then
    return
  end
  for index, task in ipairs(tasks.all()) do
    shown[index] = task.task
    if task.task == name then
      row = index
    end
  end
  vim.api.nvim_win_set_cursor(float_.win, { math.min(row, math.max(#shown, 1)), 0 })
end

---Opens the list, or goes to it.
function M.open()
  if open and vim.api.nvim_win_is_valid(open.win) then
    vim.api.nvim_set_current_win(open.win)
    return
  end
  helping = false
  local list = float.open('Legwork tasks', '<CR> review  l log  d diff  ? keys  q close', function()
    tasks.unlisten('list')
    open = nil
  end)
  open = list
  ---@type string[]
  local shown = {}
  draw(list, shown)
  tasks.listen('list', function()
    if vim.api.nvim_win_is_valid(list.win) then
      draw(list, shown)
    end
  end)
  for _, key in ipairs(KEYS) do
    float.key(list, key.lhs, function()
      local task = shown[vim.api.nvim_win_get_cursor(list.win)[1]]
      if not task then
        return
      end
      if not key.stays then
        float.close(list)
      end
      require('legwork.commands').call(key.command, { task })
    end, key.about)
  end
  float.key(list, '?', function()
    helping = not helping
    draw(list, shown)
  end, 'keys')
  for _, lhs in ipairs({ 'q', '<Esc>' }) do
    float.key(list, lhs, function()
      float.close(list)
    end, 'close')
  end
  -- What the server tells by itself comes only with the next change.
  require('legwork.call').request('legwork/tasks', vim.empty_dict(), tasks.receive)
end

return M
