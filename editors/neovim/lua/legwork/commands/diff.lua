-- `:Legwork diff [TASK]`: all that the task changed, as a unified diff.

local M = {}

M.about = 'show all changes of a task'

---@param given legwork.Invocation
function M.run(given)
  local commands = require('legwork.commands')
  commands.with_task('diff', given, function(task)
    task = task or commands.likely_task()
    if not task then
      require('legwork.message').say('no tasks yet')
      return
    end
    local buf = vim.uri_to_bufnr(('legwork:/%s/diff'):format(task))
    if vim.api.nvim_buf_is_loaded(buf) then
      require('legwork.content').read(buf)
    end
    vim.cmd('split')
    vim.api.nvim_win_set_buf(0, buf)
  end)
end

---@param lead string
function M.complete(lead)
  return require('legwork.tasks').complete(lead)
end

return M
