-- Accepting and rejecting. What is decided on is always what the user sees: without a hunk under the cursor nothing is.

local M = {}

---Does one after the other: the second is placed in the text that the first leaves.
---@param count integer
---@param run fun(index: integer, go_on: fun())
local function in_turn(count, run)
  local index = 0
  local function go_on()
    index = index + 1
    if index <= count then
      run(index, go_on)
    end
  end
  go_on()
end

---@param verdict 'accept'|'reject'
---@param names string[]
local function one_by_one(verdict, names)
  in_turn(#names, function(index, go_on)
    require('legwork.call').command(verdict, { hunk = names[index] }, go_on)
  end)
end

---@param verdict 'accept'|'reject'
---@param given legwork.Invocation
function M.hunks(verdict, given)
  local hunks = require('legwork.hunks')
  local buf = vim.api.nvim_get_current_buf()
  if given.text ~= '' then
    -- A name holds a path, and a path may hold blanks.
    one_by_one(verdict, { given.text })
    return
  end
  local waiting = require('legwork.content').waiting(buf)
  if #waiting > 0 then
    one_by_one(verdict, waiting)
    return
  end
  local meant
  if given.range then
    meant = require('legwork.hunk').within(hunks.placed(buf), given.range.first - 1, given.range.last - 1)
  else
    meant = { hunks.under_cursor() }
  end
  if #meant == 0 then
    local there = #hunks.of(buf) > 0 and '; :Legwork next goes to the next one' or ''
    require('legwork.message').say('no hunk here' .. there)
    return
  end
  one_by_one(
    verdict,
    vim.tbl_map(function(hunk)
      return hunk.hunk
    end, meant)
  )
end

---@param verdict 'accept'|'reject'
function M.file(verdict)
  local buf = vim.api.nvim_get_current_buf()
  local call = require('legwork.call')
  local waiting = require('legwork.content').waiting(buf)
  if waiting[1] then
    call.command(verdict .. 'File', { hunk = waiting[1] })
    return
  end
  ---@type string[]
  local tasks = {}
  for _, hunk in ipairs(require('legwork.hunks').of(buf)) do
    if not vim.list_contains(tasks, hunk.task) then
      table.insert(tasks, hunk.task)
    end
  end
  if #tasks == 0 then
    require('legwork.message').say('nothing waits in this file')
    return
  end
  local uri = vim.uri_from_bufnr(buf)
  in_turn(#tasks, function(index, go_on)
    call.command(verdict .. 'File', { task = tasks[index], uri = uri }, go_on)
  end)
end

---@param verdict 'accept'|'reject'
---@param given legwork.Invocation
function M.task(verdict, given)
  local commands = require('legwork.commands')
  commands.with_task(verdict .. '-task', given, function(task)
    task = task or commands.likely_task(function(other)
      return other.pending > 0
    end)
    if not task then
      require('legwork.message').say('no task waits for a decision')
      return
    end
    require('legwork.call').command(verdict .. 'Task', { task = task })
  end)
end

---@param lead string
---@return string[]
function M.complete(lead)
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, require('legwork.hunks').names())
end

return M
