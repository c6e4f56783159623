//! What SQLite does for the operations that an app does again and again, in a session however long: the statements are
//! those that ran, not a list by hand.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use sayso::model::{LedgerId, SessionId, UtcMs};
use sayso::store::Store;
use sayso::view::context::Provider;
use sayso::{
    CompactRequest, Destination, Durability, ForwardRequest, Ledger, NewTurn, Reader, Scope, SpeakerKind,
};
use sayso_sqlite::watch::{Ran, watched};
use sayso_sqlite::{Options, SqliteStore};

use crate::support::{START, TestHost, placed};

const SHORT: u64 = 1_000;
const LONG: u64 = 20_000;
/// Turns behind the boundary of the compaction.
const LATER: u64 = 40;

/// A ledger with one long session and another one beside it.
struct Stage {
    store: Arc<SqliteStore>,
    ledger: Ledger,
    session: SessionId,
    other: SessionId,
    last: u64,
}

impl Stage {
    /// The ledger in this file, opened by a program that has just started.
    fn open(path: &Path, host: TestHost) -> Self {
        let options =
            Options { durability: Durability::Normal, ..Options::new(LedgerId::from_u128(1), UtcMs(1)) };
        let store = Arc::new(SqliteStore::open(path, &options).unwrap());
        let ledger = Ledger::over(Arc::clone(&store) as Arc<dyn Store>, Arc::new(host));
        let none = SessionId::from_u128(0);
        Self { store, ledger, session: none, other: none, last: 0 }
    }

    fn make(path: &Path, turns: u64) {
        let stage = Self::open(path, TestHost::default());
        let session = stage.ledger.session("Acme", "Plan").unwrap();
        let other = stage.ledger.session("Acme", "Build").unwrap();
        stage.ledger.append(&other, NewTurn::text(SpeakerKind::Agent, "Rocky", "Built.")).unwrap();
        let say = |n: u64| {
            let (kind, name) = if n.is_multiple_of(2) {
                (SpeakerKind::Owner, "Mira")
            } else {
                (SpeakerKind::Agent, "Rocky")
            };
            NewTurn::text(kind, name, format!("Step {n} of the plan: 시간표를 확인합니다."))
        };
        for chunk in (0..turns).collect::<Vec<_>>().chunks(1_000) {
            let appended = |plan: &mut sayso::Plan<'_>| {
                chunk.iter().try_for_each(|n| plan.append(session.id, say(*n)).map(|_| ()))
            };
            stage.ledger.transact(&Scope::All, appended).unwrap();
        }
        let reader = stage.reader();
        let through = reader.entries(session.id, turns - LATER - 1, 1).unwrap().remove(0);
        let request = CompactRequest {
            through: Some(placed(&through)),
            ..CompactRequest::of(session.id, "So far so good.")
        };
        reader.compact(&request).unwrap();
    }

    fn again(path: &Path) -> Self {
        // Another time, or it would give ids again.
        let host = TestHost { clock: AtomicI64::new(2 * START), ..TestHost::default() };
        let mut stage = Self::open(path, host);
        let reader = stage.reader();
        let session = reader.find_session("Plan").unwrap();
        let other = reader.find_session("Build").unwrap();
        (stage.session, stage.other, stage.last) = (session.id, other.id, session.last_seq);
        stage
    }

    fn reader(&self) -> Reader {
        self.ledger.reader(Scope::All)
    }
}

/// What is asked of a session that is there.
type Work = fn(&Stage);

const WORKS: [(&str, Work); 7] = [
    ("the last 50 turns", |s| assert_eq!(s.reader().entries(s.session, s.last - 50, 50).unwrap().len(), 50)),
    ("a page in the middle", |s| {
        assert_eq!(s.reader().entries(s.session, s.last / 2, 50).unwrap().len(), 50)
    }),
    ("context", |s| {
        let context = s.reader().context(s.session, Provider::Anthropic, None).unwrap();
        assert!(context.tokens > 0);
    }),
    ("append", |s| {
        let session = s.reader().session(s.session).unwrap().unwrap();
        s.ledger
            .append(&session, NewTurn::text(SpeakerKind::Owner, "Mira", "One more.").with_key("k"))
            .unwrap();
    }),
    ("forward a turn of it", |s| {
        let turn = s.reader().entries(s.session, s.last / 2, 1).unwrap().remove(0);
        s.reader().forward(ForwardRequest::of(placed(&turn), Destination::Session(s.other))).unwrap();
    }),
    ("forward into it", |s| {
        let turn = s.reader().entries(s.other, 0, 1).unwrap().remove(0);
        s.reader().forward(ForwardRequest::of(placed(&turn), Destination::Session(s.session))).unwrap();
    }),
    ("context with a quote", |s| {
        s.reader().context(s.session, Provider::OpenAiResponses, None).unwrap();
    }),
];

