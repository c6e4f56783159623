-- Full-text search over turns and over the stored outputs that they name.
--
-- The application makes the words (see README.md); the tokenizer only splits them at spaces. The tables keep no text:
-- what they find is looked up and compared again, so they may find too much and never too little. Words that are taken out
-- are taken out of the file (secure-delete).

CREATE VIRTUAL TABLE turn_words USING fts5 (words, content='', columnsize=0, detail='none', tokenize='ascii');
INSERT INTO turn_words (turn_words, rank) VALUES ('secure-delete', 1);

CREATE VIRTUAL TABLE output_words USING fts5 (words, content='', columnsize=0, detail='none', tokenize='ascii');
INSERT INTO output_words (output_words, rank) VALUES ('secure-delete', 1);

-- Entries up to this number are in both tables; a search looks at later ones one by one.
CREATE TABLE search_state (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    indexed INTEGER NOT NULL
) STRICT;
INSERT INTO search_state (one, indexed) VALUES (1, 0);

-- Numbers of entries that are gone may be given again.
CREATE TRIGGER search_state_back AFTER DELETE ON entry
WHEN old.no <= (SELECT indexed FROM search_state)
BEGIN
    UPDATE search_state SET indexed = min(indexed, (SELECT coalesce(max(no), 0) FROM entry));
END;

-- Words carry the project that a session was made in; this finds the sessions that moved since.
CREATE INDEX session_moved ON session (project, first_project) WHERE project <> first_project;
