use crate::erase::steps::RECORDED_TITLES;
use crate::read::archive::KEYS;
use crate::read::key::KEY;
use crate::read::load::Selection;
use crate::read::output::OF_SESSION;
use crate::read::taken::{CAME, TAKEN};
use crate::read::turns::{
    BY_ID, HASH_AT, HEAD, HOME, LATEST, MARKS, PINNED, PLACE, QUOTES, QUOTES_OF, RUN, SUPERSEDING, WAITING,
    WAITING_ALL, WAITING_IN,
};
use crate::rows::{MERGED, SESSION, SPEAKER};
use crate::search::index::{MADE_IN, NEXT, NUMBERED};
use crate::search::query::{BY_NUMBER, LATER, MOVED, NUMBER, PROJECT, TURNS, TURNS_AND_OUTPUTS};
use crate::search::{INDEXED, LAST};
use crate::write::append::{FIRST_DERIVED, FIRST_MARK, LAST_CLOSING, SAME_STANDING};
use crate::write::life::{FORKS, LAST_RENAMING};
use crate::write::restore::{KEYED, TARGET, THERE};
use crate::write::title::{NAMES, RECORDED, RENAMINGS, SHOWING};

use super::{folder, open};

/// The steps of a statement's plan.
fn plan(store: &crate::SqliteStore, sql: &str) -> Vec<String> {
    let steps = store.read_with("testing", |conn| {
        let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
        let steps = statement.raw_query().mapped(|row| row.get::<_, String>(3)).collect::<Result<_, _>>();
        Ok(steps?)
    });
    steps.unwrap()
}

fn statements(selection: &Selection) -> [&'static str; 6] {
    let Selection { entries, quotes, hops, compactions, reinjections, marks } = *selection;
    [entries, quotes, hops, compactions, reinjections, marks]
}

#[test]
fn nothing_that_an_app_does_often_scans_a_table() {
    let folder = folder();
    let store = open(&folder.path);
    let selections = [BY_ID, RUN, QUOTES, WAITING, WAITING_IN, BY_NUMBER, NUMBERED];
    let singles = [
        HASH_AT,
        HEAD,
        KEY,
        LATEST,
        MARKS,
        PLACE,
        HOME,
        FORKS,
        SESSION,
        SPEAKER,
        FIRST_MARK,
        LAST_CLOSING,
        FIRST_DERIVED,
        SAME_STANDING,
        MADE_IN,
        NEXT,
        LATER,
        MOVED,
        NUMBER,
        PROJECT,
        INDEXED,
        LAST_RENAMING,
        MERGED,
        PINNED,
        QUOTES_OF,
        SUPERSEDING,
        KEYS,
        OF_SESSION,
        THERE,
        TARGET,
        KEYED,
        TAKEN,
        CAME,
        SHOWING,
        RENAMINGS,
        RECORDED,
        NAMES,
    ];
    let all = selections.iter().flat_map(statements).chain(singles.map(|(_, sql)| sql));
    let all = all.chain(RECORDED_TITLES.iter().copied());
    for sql in all {
        let steps = plan(&store, sql);
        assert!(steps.iter().all(|step| !step.starts_with("SCAN")), "{sql}\n{steps:#?}");
    }
}

#[test]
fn a_run_of_entries_needs_no_sorting() {
    let folder = folder();
    let store = open(&folder.path);
    for sql in [RUN.entries, QUOTES.entries, WAITING.entries, KEYS.1, OF_SESSION.1] {
        let steps = plan(&store, sql);
        assert!(steps.iter().all(|step| !step.contains("TEMP B-TREE")), "{sql}\n{steps:#?}");
    }
}

#[test]
fn what_waits_everywhere_is_read_from_the_index_of_what_waits() {
    let folder = folder();
    let store = open(&folder.path);
    for sql in statements(&WAITING_ALL) {
        let steps = plan(&store, sql);
        let scans: Vec<_> = steps.iter().filter(|step| step.starts_with("SCAN")).collect();
        assert!(scans.iter().all(|step| step.contains("quote_waiting")), "{sql}\n{steps:#?}");
    }
}

#[test]
fn a_search_asks_the_index_and_sorts_nothing() {
    let folder = folder();
    let store = open(&folder.path);
    let turns = ["SCAN turn_words VIRTUAL TABLE INDEX 192:M1<"];
    assert_eq!(plan(&store, TURNS.1), turns);
    let both = [
        "MERGE (UNION)",
        "LEFT",
        "SCAN turn_words VIRTUAL TABLE INDEX 192:M1<",
        "RIGHT",
        "SCAN output_words VIRTUAL TABLE INDEX 192:M1<",
    ];
    assert_eq!(plan(&store, TURNS_AND_OUTPUTS.1), both);
    // The last number is read from the end of the table.
    assert_eq!(plan(&store, LAST.1), ["SEARCH entry"]);
}
