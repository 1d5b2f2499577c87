-- The life of the language server: one for this Neovim, started for the first file, started again when it dies.

local M = {}

---How long a server that died is left alone; twice as long at each death.
M.wait_ms = 500
local LONGEST_WAIT_MS = 60000
---A server that lived this long was well.
local WELL_MS = 30000
---Deaths in a row after which it is started only when the user asks for something.
local MOST_DEATHS = 6

---@type integer? the client's id
local id
---@type string[] the workspaces it was told of
local told = {}
---@type string[] all workspaces, in the order in which they came
local roots = {}
---@type table<integer, string> attached buffers and their workspaces
local buffers = {}
---@type fun(problem?: string)[] who waits until it is ready
local waiting = {}
local deaths = 0
local started_at = 0
local leaving = false
local missing_said = false

---@param path string
---@return lsp.WorkspaceFolder
local function folder(path)
  return { uri = vim.uri_from_fname(path), name = path }
end

---The server, if it is up.
---@return vim.lsp.Client?
function M.client()
  local client = id and vim.lsp.get_client_by_id(id)
  return client and client.initialized and not client:is_stopped() and client or nil
end

---@return table<integer, string>
function M.buffers()
  return buffers
end

---@param problem? string
local function release(problem)
  local all = waiting
  waiting = {}
  for _, callback in ipairs(all) do
    callback(problem)
  end
end

---@param client vim.lsp.Client
local function tell_roots(client)
  ---@type lsp.WorkspaceFolder[]
  local added = {}
  for _, path in ipairs(roots) do
    if not vim.list_contains(told, path) then
      table.insert(told, path)
      table.insert(added, folder(path))
    end
  end
  if #added > 0 then
    client.workspace_folders = vim.list_extend(client.workspace_folders or {}, added)
    local event = { added = added, removed = {} }
    require('legwork.version').notify(client, 'workspace/didChangeWorkspaceFolders', { event = event })
  end
end

---@param buf integer
---@param client_id integer
local function hand_over(buf, client_id)
  require('legwork.hunks').watch(buf)
  vim.lsp.buf_attach_client(buf, client_id)
end

---@param code integer
---@param signal integer
local function died(code, signal)
  local client = id and vim.lsp.get_client_by_id(id)
  local asked = leaving or (code == 0 and signal == 0) or (client ~= nil and client._is_stopping == true)
  id = nil
  told = {}
  require('legwork.hunks').forget_all()
  require('legwork.tasks').forget()
  local how = signal ~= 0 and ('by signal ' .. signal) or ('with exit code ' .. code)
  release(('the language server ended %s; see :checkhealth legwork'):format(how))
  if asked then
    return
  end
  deaths = (vim.uv.now() - started_at > WELL_MS) and 1 or deaths + 1
  local message = require('legwork.message')
  if deaths >= MOST_DEATHS then
    message.fail(('the language server keeps ending (%s); see :checkhealth legwork'):format(how))
    return
  end
  if deaths == 1 then
    message.warn(('the language server ended %s; it is started again'):format(how))
  end
  vim.defer_fn(function()
    if not id and not leaving and next(buffers) then
      M.start()
    end
  end, math.floor(math.min(M.wait_ms * 2 ^ (deaths - 1), LONGEST_WAIT_MS)))
end

---@param config legwork.Config
---@return vim.lsp.ClientConfig
local function client_config(config)
  told = vim.list_slice(roots)
  return {
    name = 'legwork',
    -- A function, so that the end of the program is told by us in one line and not by the client in two.
    cmd = function(dispatchers)
      local on_exit = dispatchers.on_exit
      dispatchers.on_exit = function(code, signal)
        vim.schedule(function()
          died(code, signal)
          on_exit(0, 0)
        end)
      end
      return vim.lsp.rpc.start(config.cmd, dispatchers)
    end,
    root_dir = roots[1],
    workspace_folders = vim.tbl_map(folder, roots),
    init_options = {
      legwork = { ui = { hunks = 'native', tasks = true, content = true }, agent = config.agent },
    },
    handlers = require('legwork.handlers').all,
    on_attach = function(_, buf)
      -- Now it knows the text as it is: what was typed before counts for nothing in its versions.
      require('legwork.hunks').watch(buf)
    end,
    on_init = function(client)
      tell_roots(client)
      vim.schedule(release)
    end,
  }
end

---Starts the server and gives it all its buffers.
---@return string? problem
function M.start()
  local config = require('legwork.config').get()
  local program = config.cmd[1] or ''
  if vim.fn.executable(program) == 0 then
    return ('there is no program `%s`; install Legwork, or name it in vim.g.legwork.cmd'):format(program)
  end
  started_at = vim.uv.now()
  id = require('legwork.version').start(client_config(config))
  if not id then
    return ('`%s` could not be started; see :checkhealth legwork'):format(table.concat(config.cmd, ' '))
  end
  for buf in pairs(buffers) do
    if vim.api.nvim_buf_is_loaded(buf) then
      hand_over(buf, id)
    else
      buffers[buf] = nil
    end
  end
  return nil
end

---@param root string
local function add_root(root)
  if not vim.list_contains(roots, root) then
    table.insert(roots, root)
    local client = M.client()
    if client then
      tell_roots(client)
    end
  end
end

---@param buf integer
---@param root string
---@return boolean attached
function M.attach(buf, root)
  add_root(root)
  if buffers[buf] and id and vim.lsp.buf_is_attached(buf, id) then
    return true
  end
  buffers[buf] = root
  if id then
    hand_over(buf, id)
    return true
  end
  if deaths > 0 then
    -- It is started again in its own time.
    return false
  end
  local problem = M.start()
  if problem and not missing_said then
    missing_said = true
    require('legwork.message').warn(problem)
  end
  return problem == nil
end

---Calls back when the server answers, or says why it does not. Starts it if need be.
---@param callback fun(problem?: string)
function M.ready(callback)
  if M.client() then
    callback()
    return
  end
  if not id then
    deaths = 0
    local cwd = vim.fn.getcwd()
    local root = not next(roots) and require('legwork.attach').root(cwd, cwd)
    if root then
      add_root(root)
    end
    local problem = #roots == 0 and 'this is no workspace; open a file of one, or :cd to it' or M.start()
    if problem then
      callback(problem)
      return
    end
  end
  table.insert(waiting, callback)
end

local group = vim.api.nvim_create_augroup('legwork-lsp', {})

vim.api.nvim_create_autocmd({ 'BufUnload', 'BufWipeout' }, {
  group = group,
  callback = function(event)
    buffers[event.buf] = nil
  end,
})

vim.api.nvim_create_autocmd('VimLeavePre', {
  group = group,
  callback = function()
    leaving = true
  end,
})

return M
