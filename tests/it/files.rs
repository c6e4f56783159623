//! What is left in the files of a ledger after words were taken away: searched byte by byte.

mod erased;
mod redacted;

use std::collections::BTreeMap;
use std::path::Path;

use sayso::{Ledger, NewTurn, Options, Quotes, Scope, SpeakerKind};
use sayso_store::{Forks, Target};

/// The bytes of every file of a ledger.
pub(crate) fn bytes(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        all.extend(std::fs::read(file.unwrap().path()).unwrap());
    }
    all
}

/// What a writer remembers of speakers must not outlive what another program moved or erased meanwhile.
#[test]
fn a_writer_notices_what_another_one_moved_and_erased() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let [one, other] = [0, 1].map(|_| Ledger::open(&path, &Options::default()).unwrap());
    let says = |title: &str| {
        let session = one.session("Acme", title).unwrap();
        one.append(&session, NewTurn::text(SpeakerKind::Person, "Jun", "words")).unwrap();
        session.id
    };
    let sound = || assert_eq!(one.reader(Scope::All).verify(&BTreeMap::new()).unwrap().problems, []);
    let (first, beta) = (says("Plan"), one.project(&Scope::All, "Beta").unwrap());
    other.reader(Scope::All).move_session(first, beta.id).unwrap();
    let second = says("Build");
    sound();
    let reader = other.reader(Scope::All);
    for session in [first, second] {
        reader.erase(Target::Session(session), Forks::Refuse, Quotes::Keep).unwrap();
    }
    says("Again");
    sound();
}
