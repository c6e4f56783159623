//! A large ledger in four languages, compared with a scan that was written apart from the search.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use sayso_model::{EntryId, PartBody, SpeakerKind};
use sayso_sqlite::SqliteStore;
use sayso_store::{Scope, Search, Store};

use super::{batch, beginning, entry, open, session, turn};
use crate::batches::random::Random;

const SESSIONS: usize = 40;
const WORDS: &[&str] = &[
    // Korean: of one, two, three and more characters; some stand inside others.
    "고",
    "서",
    "일",
    "보고",
    "보고서",
    "고서",
    "기사",
    "기사회생",
    "회생",
    "요약",
    "요약본",
    "회의",
    "회의록",
    "데이터",
    "데이터베이스",
    "베이스",
    "사용자",
    "용자",
    "인터페이스",
    "확인",
    "확인해줘",
    "해줘",
    "한국어",
    "국어",
    // Japanese and Chinese.
    "会",
    "議",
    "会議",
    "会議室",
    "議事録",
    "東京",
    "東京都",
    "京都",
    "データ",
    "データベース",
    "ベース",
    "報告",
    "報告書",
    "ひらがな",
    "かな",
    "数",
    "数据",
    "数据库",
    "据库",
    "北京",
    "北京大学",
    "大学",
    "人工智能",
    "智能",
    "中文",
    "文",
    // English: whole words only.
    "a",
    "i",
    "to",
    "of",
    "plan",
    "planning",
    "report",
    "reports",
    "article",
    "art",
    "ledger",
    "index",
    "the",
    "and",
    "database",
    "data",
    "base",
    "GPT",
    "v2",
    "2026",
    "harbour",
];
const ENDINGS: &[&str] = &["", "", "를", "에서", "입니다", "を", "の資料", "的", "了", ".", ", ", "!"];

fn said(r: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..1 + r.below(6) {
        // Of two choices the earlier: some words are frequent, others are rare.
        let at = r.below(WORDS.len() * WORDS.len()).isqrt();
        text.push_str(WORDS[WORDS.len() - 1 - at]);
        text.push_str(ENDINGS[r.below(ENDINGS.len())]);
        text.push_str(if r.chance(80) { " " } else { "" });
    }
    if r.chance(10) { text.to_uppercase() } else { text }
}

/// Whether a text has a word: written apart from the search, for the letters that are used here.
fn has(text: &str, word: &str) -> bool {
    let (text, word) = (text.to_lowercase(), word.to_lowercase());
    if !word.is_ascii() {
        return text.contains(&word);
    }
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|w| w == word)
}

struct Large {
    _folder: tempfile::TempDir,
    store: std::sync::Arc<SqliteStore>,
    /// Every turn, in the order it was appended.
    texts: Vec<(EntryId, String)>,
    r: Random,
}

impl Large {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = std::sync::Arc::new(open(&folder));
        store.write(&beginning(SESSIONS)).unwrap();
        Self { _folder: folder, store, texts: Vec::new(), r: Random::new(11) }
    }

    fn append(&mut self, turns: usize) {
        let mut left = turns;
        while left > 0 {
            let now = left.min(500);
            let commands = (0..now).map(|_| {
                let text = said(&mut self.r);
                let n = self.texts.len() + 1;
                self.texts.push((entry(n), text.clone()));
                let parts = vec![(None, PartBody::Text(text))];
                turn(n, session(self.r.below(SESSIONS)), SpeakerKind::Agent, parts)
            });
            let commands = commands.collect();
            self.store.write(&batch(self.texts.len() as i64, commands)).unwrap();
            left -= now;
        }
    }

    fn hits(&self, query: &str, limit: usize) -> Vec<EntryId> {
        let search = Search { limit, ..Search::new(query) };
        let hits = self.store.search(&Scope::All, &search).unwrap();
        hits.iter().map(|h| h.placed.id).collect()
    }

    /// Compares every hit of these words; how many each has.
    fn check<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> BTreeMap<&'w str, usize> {
        let compare = |word| {
            let scan = self.texts.iter().rev().filter(|(_, text)| has(text, word));
            let expected: Vec<EntryId> = scan.map(|(id, _)| *id).collect();
            assert!(self.hits(word, usize::MAX) == expected, "{word}: not the hits of a scan");
            (word, expected.len())
        };
        words.into_iter().map(compare).collect()
    }

    /// How long the newest 20 take, the best of some runs for every word, shortest first.
    fn times(&self) -> Vec<Duration> {
        let best = |word: &&str| (0..5).map(|_| timed(|| self.hits(word, 20)).0).min();
        let mut times: Vec<Duration> = WORDS.iter().filter_map(best).collect();
        times.sort_unstable();
        times
    }

    /// Takes entries into the index until no more than this many are left.
    fn index(&self, left: u64) -> Duration {
        timed(|| while self.store.index(1_000).unwrap().left > left {}).0
    }
}

