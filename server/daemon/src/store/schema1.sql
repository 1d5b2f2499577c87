CREATE TABLE tasks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    workspace TEXT NOT NULL,
    -- Which directory the workspace was when it was captured.
    identity TEXT,
    spec TEXT NOT NULL,
    -- Unsaved buffers that came with it; gone once the task is over.
    buffers TEXT,
    state TEXT NOT NULL,
    outcome TEXT,
    created INTEGER NOT NULL,
    finished INTEGER,
    report TEXT,
    refused TEXT NOT NULL DEFAULT '[]',
    notices TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX tasks_of_workspace ON tasks (workspace, number);

CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX events_of_task ON events (task, seq);

-- What is under review. `pending` counts the hunks of `review` that wait.
CREATE TABLE files (
    task TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    change TEXT NOT NULL,
    review TEXT NOT NULL,
    pending INTEGER NOT NULL,
    PRIMARY KEY (task, path)
) STRICT, WITHOUT ROWID;

-- What the user decided. `state` goes intended -> done -> undoing -> undone; a decision that writes to the workspace is
-- stored as intended first, so that one that was cut off can be told from one that never was.
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    token TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    state TEXT NOT NULL,
    body TEXT NOT NULL,
    -- While it is undone: what is written for that.
    undo TEXT
) STRICT;
CREATE INDEX decisions_of_task ON decisions (task, id);
