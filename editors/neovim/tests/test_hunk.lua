local child = require('child')
local hunk = require('legwork.hunk')
local t = require('harness')

---@param given table
local function at(given, rows)
  return hunk.place(child.hunk(given), rows)
end

t.test('replaced rows are the hunk, and never more than there are', function()
  t.eq(at({ start = 1, removed = { 'a', 'b' } }, 5), { first = 1, last = 2, replaces = true, on_top = false })
  t.eq(at({ start = 3, removed = { 'a', 'b', 'c' } }, 5).last, 4)
  t.eq(at({ start = 9, removed = { 'a' } }, 5), { first = 4, last = 4, replaces = true, on_top = false })
  t.eq(at({ start = 0, removed = { 'a' } }, 0), { first = 0, last = 0, replaces = true, on_top = false })
end)

t.test('an insertion hangs below the row before it, above the first one below that', function()
  t.eq(at({ start = 3 }, 5), { first = 2, last = 2, replaces = false, on_top = false })
  t.eq(at({ start = 5 }, 5), { first = 4, last = 4, replaces = false, on_top = false })
  t.eq(at({ start = 99 }, 5).first, 4)
  t.eq(at({ start = 0 }, 5), { first = 0, last = 0, replaces = false, on_top = true })
end)

t.test('the cursor means the hunk it is on before one that is near', function()
  ---@type legwork.Placed[]
  local placed = {}
  ---@type table<string, any>[]
  local hunks = {
    { start = 1, removed = {} },
    { start = 1, removed = { 'x', 'y' } },
    { start = 5, removed = {} },
    { start = 0, removed = {} },
  }
  for index, given in ipairs(hunks) do
    given.number = index
    local item = child.hunk(given)
    table.insert(placed, { hunk = item, place = hunk.place(item, 10) })
  end
  local function number(row)
    local found = hunk.at(placed, row)
    return found and found.number
  end
  t.eq(number(0), 1)
  t.eq(number(1), 2)
  t.eq(number(2), 2)
  t.eq(number(3), nil)
  t.eq(number(4), 3)
  t.eq(number(5), 3, 'the row that an insertion comes before')
  t.eq(number(6), nil)
  local within = vim.tbl_map(function(item)
    return item.number
  end, hunk.within(placed, 2, 4))
  t.eq(within, { 2, 3 })
end)

t.test('what looks alike is not drawn again, what does not is', function()
  local one = child.hunk({ start = 3, removed = { 'a' }, added = { 'b' } })
  local function same(change)
    return hunk.same_look(one, vim.tbl_extend('force', one, change) --[[@as legwork.Hunk]])
  end
  t.eq(same({ start = 7, ['end'] = 8 }), true)
  t.eq(same({ state = 'conflicted' }), false)
  t.eq(same({ added = { 'c' } }), false)
  t.eq(same({ running = true }), false)
  t.eq(same({ of = 2 }), false)
  t.eq(same({ removed = { 'a', 'b' } }), false)
end)

t.test('tabs become blanks up to the next stop', function()
  t.eq(hunk.expand('a\tb', 4), 'a   b')
  t.eq(hunk.expand('\t\tx', 8), (' '):rep(16) .. 'x')
  t.eq(hunk.expand('äö\tx', 4), 'äö  x')
  t.eq(hunk.expand('日\tx', 4), '日  x')
  t.eq(hunk.expand('end\t', 4), 'end ')
  t.eq(hunk.expand('none', 4), 'none')
end)

t.test('the header says what lines do not show', function()
  local which, warning, words = hunk.header(
    require('legwork.call').without_null(child.hunk({
      number = 2,
      of = 3,
      state = 'conflicted',
      sensitive = 'runs in CI',
      running = true,
      whole = 'mode',
      summary = 'becomes executable',
    })),
    false
  )
  t.eq(which, 'legwork 2/3')
  t.eq(words, 'add tests · file mode changed · becomes executable')
  t.eq(warning, 'conflicted: the text here has changed since · sensitive: runs in CI · still changing')
end)

t.test('hunks that are gone are found by name', function()
  t.eq(hunk.gone({ a = 1, b = 2 }, { child.hunk({ hunk = 'b' }) }), { 'a' })
end)
