//! Exports of random ledgers, imported into other ones.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use sayso::Ledger;
use sayso_import::archive::export;
use sayso_import::{FileReport, import_file};
use sayso_model::{Digest, LedgerId, SessionId, UtcMs};
use sayso_sqlite::{Durability, Options, SqliteStore};
use sayso_store::{Oracle, Scope, Store};

use super::compare::Pair;
use super::random::Random;
use super::world::World;
use crate::support::TestHost;

const COPY: LedgerId = LedgerId::from_u128(8);

/// A copy on either backend, which takes in exports of one ledger.
pub(crate) struct Copies {
    folder: tempfile::TempDir,
    oracle: Arc<dyn Store>,
    sqlite: Arc<dyn Store>,
}

/// Every session's end.
type Heads = BTreeMap<SessionId, (u64, Digest)>;

fn heads(store: &dyn Store) -> Heads {
    let report = store.verify(&Scope::All).unwrap();
    assert_eq!(report.problems, []);
    report.heads.iter().map(|h| (h.session, (h.seq, h.hash))).collect()
}

fn ledger(store: &Arc<dyn Store>) -> Ledger {
    Ledger::over(Arc::clone(store), Arc::new(TestHost::default()))
}

pub(crate) fn exported(store: &Arc<dyn Store>) -> Vec<u8> {
    let reader = ledger(store).reader(Scope::All);
    let projects = reader.projects().unwrap().iter().map(|p| p.id).collect();
    let sessions = reader.sessions(None).unwrap().iter().map(|s| s.id).collect();
    let mut bytes = Vec::new();
    export(&reader, &projects, &sessions, &mut bytes).unwrap();
    bytes
}

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

#[track_caller]
fn same_bytes(found: &[u8], wanted: &[u8]) {
    if found != wanted {
        let (found, wanted) = (lines(found), lines(wanted));
        let first = found.iter().zip(&wanted).find(|(a, b)| a != b);
        panic!("{} and {} lines, first other: {first:#?}", found.len(), wanted.len());
    }
}

impl Copies {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { durability: Durability::Normal, ..Options::new(COPY, UtcMs(0)) };
        let sqlite = SqliteStore::open(folder.path().join("copy.sayso"), &options).unwrap();
        Self { folder, oracle: Arc::new(Oracle::new(COPY)), sqlite: Arc::new(sqlite) }
    }

    /// Imports into both, which must do and refuse the same.
    fn take(&self, export: &[u8]) -> Result<FileReport, String> {
        let path = self.folder.path().join("export.jsonl");
        std::fs::write(&path, export).unwrap();
        let taken = |store| {
            let report = import_file(&ledger(store), &path, &mut |_| {});
            report.map_err(|error| format!("{error}: {:?}", error.source().map(ToString::to_string)))
        };
        let (expected, found) = (taken(&self.oracle), taken(&self.sqlite));
        assert_eq!(found, expected);
        let apart = found.as_ref().map(|report| report.apart.clone()).unwrap_or_default();
        assert_eq!(apart, Vec::<String>::new());
        found
    }

    /// Takes an export of everything in: then both have its heads, and read the same. Whether it goes on: where the source
    /// gave the id of something that it had erased to something else, which a random id never is, the two cannot be one.
    pub(crate) fn follow(&self, source: &Arc<dyn Store>, world: &World, r: &mut Random) -> bool {
        match self.take(&exported(source)) {
            Err(why) if why.contains("is in use") || why.contains("is another speaker") => return false,
            taken => drop(taken.unwrap()),
        }
        let (wanted, found) = (heads(source.as_ref()), heads(self.sqlite.as_ref()));
        // What was erased in the source since stays in a copy.
        let found: Heads = found.into_iter().filter(|(id, _)| wanted.contains_key(id)).collect();
        assert_eq!(found, wanted);
        Pair { oracle: self.oracle.as_ref(), store: self.sqlite.as_ref() }.compare(world, r);
        true
    }

    /// Takes an export into copies that hold nothing: the same bytes come out again, and taking it twice adds nothing.
    pub(crate) fn come_back(&self, oracle: &Arc<dyn Store>, sqlite: &Arc<dyn Store>) {
        let export = exported(sqlite);
        same_bytes(&exported(oracle), &export);
        let report = self.take(&export).unwrap();
        assert_eq!(heads(self.sqlite.as_ref()), heads(sqlite.as_ref()));
        assert_eq!(heads(self.oracle.as_ref()), heads(oracle.as_ref()));
        same_bytes(&exported(&self.sqlite), &export);
        same_bytes(&exported(&self.oracle), &export);
        let again = self.take(&export).unwrap();
        assert_eq!((again.turns_added, again.turns_known), (0, report.turns_added));
        same_bytes(&exported(&self.sqlite), &export);
    }
}
