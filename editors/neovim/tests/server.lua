-- A language server for tests: `nvim -l tests/server.lua`. It speaks real LSP over its standard streams, keeps what it is
-- sent and says what the test tells it to say, by notifications `test/…`.

io.stdout:setvbuf('full')

---@type { method: string, params: any }[]
local record = {}
---@type table<string, { result?: any, error?: string, send?: table[] }>
local answers = {}
local requests = 0

local function write(message)
  message.jsonrpc = '2.0'
  local body = vim.json.encode(message)
  io.stdout:write(('Content-Length: %d\r\n\r\n%s'):format(#body, body))
  io.stdout:flush()
end

local function read()
  local length = 0
  while true do
    local line = io.stdin:read('*l') --[[@as string?]]
    if not line then
      return nil
    elseif vim.trim(line) == '' then
      local body = assert(io.stdin:read(length)) --[[@as string]]
      return vim.json.decode(body)
    end
    length = tonumber(line:match('^Content%-Length: (%d+)')) --[[@as integer?]] or length
  end
end

local function send(message)
  local id
  if message.request then
    requests = requests + 1
    id = 'test-' .. requests
  end
  write({ id = id, method = message.method, params = message.params })
end

local function answer(message)
  local name = message.method
  if name == 'workspace/executeCommand' then
    name = message.params.command
  end
  local said = answers[name] or {}
  for _, other in ipairs(said.send or {}) do
    send(other)
  end
  if said.error then
    write({ id = message.id, error = { code = -32803, message = said.error } })
  else
    write({ id = message.id, result = said.result == nil and vim.NIL or said.result })
  end
end

---@type table<string, fun(params: any)?>
local control = {
  ['test/send'] = send,
  ['test/answer'] = function(params)
    answers[params.name] = params.answer
  end,
  ['test/die'] = function(params)
    os.exit(params.code)
  end,
}

if os.getenv('LEGWORK_TEST_DIE') then
  os.exit(7)
end
for message in read do
  local method = message.method
  local steer = control[method]
  if steer then
    steer(message.params)
  elseif method == 'test/record' then
    write({ id = message.id, result = record })
  elseif method == 'initialize' then
    table.insert(record, { method = method, params = message.params })
    local sync = { openClose = true, change = 2, save = true }
    write({
      id = message.id,
      result = { capabilities = { textDocumentSync = sync, executeCommandProvider = {
        commands = {},
      } } },
    })
  elseif method == 'shutdown' then
    write({ id = message.id, result = vim.NIL })
  elseif method == 'exit' then
    os.exit(0)
  elseif method then
    table.insert(record, { method = method, params = message.params })
    if message.id then
      answer(message)
    end
  else
    table.insert(record, { method = 'response', params = message })
  end
end
