-- What nobody knows of requests and deliveries: whether the session that a request went into goes on, and whether something of a
-- delivery may have arrived.
--
-- Rows from before say 0: a session is taken to go on until it is told to have ended, and what is `unknown` or `parked` after an
-- attempt may have arrived anyway.

ALTER TABLE request ADD COLUMN gone INTEGER NOT NULL DEFAULT 0 CHECK (gone = 0 OR gone = 1);
ALTER TABLE delivery ADD COLUMN uncertain INTEGER NOT NULL DEFAULT 0 CHECK (uncertain = 0 OR uncertain = 1);

-- A forward stays open as well while words of the session may be its answer.
DROP INDEX request_open;
CREATE INDEX request_open ON request (session)
WHERE injection <> 'dead' AND (injection <> 'injected' OR (answer <> 'final' AND (account IS NOT NULL OR gone = 0))) OR listening = 1;
