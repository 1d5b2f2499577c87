-- `:Legwork doctor`: what tasks run on here.

local M = {}

M.about = 'say what tasks run on here'

function M.run()
  require('legwork.call').command('doctor', nil, function(result)
    local line = type(result) == 'table' and (result.line or result.verdict or result.text) or result
    if type(line) == 'string' then
      require('legwork.message').say(line)
    end
  end)
end

return M
