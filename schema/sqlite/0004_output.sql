-- How an output's tool was run and how it ended, and outputs that are still being written.

ALTER TABLE output ADD COLUMN command    BLOB;
ALTER TABLE output ADD COLUMN signal     INTEGER;
ALTER TABLE output ADD COLUMN timed_out  INTEGER NOT NULL DEFAULT 0 CHECK (timed_out = 0 OR timed_out = 1);
ALTER TABLE output ADD COLUMN duration   INTEGER;
ALTER TABLE output ADD COLUMN pipe_held  INTEGER NOT NULL DEFAULT 0 CHECK (pipe_held = 0 OR pipe_held = 1);
ALTER TABLE output ADD COLUMN charset    TEXT;
ALTER TABLE output ADD COLUMN read_order TEXT;

ALTER TABLE output_stream ADD COLUMN total INTEGER;

-- A stream that is still being written, or whose writer ended before it was done: what came so far. Its blob has no hash yet.
CREATE TABLE growing_stream (
    output TEXT NOT NULL REFERENCES output (id),
    kind   TEXT NOT NULL CHECK (kind = 'stdout' OR kind = 'stderr'),
    blob   INTEGER NOT NULL REFERENCES blob (no),
    hash   BLOB NOT NULL,
    bytes  INTEGER NOT NULL,
    PRIMARY KEY (output, kind)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX growing_stream_of ON growing_stream (blob);

-- When a collection first saw that nothing refers to the blob.
ALTER TABLE blob ADD COLUMN loose_since INTEGER;
