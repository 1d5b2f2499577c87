-- `:Legwork undo [TASK]`: takes the last decision back.

local M = {}

M.about = 'take the last decision back'

---@param given legwork.Invocation
function M.run(given)
  require('legwork.commands').with_task('undo', given, function(task)
    require('legwork.call').command('undo', task and { task = task })
  end)
end

---@param lead string
function M.complete(lead)
  return require('legwork.tasks').complete(lead)
end

return M
