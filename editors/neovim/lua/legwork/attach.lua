-- Which buffers are files of a workspace, and of which. How the server gets them is in `lsp.lua`.

local M = {}

---@type table<string, true>
local MARKS = { ['.legwork'] = true, ['.git'] = true, ['.jj'] = true }

---The workspace that a path lies in: the nearest folder with a mark, else `cwd` if the path is below it. Neither the
---user's home nor the root of the disk is a workspace because someone stands in it.
---@param path string absolute
---@param cwd string
---@return string?
function M.root(path, cwd)
  local home = vim.fs.normalize('~')
  local marked = vim.fs.root(path, function(name, folder)
    return MARKS[name] and not (name == '.legwork' and vim.fs.normalize(folder) == home)
  end)
  if marked then
    return vim.fs.normalize(marked)
  end
  cwd = vim.fs.normalize(cwd)
  if cwd == home or cwd == '/' then
    return nil
  end
  if path == cwd or vim.startswith(path, cwd .. '/') then
    return cwd
  end
  return nil
end

---Whether it is a file that a task could change.
---@param buf integer
---@return boolean
function M.is_file(buf)
  if not vim.api.nvim_buf_is_loaded(buf) or vim.bo[buf].buftype ~= '' then
    return false
  end
  local name = vim.api.nvim_buf_get_name(buf)
  if name == '' or name:match('^%a[%w+.-]*:/') or vim.fn.isdirectory(name) == 1 then
    return false
  end
  -- What a version control system keeps for itself, such as the message of a commit.
  if name:find('/.git/', 1, true) or name:find('/.jj/', 1, true) then
    return false
  end
  local bytes = vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf))
  return bytes <= require('legwork.config').get().max_bytes
end

---Gives the buffer to the server if it is one for it.
---@param buf integer
---@return boolean
function M.try(buf)
  if not M.is_file(buf) then
    return false
  end
  local root = M.root(vim.fs.normalize(vim.api.nvim_buf_get_name(buf)), vim.fn.getcwd())
  return root ~= nil and require('legwork.lsp').attach(buf, root)
end

---The same when the event is over: by then its kind of file is known.
---@param buf integer
function M.soon(buf)
  vim.schedule(function()
    if vim.api.nvim_buf_is_valid(buf) then
      M.try(buf)
    end
  end)
end

---All buffers there are.
function M.all()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    M.soon(buf)
  end
end

return M
