-- `:Legwork new`: opens a scratch file; when it is written, its text is a task.

local M = {}

M.about = 'write a task in a scratch file'

function M.run()
  require('legwork.call').command('new')
end

return M
