//! A redaction leaves nothing from which a short text can be guessed: somebody who has the files tries every text that it
//! may have been, with every salt that is still there.

use std::collections::HashSet;

use sayso::model::canon::{Salt, commit};
use sayso::{Ledger, NewTurn, Options, Quotes, Scope, SpeakerKind};
use sayso_store::content;
use sayso_store::{AppendTurn, Command};

use super::bytes;

const DIGITS: u32 = 10_000;

fn text(pin: u32) -> String {
    format!("the pin is {pin:04}")
}

/// Every salt that stands in a table.
fn salts(path: &std::path::Path) -> Vec<Salt> {
    let conn = rusqlite::Connection::open(path).unwrap();
    let mut found = vec![Salt([0; 16])];
    for (table, column) in [
        ("part", "salt"),
        ("quote", "salt"),
        ("caller_key", "salt"),
        ("session", "title_salt"),
        ("project", "name_salt"),
    ] {
        let sql = format!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL");
        let mut statement = conn.prepare(&sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, [u8; 16]>(0)).unwrap();
        found.extend(rows.map(|salt| Salt(salt.unwrap())));
    }
    found
}

/// The texts that some bytes of the files give away: as they are, as a digest, or under a salt that is there.
fn guessed(folder: &std::path::Path, key: &AppendTurn) -> Vec<u32> {
    let salts = salts(&folder.join("ledger.db"));
    let all = bytes(folder);
    let windows: HashSet<&[u8]> = all.windows(15).chain(all.windows(32)).collect();
    let gives_away = |pin: &u32| {
        let text = text(*pin);
        let mut turn = key.clone();
        turn.parts[0].body = sayso::model::PartBody::Text(text.clone());
        let content = content::turn(&turn);
        let salted = salts.iter().flat_map(|s| [commit(s, text.as_bytes()).0, commit(s, &content).0]);
        let plain = [*blake3::hash(text.as_bytes()).as_bytes(), *blake3::hash(&content).as_bytes()];
        windows.contains(text.as_bytes()) || salted.chain(plain).any(|d| windows.contains(d.as_slice()))
    };
    (0..DIGITS).filter(gives_away).collect()
}

#[test]
fn a_redaction_leaves_nothing_to_guess_from() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("ledger.db"), &Options::default()).unwrap();
    let session = ledger.session("Acme", "Plan").unwrap();
    let turn = NewTurn::text(SpeakerKind::Owner, "Mira", text(4711)).with_key("k");
    let Command::AppendTurn(key) = ledger.append_command(session.id, turn.clone()).unwrap() else { panic!() };
    let placed = ledger.append(&session, turn).unwrap();
    let reader = ledger.reader(Scope::All);
    let to = sayso::Destination::New { project: "Beta".into(), title: "Build".into() };
    reader.forward(sayso::ForwardRequest::of(placed, to)).unwrap();
    assert_eq!(ledger.index(usize::MAX).unwrap().left, 0);
    assert_eq!(guessed(folder.path(), &key), [4711], "the attempt finds what is there");
    reader.redact(placed.id, Quotes::TakeAlong).unwrap();
    assert_eq!(guessed(folder.path(), &key), Vec::<u32>::new());
}
