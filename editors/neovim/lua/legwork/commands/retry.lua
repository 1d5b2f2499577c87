-- `:Legwork retry [TASK]`: runs a task again.

local M = {}

M.about = 'run a task again'

---@param given legwork.Invocation
function M.run(given)
  require('legwork.commands').with_task('retry', given, function(task)
    require('legwork.call').command('retry', task and { task = task })
  end)
end

---@param lead string
function M.complete(lead)
  return require('legwork.tasks').complete(lead)
end

return M
