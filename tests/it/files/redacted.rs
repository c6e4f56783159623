//! A redaction leaves nothing from which a short text can be guessed: somebody who has the files tries every text that it
//! may have been, with every salt and secret that is still there. Backups made before, and what was exported, are out of reach.

use std::collections::HashSet;
use std::path::Path;

use rusqlite::Connection;
use sayso::model::canon::{Salt, commit};
use sayso::model::{Outcome, OutputId, PartBody, SessionId, ToolResult, row};
use sayso::store::{OutputState, OutputStream, Run, StoreOutput, StreamKind};
use sayso::{CompactRequest, Ledger, NewTurn, Options, Placed, Quotes, Scope, SpeakerKind};
use sayso_store::{AppendTurn, Command, content};

use super::bytes;

/// Short texts of one kind, of which one was said. The long form is looked for as it is; of the short one only digests tell
/// anything, since its few bytes stand in any file.
struct Kind {
    texts: fn() -> Vec<String>,
    said: &'static str,
}

fn pins() -> Vec<String> {
    (0..10_000).map(|pin| format!("{pin:04}")).collect()
}

/// Words of two syllables, of 60 that are frequent.
fn korean() -> Vec<String> {
    const SYLLABLES: &str = "가나다라마바사아자차카타파하고노도로모보소오조초코토포호구누두루무부수우주추쿠투푸후기니디리미비시이지치키티피히서정은영";
    let all: Vec<char> = SYLLABLES.chars().collect();
    all.iter().flat_map(|a| all.iter().map(move |b| format!("{a}{b}"))).collect()
}

const KINDS: [Kind; 3] = [
    Kind { texts: pins, said: "4711" },
    Kind { texts: korean, said: "비서" },
    Kind { texts: || vec!["yes".to_owned(), "no".to_owned(), "아니".to_owned()], said: "no" },
];

/// The record of a transcript that a text came in, and the key that an importer makes of it.
fn record_key(text: &str) -> String {
    let record = format!("{{\"role\":\"user\",\"content\":\"{text}\"}}");
    format!("codex:7-{}", &blake3::hash(record.as_bytes()).to_hex()[..16])
}

