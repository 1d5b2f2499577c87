-- `:Legwork accept-file`: accepts what waits in this file.

local M = {}

M.about = 'accept what waits in this file'

function M.run()
  require('legwork.decide').file('accept')
end

return M
