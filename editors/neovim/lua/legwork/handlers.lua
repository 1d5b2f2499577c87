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

---@type table<string, lsp.Handler>
M.all = {
  ['legwork/hunks'] = function(_, params)
    require('legwork.hunks').receive(params)
  end,
  ['legwork/tasks'] = function(_, params)
    require('legwork.tasks').receive(params)
  end,
  ['window/showMessage'] = function(_, params)
    require('legwork.message').say(params.message, LEVELS[params.type])
    return vim.NIL
  end,
}

return M
