-- A Neovim of its own for one test, with the plug-in and a server that does what the test says.

local harness = require('harness')

local M = {}

---How long one test may take.
local LONGEST_MS = 60000

---How long something is waited for.
local LONG_MS = 10000

---@class legwork.Child
---@field channel integer
---@field dir string the workspace
local Child = {}
Child.__index = Child

local here = assert(vim.g.legwork_tests) --[[@as string]]

---How this Neovim was started, without its arguments: it may stand behind a dynamic linker of its own.
---@return string[]
function M.neovim()
  local file = io.open('/proc/self/cmdline', 'rb')
  if not file then
    return { vim.v.progpath }
  end
  local words = vim.split(file:read('*a'), '\0', { plain = true, trimempty = true })
  file:close()
  local argv = {}
  for _, word in ipairs(words) do
    table.insert(argv, word)
    if vim.fs.basename(word):match('^nvim') then
      return argv
    end
  end
  return { vim.v.progpath }
end

---@param files table<string, string> by path; a folder `.git` comes with them
---@return string dir
function M.workspace(files)
  local dir = vim.fn.resolve(vim.fn.tempname())
  vim.fn.mkdir(dir .. '/.git', 'p')
  for path, text in pairs(files) do
    vim.fn.mkdir(vim.fs.dirname(dir .. '/' .. path), 'p')
    vim.fn.writefile(vim.split(text, '\n', { plain = true }), dir .. '/' .. path, 'b')
  end
  harness.at_end(function()
    vim.fn.delete(dir, 'rf')
  end)
  return dir
end

---@class legwork.ChildOptions
---@field files? table<string, string>
---@field settings? table of `vim.g.legwork`
---@field before? string Lua that is run before plug-ins are loaded
---@field open? string a file that is opened, and given to the server
---@field cwd? string

---@param options? legwork.ChildOptions
---@return legwork.Child
function M.start(options)
  options = options or {}
  local dir = M.workspace(options.files or { ['a.txt'] = 'one\ntwo\nthree\nfour\nfive\n' })
  local home = M.workspace({})
  local nvim = M.neovim()
  local server = vim.list_extend(vim.list_slice(nvim), { '--clean', '-l', here .. '/server.lua' })
  local settings = vim.tbl_extend('keep', options.settings or {}, { cmd = server })
  local argv = vim.list_extend(vim.list_slice(nvim), {
    '--clean',
    '--headless',
    '--embed',
    '-n',
    '--cmd',
    'set lines=24 columns=80 | set rtp^=' .. vim.fs.dirname(here),
    '--cmd',
    'lua vim.g.legwork = ' .. vim.inspect(settings, { newline = '', indent = '' }),
    '--cmd',
    'lua ' .. (options.before or ''),
  })
  local channel = vim.fn.jobstart(argv, {
    rpc = true,
    cwd = options.cwd or dir,
    env = {
      HOME = home,
      XDG_CONFIG_HOME = home,
      XDG_STATE_HOME = home,
      XDG_DATA_HOME = home,
      LEGWORK_CONFIG = home,
    },
  })
  assert(channel > 0, 'the child does not start')
  local child = setmetatable({ channel = channel, dir = dir }, Child)
  -- A child that waits for a key answers nothing: it is ended, and the test fails where it stood.
  local pid, guard = vim.fn.jobpid(channel), assert(vim.uv.new_timer())
  guard:start(LONGEST_MS, 0, function()
    vim.uv.kill(pid, 'sigkill')
  end)
  harness.at_end(function()
    guard:close()
    child:stop()
  end)
  if options.open then
    child:edit(options.open)
    child:wait_for_server()
  end
  return child
end

function Child:stop()
  pcall(vim.rpcnotify, self.channel, 'nvim_command', 'qall!')
  if vim.fn.jobwait({ self.channel }, 2000)[1] == -1 then
    vim.fn.jobstop(self.channel)
  end
end

---@param code string
---@param ... any
---@return any
function Child:lua(code, ...)
  return vim.rpcrequest(self.channel, 'nvim_exec_lua', code, { ... })
end

---@param expression string
---@return any
function Child:get(expression)
  return self:lua('return ' .. expression)
end

---@param command string
function Child:cmd(command)
  vim.rpcrequest(self.channel, 'nvim_command', command)
end

---@param keys string as in a mapping
function Child:keys(keys)
  vim.rpcrequest(self.channel, 'nvim_input', keys)
end

---@param path string below the workspace, or absolute
function Child:edit(path)
  if path:sub(1, 1) ~= '/' then
    path = self.dir .. '/' .. path
  end
  self:lua('vim.cmd.edit(vim.fn.fnameescape(...))', path)
end

---@param expression string Lua
---@param expected? any else anything that is true
function Child:wait(expression, expected)
  local found
  local ok = vim.wait(LONG_MS, function()
    found = self:get(expression)
    if expected == nil then
      return found ~= nil and found ~= vim.NIL and found ~= false
    end
    return vim.deep_equal(found, expected)
  end, 10)
  if not ok then
    local text = 'waited in vain for %s\nexpected: %s\nfound:    %s\nmessages: %s'
    error(text:format(expression, vim.inspect(expected), vim.inspect(found), self:messages()), 2)
  end
end

