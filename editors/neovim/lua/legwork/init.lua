-- What users and other plug-ins may call. Everything else is ours to change.

local M = {}

---Words for a status line, such as `legwork: 2 running, 1 ready`; empty when there is nothing to say.
---@return string
function M.status()
  -- A status line is drawn often and early: nothing is loaded for it.
  local tasks = package.loaded['legwork.tasks']
  return tasks and tasks.status() or ''
end

---The tasks of this Neovim's workspaces, newest first.
---@return legwork.Task[]
function M.tasks()
  return require('legwork.tasks').all()
end

---The hunks that wait in a buffer, top to bottom.
---@param buf? integer the current one if left out
---@return legwork.Hunk[]
function M.hunks(buf)
  return require('legwork.hunks').of(buf or vim.api.nvim_get_current_buf())
end

---Hands over a task in words.
---@param text string
---@param lines? { first: integer, last: integer } from 1; else where the cursor is
function M.delegate(text, lines)
  local range = lines and { first = lines.first, last = lines.last, visual = false }
  require('legwork.commands.delegate').send(text, range)
end

return M
