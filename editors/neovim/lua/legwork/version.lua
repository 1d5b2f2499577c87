-- Where the versions of Neovim differ.

local M = {}

local has_methods = vim.fn.has('nvim-0.11') == 1

---@param client vim.lsp.Client
---@param method string
---@param params table
---@param handler fun(err?: lsp.ResponseError, result: any)
---@return boolean sent
function M.request(client, method, params, handler)
  if has_methods then
    return (
      client:request(method --[[@as any]], params, handler)
    )
  end
  -- In 0.10 these are functions that know their client.
  local request = client.request --[[@as fun(...: any): boolean]]
  return (request(method, params, handler))
end

---@param client vim.lsp.Client
---@param method string
---@param params table
function M.notify(client, method, params)
  if has_methods then
    client:notify(method --[[@as any]], params)
  else
    local notify = client.notify --[[@as fun(...: any)]]
    notify(method, params)
  end
end

---Starts a client without a buffer.
---@param config vim.lsp.ClientConfig
---@return integer? id
function M.start(config)
  if has_methods then
    return vim.lsp.start(config, { attach = false, silent = true })
  end
  ---@diagnostic disable-next-line: deprecated -- the only way in 0.10
  return (vim.lsp.start_client(config))
end

---Which column a byte is in, in the server's way of counting.
---@param line string
---@param byte integer
---@param encoding string
---@return integer
function M.column(line, byte, encoding)
  byte = math.min(byte, #line)
  if encoding == 'utf-8' then
    return byte
  end
  if has_methods then
    return vim.str_utfindex(line, encoding --[[@as any]], byte, false)
  end
  ---@diagnostic disable-next-line: deprecated, missing-parameter, param-type-mismatch, assign-type-mismatch -- as 0.10 has it
  local chars, units = vim.str_utfindex(line, byte)
  return (encoding == 'utf-16' and units or chars) --[[@as integer]]
end

return M
