local child = require('child')
local t = require('harness')

local CHANGE = { start = 1, removed = { 'two' }, added = { 'zwei' } }

---@param nvim legwork.Child
---@return table<string, string>
local function mapped(nvim)
  return nvim:lua([[
    local found = {}
    for _, lhs in ipairs({ ']h', '[h', '<leader>ly', '<leader>lx', '<leader>lf', '<leader>lA', '<leader>lr' }) do
      found[lhs] = vim.fn.maparg(lhs, 'n')
    end
    return found
  ]])
end

t.test('keys are there before there are hunks, and only in files', function()
  local nvim = child.start({ open = 'a.txt' })
  local keys = {
    [']h'] = '<Plug>(legwork-next)',
    ['[h'] = '<Plug>(legwork-prev)',
    ['<leader>ly'] = '<Plug>(legwork-accept)',
    ['<leader>lx'] = '<Plug>(legwork-reject)',
    ['<leader>lf'] = '<Plug>(legwork-accept-file)',
    ['<leader>lA'] = '<Plug>(legwork-accept-task)',
    ['<leader>lr'] = '<Plug>(legwork-review)',
  }
  t.eq(mapped(nvim), keys)
  nvim:hunks('a.txt', { CHANGE })
  t.eq(mapped(nvim), keys)
  nvim:hunks('a.txt', {})
  t.eq(mapped(nvim), keys)
  nvim:edit('b.txt')
  nvim:wait_calls('textDocument/didOpen', 2)
  t.eq(mapped(nvim), keys)
  nvim:cmd('enew')
  for lhs, rhs in pairs(mapped(nvim)) do
    t.eq(rhs, '', lhs)
  end
end)

t.test('a key without a hunk says so', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:keys([[\ly]])
  nvim:wait_message('no hunk here')
  nvim:keys([[\lf]])
  nvim:wait_message('nothing waits in this file')
  nvim:keys([[\lA]])
  nvim:wait_message('no task waits for a decision')
  t.eq(nvim:calls('legwork.accept'), {})
end)

t.test('keys that somebody has stay theirs', function()
  local nvim = child.start({
    before = [[
      vim.keymap.set('n', ']h', 'gg')
      vim.keymap.set('n', '<leader>l', function() end)
      vim.keymap.set('x', '<leader>ldd', 'gg')
    ]],
  })
  nvim:edit('a.txt')
  nvim:wait_for_server()
  nvim:hunks('a.txt', { CHANGE })
  local found = mapped(nvim)
  t.eq(found[']h'], 'gg')
  t.eq(found['[h'], '<Plug>(legwork-prev)')
  t.eq(found['<leader>ly'], '', 'a key that <leader>l would wait for')
  t.eq(nvim:get("{ vim.fn.maparg('<leader>ld', 'n'), vim.fn.maparg('<leader>ld', 'x') }"), { '', '' })
  nvim:hunks('a.txt', {})
  t.eq(mapped(nvim)[']h'], 'gg')
end)

t.test('no key is mapped when they are off, and none that changes text ever', function()
  local nvim = child.start({ open = 'a.txt', settings = { keymaps = false } })
  nvim:hunks('a.txt', { CHANGE })
  t.eq(mapped(nvim)[']h'], '')
  t.eq(nvim:get("vim.fn.maparg('<leader>ld', 'n')"), '')
  t.eq(nvim:get("vim.fn.maparg('<Plug>(legwork-accept)', 'n')"), '<Cmd>Legwork accept<CR>')
  for _, key in ipairs(require('legwork.keys').list) do
    local lhs = key.lhs or ''
    t.eq(vim.startswith(lhs, 'c') or vim.startswith(lhs, 'ga'), false, key.plug)
  end
end)

t.test('pressed keys do what they say', function()
  local nvim = child.start({ open = 'a.txt' })
  nvim:hunks('a.txt', { CHANGE, { start = 3, removed = { 'four' } } })
  nvim:answer('legwork.next', {
    result = { hunk = 'x', uri = vim.uri_from_fname(nvim.dir .. '/a.txt'), line = 1 },
  })
  nvim:keys(']h')
  nvim:wait('vim.api.nvim_win_get_cursor(0)[1]', 2)
  nvim:keys([[\ly]])
  t.eq(nvim:wait_calls('legwork.accept'), { { hunk = 'bcdfghjkmnpq:1:a.txt' } })
  nvim:keys([[ggVG\lx]])
  t.eq(#nvim:wait_calls('legwork.reject', 2), 2)
  nvim:keys([[\lf]])
  nvim:wait_calls('legwork.acceptFile')
  nvim:keys([[2G\lA]])
  t.eq(nvim:wait_calls('legwork.acceptTask'), { { task = 'bcdfghjkmnpq' } })
  nvim:keys([[ggV\lddo it<CR>]])
  local sent = nvim:wait_calls('legwork.delegate')[1]
  t.eq({ sent.text, sent.selection }, { 'do it', 'one' })
end)