/// Opens the ledger and does everything; the statements of each, as they ran.
fn run(path: &Path) -> (Stage, Vec<(&'static str, Vec<Ran>)>) {
    let (stage, opened) = watched(|| Stage::again(path));
    let mut all = vec![("open, and find both sessions", opened)];
    for (what, work) in WORKS {
        let ((), ran) = watched(|| work(&stage));
        assert!(!ran.is_empty(), "{what}: nothing was watched");
        all.push((what, ran));
    }
    (stage, all)
}

fn scratch(turns: u64) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    Stage::make(&path, turns);
    (folder, path)
}

/// A statement on one line, without the columns it names.
fn short(sql: &str) -> String {
    let words = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    match (words.strip_prefix("SELECT "), words.find(" FROM ")) {
        (Some(_), Some(from)) if from > 60 => format!("SELECT …{}", &words[from..]),
        _ => match words.split_once(" (") {
            Some((head, _)) if words.starts_with("INSERT INTO") => format!("{head} …"),
            _ => words,
        },
    }
}

/// Tables that grow with what is said.
const GROWING: [&str; 9] =
    ["entry", "part", "quote", "hop", "compaction", "mark", "caller_key", "turn_words", "output_words"];

/// Whether a statement reads nothing that grows with what is said: the row of the ledger, names of projects and sessions.
fn is_small(sql: &str) -> bool {
    let words: Vec<&str> = sql.split_whitespace().collect();
    let tables = words.windows(2).filter(|w| ["FROM", "JOIN", "INTO", "UPDATE"].contains(&w[0]));
    tables.map(|w| w[1]).all(|table| !GROWING.contains(&table))
}

/// Settings and transactions have none.
fn has_plan(sql: &str) -> bool {
    ["SELECT", "INSERT", "UPDATE", "DELETE"].iter().any(|word| sql.starts_with(word))
}

#[test]
fn no_operation_on_a_session_scans_or_sorts() {
    let (_folder, path) = scratch(SHORT);
    let (stage, all) = run(&path);
    let mut seen = BTreeMap::new();
    let mut page = String::new();
    for (what, ran) in &all {
        page.push_str(&format!("## {what}\n\n"));
        for ran in ran {
            let plan = if has_plan(&ran.sql) { stage.store.plan(&ran.sql).unwrap() } else { Vec::new() };
            let heavy = plan.iter().any(|step| step.starts_with("SCAN") || step.contains("TEMP B-TREE"));
            let heavy = heavy || ran.scanned > 0 || ran.sorts > 0;
            assert!(!heavy || is_small(&ran.sql), "{what}\n{}\n{plan:#?}\n{ran:?}", ran.sql);
            if plan.is_empty() {
                page.push_str(&format!("{}\n", short(&ran.sql)));
            } else if let Some(number) = seen.get(&ran.sql) {
                page.push_str(&format!("({number}) again\n"));
            } else {
                let number = seen.len() + 1;
                seen.insert(ran.sql.clone(), number);
                page.push_str(&format!("({number}) {}\n", short(&ran.sql)));
                plan.iter().for_each(|step| page.push_str(&format!("    {step}\n")));
            }
        }
        page.push('\n');
    }
    sayso_snapshots::check("plans", &page);
}

#[test]
fn no_operation_costs_more_in_a_longer_session() {
    let ((_short_folder, short), (_long_folder, long)) = (scratch(SHORT), scratch(LONG));
    let ((_, short), (_, long)) = (run(&short), run(&long));
    let steps = |ran: &[Ran]| ran.iter().map(|r| (r.sql.clone(), r.steps)).collect::<Vec<_>>();
    for ((what, short), (_, long)) in short.iter().zip(&long) {
        assert_eq!(steps(short), steps(long), "{what}");
    }
}
