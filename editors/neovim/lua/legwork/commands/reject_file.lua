-- `:Legwork reject-file`: rejects what waits in this file.

local M = {}

M.about = 'reject what waits in this file'

function M.run()
  require('legwork.decide').file('reject')
end

return M
