-- `:Legwork review [TASK]`: the quickfix list of all that waits, in the order in which it is best read.

local M = {}

M.about = 'list what waits, and go to the first hunk'

---@param given legwork.Invocation
function M.run(given)
  require('legwork.commands').with_task('review', given, require('legwork.walk').review)
end

---@param lead string
function M.complete(lead)
  return require('legwork.tasks').complete(lead)
end

return M
