-- Hunk maths: where a hunk stands in a buffer, what is under the cursor, what changed since it was drawn. Nothing here
-- touches a buffer; rows count from 0.

local M = {}

---Where a hunk stands.
---@class legwork.Place
---@field first integer the first replaced row; of an insertion, the row it is drawn below
---@field last integer the last replaced row; of an insertion, `first`
---@field replaces boolean whether the rows `first` to `last` would go
---@field on_top boolean an insertion above the first row: it is drawn below it, because nothing can be seen above

---@param hunk legwork.Hunk
---@param rows integer rows of the buffer
---@return legwork.Place
function M.place(hunk, rows)
  local bottom = math.max(rows, 1) - 1
  local from, to = hunk.start, hunk['end']
  if to > from then
    return {
      first = math.min(from, bottom),
      last = math.min(to - 1, bottom),
      replaces = true,
      on_top = false,
    }
  end
  local row = math.max(math.min(from - 1, bottom), 0)
  return { first = row, last = row, replaces = false, on_top = from == 0 }
end

---@alias legwork.Kind 'conflicted'|'whole'|'insert'|'delete'|'change'

---@param hunk legwork.Hunk
---@return legwork.Kind
function M.kind(hunk)
  if hunk.state == 'conflicted' then
    return 'conflicted'
  elseif #hunk.added == 0 and #hunk.removed == 0 then
    return 'whole'
  elseif #hunk.removed == 0 then
    return 'insert'
  elseif #hunk.added == 0 then
    return 'delete'
  end
  return 'change'
end

---@class legwork.Placed
---@field hunk legwork.Hunk
---@field place legwork.Place

---How near a hunk is to the row: 1 on it, 2 drawn right below it, 3 about to come before it; `nil` if it is not there.
---@param place legwork.Place
---@param row integer
---@return integer?
local function nearness(place, row)
  if place.replaces then
    return row >= place.first and row <= place.last and 1 or nil
  end
  if row == place.first then
    return 2
  end
  return not place.on_top and row == place.first + 1 and 3 or nil
end

---The hunk that a cursor on that row means.
---@param placed legwork.Placed[]
---@param row integer
---@return legwork.Hunk?
function M.at(placed, row)
  local best, hunk
  for _, item in ipairs(placed) do
    local near = nearness(item.place, row)
    if near and (not best or near < best) then
      best, hunk = near, item.hunk
    end
  end
  return hunk
end

---The hunks that a selection of rows touches, top to bottom.
---@param placed legwork.Placed[]
---@param first integer
---@param last integer
---@return legwork.Hunk[]
function M.within(placed, first, last)
  local hunks = {}
  for _, item in ipairs(placed) do
    if item.place.first <= last and item.place.last >= first then
      table.insert(hunks, item.hunk)
    end
  end
  return hunks
end

---Whether the two are drawn alike, wherever they stand.
---@param one legwork.Hunk
---@param other legwork.Hunk
---@return boolean
function M.same_look(one, other)
  for _, key in ipairs({ 'title', 'number', 'of', 'state', 'whole', 'summary', 'sensitive', 'running' }) do
    if one[key] ~= other[key] then
      return false
    end
  end
  return vim.deep_equal(one.added, other.added) and #one.removed == #other.removed
end

---Names in `old` that are not in `new`.
---@param old table<string, any>
---@param new legwork.Hunk[]
---@return string[]
function M.gone(old, new)
  local here = {}
  for _, hunk in ipairs(new) do
    here[hunk.hunk] = true
  end
  local gone = {}
  for name in pairs(old) do
    if not here[name] then
      table.insert(gone, name)
    end
  end
  return gone
end

---The text with its tabs as spaces: virtual text has no tab stops.
---@param line string
---@param tabstop integer
---@return string
function M.expand(line, tabstop)
  if not line:find('\t', 1, true) then
    return line
  end
  local out, width = {}, 0
  for piece, tab in line:gmatch('([^\t]*)(\t?)') do
    table.insert(out, piece)
    width = width + vim.fn.strdisplaywidth(piece)
    if tab ~= '' then
      local fill = tabstop - width % tabstop
      table.insert(out, (' '):rep(fill))
      width = width + fill
    end
  end
  return table.concat(out)
end

---What is said above a hunk's new lines. A window cuts it at its edge, so what warns comes before what is nice to know.
---@param hunk legwork.Hunk
---@param on_top boolean
---@return string which
---@return string warning empty if there is none
---@return string words
function M.header(hunk, on_top)
  local words = { hunk.title }
  if hunk.whole then
    table.insert(words, 'file ' .. (hunk.whole == 'mode' and 'mode changed' or hunk.whole))
  elseif on_top then
    table.insert(words, 'comes above this line')
  end
  if hunk.summary then
    table.insert(words, hunk.summary)
  end
  local warnings = {}
  if hunk.state == 'conflicted' then
    table.insert(warnings, 'conflicted: the text here has changed since')
  elseif hunk.state == 'applying' then
    table.insert(warnings, 'applying')
  end
  if hunk.sensitive then
    table.insert(warnings, 'sensitive: ' .. hunk.sensitive)
  end
  if hunk.running then
    table.insert(warnings, 'still changing')
  end
  local which = ('legwork %d/%d'):format(hunk.number, hunk.of)
  return which, table.concat(warnings, ' · '), table.concat(words, ' · ')
end

return M
