-- Names tests, runs them, compares. What a test drives is in `child.lua`.

local M = {}

---@type { name: string, run: fun() }[]
local tests = {}
---@type fun()[]
local ends = {}
local current = ''

---@param name string
function M.file(name)
  current = name:gsub('^test_', ''):gsub('%.lua$', '')
end

---@param name string
---@param run fun()
function M.test(name, run)
  table.insert(tests, { name = current .. ': ' .. name, run = run })
end

---Calls back when the test that runs has ended, however it did.
---@param callback fun()
function M.at_end(callback)
  table.insert(ends, callback)
end

---@param found any
---@param expected any
---@param about? string
function M.eq(found, expected, about)
  if not vim.deep_equal(found, expected) then
    local text = '%s\nexpected: %s\nfound:    %s'
    error(text:format(about or 'not equal', vim.inspect(expected), vim.inspect(found)), 2)
  end
end

---@param found string
---@param part string
function M.has(found, part)
  if not found:find(part, 1, true) then
    error(('not there: %s\nin:\n%s'):format(part, found), 2)
  end
end

---@param found string
---@param part string
function M.lacks(found, part)
  if found:find(part, 1, true) then
    error(('should not be there: %s\nin:\n%s'):format(part, found), 2)
  end
end

---@param filter? string
---@return boolean passed
function M.run(filter)
  local failed, count = 0, 0
  for _, test in ipairs(tests) do
    if not filter or test.name:find(filter, 1, true) then
      count = count + 1
      local ok, problem = xpcall(test.run, debug.traceback)
      for _, callback in ipairs(ends) do
        callback()
      end
      ends = {}
      io.write(('%s %s\n'):format(ok and 'ok  ' or 'FAIL', test.name))
      if not ok then
        failed = failed + 1
        io.write(tostring(problem) .. '\n')
      end
    end
  end
  local version = vim.split(vim.fn.execute('version'), '\n', { trimempty = true })[1]
  io.write(('%d tests, %d failed, on %s\n'):format(count, failed, version))
  return failed == 0 and count > 0
end

return M
