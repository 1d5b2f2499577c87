-- Runs the tests: `nvim --headless --clean -l tests/run.lua [FILTER]`. Each is named on a line; the exit code says
-- whether all passed.

local here = vim.fs.dirname(vim.fn.fnamemodify(assert(arg[0]), ':p'))
vim.g.legwork_tests = here
local root = vim.fs.dirname(here)
package.path = ('%s/?.lua;%s/lua/?.lua;%s/lua/?/init.lua;%s'):format(here, root, root, package.path)

local harness = require('harness')
local filter = arg[1]
for _, file in ipairs(vim.fn.sort(vim.fn.glob(here .. '/test_*.lua', true, true))) do
  harness.file(vim.fs.basename(file))
  dofile(file)
end
os.exit(harness.run(filter) and 0 or 1)
