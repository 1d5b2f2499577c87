-- `:Legwork tasks`: the floating list of tasks.

local M = {}

M.about = 'list the tasks'

function M.run()
  require('legwork.list').open()
end

return M
