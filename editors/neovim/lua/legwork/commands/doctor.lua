-- `:Legwork doctor`: what tasks run on here.

local M = {}

M.about = 'say what tasks run on here'

function M.run()
  -- The server says it.
  require('legwork.call').command('doctor')
end

return M