function Child:wait_for_server()
  self:wait("require('legwork.lsp').client() ~= nil")
end

---What the child has said.
---@return string
function Child:messages()
  return self:get("vim.api.nvim_exec2('messages', { output = true }).output")
end

---@param part string
function Child:wait_message(part)
  local ok = vim.wait(LONG_MS, function()
    return self:messages():find(part, 1, true) ~= nil
  end, 10)
  assert(ok, ('never said: %s\nbut: %s'):format(part, self:messages()))
end

---Whether it waits for a key and does nothing else.
---@return boolean
function Child:is_blocked()
  local mode = vim.rpcrequest(self.channel, 'nvim_get_mode') --[[@as { blocking: boolean }]]
  return mode.blocking
end

---What a person would see, line by line, without blanks at the ends.
---@return string[]
function Child:screen()
  return self:lua([[
    vim.cmd.redraw({ bang = true })
    local lines = {}
    for row = 1, vim.o.lines do
      local cells = {}
      for col = 1, vim.o.columns do
        cells[col] = vim.fn.screenstring(row, col)
      end
      lines[row] = (table.concat(cells):gsub('%s+$', ''))
    end
    return lines
  ]])
end

---@return string
function Child:seen()
  return table.concat(self:screen(), '\n')
end

---@param method string
---@param params table
function Child:notify(method, params)
  self:lua("require('legwork.version').notify(require('legwork.lsp').client(), ...)", method, params)
end

---Has the server send something.
---@param method string
---@param params table
function Child:send(method, params)
  self:notify('test/send', { method = method, params = params })
end

---Says what the server will answer to a method, or to a command.
---@param name string
---@param answer { result?: any, error?: string, send?: { method: string, params: table, request?: boolean }[] }
function Child:answer(name, answer)
  self:notify('test/answer', { name = name, answer = answer })
end

---All that the server was sent.
---@return { method: string, params: any }[]
function Child:record()
  return self:lua([[
    local client, result = require('legwork.lsp').client(), nil
    require('legwork.version').request(client, 'test/record', vim.empty_dict(), function(_, found)
      result = found
    end)
    vim.wait(3000, function()
      return result ~= nil
    end, 5)
    return result
  ]])
end

---The arguments of the calls of a command, or the parameters of the messages of a method.
---@param name string
---@return any[]
function Child:calls(name)
  local calls = {}
  for _, message in ipairs(self:record()) do
    if message.method == name then
      table.insert(calls, message.params)
    elseif message.method == 'workspace/executeCommand' and message.params.command == name then
      table.insert(calls, message.params.arguments and message.params.arguments[1] or {})
    end
  end
  return calls
end

---@param name string
---@param count? integer
---@return any[]
function Child:wait_calls(name, count)
  ---@type any[]
  local calls = {}
  local ok = vim.wait(LONG_MS, function()
    calls = self:calls(name)
    return #calls >= (count or 1)
  end, 10)
  assert(ok, ('the server was never asked for %s; %s'):format(name, self:messages()))
  return calls
end

---Sends the hunks of a file; each is given by what differs from a plain one.
---@param path string
---@param hunks table[]
---@param version? integer
function Child:hunks(path, hunks, version)
  local full = {}
  for index, hunk in ipairs(hunks) do
    table.insert(full, M.hunk(vim.tbl_extend('keep', hunk, { number = index, of = #hunks })))
  end
  self:send('legwork/hunks', {
    uri = vim.uri_from_fname(self.dir .. '/' .. path),
    version = version or vim.NIL,
    hunks = full,
  })
  -- What the server sends after this was sent after the hunks.
  self:record()
end

---@param given table
---@return legwork.Hunk
function M.hunk(given)
  local hunk = vim.tbl_extend('keep', given, {
    task = 'bcdfghjkmnpq',
    title = 'add tests',
    number = 1,
    of = 1,
    state = 'pending',
    start = 1,
    removed = {},
    added = {},
    whole = vim.NIL,
    summary = vim.NIL,
    sensitive = vim.NIL,
    running = false,
  }) --[[@as table<string, any>]]
  hunk['end'] = hunk['end'] or hunk.start + #hunk.removed
  hunk.hunk = hunk.hunk or ('%s:%d:a.txt'):format(hunk.task, hunk.number)
  return hunk --[[@as legwork.Hunk]]
end

---@param given table
---@return legwork.Task
function M.task(given)
  return vim.tbl_extend('keep', given, {
    task = 'bcdfghjkmnpq',
    title = 'add tests',
    state = 'running',
    pending = 0,
    files = 0,
    outcome = vim.NIL,
    created = os.time() * 1000,
    finished = vim.NIL,
    emulated = false,
    workspace = '/w',
  }) --[[@as legwork.Task]]
end

---Sends tasks with their counts.
---@param tasks table[]
function Child:tasks(tasks)
  ---@type table<string, any>
  local params = { daemon = 'up', running = 0, ready = 0, failed = 0, tasks = vim.tbl_map(M.task, tasks) }
  for _, task in ipairs(params.tasks) do
    if params[task.state] then
      params[task.state] = params[task.state] + 1
    end
  end
  self:answer('legwork/tasks', { result = params })
  self:send('legwork/tasks', params)
  self:record()
end

return M