fn column<T: rusqlite::types::FromSql>(conn: &Connection, sql: &str) -> Vec<T> {
    let mut statement = conn.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Every salt that stands in any table, whatever its column is called, and none.
fn salts(conn: &Connection) -> Vec<Salt> {
    let sql = "SELECT 'SELECT ' || c.name || ' FROM ' || t.name || ' WHERE typeof(' || c.name || ') = ''blob'' AND length(' \
               || c.name || ') = 16' FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'";
    let found = column::<String>(conn, sql).into_iter().flat_map(|sql| column::<Vec<u8>>(conn, &sql));
    std::iter::once([0; 16]).chain(found.map(|salt| salt.try_into().unwrap())).map(Salt).collect()
}

/// Somebody who has the files of a ledger.
struct Guesser {
    all: Vec<u8>,
    digests: HashSet<[u8; 32]>,
    /// Keys as they stand in the file: those of an importer, and the keyed hashes that are left of some.
    keys: HashSet<String>,
    salts: Vec<Salt>,
    secret: [u8; 32],
    session: SessionId,
    turn: AppendTurn,
}

impl Guesser {
    fn new(folder: &Path, turn: &AppendTurn) -> Self {
        let conn = Connection::open(folder.join("ledger.db")).unwrap();
        let (salts, secret) = (salts(&conn), column(&conn, "SELECT secret FROM meta")[0]);
        drop(conn);
        let all = bytes(folder);
        let digests = all.windows(32).map(|w| w.try_into().unwrap()).collect();
        let text = String::from_utf8_lossy(&all).into_owned();
        let keys = following(&text, "codex:7-", 16).chain(following(&text, "forgotten ", 64)).collect();
        Self { all, digests, keys, salts, secret, session: turn.session, turn: turn.clone() }
    }

    /// What a text may have been written down as: the words, and what a key stands for.
    fn forms(&self, text: &str) -> [Vec<u8>; 2] {
        let mut turn = self.turn.clone();
        turn.parts[0].body = PartBody::Text(text.to_owned());
        [text.as_bytes().to_vec(), content::turn(&turn)]
    }

    fn gives_away(&self, text: &str) -> bool {
        let forms = self.forms(text);
        let salted = self.salts.iter().flat_map(|salt| forms.iter().map(|form| commit(salt, form).0));
        let plain = forms.iter().map(|form| *blake3::hash(form).as_bytes());
        let keyed = forms.iter().map(|form| *blake3::keyed_hash(&self.secret, form).as_bytes());
        let key = record_key(text);
        let words = [&self.session.to_bytes()[..], b"turn", key.as_bytes()];
        let forgotten = row::forgotten(&self.secret, &words).to_string();
        salted.chain(plain).chain(keyed).any(|digest| self.digests.contains(&digest))
            || self.keys.contains(&key["codex:7-".len()..])
            || self.keys.contains(&forgotten)
    }

    fn guessed(&self, texts: &[String]) -> Vec<String> {
        texts.iter().filter(|text| self.gives_away(text)).cloned().collect()
    }

    /// Whether any 16 bytes anywhere in the files are a salt under which the text that was said gives a digest that is there.
    fn any_salt_fits(&self, text: &str) -> bool {
        let forms = self.forms(text);
        self.all.windows(16).any(|salt| {
            let salt = Salt(salt.try_into().unwrap());
            forms.iter().any(|form| self.digests.contains(&commit(&salt, form).0))
        })
    }
}

/// What follows a word wherever it stands.
fn following<'t>(text: &'t str, word: &'t str, len: usize) -> impl Iterator<Item = String> + 't {
    text.match_indices(word)
        .filter_map(move |(at, _)| text.get(at + word.len()..at + word.len() + len))
        .map(str::to_owned)
}

/// The text in a form that stands nowhere by chance.
fn long(text: &str) -> String {
    format!("the word is {text}, remember it")
}

/// Says a short text in every way there is: as a turn with an importer's key, quoted, in a summary, and as a stored output.
fn say(ledger: &Ledger, text: &str) -> (AppendTurn, Vec<Placed>) {
    let session = ledger.session("Acme", "Plan").unwrap();
    let turn = NewTurn::text(SpeakerKind::Owner, "Mira", text).with_key(record_key(text));
    let Command::AppendTurn(command) = ledger.append_command(session.id, turn.clone()).unwrap() else {
        panic!()
    };
    let said = ledger.append(&session, turn).unwrap();
    let reader = ledger.reader(Scope::All);
    let to = sayso::Destination::New { project: "Beta".into(), title: "Build".into() };
    reader.forward(sayso::ForwardRequest::of(said, to)).unwrap();
    let longer = ledger.append(&session, NewTurn::text(SpeakerKind::Owner, "Mira", long(text))).unwrap();
    let (_, compacted) = reader.compact(&CompactRequest::of(session.id, text)).unwrap();
    let output = output(ledger, session.id, text);
    let outcome = Outcome::Ok;
    let (call_id, tool) = ("c".to_owned(), "cat".to_owned());
    let body = ToolResult { call_id, tool, outcome, text: text.to_owned(), output: Some(output) };
    let parts = vec![(None, PartBody::ToolResult(body))];
    let result =
        ledger.append(&session, NewTurn { parts, ..NewTurn::text(SpeakerKind::Tool, "cat", "") }).unwrap();
    while ledger.index(usize::MAX).unwrap().left > 0 {}
    (command, vec![said, longer, compacted.placed, result])
}

fn output(ledger: &Ledger, session: SessionId, text: &str) -> OutputId {
    let blob = ledger.put_blob(&mut text.as_bytes()).unwrap();
    let id = ledger.fresh_output();
    let streams = vec![OutputStream::new(StreamKind::Stdout, blob)];
    let (tool, state, exit) = ("cat".to_owned(), OutputState::Complete, Some(0));
    let output = StoreOutput { id, session, tool, state, exit, streams, run: Run::default() };
    ledger.write(&Scope::All, vec![Command::StoreOutput(output)]).unwrap();
    id
}

#[test]
fn a_redaction_leaves_nothing_to_guess_from() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db"), &Options::default()).unwrap();
        let (command, said) = say(&ledger, kind.said);
        let texts = (kind.texts)();
        let before = Guesser::new(folder.path(), &command);
        assert_eq!(before.guessed(&texts), [kind.said], "the attempt finds what is there");
        assert!(before.any_salt_fits(kind.said));
        let reader = ledger.reader(Scope::All);
        for turn in said {
            reader.redact(turn.id, Quotes::TakeAlong).unwrap();
        }
        let after = Guesser::new(folder.path(), &command);
        assert_eq!(after.guessed(&texts), Vec::<String>::new());
        assert!(!after.any_salt_fits(kind.said));
        assert!(contains(&before.all, &long(kind.said)) && !contains(&after.all, &long(kind.said)));
        // And yet an import of the same record does not bring the words back.
        let known = reader.known(command.session, &record_key(kind.said)).unwrap();
        assert!(known.is_some());
    }
}

fn contains(all: &[u8], text: &str) -> bool {
    all.windows(text.len()).any(|window| window == text.as_bytes())
}
