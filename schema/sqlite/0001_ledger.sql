-- The ledger's tables, in SQLite. README.md beside this folder says what each table and column holds.
-- A published migration never changes: what comes later is a new file with the next number.
--
-- Closed lists are checked by OR: for an IN of more than two values SQLite builds a table anew at every insert.

CREATE TABLE meta (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    ledger     TEXT NOT NULL CHECK (length(ledger) = 26),
    created_at INTEGER NOT NULL,
    secret     BLOB NOT NULL CHECK (length(secret) = 32)
) STRICT;

CREATE TABLE project (
    id              TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 26),
    name            BLOB,
    name_salt       BLOB,
    name_commitment BLOB NOT NULL,
    created_at      INTEGER NOT NULL,
    merged_into     TEXT REFERENCES project (id),
    erasing         INTEGER NOT NULL DEFAULT 0 CHECK (erasing = 0 OR erasing = 1),
    digest          BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX project_merged ON project (merged_into) WHERE merged_into IS NOT NULL;

CREATE TABLE project_alias (
    kind    TEXT NOT NULL,
    value   TEXT NOT NULL,
    project TEXT NOT NULL REFERENCES project (id),
    digest  BLOB NOT NULL,
    PRIMARY KEY (kind, value)
) STRICT, WITHOUT ROWID;

CREATE INDEX project_alias_of ON project_alias (project);
CREATE INDEX project_alias_value ON project_alias (value);

CREATE TABLE session (
    id               TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 26),
    project          TEXT NOT NULL REFERENCES project (id),
    kind             TEXT NOT NULL CHECK (kind = 'thread' OR kind = 'conversation' OR kind = 'live'),
    channel          TEXT,
    title            BLOB,
    title_salt       BLOB,
    title_commitment BLOB NOT NULL,
    created_at       INTEGER NOT NULL,
    first_project    TEXT NOT NULL,
    first_title      BLOB NOT NULL,
    parent           TEXT REFERENCES session (id),
    fork_seq         INTEGER,
    fork_hash        BLOB,
    erasing          INTEGER NOT NULL DEFAULT 0 CHECK (erasing = 0 OR erasing = 1),
    genesis          BLOB NOT NULL,
    closed           INTEGER NOT NULL CHECK (closed = 0 OR closed = 1),
    turns            INTEGER NOT NULL,
    last_seq         INTEGER NOT NULL,
    head             BLOB NOT NULL,
    last_at          INTEGER,
    digest           BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX session_of ON session (project, id);
CREATE INDEX session_forks ON session (parent) WHERE parent IS NOT NULL;

CREATE TABLE session_alias (
    project TEXT NOT NULL REFERENCES project (id),
    kind    TEXT NOT NULL,
    value   TEXT NOT NULL,
    session TEXT NOT NULL REFERENCES session (id),
    digest  BLOB NOT NULL,
    PRIMARY KEY (project, kind, value)
) STRICT, WITHOUT ROWID;

CREATE INDEX session_alias_of ON session_alias (session);
CREATE INDEX session_alias_value ON session_alias (project, value);

