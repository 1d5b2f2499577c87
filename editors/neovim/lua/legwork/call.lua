-- Asking the server. A failure is told to the user here, so that callers go on only with an answer.

local M = {}

---JSON's null is nothing, at every depth.
---@param value any
---@return any
local function without_null(value)
  if value == vim.NIL then
    return nil
  end
  if type(value) == 'table' then
    for key, item in pairs(value) do
      value[key] = without_null(item)
    end
  end
  return value
end

M.without_null = without_null

---@param method string
---@param params table
---@param callback fun(result: any)
---@param failed? fun(problem: string)
function M.request(method, params, callback, failed)
  failed = failed or require('legwork.message').fail
  local lsp = require('legwork.lsp')
  lsp.ready(function(problem)
    local client = lsp.client()
    if problem or not client then
      failed(problem or 'the language server does not run; see :checkhealth legwork')
      return
    end
    local sent = require('legwork.version').request(client, method, params, function(err, result)
      if err then
        failed(err.message or vim.inspect(err))
      else
        callback(without_null(result))
      end
    end)
    if not sent then
      failed('the language server is ending; try again in a moment')
    end
  end)
end

---@param command string without `legwork.`
---@param argument? table
---@param callback? fun(result: any)
function M.command(command, argument, callback)
  local params = { command = 'legwork.' .. command, arguments = argument and { argument } or nil }
  M.request('workspace/executeCommand', params, callback or function() end)
end

return M