#[expect(clippy::disallowed_methods, reason = "how long it takes is what is told here")]
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = work();
    (start.elapsed(), done)
}

/// Words of one, two, three and more characters are there, and words that stand inside longer ones.
fn told(counts: &BTreeMap<&str, usize>) {
    let having = |fits: &dyn Fn(&str) -> bool| counts.keys().filter(|word| fits(word)).count();
    let long = |word: &str, is: fn(usize) -> bool| is(word.chars().count());
    let [one, two, three, more] = [(|n| n == 1) as fn(usize) -> bool, |n| n == 2, |n| n == 3, |n| n > 3]
        .map(|is| having(&|w| long(w, is)));
    let inside = having(&|w| !w.is_ascii() && WORDS.iter().any(|other| *other != w && other.contains(w)));
    assert!(
        one >= 7 && two >= 20 && three >= 10 && more >= 10 && inside >= 20,
        "{one} {two} {three} {more} {inside}"
    );
    println!("{} words: {one} of one character, {two} of two, {three} of three, {more} longer", counts.len());
    println!("{inside} stand inside longer words; {counts:?}");
}

fn compare(turns: usize) {
    let mut large = Large::new();
    large.append(turns);
    // In the middle of catching up.
    let first = large.index(turns as u64 / 4);
    large.check(WORDS.iter().copied().step_by(15));
    let indexed = first + large.index(0);
    let counts = large.check(WORDS.iter().copied());
    assert!(counts.len() >= 60 && counts.values().all(|n| *n > 0), "{counts:?}");
    assert!(counts.values().filter(|n| **n >= 100).count() >= 30, "{counts:?}");
    told(&counts);
    let settled = large.times();
    // Right after an append.
    large.append(50);
    large.check(WORDS.iter().copied().step_by(15));
    assert_eq!(large.hits("보고 고서", usize::MAX), {
        let two = |text: &str| {
            let places = |w: &str| text.match_indices(w).map(|(at, _)| at).collect::<Vec<_>>();
            let (one, other) = (places("보고"), places("고서"));
            one.iter().any(|a| other.iter().any(|b| a + 3 != *b))
        };
        let scan = large.texts.iter().rev().filter(|(_, text)| two(text));
        scan.map(|(id, _)| *id).collect::<Vec<_>>()
    });
    let behind = ["보고서", "会議", "of", "数据库", "article"].map(|word| {
        large.index(0);
        large.append(1_000);
        timed(|| large.hits(word, 20)).0
    });
    let (middle, slowest) = (settled[settled.len() / 2], settled[settled.len() - 1]);
    println!("{turns} turns, indexed in {indexed:?}; newest 20: {middle:?}, of the slowest word {slowest:?}");
    println!("with 1,000 turns that are not indexed: {behind:?}");
}

/// At many places that the index may have got to, and right after an append at each of them.
#[test]
fn whatever_the_index_holds_so_far() {
    let mut large = Large::new();
    large.append(2_500);
    for left in [2_499, 2_000, 1_211, 513, 512, 65, 64, 63, 1, 0] {
        while large.store.index(7).unwrap().left > left {}
        large.check(WORDS.iter().copied().step_by(5));
        large.append(1);
        large.check(WORDS.iter().copied().skip(2).step_by(11));
    }
    large.check(WORDS.iter().copied());
}

/// The index is caught up by another thread meanwhile, and turns are appended.
#[test]
fn while_another_thread_catches_up() {
    let mut large = Large::new();
    large.append(2_500);
    let store = std::sync::Arc::clone(&large.store);
    let indexing = std::thread::spawn(move || {
        let mut steps = 0;
        while store.index(11).unwrap().left > 0 {
            steps += 1;
            std::thread::yield_now();
        }
        steps
    });
    let mut rounds = 0;
    while !indexing.is_finished() || rounds < 3 {
        large.check(WORDS.iter().copied().skip(rounds % 7).step_by(7));
        if rounds < 40 {
            large.append(3);
        }
        rounds += 1;
    }
    assert!(indexing.join().unwrap() > 10, "the other thread did some of it");
    large.check(WORDS.iter().copied());
}

#[test]
fn a_hundred_thousand_turns() {
    compare(100_000);
}
