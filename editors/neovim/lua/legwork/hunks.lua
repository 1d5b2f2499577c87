-- The hunks that wait in each buffer, as the server last told them and as the text has moved them since.

local M = {}

---How long a newer message is waited for when one came for a text that is gone.
local PATIENCE_MS = 250

---@class legwork.Sheet
---@field list legwork.Hunk[]
---@field drawn table<string, legwork.Drawn>
---@field tick? integer of the last change of the text since it was opened
---@field asked boolean whether the server will be asked for a newer list
---@field stale boolean whether the last message was about a text that is gone

---@type table<integer, legwork.Sheet>
local sheets = {}

---@param buf integer
local function changed(buf)
  require('legwork.keys').refresh(buf)
  vim.api.nvim_exec_autocmds('User', { pattern = 'LegworkHunks', modeline = false, data = { buf = buf } })
end

---Follows the versions of a buffer's text. The server knows them by the same numbers.
---@param buf integer
function M.watch(buf)
  if sheets[buf] then
    -- Opened again, by a server that is new or after a reload.
    sheets[buf].tick = nil
    return
  end
  sheets[buf] = { list = {}, drawn = {}, tick = nil, asked = false, stale = false }
  vim.api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, tick)
      if not sheets[buf] then
        return true
      end
      -- A preview of a substitution has no tick: it is no change.
      sheets[buf].tick = tick or sheets[buf].tick
    end,
    on_reload = function()
      if sheets[buf] then
        sheets[buf].tick = nil
      end
    end,
    on_detach = function()
      sheets[buf] = nil
    end,
  })
end

---The buffer that the server means. It passes back the name that we gave.
---@param uri string
---@return integer?
local function find(uri)
  for buf in pairs(sheets) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.uri_from_bufnr(buf) == uri then
      return buf
    end
  end
  return nil
end

---@param buf integer
---@param hunks legwork.Hunk[]
local function show(buf, hunks)
  local sheet = sheets[buf]
  sheet.list = hunks
  sheet.drawn = require('legwork.render.marks').update(buf, sheet.drawn, hunks)
  changed(buf)
end

---@param buf integer
local function ask(buf)
  local sheet = sheets[buf]
  if sheet.asked then
    return
  end
  sheet.asked = true
  vim.defer_fn(function()
    if sheets[buf] ~= sheet then
      return
    end
    sheet.asked = false
    if sheet.stale and require('legwork.lsp').client() then
      require('legwork.call').request('legwork/hunks', { uri = vim.uri_from_bufnr(buf) }, M.receive)
    end
  end, PATIENCE_MS)
end

---@param params legwork.HunksParams
function M.receive(params)
  params = require('legwork.call').without_null(params)
  local buf = find(params.uri)
  if not buf then
    return
  end
  local sheet = sheets[buf]
  sheet.stale = params.version ~= nil and sheet.tick ~= nil and params.version < sheet.tick
  if not sheet.stale then
    show(buf, params.hunks)
    return
  end
  -- Lines of a text that is gone. What is drawn has moved with the text and stays; what is decided goes at once.
  local here = {}
  for _, hunk in ipairs(params.hunks) do
    here[hunk.hunk] = true
  end
  local marks = require('legwork.render.marks')
  sheet.list = vim.tbl_filter(function(hunk)
    if not here[hunk.hunk] then
      marks.remove(buf, sheet.drawn[hunk.hunk])
      sheet.drawn[hunk.hunk] = nil
    end
    return here[hunk.hunk]
  end, sheet.list)
  changed(buf)
  ask(buf)
end

---The server is gone: nothing that is drawn could be decided on.
function M.forget_all()
  for buf, sheet in pairs(sheets) do
    sheet.tick = nil
    if #sheet.list > 0 and vim.api.nvim_buf_is_loaded(buf) then
      show(buf, {})
    end
  end
end

---@param buf integer
---@return legwork.Hunk[]
function M.of(buf)
  return sheets[buf] and sheets[buf].list or {}
end

---@param buf integer
---@return legwork.Placed[]
function M.placed(buf)
  local marks = require('legwork.render.marks')
  return vim.tbl_map(function(hunk)
    return { hunk = hunk, place = marks.place(buf, sheets[buf].drawn[hunk.hunk]) }
  end, M.of(buf))
end

---The hunk that the cursor of the current window means.
---@return legwork.Hunk?
function M.under_cursor()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  return require('legwork.hunk').at(M.placed(vim.api.nvim_get_current_buf()), row)
end

---@return string[]
function M.names()
  local names = {}
  for _, sheet in pairs(sheets) do
    for _, hunk in ipairs(sheet.list) do
      table.insert(names, hunk.hunk)
    end
  end
  table.sort(names)
  return names
end

return M
