-- What the server sends without being asked, passed to where it belongs.

local M = {}

---Of the protocol's message types: error, warning, info, log, debug.
local LEVELS = {
  vim.log.levels.ERROR,
  vim.log.levels.WARN,
  vim.log.levels.INFO,
  vim.log.levels.INFO,
  vim.log.levels.DEBUG,
}

---Whether an edit was made for a text that has changed since. Neovim itself leaves such an edit out, says so in words that
---may wait for a key, and answers that it was made.
---@param params lsp.ApplyWorkspaceEditParams
---@return boolean
local function is_stale(params)
  local change = (params.edit.documentChanges or {})[1]
  local document = change and change.textDocument
  if not document or type(document.version) ~= 'number' then
    return false
  end
  local now = vim.lsp.util.buf_versions[vim.uri_to_bufnr(document.uri)]
  return now ~= nil and now > document.version
end

---@type table<string, lsp.Handler>
M.all = {
  ['legwork/hunks'] = function(_, params)
    require('legwork.hunks').receive(params)
  end,
  ['legwork/tasks'] = function(_, params)
    require('legwork.tasks').receive(params)
  end,
  ['workspace/applyEdit'] = function(err, params, ctx)
    if is_stale(params) then
      return { applied = false, failureReason = 'the text was changed meanwhile' }
    end
    return vim.lsp.handlers['workspace/applyEdit'](err, params, ctx)
  end,
  ['window/showMessage'] = function(_, params)
    require('legwork.message').say(params.message, LEVELS[params.type])
    return vim.NIL
  end,
}

return M
