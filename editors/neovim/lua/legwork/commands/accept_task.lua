-- `:Legwork accept-task [TASK]`: accepts all that waits of a task.

local M = {}

M.about = 'accept all that waits of a task'

---@param given legwork.Invocation
function M.run(given)
  require('legwork.decide').task('accept', given)
end

---@param lead string
function M.complete(lead)
  return require('legwork.tasks').complete(lead)
end

return M
