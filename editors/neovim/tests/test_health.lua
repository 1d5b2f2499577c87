local child = require('child')
local t = require('harness')

---@param nvim legwork.Child
---@return string
local function check(nvim)
  nvim:cmd('checkhealth legwork')
  return table.concat(nvim:get('vim.api.nvim_buf_get_lines(0, 0, -1, false)'), '\n')
end

---A program that answers as `legwork` would.
---@param nvim_dir string
---@param doctor string
---@return string
local function program(nvim_dir, doctor)
  local path = nvim_dir .. '/legwork'
  local script =
    '#!/bin/sh\ncase "$1" in\n--version) echo legwork 1.2.3;;\ndoctor) %s;;\ndaemon) echo the daemon runs;;\n*) exit 1;;\nesac\n'
  vim.fn.writefile(vim.split(script:format(doctor), '\n'), path)
  vim.uv.fs_chmod(path, 493)
  return path
end

t.test('all is well', function()
  local nvim = child.start({ open = 'a.txt', settings = { agent = { command = { 'sh', 'agent.sh' } } } })
  nvim:tasks({ { task = 'bcdfghjkmnpq' } })
  local report = check(nvim)
  t.has(report, 'runs for 1 buffer')
  t.has(report, 'workspace ' .. nvim.dir)
  t.has(report, 'tasks: 1 running')
  t.has(report, 'tasks in words are done by sh agent.sh')
  t.lacks(report, 'ERROR')
end)

t.test('a program that is missing, and settings that are none', function()
  local nvim = child.start({ settings = { cmd = { 'no-such-legwork', 'lsp' }, colour = 'red' } })
  local report = check(nvim)
  t.has(report, 'no program `no-such-legwork`')
  t.has(report, 'vim.g.legwork.colour is not a setting')
  t.has(report, 'nothing is set that does tasks in words')
end)

t.test('a model that is set up does tasks in words', function()
  local dir = child.workspace({ ['legwork/config.toml'] = '[model]\nprovider = "openai"\nname = "fake"\n' })
  local nvim = child.start({ before = ("vim.env.LEGWORK_CONFIG = '%s/legwork'"):format(dir) })
  t.has(check(nvim), 'config.toml says what does tasks in words')
end)

t.test('what the program says of this machine', function()
  local dir = child.workspace({})
  local good = program(dir, 'echo tasks run in virtual machines')
  local report = check(child.start({ settings = { cmd = { good, 'lsp' } } }))
  t.has(report, 'legwork 1.2.3')
  t.has(report, 'OK tasks run in virtual machines')
  t.has(report, 'the daemon runs')
  t.has(report, 'no file of a workspace is open')
  local bad = program(dir, [[printf 'tasks cannot run here\n  !! qemu  is missing; install it\n'; exit 3]])
  report = check(child.start({ settings = { cmd = { bad, 'lsp' } } }))
  t.has(report, 'ERROR tasks cannot run here')
  t.has(report, '!! qemu  is missing; install it')
end)

t.test('keys that are taken are named', function()
  local nvim = child.start({ before = "vim.keymap.set('n', ']h', 'gg')" })
  local report = check(nvim)
  t.has(report, ']h in mode n is taken by gg; map <Plug>(legwork-next) yourself')
end)
