-- What the checks of a task say: the card as JSON, and its verdict in a word.
CREATE TABLE evidence (
    task TEXT PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    verdict TEXT NOT NULL,
    card TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- How checks ended on a base. `key` is a digest of everything that the end depends on.
CREATE TABLE base_runs (
    key TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    run TEXT NOT NULL
) STRICT, WITHOUT ROWID;
