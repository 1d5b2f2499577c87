-- `:Legwork say [TEXT]`: says something to the agent of a task, about the hunk under the cursor if there is one.

local M = {}

M.about = 'say something to the agent of a task'

---@param task legwork.Task
local function listens(task)
  return task.state == 'needs-input' or task.state == 'running'
end

---Whom it is said to: the hunk under the cursor, else the task that asks, that runs, or the newest.
---@return { hunk?: string, task?: string }?
function M.whom()
  local hunk = require('legwork.hunks').under_cursor()
  if hunk then
    return { hunk = hunk.hunk }
  end
  for _, task in ipairs(require('legwork.tasks').all()) do
    if task.state == 'needs-input' then
      return { task = task.task }
    end
  end
  local commands = require('legwork.commands')
  local task = commands.likely_task(listens) or commands.likely_task()
  return task and { task = task } or nil
end

---@param whom { hunk?: string, task?: string }
---@param text string
function M.send(whom, text)
  text = vim.trim(text)
  if text ~= '' then
    require('legwork.call').command('say', vim.tbl_extend('force', whom, { text = text }))
  end
end

---@param given legwork.Invocation
function M.run(given)
  local whom, text = M.whom(), given.text
  -- The first word may name a task; a sentence hardly begins with one.
  local named = given.words[1] and require('legwork.tasks').get(given.words[1])
  if named then
    whom, text = { task = named.task }, text:gsub('^%s*%S+%s*', '', 1)
  end
  if not whom then
    require('legwork.message').say('there is no task to say it to')
    return
  end
  if vim.trim(text) ~= '' then
    M.send(whom, text)
    return
  end
  local task = whom.task and require('legwork.tasks').get(whom.task)
  local prompt = task and task.question and task.question .. ' ' or 'Say: '
  vim.ui.input({ prompt = prompt }, function(words)
    M.send(whom, words or '')
  end)
end

---@param lead string
function M.complete(lead)
  return require('legwork.tasks').complete(lead)
end

return M
