-- The tasks as the server last told them.

local M = {}

---@type legwork.TasksParams?
local known
---@type table<any, fun()>
local listeners = {}

local function changed()
  for _, listener in pairs(listeners) do
    listener()
  end
  vim.api.nvim_exec_autocmds('User', { pattern = 'LegworkTasks', modeline = false })
end

---@param params legwork.TasksParams
function M.receive(params)
  params = require('legwork.call').without_null(params)
  local before = M.status()
  known = params
  if M.status() ~= before then
    vim.cmd.redrawstatus({ bang = true })
  end
  changed()
end

---The server is gone.
function M.forget()
  if known then
    known = nil
    vim.cmd.redrawstatus({ bang = true })
    changed()
  end
end

---Newest first.
---@return legwork.Task[]
function M.all()
  return known and known.tasks or {}
end

---@return 'up'|'down'|nil
function M.daemon()
  return known and known.daemon
end

---@param task string
---@return legwork.Task?
function M.get(task)
  for _, other in ipairs(M.all()) do
    if other.task == task then
      return other
    end
  end
  return nil
end

---The task that was meant by the first letters of its name; what is not known is for the server to judge.
---@param letters string
---@return string
function M.named(letters)
  local hits = vim.tbl_filter(function(task)
    return vim.startswith(task.task, letters)
  end, M.all())
  return #hits == 1 and hits[1].task or letters
end

---@param lead string
---@return string[]
function M.complete(lead)
  local names = vim.tbl_map(function(task)
    return task.task
  end, M.all())
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, names)
end

---Words for a status line, such as `legwork: 2 running, 1 ready`; empty when there is nothing to say.
---@return string
function M.status()
  local parts = {}
  for _, what in ipairs({ 'running', 'ready', 'failed' }) do
    local count = known and known[what] or 0
    if count > 0 then
      table.insert(parts, ('%d %s'):format(count, what))
    end
  end
  if known and (known.asking or 0) > 0 then
    table.insert(parts, ('%d asking'):format(known.asking))
  end
  return #parts > 0 and 'legwork: ' .. table.concat(parts, ', ') or ''
end

---Calls back at every change until `M.unlisten` with the same key.
---@param key any
---@param listener fun()
function M.listen(key, listener)
  listeners[key] = listener
end

---@param key any
function M.unlisten(key)
  listeners[key] = nil
end

return M
