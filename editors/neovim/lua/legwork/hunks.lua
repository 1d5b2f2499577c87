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

---@type table<integer, legwork.Sheet?>
local sheets = {}

---@param buf integer
local function changed(buf)
  vim.api.nvim_exec_autocmds('User', { pattern = 'LegworkHunks', modeline = false, data = { buf = buf } })
end

---Follows the versions of a buffer's text. The server knows them by the same numbers.
---@param buf integer
function M.watch(buf)
  require('legwork.keys').refresh(buf, true)
  local known = sheets[buf]
  if known then
    -- Opened again, by a server that is new or after a reload.
    known.tick = nil
    return
  end
  ---@type legwork.Sheet
  local sheet = { list = {}, drawn = {}, tick = nil, asked = false, stale = false }
  sheets[buf] = sheet
  vim.api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, tick)
      if sheets[buf] ~= sheet then
        return true
      end
      -- A preview of a substitution has no tick: it is no change.
      sheet.tick = tick or sheet.tick
    end,
    on_reload = function()
      sheet.tick = nil
    end,
    on_detach = function()
      if sheets[buf] == sheet then
        sheets[buf] = nil
      end
    end,
  })
end

---The buffer that the server means. It passes back the name that we gave.
---@param uri string
---@return integer? buf
---@return legwork.Sheet?
local function find(uri)
  for buf, sheet in pairs(sheets) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.uri_from_bufnr(buf) == uri then
      return buf, sheet
    end
  end
  return nil, nil
end

---@param buf integer
---@param sheet legwork.Sheet
---@param hunks legwork.Hunk[]
local function show(buf, sheet, hunks)
  sheet.list = hunks
  sheet.drawn = require('legwork.render.marks').update(buf, sheet.drawn, hunks)
  changed(buf)
end

---@param buf integer
---@param sheet legwork.Sheet
local function ask(buf, sheet)
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
  local buf, sheet = find(params.uri)
  if not buf or not sheet then
    return
  end
  sheet.stale = params.version ~= nil and sheet.tick ~= nil and params.version < sheet.tick
  if not sheet.stale then
    show(buf, sheet, params.hunks)
    return
  end
  -- Lines of a text that is gone. What is drawn has moved with the text and stays; what is decided goes at once.
  local here = {}
  for _, hunk in ipairs(params.hunks) do
    here[hunk.hunk] = true
  end
  local marks = require('legwork.render.marks')
  sheet.list = vim.tbl_filter(function(hunk)
    local drawn = sheet.drawn[hunk.hunk]
    if not here[hunk.hunk] and drawn then
      marks.remove(buf, drawn)
      sheet.drawn[hunk.hunk] = nil
    end
    return here[hunk.hunk] == true
  end, sheet.list)
  changed(buf)
  ask(buf, sheet)
end

---The server is gone: nothing that is drawn could be decided on.
function M.forget_all()
  for buf, sheet in pairs(sheets) do
    sheet.tick = nil
    if #sheet.list > 0 and vim.api.nvim_buf_is_loaded(buf) then
      show(buf, sheet, {})
    end
  end
end

---@param buf integer
---@return legwork.Hunk[]
function M.of(buf)
  local sheet = sheets[buf]
  return sheet and sheet.list or {}
end

---@param buf integer
---@return legwork.Placed[]
function M.placed(buf)
  local marks = require('legwork.render.marks')
  local sheet = sheets[buf]
  if not sheet then
    return {}
  end
  return vim.tbl_map(function(hunk)
    return { hunk = hunk, place = (marks.place(buf, sheet.drawn[hunk.hunk])) }
  end, sheet.list)
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
