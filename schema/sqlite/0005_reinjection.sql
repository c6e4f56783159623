-- Re-injections: ranges of earlier tool output that stand in the context again. They hold references, never text.
--
-- The lists of kinds in two tables are longer from here on. Changing a CHECK leaves every row as it is, so only the words of
-- the definitions are changed, in the way of section 7 of https://www.sqlite.org/lang_altertable.html: making the tables
-- anew would write every entry once more.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'OR kind = ''erased'')', 'OR kind = ''erased'' OR kind = ''reinjection'')')
WHERE type = 'table' AND name = 'entry';
UPDATE sqlite_schema SET sql = replace(sql, 'OR kind = ''compact'')', 'OR kind = ''compact'' OR kind = ''reinject'')')
WHERE type = 'table' AND name = 'caller_key';
PRAGMA writable_schema = RESET;

-- `compaction` is the id of the summary that it follows; NULL where it belongs to the user turn that comes next.
CREATE TABLE reinjection (
    entry      INTEGER PRIMARY KEY REFERENCES entry (no),
    session    TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    compaction TEXT,
    layout     TEXT NOT NULL,
    UNIQUE (session, seq)
) STRICT;

-- `first` and `second` are the first and last of lines, or the start and the number of bytes.
CREATE TABLE reinjected (
    entry   INTEGER NOT NULL REFERENCES reinjection (entry),
    place   INTEGER NOT NULL,
    turn    TEXT NOT NULL,
    part    INTEGER NOT NULL,
    output  TEXT,
    stream  TEXT CHECK (stream IS NULL OR stream = 'stdout' OR stream = 'stderr'),
    unit    TEXT NOT NULL CHECK (unit = 'lines' OR unit = 'bytes'),
    first   INTEGER NOT NULL,
    second  INTEGER NOT NULL,
    why     TEXT NOT NULL,
    call_id TEXT NOT NULL,
    tool    TEXT NOT NULL,
    outcome TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (entry, place),
    CHECK ((output IS NULL) = (stream IS NULL))
) STRICT, WITHOUT ROWID;

CREATE VIEW reinjection_text AS
SELECT s.project, r.session, r.seq, e.id, r.compaction, i.place, i.output, i.stream, i.unit, i.first, i.second, i.why,
       i.tool, i.call_id, i.outcome, i.turn, datetime(i.at / 1000, 'unixepoch') AS at
FROM reinjection r
JOIN entry e ON e.no = r.entry
JOIN session s ON s.id = r.session
JOIN reinjected i ON i.entry = r.entry;
