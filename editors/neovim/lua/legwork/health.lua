-- `:checkhealth legwork`.

local M = {}

local health = vim.health

---@param command string[]
---@return string? output
---@return string? problem
local function output(command)
  local ok, result = pcall(function()
    return vim.system(command, { text = true, timeout = 5000 }):wait()
  end)
  if not ok then
    return nil, tostring(result)
  end
  local text = vim.trim(result.stdout or '')
  if result.code ~= 0 and text == '' then
    return nil, vim.trim(result.stderr or '')
  end
  return text, nil
end

---@param config legwork.Config
---@return boolean
local function program(config)
  health.start('legwork: program')
  local name = config.cmd[1] or ''
  local path = vim.fn.exepath(name)
  if path == '' then
    health.error(('no program `%s`'):format(name), {
      'install Legwork so that `legwork` is on the PATH of Neovim,',
      "or say where it is: vim.g.legwork = { cmd = { '/path/to/legwork', 'lsp' } }",
    })
    return false
  end
  local version, problem = output({ name, '--version' })
  if version and version ~= '' then
    health.ok(('%s: %s'):format(path, vim.split(version, '\n')[1]))
  else
    health.error(('%s does not say its version: %s'):format(path, problem or 'it says nothing'))
  end
  if config.cmd[2] ~= 'lsp' then
    health.info('the language server is ' .. table.concat(config.cmd, ' '))
    return true
  end
  -- Many lines for one verdict: the first is the verdict, those marked say what to do.
  local doctor = output({ name, 'doctor' })
  if doctor then
    local lines = vim.split(doctor, '\n')
    local todo = vim.tbl_filter(function(line)
      return line:match('^%s*!!') ~= nil
    end, lines)
    if #todo == 0 then
      health.ok(lines[1] or '')
    else
      health.error(lines[1] or '', vim.tbl_map(vim.trim, todo))
    end
  else
    health.warn('`legwork doctor` says nothing')
  end
  local daemon = output({ name, 'daemon', 'status' })
  health.info(daemon and vim.split(daemon, '\n')[1] or '`legwork daemon status` says nothing')
  return true
end

local function server()
  health.start('legwork: language server')
  local lsp = require('legwork.lsp')
  local client = lsp.client()
  local count = vim.tbl_count(lsp.buffers())
  if client then
    health.ok(('runs for %d buffer%s'):format(count, count == 1 and '' or 's'))
    for _, folder in ipairs(client.workspace_folders or {}) do
      health.info('workspace ' .. folder.name)
    end
    health.info('tasks: ' .. (require('legwork').status():gsub('^legwork: ', ''):gsub('^$', 'none')))
  elseif count > 0 then
    health.error('does not run although there are files for it', {
      'see ' .. vim.fs.joinpath(vim.fn.stdpath('log') --[[@as string]], 'lsp.log'),
    })
  else
    health.info('does not run: no file of a workspace is open')
  end
end

---@param config legwork.Config
---@param problems string[]
local function settings(config, problems)
  health.start('legwork: settings')
  for _, problem in ipairs(problems) do
    health.warn(problem, { ':help legwork-settings' })
  end
  if config.agent then
    health.ok('tasks in words are done by ' .. table.concat(config.agent.command, ' '))
  else
    local dir = vim.env.LEGWORK_CONFIG
      or vim.fs.joinpath(vim.env.XDG_CONFIG_HOME or vim.fs.normalize('~/.config'), 'legwork')
    local file = vim.fs.joinpath(dir, 'config.toml')
    local lines = vim.fn.filereadable(file) == 1 and vim.fn.readfile(file) or {}
    local naming = vim.tbl_filter(function(line)
      return line:match('^%s*%[agent%]') ~= nil
        or line:match('^%s*%[model%]') ~= nil
        or line:match('^%s*agent%.command') ~= nil
    end, lines)
    if #naming > 0 then
      health.ok(file .. ' says what does tasks in words')
    else
      health.warn('nothing is set that does tasks in words', {
        ('write in %s: [model] provider and name, or [agent] command = ["program", "argument"],'):format(file),
        'or set vim.g.legwork.agent; :help legwork-settings',
      })
    end
  end
  if not config.keymaps then
    health.info('keys: off')
    return
  end
  for _, clash in ipairs(require('legwork.keys').clashes()) do
    health.info(clash)
  end
end

function M.check()
  local config, problems = require('legwork.config').parse(vim.g.legwork)
  if program(config) then
    server()
  end
  settings(config, problems)
  if not vim.o.hidden then
    health.warn("'hidden' is off: hunks in other files cannot be gone to from a changed buffer")
  end
end

return M
