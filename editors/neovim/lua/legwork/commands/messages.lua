-- `:Legwork messages`: what was said, in full.

local M = {}

M.about = 'show in full what was said'

function M.run()
  local float = require('legwork.render.float')
  local window = float.open('Legwork messages', 'q close', function() end)
  for _, lhs in ipairs({ 'q', '<Esc>' }) do
    float.key(window, lhs, function()
      float.close(window)
    end, 'close')
  end
  local lines = {}
  for _, said in ipairs(require('legwork.message').all()) do
    vim.list_extend(lines, vim.split(said.text, '\r?\n'))
  end
  vim.wo[window.win].wrap = true
  float.fill(window, #lines > 0 and lines or { 'nothing was said yet' })
end

return M
