-- What the user said to the agent of a task. `heard` is when the agent was told.
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    text TEXT NOT NULL,
    heard INTEGER
) STRICT;
CREATE INDEX messages_of_task ON messages (task, id);

-- What the agent of a task that waits for an answer has asked.
ALTER TABLE tasks ADD COLUMN question TEXT;
