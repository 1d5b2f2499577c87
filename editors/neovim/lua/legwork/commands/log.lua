-- `:Legwork log [TASK]`: what the task wrote, as it writes it.

local M = {}

M.about = 'show what a task writes'

---@param given legwork.Invocation
function M.run(given)
  local commands = require('legwork.commands')
  commands.with_task('log', given, function(task)
    task = task or commands.likely_task()
    if task then
      require('legwork.log').open(task)
    else
      require('legwork.message').say('no tasks yet')
    end
  end)
end

---@param lead string
function M.complete(lead)
  return require('legwork.tasks').complete(lead)
end

return M
