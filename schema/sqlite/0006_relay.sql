-- Requests and deliveries: messages that expect an answer, and what is said to the people who sent them.
--
-- The list of kinds of marks is longer from here on; see the step before on how that is done.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'OR kind = ''erased'')', 'OR kind = ''erased'' OR kind = ''shown'')')
WHERE type = 'table' AND name = 'mark';
PRAGMA writable_schema = RESET;

-- `account` to `destination` are NULL for a forward, whose answer goes nowhere.
CREATE TABLE request (
    id           TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 26),
    session      TEXT NOT NULL REFERENCES session (id),
    turn         TEXT NOT NULL,
    account      TEXT,
    update_id    TEXT,
    message      TEXT,
    channel      TEXT,
    destination  TEXT,
    accepted_at  INTEGER NOT NULL,
    injection    TEXT NOT NULL CHECK (injection = 'queued' OR injection = 'injecting' OR injection = 'injected'
                 OR injection = 'unknown' OR injection = 'dead'),
    fence        INTEGER NOT NULL,
    lease_until  INTEGER,
    not_before   INTEGER,
    attempts     INTEGER NOT NULL,
    injected_at  INTEGER,
    deadline     INTEGER,
    listening    INTEGER NOT NULL CHECK (listening = 0 OR listening = 1),
    turn_state   TEXT NOT NULL CHECK (turn_state = 'none' OR turn_state = 'open' OR turn_state = 'settled'
                 OR turn_state = 'interrupted'),
    answer       TEXT NOT NULL CHECK (answer = 'none' OR answer = 'fallback_issued' OR answer = 'final'),
    answered_by  TEXT,
    why          TEXT,
    digest       BLOB NOT NULL,
    CHECK ((account IS NULL) = (update_id IS NULL) AND (account IS NULL) = (message IS NULL)
           AND (account IS NULL) = (channel IS NULL) AND (account IS NULL) = (destination IS NULL)),
    CHECK ((answer = 'final') = (answered_by IS NOT NULL)),
    CHECK ((injection = 'injected') = (injected_at IS NOT NULL) AND (injected_at IS NULL) = (deadline IS NULL)),
    CHECK ((injection = 'injecting') = (lease_until IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX request_turn ON request (turn);
CREATE UNIQUE INDEX request_update ON request (session, account, update_id) WHERE account IS NOT NULL;
CREATE UNIQUE INDEX request_listening ON request (session) WHERE listening = 1;
CREATE INDEX request_open ON request (session)
WHERE injection <> 'dead' AND (injection <> 'injected' OR (answer <> 'final' AND account IS NOT NULL)) OR listening = 1;

CREATE TABLE delivery (
    id            TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 26),
    request       TEXT NOT NULL REFERENCES request (id),
    session       TEXT NOT NULL REFERENCES session (id),
    kind          TEXT NOT NULL CHECK (kind = 'reply' OR kind = 'fallback' OR kind = 'direct' OR kind = 'progress'
                  OR kind = 'notice'),
    key           TEXT NOT NULL,
    part          INTEGER NOT NULL,
    parts         INTEGER NOT NULL,
    turn          TEXT NOT NULL,
    text          BLOB,
    salt          BLOB,
    commitment    BLOB NOT NULL,
    state         TEXT NOT NULL CHECK (state = 'held' OR state = 'ready' OR state = 'sending' OR state = 'delivered'
                  OR state = 'failed' OR state = 'unknown' OR state = 'parked' OR state = 'suppressed' OR state = 'cancelled'),
    fence         INTEGER NOT NULL,
    lease_until   INTEGER,
    not_before    INTEGER,
    attempts      INTEGER NOT NULL,
    first_sent_at INTEGER,
    repeat_mark   INTEGER NOT NULL CHECK (repeat_mark = 0 OR repeat_mark = 1),
    held_until    INTEGER,
    suppressed_by TEXT,
    receipt       TEXT,
    late          TEXT NOT NULL,
    why           TEXT,
    created_at    INTEGER NOT NULL,
    digest        BLOB NOT NULL,
    UNIQUE (request, kind, key, part),
    CHECK ((text IS NULL) = (salt IS NULL)),
    CHECK ((state = 'delivered') = (receipt IS NOT NULL)),
    CHECK ((state = 'suppressed') = (suppressed_by IS NOT NULL)),
    CHECK ((state = 'sending') = (lease_until IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX delivery_turn ON delivery (turn);
CREATE INDEX delivery_session ON delivery (session);
CREATE INDEX delivery_open ON delivery (session)
WHERE state <> 'delivered' AND state <> 'suppressed' AND state <> 'cancelled';

CREATE TABLE source_cursor (
    session TEXT NOT NULL REFERENCES session (id),
    account TEXT NOT NULL,
    value   TEXT NOT NULL,
    digest  BLOB NOT NULL,
    PRIMARY KEY (session, account)
) STRICT, WITHOUT ROWID;

CREATE TABLE lease (
    name   TEXT PRIMARY KEY NOT NULL,
    holder TEXT NOT NULL,
    fence  INTEGER NOT NULL,
    until  INTEGER NOT NULL,
    about  TEXT NOT NULL,
    digest BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE VIEW request_text AS
SELECT s.project, r.session, e.seq, r.id, r.turn, r.channel, r.destination, r.injection, r.turn_state, r.answer,
       datetime(r.accepted_at / 1000, 'unixepoch') AS accepted_at, datetime(r.injected_at / 1000, 'unixepoch') AS injected_at,
       datetime(r.deadline / 1000, 'unixepoch') AS deadline, r.answered_by, r.why
FROM request r
JOIN session s ON s.id = r.session
LEFT JOIN entry e ON e.id = r.turn;

CREATE VIEW delivery_text AS
SELECT s.project, d.session, d.id, d.request, r.channel, r.destination, d.kind, d.part + 1 AS part, d.parts, d.state,
       d.attempts, d.receipt, d.why, datetime(d.created_at / 1000, 'unixepoch') AS created_at, CAST(d.text AS TEXT) AS text
FROM delivery d
JOIN request r ON r.id = d.request
JOIN session s ON s.id = d.session;
