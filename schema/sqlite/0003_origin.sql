-- Sessions and speakers that came from another ledger, through an export.

-- The ledger that the session was made in, where that is another one: its beginning is taken over that id.
ALTER TABLE session ADD COLUMN origin TEXT CHECK (origin IS NULL OR length(origin) = 26);

-- The name of a speaker who came beside another one of the same kind and name; `name` is then NULL.
ALTER TABLE speaker ADD COLUMN namesake BLOB CHECK (namesake IS NULL OR name IS NULL);

DROP VIEW speaker_text;
CREATE VIEW speaker_text AS
SELECT id, kind, CAST(coalesce(name, namesake) AS TEXT) AS name FROM speaker;

DROP VIEW turn_text;
CREATE VIEW turn_text AS
SELECT s.project, e.session, e.seq, e.id, p.place, coalesce(q.kind, w.kind) AS speaker_kind,
       CAST(coalesce(q.name, q.namesake, w.name, w.namesake) AS TEXT) AS speaker, p.kind AS part, p.tool,
       CAST(p.text AS TEXT) AS text, datetime(e.said_at / 1000, 'unixepoch') AS said_at,
       datetime(e.recorded_at / 1000, 'unixepoch') AS recorded_at
FROM entry e
JOIN session s ON s.id = e.session
JOIN part p ON p.no BETWEEN e.no * 4096 AND e.no * 4096 + 4095
LEFT JOIN speaker w ON w.id = e.speaker
LEFT JOIN speaker q ON q.id = p.speaker;

DROP VIEW quote_text;
CREATE VIEW quote_text AS
SELECT s.project, q.session, q.seq, e.id, q.state, q.origin, w.kind AS speaker_kind,
       CAST(coalesce(w.name, w.namesake) AS TEXT) AS speaker, CAST(coalesce(f.name, f.namesake) AS TEXT) AS forwarded_by,
       datetime(q.forwarded_at / 1000, 'unixepoch') AS forwarded_at, CAST(q.project_title AS TEXT) AS project_title,
       CAST(q.session_title AS TEXT) AS session_title, q.kept, q.total, q.cut, CAST(q.text AS TEXT) AS text
FROM quote q
JOIN entry e ON e.no = q.entry
JOIN session s ON s.id = q.session
LEFT JOIN speaker w ON w.id = q.speaker
LEFT JOIN speaker f ON f.id = q.forwarded_by;
