-- `:Legwork prev`: goes to the hunk that stands before the cursor, across files.

local M = {}

M.about = 'go to the hunk before'

function M.run()
  require('legwork.walk').step('prev')
end

return M
