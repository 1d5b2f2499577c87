local child = require('child')
local t = require('harness')

local TASK = 'bcdfghjkmnpq'

---@param nvim legwork.Child
---@param path string
---@param line integer
---@param more? table
---@return table
local function stop(nvim, path, line, more)
  local uri = path:match('^legwork:') and path or vim.uri_from_fname(nvim.dir .. '/' .. path)
  local hunk = ('%s:1:%s'):format(TASK, path)
  local item =
    { hunk = hunk, task = TASK, uri = uri, line = line, title = 'add tests', state = 'pending', why = vim.NIL }
  return vim.tbl_extend('force', item, more or {})
end

local function cursor(nvim)
  return { vim.fs.basename(nvim:get('vim.api.nvim_buf_get_name(0)')), nvim:get('vim.api.nvim_win_get_cursor(0)[1]') }
end

t.test('the review is a quickfix list in the order of the server', function()
  local nvim = child.start({ open = 'a.txt', files = { ['a.txt'] = '1\n2\n3\n', ['b/c d%.txt'] = '1\n2\n3\n4\n' } })
  nvim:answer('legwork/walk', {
    result = {
      items = {
        stop(nvim, 'b/c d%.txt', 2, { why = 'it runs at build', state = 'conflicted' }),
        stop(nvim, 'a.txt', 0),
      },
    },
  })
  nvim:cmd('Legwork review')
  nvim:wait('#vim.fn.getqflist()', 2)
  t.eq(cursor(nvim), { 'c d%.txt', 3 })
  local list = nvim:get('vim.fn.getqflist({ items = 1, title = 1 })')
  t.eq(list.title, 'Legwork review')
  t.eq(list.items[1].text, 'add tests · conflicted · it runs at build')
  nvim:cmd('cnext')
  t.eq(cursor(nvim), { 'a.txt', 1 })
  nvim:keys('<C-o>')
  t.eq(nvim:wait_calls('legwork/walk'), { {} })
  nvim:tasks({ { task = TASK } })
  nvim:cmd('Legwork review bcd')
  t.eq(nvim:wait_calls('legwork/walk', 2)[2], { task = TASK })
end)

t.test('a review of nothing says so', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:answer('legwork/walk', { result = { items = {} } })
  nvim:cmd('Legwork review')
  nvim:wait_message('nothing waits for review')
end)

t.test('next and prev go where the server says, over files', function()
  local nvim = child.start({ open = 'a.txt', files = { ['a.txt'] = '1\n2\n3\n', ['b.txt'] = '1\n2\n3\n4\n' } })
  nvim:cmd('2')
  nvim:answer('legwork.next', { result = { hunk = 'x', uri = vim.uri_from_fname(nvim.dir .. '/b.txt'), line = 3 } })
  nvim:cmd('Legwork next')
  nvim:wait('vim.api.nvim_win_get_cursor(0)[1]', 4)
  t.eq(cursor(nvim), { 'b.txt', 4 })
  t.eq(nvim:calls('legwork.next'), { { uri = vim.uri_from_fname(nvim.dir .. '/a.txt'), line = 1 } })
  nvim:keys('<C-o>')
  nvim:wait('vim.api.nvim_win_get_cursor(0)[1]', 2)
  t.eq(cursor(nvim), { 'a.txt', 2 })
  nvim:cmd('Legwork prev')
  nvim:wait_calls('legwork.prev')
  t.eq(cursor(nvim), { 'a.txt', 2 }, 'where nothing waits the cursor stays')
end)

t.test('the server may show the place itself', function()
  local nvim = child.start({ open = 'a.txt', files = { ['a.txt'] = '1\n2\n3\n', ['b.txt'] = '1\n2\n3\n4\n' } })
  local uri = vim.uri_from_fname(nvim.dir .. '/b.txt')
  local selection = { start = { line = 2, character = 0 }, ['end'] = { line = 2, character = 0 } }
  local params = { uri = uri, selection = selection, takeFocus = true }
  nvim:answer('legwork.next', {
    result = { hunk = 'x', uri = uri, line = 2 },
    send = { { method = 'window/showDocument', params = params, request = true } },
  })
  nvim:cmd('Legwork next')
  nvim:wait('vim.api.nvim_win_get_cursor(0)[1]', 3)
  t.eq(cursor(nvim), { 'b.txt', 3 })
  t.eq(nvim:wait_calls('response')[1].result.success, true)
  t.eq(#nvim:get('vim.api.nvim_list_wins()'), 1)
end)

t.test('a file that does not exist yet is shown and decided on', function()
  local nvim = child.start({ open = 'a.txt' })
  local uri = 'legwork:/' .. TASK .. '/proposed/src/new%20file.rs'
  local item = stop(nvim, uri, 0, { why = 'a new file' })
  nvim:answer('legwork/walk', { result = { items = { item } } })
  nvim:answer('legwork/content', { result = { text = 'let x = 1;\r\nx\n' } })
  nvim:cmd('Legwork review')
  nvim:wait('vim.api.nvim_buf_get_lines(0, 0, -1, false)', { 'let x = 1;', 'x' })
  t.eq(nvim:get('vim.api.nvim_buf_get_name(0)'), uri)
  t.eq(nvim:get('{ vim.bo.filetype, vim.bo.modifiable }'), { 'rust', false })
  t.eq(nvim:wait_calls('legwork/content')[1], { uri = uri })
  nvim:wait('#(vim.b.legwork_waiting or {})', 1)
  t.has(nvim:seen(), 'let x = 1;  legwork · add tests · is proposed · a new file')
  t.eq(nvim:get("vim.fn.maparg('<leader>ly', 'n')"), '<Plug>(legwork-accept)')
  t.eq(nvim:get("vim.tbl_count(require('legwork.lsp').buffers())"), 1, 'it is not given to the server')
  nvim:cmd('Legwork accept')
  nvim:cmd('Legwork reject-file')
  t.eq(nvim:wait_calls('legwork.accept'), { { hunk = item.hunk } })
  t.eq(nvim:wait_calls('legwork.rejectFile'), { { hunk = item.hunk } })
  nvim:answer('legwork/walk', { result = { items = {} } })
  nvim:tasks({ { task = TASK } })
  nvim:wait('#vim.b.legwork_waiting', 0)
  t.eq(nvim:get("vim.fn.maparg('<leader>ly', 'n')"), '')
  t.lacks(nvim:seen(), 'is proposed')
end)

t.test('a text that cannot be had says why', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:answer('legwork/content', { error = 'the task is gone' })
  nvim:cmd('edit legwork:/bcd/proposed/x.bin')
  nvim:wait('vim.api.nvim_buf_get_lines(0, 0, -1, false)', { 'legwork: the task is gone' })
  nvim:cmd('edit legwork:/nonsense')
  nvim:wait('vim.api.nvim_buf_get_lines(0, 0, -1, false)', { 'legwork: this is no URI of a task: legwork:/nonsense' })
end)
