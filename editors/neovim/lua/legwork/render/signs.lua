-- The sign in the gutter for each kind of hunk.

local M = {}

---@type table<legwork.Kind, { [1]: string, [2]: string }> text and group
local SIGNS = {
  insert = { '+', 'LegworkSignAdd' },
  change = { '~', 'LegworkSignChange' },
  delete = { '-', 'LegworkSignDelete' },
  whole = { '*', 'LegworkSignChange' },
  conflicted = { '!', 'LegworkSignConflict' },
}

---@param kind legwork.Kind
---@return string? text
---@return string? group
function M.of(kind)
  if not require('legwork.config').get().signs then
    return nil, nil
  end
  return SIGNS[kind][1], SIGNS[kind][2]
end

return M
