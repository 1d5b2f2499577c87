local child = require('child')
local t = require('harness')

local CHANGE = { start = 1, removed = { 'two' }, added = { 'zwei', 'drei' } }

---The extmarks that show hunks, in order.
---@param nvim legwork.Child
---@return any
local function marks(nvim)
  return nvim:lua([[
    local marks = require('legwork.render.marks')
    return vim.api.nvim_buf_get_extmarks(0, marks.namespace, 0, -1, { details = true })
  ]])
end

---@param nvim legwork.Child
---@return integer
local function first_row(nvim)
  return marks(nvim)[1][2] --[[@as integer]]
end

---@param nvim legwork.Child
---@param count integer
local function wait_marks(nvim, count)
  nvim:wait([[#vim.api.nvim_buf_get_extmarks(0, require('legwork.render.marks').namespace, 0, -1, {})]], count)
end

---Rows of the screen that hold the text, from 1.
---@param nvim legwork.Child
---@param part string
---@return integer?
local function row(nvim, part)
  for index, line in ipairs(nvim:screen()) do
    if line:find(part, 1, true) then
      return index
    end
  end
  return nil
end

t.test('a change is seen: old lines marked, new ones below, a sign beside', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:hunks('a.txt', { CHANGE })
  wait_marks(nvim, 2)
  local screen = nvim:screen()
  t.eq(screen[1], '  one')
  t.eq(screen[2], '~ two')
  t.eq(screen[3], '  legwork 1/1 · add tests')
  t.eq(screen[4], '  zwei')
  t.eq(screen[5], '  drei')
  t.eq(screen[6], '  three', 'no sign beside the row after the hunk')
  local mark = vim.tbl_filter(function(item)
    return item[4].line_hl_group ~= nil
  end, marks(nvim))[1]
  t.eq({ mark[2], mark[4].end_row, mark[4].line_hl_group }, { 1, 1, 'LegworkDelete' })
  local red, green = nvim:lua('return vim.fn.screenattr(2, 5)'), nvim:lua('return vim.fn.screenattr(4, 60)')
  t.eq(red ~= nvim:lua('return vim.fn.screenattr(1, 5)'), true, 'the old line has a colour')
  t.eq(green ~= nvim:lua('return vim.fn.screenattr(1, 60)'), true, 'the new line has a colour up to the edge')
  t.eq(nvim:get('vim.api.nvim_get_hl(0, { name = "LegworkAdd" }).link'), 'DiffAdd')
end)

t.test('insertions and deletions at every edge are seen', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:hunks('a.txt', {
    { start = 0, added = { 'zero' } },
    { start = 3, removed = { 'four' } },
    { start = 5, added = { 'six' } },
  })
  wait_marks(nvim, 6)
  local screen = nvim:screen()
  t.eq(screen[1], '+ one')
  t.eq(screen[2], '  legwork 1/3 · add tests · comes above this line')
  t.eq(screen[3], '  zero')
  t.eq(row(nvim, '- four'), 6)
  t.eq(row(nvim, '+ five'), 8)
  t.eq(row(nvim, '  six'), 10)
end)

t.test('a new file that is empty shows what it would hold', function()
  local nvim = child.start({ open = 'a.txt', files = { ['a.txt'] = '' } })
  nvim:hunks('a.txt', { { start = 0, added = { 'first' } } })
  wait_marks(nvim, 2)
  t.eq(row(nvim, '  first'), 3)
end)

t.test('what hinders an accept is said', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:hunks('a.txt', {
    { start = 0, removed = { 'one' }, added = { 'eins' }, state = 'conflicted' },
    { start = 2, removed = { 'three' }, sensitive = 'it runs at build' },
    { start = 4, removed = { 'five' }, added = { '5' }, running = true },
  })
  wait_marks(nvim, 6)
  local seen = nvim:seen()
  t.has(seen, '! one')
  t.has(seen, 'conflicted: the text here has changed since')
  t.has(seen, 'sensitive: it runs at build')
  t.has(seen, 'still changing')
  local groups = vim.tbl_map(function(mark)
    return mark[4].line_hl_group or ''
  end, marks(nvim))
  t.eq(vim.list_contains(groups, 'LegworkConflict'), true)
end)

t.test('a change without lines is said in words', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:hunks('a.txt', { { start = 0, whole = 'deleted', summary = 'nobody reads it' } })
  wait_marks(nvim, 2)
  t.has(nvim:seen(), 'file deleted · nobody reads it')
end)

t.test('long hunks are cut, and say by how much', function()
  local nvim = child.start({ open = 'a.txt', settings = { hunk_lines = 2, signs = false } })
  nvim:hunks('a.txt', { { start = 1, added = { 'x1', 'x2', 'x3', 'x4', '\ttab' } } })
  wait_marks(nvim, 2)
  t.eq(vim.list_slice(nvim:screen(), 1, 5), {
    'one',
    'legwork 1/1 · add tests',
    'x1',
    'x2',
    '… 3 more lines, see :Legwork diff',
  })
end)

t.test('only what changed is drawn again', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:lua([[
    local marks = require('legwork.render.marks')
    local update = marks.update
    counts = {}
    marks.update = function(...)
      local drawn, count = update(...)
      table.insert(counts, count)
      return drawn, count
    end
  ]])
  local second = { start = 3, removed = { 'four' }, added = { 'vier' } }
  nvim:hunks('a.txt', { CHANGE, second })
  nvim:hunks('a.txt', { CHANGE, second })
  second.added = { 'VIER' }
  nvim:hunks('a.txt', { CHANGE, second })
  nvim:lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'new' })")
  CHANGE.start, second.start = 2, 4
  nvim:hunks('a.txt', { CHANGE, second }, nvim:get('vim.b.changedtick'))
  CHANGE.start = 1
  nvim:hunks('a.txt', {}, nvim:get('vim.b.changedtick'))
  t.eq(nvim:get('counts'), { 2, 0, 1, 0, 0 })
  wait_marks(nvim, 0)
end)

t.test('hunks move with the text, and a message about an older text moves none', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:hunks('a.txt', { CHANGE, { start = 3, removed = { 'four' } } }, 0)
  wait_marks(nvim, 4)
  nvim:lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'new', 'newer' })")
  t.eq(first_row(nvim), 3)
  nvim:hunks('a.txt', { CHANGE }, 0)
  wait_marks(nvim, 2)
  t.eq(first_row(nvim), 3, 'the old line number is not believed')
  t.eq(#nvim:wait_calls('legwork/hunks'), 1, 'a newer list is asked for')
end)

t.test('rows that are deleted hide their hunk, and an undo brings it back', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:hunks('a.txt', { CHANGE })
  wait_marks(nvim, 2)
  nvim:cmd('2delete')
  t.lacks(nvim:seen(), 'zwei')
  nvim:cmd('undo')
  t.has(nvim:seen(), 'zwei')
  t.eq(nvim:screen()[2], '~ two')
end)

t.test('two windows and a buffer that is hidden', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:cmd('edit b.txt')
  nvim:hunks('a.txt', { CHANGE })
  nvim:lua('vim.wait(50)')
  t.lacks(nvim:seen(), 'zwei')
  nvim:cmd('edit a.txt')
  t.has(nvim:seen(), 'zwei')
end)

t.test('hunks are told to who wants to know', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:lua([[
    vim.api.nvim_create_autocmd('User', {
      pattern = 'LegworkHunks',
      callback = function(event)
        told = { event.data.buf, #require('legwork').hunks(event.data.buf) }
      end,
    })
  ]])
  nvim:hunks('a.txt', { CHANGE })
  nvim:wait('told', { nvim:get('vim.api.nvim_get_current_buf()'), 1 })
end)
