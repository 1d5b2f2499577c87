-- The user's settings, `vim.g.legwork`, and what holds without them.

local M = {}

---@class legwork.Config
---@field cmd string[] program and arguments of the language server
---@field keymaps boolean whether keys are mapped where they are free
---@field signs boolean whether hunks have signs in the gutter
---@field hunk_lines integer proposed lines that are shown of one hunk
---@field max_bytes integer larger buffers are left alone
---@field agent? { command: string[] } what does tasks given in words; else the user's config.toml says

---@type legwork.Config
local defaults = {
  cmd = { 'legwork', 'lsp' },
  keymaps = true,
  signs = true,
  hunk_lines = 60,
  max_bytes = 8 * 1024 * 1024,
}

---Each setting, and what it can be.
---@type table<string, (fun(value: any): boolean)?>
M.settings = {
  cmd = function(value)
    return type(value) == 'table' and #value > 0 and M.are_strings(value)
  end,
  keymaps = function(value)
    return type(value) == 'boolean'
  end,
  signs = function(value)
    return type(value) == 'boolean'
  end,
  hunk_lines = function(value)
    return type(value) == 'number' and value >= 1
  end,
  max_bytes = function(value)
    return type(value) == 'number' and value >= 0
  end,
  agent = function(value)
    return type(value) == 'table'
      and type(value.command) == 'table'
      and #value.command > 0
      and M.are_strings(value.command)
  end,
}

---@param list any[]
---@return boolean
function M.are_strings(list)
  for _, item in ipairs(list) do
    if type(item) ~= 'string' then
      return false
    end
  end
  return true
end

---Takes what can be understood; the rest is named and its default holds.
---@param given any
---@return legwork.Config config
---@return string[] problems
function M.parse(given)
  local config = vim.deepcopy(defaults)
  if given == nil then
    return config, {}
  end
  if type(given) ~= 'table' then
    return config, { 'vim.g.legwork is not a table' }
  end
  local problems = {}
  for key, value in vim.spairs(given) do
    local fit = M.settings[key]
    if not fit then
      table.insert(problems, ('vim.g.legwork.%s is not a setting'):format(key))
    elseif not fit(value) then
      table.insert(problems, ('vim.g.legwork.%s cannot be %s'):format(key, vim.inspect(value)))
    else
      config[key] = value
    end
  end
  return config, problems
end

---@type legwork.Config?
local config

---The settings, read when they are first needed.
---@return legwork.Config
function M.get()
  if not config then
    local problems
    config, problems = M.parse(vim.g.legwork)
    if problems[1] then
      require('legwork.message').say(problems[1] .. '; see :help legwork-settings', vim.log.levels.WARN)
    end
  end
  return config
end

return M
