-- Draws hunks as extmarks. They move with the text by themselves; only what looks or stands otherwise is drawn again, so
-- that nothing flickers while someone types.

local hunk_of = require('legwork.hunk')

local M = {}

M.namespace = vim.api.nvim_create_namespace('legwork')

---Cells of colour behind a line's end; the window cuts them.
local PAD = (' '):rep(300)

---One drawn hunk: the mark over its rows, and the mark that its new lines hang on.
---@class legwork.Drawn
---@field hunk legwork.Hunk
---@field place legwork.Place
---@field rows integer
---@field lines integer

---@alias legwork.Chunk { [1]: string, [2]: string }

---The lines that are shown below a hunk's rows.
---@param hunk legwork.Hunk
---@param place legwork.Place
---@param tabstop integer
---@param limit integer
---@return legwork.Chunk[][]
function M.lines(hunk, place, tabstop, limit)
  local which, warning, words = hunk_of.header(hunk, place.on_top)
  local header = { { which .. ' · ', 'LegworkHeader' } }
  if warning ~= '' then
    table.insert(header, { warning, 'LegworkWarning' })
    table.insert(header, { ' · ', 'LegworkHeader' })
  end
  table.insert(header, { words, 'LegworkHeader' })
  local lines = { header }
  local group = hunk.state == 'conflicted' and 'LegworkConflict' or 'LegworkAdd'
  for index, text in ipairs(hunk.added) do
    if index > limit then
      local more = ('… %d more lines, see :Legwork diff'):format(#hunk.added - limit)
      table.insert(lines, { { more, 'LegworkHeader' } })
      break
    end
    table.insert(lines, { { hunk_of.expand(text, tabstop), group }, { PAD, group } })
  end
  return lines
end

---@param buf integer
---@param row integer
---@return integer
local function length(buf, row)
  return #(vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or '')
end

---@param buf integer
---@param hunk legwork.Hunk
---@param place legwork.Place
---@param old? legwork.Drawn whose marks are used again
---@return legwork.Drawn
local function draw(buf, hunk, place, old)
  local conflicted = hunk.state == 'conflicted'
  local sign, sign_group = require('legwork.render.signs').of(hunk_of.kind(hunk))
  local rows = vim.api.nvim_buf_set_extmark(buf, M.namespace, place.first, 0, {
    id = old and old.rows,
    -- The last row itself and not the row after it, which would get the sign too.
    end_row = place.last,
    end_col = length(buf, place.last),
    line_hl_group = place.replaces and (conflicted and 'LegworkConflict' or 'LegworkDelete') or nil,
    sign_text = sign,
    sign_hl_group = sign_group,
    priority = 200,
    -- Rows that are deleted take their marks with them, and an undo brings both back.
    invalidate = true,
    undo_restore = true,
  })
  local limit = require('legwork.config').get().hunk_lines
  local lines = vim.api.nvim_buf_set_extmark(buf, M.namespace, place.last, 0, {
    id = old and old.lines,
    virt_lines = M.lines(hunk, place, vim.bo[buf].tabstop, limit),
    priority = 200,
    invalidate = true,
    undo_restore = true,
  })
  return { hunk = hunk, place = place, rows = rows, lines = lines }
end

---@param buf integer
---@param id integer
---@return integer? row
---@return boolean valid
local function row_of(buf, id)
  local mark = vim.api.nvim_buf_get_extmark_by_id(buf, M.namespace, id, { details = true })
  local details = mark[3]
  return mark[1], details ~= nil and not details.invalid
end

---Where a drawn hunk stands by now, as far as its marks know.
---@param buf integer
---@param drawn legwork.Drawn
---@return legwork.Place
---@return boolean seen
function M.place(buf, drawn)
  local first, rows_seen = row_of(buf, drawn.rows)
  local last, lines_seen = row_of(buf, drawn.lines)
  if not first or not last then
    return drawn.place, false
  end
  local place = {
    first = first,
    last = math.max(first, last),
    replaces = drawn.place.replaces,
    on_top = drawn.place.on_top,
  }
  return place, rows_seen and lines_seen
end

---Whether it is seen, and seen there.
---@param buf integer
---@param drawn legwork.Drawn
---@param place legwork.Place
---@return boolean
function M.stands(buf, drawn, place)
  local now, seen = M.place(buf, drawn)
  return seen and vim.deep_equal(now, place)
end

---@param buf integer
---@param drawn legwork.Drawn
function M.remove(buf, drawn)
  vim.api.nvim_buf_del_extmark(buf, M.namespace, drawn.rows)
  vim.api.nvim_buf_del_extmark(buf, M.namespace, drawn.lines)
end

---Makes the buffer show these hunks. Gives what is drawn now and how much was drawn anew.
---@param buf integer
---@param old table<string, legwork.Drawn> by name
---@param hunks legwork.Hunk[]
---@return table<string, legwork.Drawn>
---@return integer
function M.update(buf, old, hunks)
  require('legwork.render.groups')
  for _, name in ipairs(hunk_of.gone(old, hunks)) do
    M.remove(buf, old[name])
  end
  local now, count = {}, 0
  local rows = vim.api.nvim_buf_line_count(buf)
  for _, hunk in ipairs(hunks) do
    local before = old[hunk.hunk]
    local place = hunk_of.place(hunk, rows)
    if before and hunk_of.same_look(before.hunk, hunk) and M.stands(buf, before, place) then
      now[hunk.hunk] = { hunk = hunk, place = place, rows = before.rows, lines = before.lines }
    else
      count = count + 1
      now[hunk.hunk] = draw(buf, hunk, place, before)
    end
  end
  return now, count
end

return M
