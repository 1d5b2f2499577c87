local child = require('child')
local t = require('harness')

local TASK, OTHER, THIRD = 'bcdfghjkmnpq', 'qqqqqqqqqqqq', 'rrrrrrrrrrrr'

t.test('the status says what runs and what is ready, and nothing when there is nothing', function()
  local nvim = child.start({ open = 'a.txt' })
  t.eq(nvim:get("require('legwork').status()"), '')
  nvim:lua([[
    vim.o.laststatus = 2
    vim.o.statusline = "%{%v:lua.require'legwork'.status()%}"
    vim.api.nvim_create_autocmd('User', { pattern = 'LegworkTasks', callback = function() told = (told or 0) + 1 end })
  ]])
  nvim:tasks({ { task = TASK }, { task = OTHER }, { task = THIRD, state = 'ready', pending = 1 } })
  t.eq(nvim:get("require('legwork').status()"), 'legwork: 2 running, 1 ready')
  t.has(nvim:seen(), 'legwork: 2 running, 1 ready')
  t.eq(nvim:get('told'), 1)
  t.eq(nvim:get("#require('legwork').tasks()"), 3)
  nvim:tasks({ { task = TASK, state = 'failed' } })
  t.eq(nvim:get("require('legwork').status()"), 'legwork: 1 failed')
  nvim:notify('test/die', { code = 1 })
  nvim:wait("require('legwork').status()", '')
end)

t.test('a status line loads nothing', function()
  local nvim = child.start()
  t.eq(nvim:get("require('legwork').status()"), '')
  t.eq(nvim:get("package.loaded['legwork.tasks'] == nil and package.loaded['legwork.lsp'] == nil"), true)
end)

t.test('the list shows tasks and follows them', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:cmd('Legwork')
  t.has(nvim:seen(), 'no tasks yet')
  nvim:tasks({
    { task = TASK, title = 'add tests' },
    { task = OTHER, title = 'fix docs', state = 'ready', pending = 3, files = 1, emulated = true },
    { task = THIRD, title = 'sort', state = 'failed', outcome = 'over the limit of time' },
  })
  local seen = nvim:seen()
  t.has(seen, 'bcdfgh  running')
  t.has(seen, 'add tests')
  t.has(seen, 'ready (emulated)')
  t.has(seen, 'fix docs  3 hunks in 1 file')
  t.has(seen, 'over the limit of time')
  nvim:keys('j')
  nvim:tasks({
    { task = 'ssssssssssss', title = 'newest' },
    { task = TASK, state = 'ready', pending = 1, files = 1 },
    { task = OTHER, title = 'fix docs', state = 'ready', pending = 3, files = 1 },
  })
  nvim:wait('vim.api.nvim_win_get_cursor(0)[1]', 3)
  t.has(nvim:seen(), 'newest')
  nvim:keys('?')
  nvim:wait('vim.api.nvim_buf_get_lines(0, 0, 1, false)[1]', '<CR>  review')
  nvim:keys('?q')
  nvim:wait('#vim.api.nvim_list_wins()', 1)
end)

t.test('keys of the list act on the task under the cursor', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:tasks({ { task = TASK }, { task = OTHER, state = 'ready', pending = 2 } })
  nvim:cmd('Legwork tasks')
  nvim:keys('jcraxu')
  for _, name in ipairs({ 'cancel', 'retry', 'acceptTask', 'rejectTask', 'undo' }) do
    t.eq(nvim:wait_calls('legwork.' .. name), { { task = OTHER } }, name)
  end
  t.eq(nvim:get('#vim.api.nvim_list_wins()'), 2, 'the list stays open')
  nvim:answer('legwork/content', { result = { text = '--- a\n+++ b\n' } })
  nvim:keys('d')
  nvim:wait('vim.api.nvim_buf_get_name(0)', 'legwork:/' .. OTHER .. '/diff')
  nvim:wait('vim.bo.filetype', 'diff')
  t.eq(nvim:get('vim.api.nvim_buf_get_lines(0, 0, -1, false)'), { '--- a', '+++ b' })
  t.eq(nvim:get('{ vim.bo.buftype, vim.bo.modifiable, vim.bo.readonly }'), { 'nofile', false, true })
end)

t.test('the list closes when it is left', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:cmd('Legwork')
  nvim:cmd('wincmd p')
  nvim:wait('#vim.api.nvim_list_wins()', 1)
  nvim:cmd('Legwork')
  nvim:wait('#vim.api.nvim_list_wins()', 2)
end)

t.test('the log is read again while the task runs, and its end stays in view', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:tasks({ { task = TASK } })
  local lines = {}
  for number = 1, 60 do
    lines[number] = 'line ' .. number
  end
  nvim:answer('legwork/log', { result = { text = table.concat(lines, '\n') .. '\n' } })
  nvim:cmd('Legwork log')
  nvim:wait('vim.api.nvim_win_get_cursor(0)[1]', 60)
  t.has(nvim:seen(), 'line 60')
  t.has(nvim:seen(), 'Log: add tests (running)')
  t.eq(nvim:wait_calls('legwork/log')[1], { task = TASK })
  nvim:answer('legwork/log', { result = { text = table.concat(lines, '\n') .. '\nthe end\n' } })
  nvim:wait('vim.api.nvim_win_get_cursor(0)[1]', 61)
  nvim:keys('gg')
  nvim:answer('legwork/log', { result = { text = table.concat(lines, '\n') .. '\nthe end\nof it\n' } })
  nvim:wait('vim.api.nvim_buf_line_count(0)', 62)
  t.eq(nvim:get('vim.api.nvim_win_get_cursor(0)[1]'), 1, 'who reads elsewhere is left there')
  nvim:tasks({ { task = TASK, state = 'ready', finished = 1 } })
  nvim:lua('vim.wait(1200)')
  local count = #nvim:calls('legwork/log')
  nvim:lua('vim.wait(1200)')
  t.eq(#nvim:calls('legwork/log'), count, 'a log that is over is not asked for')
  nvim:keys('q')
  nvim:wait('#vim.api.nvim_list_wins()', 1)
end)

t.test('what the checks say is shown, and that there are none', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:answer('legwork/evidence', { result = { text = '**checks pass**\n\n1 fail to pass\n' } })
  nvim:cmd('Legwork evidence zzz')
  nvim:wait('vim.api.nvim_buf_get_lines(0, 0, -1, false)', { '**checks pass**', '', '1 fail to pass' })
  t.eq(nvim:wait_calls('legwork/evidence')[1], { task = 'zzz' })
  nvim:keys('q')
  nvim:wait('#vim.api.nvim_list_wins()', 1)
  nvim:answer('legwork/evidence', { result = vim.empty_dict() })
  nvim:cmd('Legwork evidence zzz')
  nvim:wait('vim.api.nvim_buf_get_lines(0, 0, -1, false)[1]:sub(1, 23)', 'this task has no checks')
end)

t.test('a log that cannot be had says why', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:answer('legwork/log', { error = 'no task `zzz`' })
  nvim:cmd('Legwork log zzz')
  nvim:wait('vim.api.nvim_buf_get_lines(0, 0, -1, false)', { 'no task `zzz`' })
end)

t.test('ages are told in the largest unit', function()
  local list = require('legwork.list')
  t.eq(list.age(0, 59000), '59 s')
  t.eq(list.age(0, 61000), '1 min')
  t.eq(list.age(0, 7200000), '2 h')
  t.eq(list.age(0, 86400000 * 3), '3 d')
  t.eq(list.age(5000, 0), '0 s', 'clocks differ')
end)
