local child = require('child')
local t = require('harness')

t.test('a file of a workspace is given to one server, and says where it is', function()
  local nvim = child.start({ open = 'a.txt' })
  local init = nvim:calls('initialize')[1]
  t.eq(init.initializationOptions.legwork.ui, { hunks = 'native', tasks = true, content = true })
  t.eq(init.workspaceFolders[1].uri, vim.uri_from_fname(nvim.dir))
  t.eq(nvim:wait_calls('textDocument/didOpen')[1].textDocument.text, 'one\ntwo\nthree\nfour\nfive\n')
  nvim:edit('b.txt')
  nvim:wait_calls('textDocument/didOpen', 2)
  t.eq(nvim:get("#vim.lsp.get_clients({ name = 'legwork' })"), 1)
end)
