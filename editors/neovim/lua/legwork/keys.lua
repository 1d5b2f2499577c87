-- Keys: `<Plug>` names for everything, and a few real keys where nobody else has them.

local M = {}

---@class legwork.Key
---@field plug string
---@field modes string[]
---@field command string
---@field lhs? string mapped by default if it is free
---@field everywhere? boolean mapped in all buffers, not only where hunks can wait

---@type legwork.Key[]
M.list = {
  { plug = 'delegate', modes = { 'n', 'x' }, command = 'delegate', lhs = '<leader>ld', everywhere = true },
  { plug = 'next', modes = { 'n' }, command = 'next', lhs = ']h' },
  { plug = 'prev', modes = { 'n' }, command = 'prev', lhs = '[h' },
  { plug = 'accept', modes = { 'n', 'x' }, command = 'accept', lhs = '<leader>ly' },
  { plug = 'reject', modes = { 'n', 'x' }, command = 'reject', lhs = '<leader>lx' },
  { plug = 'accept-file', modes = { 'n' }, command = 'accept-file', lhs = '<leader>lf' },
  { plug = 'reject-file', modes = { 'n' }, command = 'reject-file' },
  { plug = 'accept-task', modes = { 'n' }, command = 'accept-task', lhs = '<leader>lA' },
  { plug = 'reject-task', modes = { 'n' }, command = 'reject-task' },
  { plug = 'review', modes = { 'n' }, command = 'review', lhs = '<leader>lr' },
  { plug = 'tasks', modes = { 'n' }, command = 'tasks' },
  { plug = 'log', modes = { 'n' }, command = 'log' },
  { plug = 'diff', modes = { 'n' }, command = 'diff' },
  { plug = 'undo', modes = { 'n' }, command = 'undo' },
  { plug = 'cancel', modes = { 'n' }, command = 'cancel' },
  { plug = 'retry', modes = { 'n' }, command = 'retry' },
  { plug = 'new', modes = { 'n' }, command = 'new' },
}

---@param key legwork.Key
---@return string
local function description(key)
  return 'Legwork: ' .. key.command
end

---@param key legwork.Key
---@return string
local function plug(key)
  return ('<Plug>(legwork-%s)'):format(key.plug)
end

function M.plugs()
  for _, key in ipairs(M.list) do
    for _, mode in ipairs(key.modes) do
      -- In visual mode the colon brings the selected lines along.
      local rhs = (mode == 'n' and '<Cmd>Legwork %s<CR>' or ':Legwork %s<CR>'):format(key.command)
      vim.keymap.set(mode, plug(key), rhs, { silent = true, desc = description(key) })
    end
  end
end

---Whether nothing is mapped to it, to its beginning, or to what it begins.
---@param lhs string
---@param mode string
---@return boolean
local function is_free(lhs, mode)
  return vim.fn.mapcheck(lhs, mode) == ''
end

---@param key legwork.Key
---@param lhs string
---@param buf? integer
local function map(key, lhs, buf)
  for _, mode in ipairs(key.modes) do
    if is_free(lhs, mode) then
      vim.keymap.set(mode, lhs, plug(key), { buffer = buf, remap = true, desc = description(key) })
    end
  end
end

---@param key legwork.Key
---@param lhs string
---@param buf integer
local function unmap(key, lhs, buf)
  for _, mode in ipairs(key.modes) do
    local mapping = vim.fn.maparg(lhs, mode, false, true) --[[@as table<string, any>]]
    if mapping.buffer == 1 and mapping.rhs == plug(key) then
      vim.keymap.del(mode, lhs, { buffer = buf })
    end
  end
end

---Keys that are not mapped because somebody else has them, as sentences.
---@return string[]
function M.clashes()
  local clashes = {}
  for _, key in ipairs(M.list) do
    local lhs = key.lhs
    for _, mode in ipairs(lhs and key.modes or {}) do
      local taken = vim.fn.mapcheck(lhs or '', mode)
      if taken ~= '' and not vim.startswith(taken, '<Plug>(legwork-') then
        local what = '%s in mode %s is taken by %s; map %s yourself'
        table.insert(clashes, what:format(lhs, mode, taken, plug(key)))
      end
    end
  end
  return clashes
end

---Maps what is for all buffers.
function M.global()
  if not require('legwork.config').get().keymaps then
    return
  end
  for _, key in ipairs(M.list) do
    if key.lhs and key.everywhere then
      map(key, key.lhs)
    end
  end
end

---Maps or unmaps what is for buffers in which hunks can wait. They are there before any hunk is: a key that does something
---else until a task is ready would do the wrong thing at the wrong moment. Without a hunk they say so.
---@param buf integer
---@param wanted boolean
function M.refresh(buf, wanted)
  if wanted == (vim.b[buf].legwork_keys == true) then
    return
  end
  if wanted and not require('legwork.config').get().keymaps then
    return
  end
  vim.b[buf].legwork_keys = wanted
  vim.api.nvim_buf_call(buf, function()
    for _, key in ipairs(M.list) do
      if key.lhs and not key.everywhere then
        if wanted then
          map(key, key.lhs, buf)
        else
          unmap(key, key.lhs, buf)
        end
      end
    end
  end)
end

return M
