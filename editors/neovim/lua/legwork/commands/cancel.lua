-- `:Legwork cancel [TASK]`: stops a task.

local M = {}

M.about = 'stop a task'

---@param given legwork.Invocation
function M.run(given)
  require('legwork.commands').with_task('cancel', given, function(task)
    require('legwork.call').command('cancel', task and { task = task })
  end)
end

---@param lead string
function M.complete(lead)
  return require('legwork.tasks').complete(lead)
end

return M