CREATE TABLE speaker (
    id              TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 26),
    kind            TEXT NOT NULL CHECK (kind = 'owner' OR kind = 'person' OR kind = 'agent' OR kind = 'tool' OR kind = 'system'),
    name            BLOB,
    name_salt       BLOB,
    name_commitment BLOB NOT NULL,
    digest          BLOB NOT NULL,
    UNIQUE (kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE speaker_seen (
    project TEXT NOT NULL REFERENCES project (id),
    speaker TEXT NOT NULL REFERENCES speaker (id),
    PRIMARY KEY (project, speaker)
) STRICT, WITHOUT ROWID;

CREATE TABLE entry (
    no          INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE CHECK (length(id) = 26),
    session     TEXT NOT NULL REFERENCES session (id),
    seq         INTEGER NOT NULL CHECK (seq > 0),
    kind        TEXT NOT NULL CHECK (kind = 'turn' OR kind = 'forward' OR kind = 'compaction' OR kind = 'mark'
                OR kind = 'erased'),
    recorded_at INTEGER NOT NULL,
    hash        BLOB NOT NULL,
    speaker     TEXT REFERENCES speaker (id),
    said_at     INTEGER,
    said_offset INTEGER,
    reply_to    TEXT,
    supersedes  TEXT,
    repairs     INTEGER,
    UNIQUE (session, seq)
) STRICT;

CREATE UNIQUE INDEX entry_superseding ON entry (supersedes) WHERE supersedes IS NOT NULL;

-- `no` is the entry's number times 4,096 plus the part's place, so that the parts of an entry lie side by side without an
-- index of their own: an append then writes one page less.
CREATE TABLE part (
    no         INTEGER PRIMARY KEY,
    entry      INTEGER GENERATED ALWAYS AS (no >> 12) VIRTUAL,
    place      INTEGER GENERATED ALWAYS AS (no & 4095) VIRTUAL,
    speaker    TEXT REFERENCES speaker (id),
    kind       TEXT NOT NULL CHECK (kind = 'text' OR kind = 'reasoning' OR kind = 'tool_call' OR kind = 'tool_result' OR kind = 'attachment'),
    seal       TEXT,
    call_id    TEXT,
    tool       TEXT,
    outcome    TEXT,
    media_type TEXT,
    output     TEXT,
    salt       BLOB,
    commitment BLOB NOT NULL,
    text       BLOB
) STRICT;

CREATE INDEX part_output ON part (output) WHERE output IS NOT NULL;

CREATE TABLE quote (
    entry                    INTEGER PRIMARY KEY REFERENCES entry (no),
    session                  TEXT NOT NULL,
    seq                      INTEGER NOT NULL,
    state                    TEXT NOT NULL CHECK (state = 'recorded' OR state = 'offered' OR state = 'in_context'),
    origin                   TEXT NOT NULL,
    origin_kind              TEXT NOT NULL,
    origin_channel           TEXT,
    span_start               INTEGER,
    span_len                 INTEGER,
    speaker                  TEXT NOT NULL REFERENCES speaker (id),
    said_at                  INTEGER,
    said_offset              INTEGER,
    kept                     INTEGER NOT NULL,
    total                    INTEGER NOT NULL,
    cut                      TEXT NOT NULL CHECK (cut = 'none' OR cut = 'length' OR cut = 'mid_cluster'),
    open_fence               INTEGER NOT NULL CHECK (open_fence = 0 OR open_fence = 1),
    nested                   TEXT,
    forwarded_by             TEXT NOT NULL REFERENCES speaker (id),
    forwarded_at             INTEGER NOT NULL,
    source                   BLOB NOT NULL,
    text                     BLOB,
    salt                     BLOB,
    commitment               BLOB NOT NULL,
    project_title            BLOB,
    project_title_salt       BLOB,
    project_title_commitment BLOB,
    session_title            BLOB,
    session_title_salt       BLOB,
    session_title_commitment BLOB,
    UNIQUE (session, seq)
) STRICT;

-- The last segment of an address is an id.
CREATE INDEX quote_origin ON quote (substr(origin, -26));
CREATE INDEX quote_waiting ON quote (session, seq) WHERE state <> 'in_context';

CREATE TABLE hop (
    entry   INTEGER NOT NULL REFERENCES quote (entry),
    place   INTEGER NOT NULL,
    address TEXT NOT NULL,
    speaker TEXT NOT NULL REFERENCES speaker (id),
    at      INTEGER NOT NULL,
    PRIMARY KEY (entry, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE compaction (
    entry      INTEGER PRIMARY KEY REFERENCES entry (no),
    session    TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    through    INTEGER NOT NULL,
    text       BLOB,
    salt       BLOB,
    commitment BLOB NOT NULL,
    UNIQUE (session, seq)
) STRICT;

CREATE TABLE mark (
    entry            INTEGER PRIMARY KEY REFERENCES entry (no),
    session          TEXT NOT NULL,
    seq              INTEGER NOT NULL,
    kind             TEXT NOT NULL CHECK (kind = 'offered' OR kind = 'in_context' OR kind = 'closed' OR kind = 'reopened'
                     OR kind = 'rolled_back' OR kind = 'abandoned' OR kind = 'restored' OR kind = 'derived'
                     OR kind = 'renamed' OR kind = 'moved' OR kind = 'redacted' OR kind = 'quote_redacted'
                     OR kind = 'pinned' OR kind = 'unpinned' OR kind = 'erased'),
    target           TEXT,
    route            TEXT NOT NULL,
    title            BLOB,
    title_salt       BLOB,
    title_commitment BLOB,
    project          TEXT,
    UNIQUE (session, seq)
) STRICT;

CREATE INDEX mark_of ON mark (target, seq) WHERE target IS NOT NULL;
CREATE INDEX mark_pin ON mark (session, seq) WHERE kind = 'pinned';
CREATE INDEX mark_of_session ON mark (session, seq) WHERE target IS NULL;

CREATE TABLE caller_key (
    session TEXT NOT NULL REFERENCES session (id),
    kind    TEXT NOT NULL CHECK (kind = 'turn' OR kind = 'forward' OR kind = 'compact'),
    value   TEXT NOT NULL,
    salt    BLOB,
    content BLOB NOT NULL,
    entry   INTEGER NOT NULL REFERENCES entry (no),
    digest  BLOB NOT NULL,
    PRIMARY KEY (session, kind, value)
) STRICT, WITHOUT ROWID;

CREATE TABLE output (
    id          TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 26),
    session     TEXT NOT NULL REFERENCES session (id),
    tool        TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state = 'complete' OR state = 'capped' OR state = 'partial'),
    exit        INTEGER,
    recorded_at INTEGER NOT NULL,
    digest      BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX output_of ON output (session);

-- A blob without a hash is still being written.
CREATE TABLE blob (
    no    INTEGER PRIMARY KEY,
    hash  BLOB UNIQUE,
    bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE output_stream (
    output TEXT NOT NULL REFERENCES output (id),
    kind   TEXT NOT NULL CHECK (kind = 'stdout' OR kind = 'stderr'),
    hash   BLOB NOT NULL REFERENCES blob (hash),
    bytes  INTEGER NOT NULL,
    PRIMARY KEY (output, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX output_stream_of ON output_stream (hash);

-- `no` is the blob's number times 2^24 plus the chunk's place.
CREATE TABLE chunk (
    no    INTEGER PRIMARY KEY,
    blob  INTEGER GENERATED ALWAYS AS (no >> 24) VIRTUAL,
    place INTEGER GENERATED ALWAYS AS (no & 16777215) VIRTUAL,
    size  INTEGER NOT NULL,
    codec TEXT NOT NULL CHECK (codec = 'raw' OR codec = 'zstd'),
    cv    BLOB NOT NULL,
    data  BLOB NOT NULL
) STRICT;

-- What is still to be erased, in this order.
CREATE TABLE erasure (
    no     INTEGER PRIMARY KEY,
    kind   TEXT NOT NULL CHECK (kind = 'session' OR kind = 'project' OR kind = 'blob' OR kind = 'speaker' OR kind = 'log'),
    target TEXT NOT NULL
) STRICT;

-- What was erased, as keyed hashes: it does not come back.
CREATE TABLE tombstone (
    name BLOB PRIMARY KEY NOT NULL CHECK (length(name) = 32)
) STRICT, WITHOUT ROWID;

-- For people who open the file: the same rows with their texts cast. What follows a NUL in a text is not shown.

CREATE VIEW project_text AS
SELECT id, CAST(name AS TEXT) AS name, datetime(created_at / 1000, 'unixepoch') AS created_at
FROM project
WHERE merged_into IS NULL AND erasing = 0;

CREATE VIEW session_text AS
SELECT s.project, CAST(p.name AS TEXT) AS project_name, s.id, CAST(s.title AS TEXT) AS title, s.kind, s.channel,
       s.closed, s.turns, s.last_seq, datetime(s.last_at / 1000, 'unixepoch') AS last_at
FROM session s JOIN project p ON p.id = s.project
WHERE s.erasing = 0;

CREATE VIEW speaker_text AS
SELECT id, kind, CAST(name AS TEXT) AS name FROM speaker;

CREATE VIEW turn_text AS
SELECT s.project, e.session, e.seq, e.id, p.place, coalesce(q.kind, w.kind) AS speaker_kind,
       CAST(coalesce(q.name, w.name) AS TEXT) AS speaker, p.kind AS part, p.tool, CAST(p.text AS TEXT) AS text,
       datetime(e.said_at / 1000, 'unixepoch') AS said_at, datetime(e.recorded_at / 1000, 'unixepoch') AS recorded_at
FROM entry e
JOIN session s ON s.id = e.session
JOIN part p ON p.no BETWEEN e.no * 4096 AND e.no * 4096 + 4095
LEFT JOIN speaker w ON w.id = e.speaker
LEFT JOIN speaker q ON q.id = p.speaker;

CREATE VIEW quote_text AS
SELECT s.project, q.session, q.seq, e.id, q.state, q.origin, w.kind AS speaker_kind, CAST(w.name AS TEXT) AS speaker,
       CAST(f.name AS TEXT) AS forwarded_by, datetime(q.forwarded_at / 1000, 'unixepoch') AS forwarded_at,
       CAST(q.project_title AS TEXT) AS project_title, CAST(q.session_title AS TEXT) AS session_title,
       q.kept, q.total, q.cut, CAST(q.text AS TEXT) AS text
FROM quote q
JOIN entry e ON e.no = q.entry
JOIN session s ON s.id = q.session
LEFT JOIN speaker w ON w.id = q.speaker
LEFT JOIN speaker f ON f.id = q.forwarded_by;

CREATE VIEW compaction_text AS
SELECT s.project, c.session, c.seq, e.id, c.through, CAST(c.text AS TEXT) AS summary
FROM compaction c
JOIN entry e ON e.no = c.entry
JOIN session s ON s.id = c.session;
