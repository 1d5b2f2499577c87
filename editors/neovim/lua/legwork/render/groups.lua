-- The names of our colours. They are links that any colour scheme may overrule.

local M = {}

---@type table<string, string>
M.links = {
  LegworkAdd = 'DiffAdd',
  LegworkDelete = 'DiffDelete',
  LegworkConflict = 'DiffText',
  LegworkHeader = 'Comment',
  LegworkWarning = 'WarningMsg',
  LegworkSignAdd = 'Added',
  LegworkSignChange = 'Changed',
  LegworkSignDelete = 'Removed',
  LegworkSignConflict = 'WarningMsg',
  LegworkRunning = 'DiagnosticInfo',
  LegworkReady = 'DiagnosticOk',
  LegworkFailed = 'DiagnosticError',
}

function M.define()
  for name, target in pairs(M.links) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
end

M.define()

return M
