-- `:Legwork accept [HUNK]`: accepts the hunk under the cursor, those that a range touches, or the one that is named.

local M = {}

M.about = 'accept the hunk under the cursor'

---@param given legwork.Invocation
function M.run(given)
  require('legwork.decide').hunks('accept', given)
end

---@param lead string
function M.complete(lead)
  return require('legwork.decide').complete(lead)
end

return M
