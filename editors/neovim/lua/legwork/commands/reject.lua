-- `:Legwork reject [HUNK]`: rejects the hunk under the cursor, those that a range touches, or the one that is named.

local M = {}

M.about = 'reject the hunk under the cursor'

---@param given legwork.Invocation
function M.run(given)
  require('legwork.decide').hunks('reject', given)
end

---@param lead string
function M.complete(lead)
  return require('legwork.decide').complete(lead)
end

return M
