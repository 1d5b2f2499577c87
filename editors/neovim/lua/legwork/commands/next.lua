-- `:Legwork next`: goes to the hunk that stands after the cursor, across files.

local M = {}

M.about = 'go to the next hunk'

function M.run()
  require('legwork.walk').step('next')
end

return M
