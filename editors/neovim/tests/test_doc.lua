local t = require('harness')

local root = vim.fs.dirname(vim.g.legwork_tests)

---@return string
local function manual()
  return table.concat(vim.fn.readfile(root .. '/doc/legwork.txt'), '\n')
end

t.test('the manual has every sub-command, key, setting, colour and function', function()
  local text = manual()
  for _, name in ipairs(require('legwork.commands').names) do
    t.has(text, ('*:Legwork-%s*'):format(name))
  end
  for _, key in ipairs(require('legwork.keys').list) do
    t.has(text, ('*<Plug>(legwork-%s)*'):format(key.plug))
    if key.lhs then
      t.has(text, key.lhs)
    end
  end
  for group, target in pairs(require('legwork.render.groups').links) do
    local line = text:match(('[^\n]*%%*hl%%-%s%%*[^\n]*'):format(group))
    t.eq(line ~= nil and line:match('(%S+)$'), target, group)
  end
  for name in pairs(require('legwork')) do
    t.has(text, ('*legwork.%s()*'):format(name))
  end
end)

t.test('the settings in the manual are those that hold', function()
  local code = assert(manual():match('vim%.g%.legwork = (%b{})'))
  local shown = assert(loadstring('return ' .. code))()
  local config = require('legwork.config').parse(nil)
  t.eq(shown, config)
  for key in pairs(require('legwork.config').settings) do
    t.has(code, '\n      ' .. key .. ' = ')
  end
end)

t.test('the tags are whole, and every reference leads somewhere', function()
  local dir = vim.fn.tempname()
  vim.fn.mkdir(dir, 'p')
  vim.uv.fs_copyfile(root .. '/doc/legwork.txt', dir .. '/legwork.txt')
  vim.cmd.helptags(dir)
  local tags = {}
  for _, file in ipairs({ dir .. '/tags', vim.env.VIMRUNTIME .. '/doc/tags' }) do
    for _, line in ipairs(vim.fn.readfile(file)) do
      tags[line:match('^[^\t]+')] = true
    end
  end
  vim.fn.delete(dir, 'rf')
  for tag in manual():gmatch('|([^%s|]+)|') do
    t.eq(tags[tag], true, tag)
  end
  for _, line in ipairs(vim.split(manual(), '\n')) do
    t.eq(vim.fn.strdisplaywidth(line) <= 78, true, line)
  end
end)
