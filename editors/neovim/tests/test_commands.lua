local child = require('child')
local t = require('harness')

local TASK, OTHER = 'bcdfghjkmnpq', 'qqqqqqqqqqqq'
local CHANGE = { start = 1, removed = { 'two' }, added = { 'zwei' }, hunk = TASK .. ':1:a.txt' }
local LAST = { start = 4, removed = { 'five' }, hunk = TASK .. ':2:a.txt' }

---@param nvim legwork.Child
---@return legwork.Child
local function with_hunks(nvim)
  nvim:hunks('a.txt', { CHANGE, LAST })
  nvim:wait('#require("legwork").hunks()', 2)
  return nvim
end

t.test('a sentence is a task, with the place it is about', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:cmd('3')
  nvim:cmd('Legwork fix the bug')
  local sent = nvim:wait_calls('legwork.delegate')[1]
  t.eq(sent.text, 'fix the bug')
  t.eq(sent.uri, vim.uri_from_fname(nvim.dir .. '/a.txt'))
  t.eq(sent.range, { start = { line = 2, character = 0 }, ['end'] = { line = 2, character = 0 } })
  t.eq(sent.selection, nil)
end)

t.test('selected lines come along, with what other servers say about them', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:lua([[
    vim.diagnostic.set(vim.api.nvim_create_namespace('x'), 0, {
      { lnum = 1, col = 1, end_lnum = 1, end_col = 3, message = 'bad', severity = 1, source = 'rustc', code = 'E1' },
      { lnum = 4, col = 0, message = 'elsewhere' },
    })
  ]])
  nvim:cmd('2,3Legwork delegate make it good')
  local sent = nvim:wait_calls('legwork.delegate')[1]
  t.eq(sent.text, 'make it good')
  t.eq(sent.range, { start = { line = 1, character = 0 }, ['end'] = { line = 2, character = 5 } })
  t.eq(sent.selection, 'two\nthree')
  t.eq(#sent.diagnostics, 1)
  t.eq(sent.diagnostics[1].range['end'], { line = 1, character = 3 })
  t.eq({ sent.diagnostics[1].message, sent.diagnostics[1].severity, sent.diagnostics[1].source }, { 'bad', 1, 'rustc' })
end)

t.test('selected characters are counted as the server counts', function()
  local nvim = child.start({ open = 'a.txt', files = { ['a.txt'] = 'a 😀 bé c\n' } })
  nvim:keys('gg02lvlll:Legwork fix the words<CR>')
  local sent = nvim:wait_calls('legwork.delegate')[1]
  t.eq(sent.selection, '😀 bé')
  local encoding = nvim:get("require('legwork.lsp').client().offset_encoding")
  local columns = ({ ['utf-8'] = { 2, 10 }, ['utf-16'] = { 2, 7 }, ['utf-32'] = { 2, 6 } })[encoding]
  t.eq({ sent.range.start.character, sent.range['end'].character }, columns, encoding)
end)

t.test('without a sentence it is asked for', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:lua("vim.ui.input = function(options, done) asked = options.prompt; done('typed here') end")
  nvim:keys('ggVj:Legwork<CR>')
  local sent = nvim:wait_calls('legwork.delegate')[1]
  t.eq(nvim:get('asked'), 'Delegate: ')
  t.eq({ sent.text, sent.selection }, { 'typed here', 'one\ntwo' })
  nvim:lua('vim.ui.input = function(_, done) done(nil) end')
  nvim:cmd('Legwork delegate')
  t.eq(#nvim:calls('legwork.delegate'), 1, 'nothing is sent when it is given up')
end)

t.test('what was typed a moment ago is sent before the task', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:keys('Onew<Esc>')
  nvim:cmd('Legwork fix the bug')
  nvim:wait_calls('legwork.delegate')
  local order = {}
  for _, message in ipairs(nvim:record()) do
    if message.method == 'textDocument/didChange' or message.method == 'workspace/executeCommand' then
      table.insert(order, message.method)
    end
  end
  t.eq(order[#order], 'workspace/executeCommand')
  t.eq(order[1], 'textDocument/didChange')
end)

t.test('one unknown word is no task', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:cmd('Legwork acept')
  nvim:wait_message('`acept` is no sub-command')
  nvim:cmd('Legwork review the parser')
  nvim:wait_message('`review` takes one task')
  t.eq(nvim:calls('legwork.delegate'), {})
end)

t.test('a task can be given where no file is open', function()
  local nvim = child.start()
  nvim:cmd('Legwork write a parser')
  nvim:wait_for_server()
  local sent = nvim:wait_calls('legwork.delegate')[1]
  t.eq(sent, { text = 'write a parser' })
  t.eq(nvim:calls('initialize')[1].workspaceFolders[1].uri, vim.uri_from_fname(nvim.dir))
end)

t.test('outside of any workspace it says so', function()
  local nvim = child.start({ cwd = '/' })
  nvim:cmd('Legwork write a parser')
  nvim:wait_message('this is no workspace')
end)

t.test('a failure is said once and nothing goes on', function()
  local nvim = child.start({ open = 'a.txt' })
  local sentence = 'legwork: no agent is set; write [agent] command = […] in config.toml'
  nvim:answer('legwork.delegate', {
    error = sentence,
    send = { { method = 'window/showMessage', params = { type = 1, message = sentence } } },
  })
  nvim:cmd('Legwork fix the bug')
  nvim:wait_message('no agent is set')
  nvim:record()
  local _, count = nvim:messages():gsub('no agent is set', '')
  t.eq(count, 1, nvim:messages())
end)

t.test('the hunk under the cursor is decided on, and nothing else', function()
  local nvim = with_hunks(child.start({ open = 'a.txt' }))
  nvim:cmd('2')
  nvim:cmd('Legwork accept')
  nvim:cmd('5')
  nvim:cmd('Legwork reject')
  nvim:cmd('3')
  nvim:cmd('Legwork accept')
  nvim:wait_message('no hunk here; :Legwork next goes to the next one')
  t.eq(nvim:wait_calls('legwork.accept'), { { hunk = CHANGE.hunk } })
  t.eq(nvim:wait_calls('legwork.reject'), { { hunk = LAST.hunk } })
end)

t.test('a hunk that the text has moved is still under the cursor', function()
  local nvim = with_hunks(child.start({ open = 'a.txt' }))
  nvim:cmd("call append(0, ['x', 'y'])")
  nvim:cmd('4')
  nvim:cmd('Legwork accept')
  t.eq(nvim:wait_calls('legwork.accept'), { { hunk = CHANGE.hunk } })
end)

t.test('a range decides on the hunks it touches, a name on the one it names', function()
  local nvim = with_hunks(child.start({ open = 'a.txt' }))
  nvim:cmd('%Legwork accept')
  t.eq(nvim:wait_calls('legwork.accept', 2), { { hunk = CHANGE.hunk }, { hunk = LAST.hunk } })
  nvim:cmd('Legwork reject ' .. TASK .. ':9:a file.txt')
  t.eq(nvim:wait_calls('legwork.reject'), { { hunk = TASK .. ':9:a file.txt' } })
end)

t.test('of many the first refusal is the last', function()
  local nvim = with_hunks(child.start({ open = 'a.txt' }))
  nvim:answer('legwork.accept', { error = 'it is conflicted' })
  nvim:cmd('%Legwork accept')
  nvim:wait_message('it is conflicted')
  t.eq(#nvim:calls('legwork.accept'), 1)
end)

t.test('files and tasks are decided on by name', function()
  local nvim = with_hunks(child.start({ open = 'a.txt' }))
  nvim:cmd('3')
  nvim:cmd('Legwork accept-file')
  nvim:cmd('Legwork reject-file')
  local file = { { task = TASK, uri = vim.uri_from_fname(nvim.dir .. '/a.txt') } }
  t.eq(nvim:wait_calls('legwork.acceptFile'), file)
  t.eq(nvim:wait_calls('legwork.rejectFile'), file)
  nvim:cmd('2')
  nvim:cmd('Legwork accept-task')
  t.eq(nvim:wait_calls('legwork.acceptTask'), { { task = TASK } })
  nvim:tasks({ { task = OTHER, pending = 1, state = 'ready' }, { task = TASK } })
  nvim:cmd('Legwork reject-task qq')
  t.eq(nvim:wait_calls('legwork.rejectTask'), { { task = OTHER } })
  nvim:cmd('edit b.txt')
  nvim:cmd('Legwork accept-file')
  nvim:wait_message('nothing waits in this file')
end)

t.test('a file in which two tasks wait is decided on for both', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:hunks('a.txt', { CHANGE, { start = 3, removed = { 'four' }, task = OTHER }, LAST })
  nvim:cmd('Legwork accept-file')
  local uri = vim.uri_from_fname(nvim.dir .. '/a.txt')
  t.eq(nvim:wait_calls('legwork.acceptFile', 2), { { task = TASK, uri = uri }, { task = OTHER, uri = uri } })
end)

t.test('undo, cancel, retry, new and doctor ask the server', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:tasks({ { task = TASK }, { task = OTHER } })
  nvim:cmd('Legwork undo')
  nvim:cmd('Legwork cancel ' .. OTHER)
  nvim:cmd('Legwork retry bcd')
  nvim:cmd('Legwork new')
  nvim:cmd('Legwork doctor')
  t.eq(nvim:wait_calls('legwork.undo'), { {} })
  t.eq(nvim:wait_calls('legwork.cancel'), { { task = OTHER } })
  t.eq(nvim:wait_calls('legwork.retry'), { { task = TASK } })
  t.eq(#nvim:wait_calls('legwork.new'), 1)
  t.eq(#nvim:wait_calls('legwork.doctor'), 1)
end)

t.test('words go to the hunk under the cursor, to a task that is named, or to the one that asks', function()
  local nvim = with_hunks(child.start({ open = 'a.txt' }))
  nvim:tasks({ { task = TASK }, { task = OTHER, state = 'needs-input', question = 'Blue?' } })
  nvim:cmd('Legwork say ' .. TASK .. ' not so loud')
  t.eq(nvim:wait_calls('legwork.say'), { { task = TASK, text = 'not so loud' } })
end)

t.test('an answer goes to the task that asks', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:tasks({ { task = TASK }, { task = OTHER, state = 'needs-input', question = 'Blue?' } })
  nvim:cmd('Legwork say blue it is')
  t.eq(nvim:wait_calls('legwork.say'), { { task = OTHER, text = 'blue it is' } })
  nvim:cmd('Legwork tasks')
  t.has(nvim:seen(), 'asks: Blue?')
end)

t.test('sub-commands, tasks and hunks are completed', function()
  local nvim = with_hunks(child.start({ open = 'a.txt' }))
  nvim:tasks({ { task = TASK }, { task = OTHER } })
  local function complete(line)
    return nvim:lua("return vim.fn.getcompletion(..., 'cmdline')", line)
  end
  t.eq(complete('Legwork acc'), { 'accept', 'accept-file', 'accept-task' })
  t.eq(complete('Legwork '), require('legwork.commands').names)
  t.eq(complete("'<,'>Legwork del"), { 'delegate' })
  t.eq(complete('Legwork log '), { TASK, OTHER })
  t.eq(complete('Legwork cancel q'), { OTHER })
  t.eq(complete('Legwork accept b'), { CHANGE.hunk, LAST.hunk })
  t.eq(complete('Legwork next '), {})
end)

t.test('every sub-command says what it does', function()
  local commands = require('legwork.commands')
  for _, name in ipairs(commands.names) do
    local command = assert(commands.get(name), name)
    t.eq({ name, type(command.about), type(command.run) }, { name, 'string', 'function' })
  end
end)

t.test('an accept goes through the editor, and its undo is one step', function()
  local nvim = with_hunks(child.start({ open = 'a.txt' }))
  local range = { start = { line = 1, character = 0 }, ['end'] = { line = 2, character = 0 } }
  nvim:answer('legwork.accept', {
    send = {
      {
        request = true,
        method = 'workspace/applyEdit',
        params = {
          label = 'Legwork',
          edit = {
            documentChanges = {
              {
                textDocument = { uri = vim.uri_from_fname(nvim.dir .. '/a.txt'), version = 0 },
                edits = { { range = range, newText = 'zwei $& \\1 ${x}\n' } },
              },
            },
          },
        },
      },
    },
  })
  nvim:cmd('2')
  nvim:cmd('Legwork accept')
  nvim:wait("vim.api.nvim_buf_get_lines(0, 1, 2, false)[1] == 'zwei $& \\\\1 ${x}'")
  t.eq(nvim:wait_calls('response')[1].result.applied, true)
  nvim:cmd('undo')
  t.eq(nvim:get('vim.api.nvim_buf_get_lines(0, 0, -1, false)'), { 'one', 'two', 'three', 'four', 'five' })
end)
