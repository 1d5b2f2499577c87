-- `:Legwork evidence [TASK]`: what the checks of a task say before and after.

local M = {}

M.about = 'show what the checks of a task say'

---@param task string
---@param text? string
local function show(task, text)
  local float = require('legwork.render.float')
  local known = require('legwork.tasks').get(task)
  local card = float.open('Evidence: ' .. (known and known.title or task), 'q close', function() end)
  for _, lhs in ipairs({ 'q', '<Esc>' }) do
    float.key(card, lhs, function()
      float.close(card)
    end, 'close')
  end
  local lines = vim.split(vim.trim(text or ''), '\r?\n')
  float.fill(card, text and lines or { 'this task has no checks; `legwork run --check CMD` names one' })
end

---@param given legwork.Invocation
function M.run(given)
  local commands = require('legwork.commands')
  commands.with_task('evidence', given, function(task)
    task = task or commands.likely_task()
    if not task then
      require('legwork.message').say('no tasks yet')
      return
    end
    require('legwork.call').request('legwork/evidence', { task = task }, function(result)
      show(task, result and result.text)
    end)
  end)
end

---@param lead string
function M.complete(lead)
  return require('legwork.tasks').complete(lead)
end

return M
