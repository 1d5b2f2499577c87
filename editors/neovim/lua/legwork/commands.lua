-- `:Legwork`: finds the sub-command, which is a file of its own, or takes the words as a task.

local M = {}

---Sub-commands in the order in which they are offered.
M.names = {
  'delegate',
  'new',
  'tasks',
  'log',
  'review',
  'next',
  'prev',
  'accept',
  'reject',
  'accept-file',
  'reject-file',
  'accept-task',
  'reject-task',
  'undo',
  'cancel',
  'retry',
  'say',
  'diff',
  'evidence',
  'doctor',
  'messages',
}

---@param name string
---@return legwork.Command?
function M.get(name)
  if not vim.list_contains(M.names, name) then
    return nil
  end
  return require('legwork.commands.' .. name:gsub('-', '_'))
end

---Runs a sub-command with words for arguments.
---@param name string
---@param words? string[]
function M.call(name, words)
  words = words or {}
  assert(M.get(name), name).run({ words = words, text = table.concat(words, ' ') })
end

---@param command vim.api.keyset.create_user_command.command_args
function M.run(command)
  ---@type { first: integer, last: integer, visual: boolean }?
  local range
  if command.range > 0 then
    local from, to = vim.api.nvim_buf_get_mark(0, '<')[1], vim.api.nvim_buf_get_mark(0, '>')[1]
    local visual = command.range == 2 and command.line1 == from and command.line2 == to
    range = { first = command.line1, last = command.line2, visual = visual }
  end
  local name, rest = command.args:match('^(%S+)%s*(.*)$')
  if not name or not rest then
    if range then
      require('legwork.commands.delegate').run({ words = {}, text = '', range = range })
    else
      require('legwork.list').open()
    end
    return
  end
  local found = M.get(name)
  if found then
    found.run({ words = vim.split(rest, '%s+', { trimempty = true }), text = rest, range = range })
  elseif rest == '' then
    -- One word is a slip of the fingers more often than a task.
    require('legwork.message').fail(
      ('`%s` is no sub-command; for a task in words: :Legwork delegate %s'):format(name, name)
    )
  else
    require('legwork.commands.delegate').send(command.args, range)
  end
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local before = line:match('Legwork!?%s+(.*)$') or ''
  local words = vim.split(before:sub(1, #before - #lead), '%s+', { trimempty = true })
  if #words == 0 then
    return vim.tbl_filter(function(name)
      return vim.startswith(name, lead)
    end, M.names)
  end
  local found = #words == 1 and M.get(words[1])
  return found and found.complete and found.complete(lead) or {}
end

---The task that the words name, or nothing. More than one word was meant as a sentence.
---@param name string
---@param given legwork.Invocation
---@param run fun(task?: string)
function M.with_task(name, given, run)
  if #given.words > 1 then
    require('legwork.message').fail(
      ('`%s` takes one task; for a task in words: :Legwork delegate %s %s'):format(name, name, given.text)
    )
    return
  end
  run(given.words[1] and require('legwork.tasks').named(given.words[1]))
end

---The task that is meant where none is named: the one of the hunk under the cursor, of the buffer, or the newest that
---fits.
---@param fits? fun(task: legwork.Task): boolean
---@return string?
function M.likely_task(fits)
  local hunk = require('legwork.hunks').under_cursor()
  if hunk then
    return hunk.task
  end
  local uri = require('legwork.content').parse(vim.api.nvim_buf_get_name(0))
  if uri then
    return uri.task
  end
  for _, task in ipairs(require('legwork.tasks').all()) do
    if not fits or fits(task) then
      return task.task
    end
  end
  return nil
end

return M
