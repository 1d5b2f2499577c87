-- The language server for every file, without the plug-in, for Neovim 0.10 and later.
vim.api.nvim_create_autocmd('BufReadPost', {
  callback = function(event)
    if vim.bo[event.buf].buftype == '' then
      vim.lsp.start({ name = 'legwork', cmd = { 'legwork', 'lsp' }, root_dir = vim.fn.getcwd() }, { bufnr = event.buf })
    end
  end,
})
-- 0.11 and later have these keys by themselves.
if vim.fn.has('nvim-0.11') == 0 then
  vim.keymap.set({ 'n', 'x' }, 'gra', vim.lsp.buf.code_action)
end
