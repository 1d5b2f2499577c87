-- Says when the plug-in has something to do. What it does is in `lua/legwork`, read when it is needed.

if vim.g.loaded_legwork then
  return
end
vim.g.loaded_legwork = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.notify('legwork: needs Neovim 0.10 or later', vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command('Legwork', function(command)
  require('legwork.commands').run(command)
end, {
  nargs = '*',
  range = true,
  desc = 'Hand over tasks and review what they change',
  complete = function(lead, line)
    return require('legwork.commands').complete(lead, line)
  end,
})

local group = vim.api.nvim_create_augroup('legwork', {})

vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufFilePost', 'BufWritePost' }, {
  group = group,
  desc = 'Give the file to legwork',
  callback = function(event)
    require('legwork.attach').soon(event.buf)
  end,
})

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = 'legwork:/*',
  desc = 'Show what a task wrote',
  callback = function(event)
    require('legwork.content').read(event.buf)
  end,
})

vim.api.nvim_create_autocmd('ColorScheme', {
  group = group,
  desc = 'Give colours to hunks',
  callback = function()
    require('legwork.render.groups').define()
  end,
})

require('legwork.keys').plugs()

-- Buffers that were read before the plug-in came.
if vim.v.vim_did_enter == 1 then
  require('legwork.attach').all()
  require('legwork.keys').global()
else
  vim.api.nvim_create_autocmd('VimEnter', {
    group = group,
    once = true,
    callback = function()
      require('legwork.keys').global()
    end,
  })
end
