---@meta legwork.types
-- The mirror of `server/docs/lsp-extensions.md`: what the server sends. Nothing is run from here.

---A change that waits for a decision, in an open buffer.
---@class legwork.Hunk
---@field hunk string its name, passed back unread
---@field task string
---@field title string what the task is called
---@field number integer its place among the task's hunks in this buffer, from 1
---@field of integer
---@field state 'pending'|'conflicted'|'applying'
---@field start integer first replaced line, from 0
---@field end integer the line after the last replaced one; `start` for an insertion
---@field removed string[]
---@field added string[]
---@field whole? string a change without lines of its own: `created`, `deleted`, `renamed`, `binary`, `mode`, `link`
---@field summary? string what lines do not show
---@field sensitive? string why it is in no bulk accept
---@field running boolean the task goes on

---@class legwork.HunksParams
---@field uri string
---@field version? integer
---@field hunks legwork.Hunk[]

---@class legwork.Task
---@field task string
---@field title string
---@field state string
---@field pending integer hunks that wait
---@field files integer
---@field outcome? string
---@field question? string what its agent asks, while it waits for the answer
---@field created integer milliseconds since 1970
---@field finished? integer milliseconds since 1970
---@field emulated boolean it runs on no hardware boundary
---@field workspace string

---@class legwork.TasksParams
---@field daemon 'up'|'down'
---@field running integer
---@field ready integer
---@field failed integer
---@field asking? integer
---@field tasks legwork.Task[]

---One stop of a review.
---@class legwork.WalkItem
---@field hunk string
---@field task string
---@field uri string
---@field line integer from 0
---@field title string
---@field state string
---@field why? string

---What a sub-command is given.
---@class legwork.Invocation
---@field words string[] what comes after the sub-command
---@field text string the same as it was typed
---@field range? { first: integer, last: integer, visual: boolean } lines from 1, if lines were named

---@class legwork.Command
---@field about string what it does, in a few words
---@field run fun(given: legwork.Invocation)
---@field complete? fun(lead: string): string[]
