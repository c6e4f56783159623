//! Several writers on one ledger, each killed at a moment that nobody chose: all that was acknowledged is there, whole, and of
//! each writer at most the one thing more that was under way.
//!
//! A few kills are part of every run of the tests; `cargo xtask kill --times 1000` asks for more, through `SAYSO_KILLS`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sayso::store::{OutputState, Session, StreamKind};
use sayso::{Ended, Ending, Ledger, NewOutput, Scope};

use super::{ARGUMENTS, FOLDER, NUMBER, Other, PART, open, session, sound, texts, words};

/// Kills when no number is asked for.
const KILLS: usize = 24;
/// Writers at a time.
const WRITERS: usize = 4;
/// Turns of one batch.
const TOGETHER: usize = 3;
/// Every so many steps one is an output instead of a batch.
const OUTPUT_EVERY: usize = 5;
/// Steps that a writer takes at most: a kill that comes late must not fill the disk.
const STEPS: usize = 2_000;
/// What a line of a writer begins with; the harness around it prints lines too.
const DONE: &str = "done ";

/// Numbers that nobody chose, and that a run can have again with `SAYSO_SEED`.
fn draw(seed: u64, life: usize, what: &str) -> u64 {
    let hash = blake3::hash(format!("{seed} {life} {what}").as_bytes());
    u64::from_le_bytes(hash.as_bytes()[..8].try_into().unwrap())
}

fn number<T: std::str::FromStr>(variable: &str) -> Option<T> {
    std::env::var(variable).ok()?.parse().ok()
}

fn is_output(step: usize) -> bool {
    step % OUTPUT_EVERY == OUTPUT_EVERY - 1
}

/// What one batch of a life says: some of it long, so that logs are moved into the file on the way.
fn said(life: usize, step: usize) -> Vec<String> {
    let long = if step % 7 == 6 { 3_000 } else { 30 };
    (0..TOGETHER).map(|at| format!("{life} {step} {at} {}", "보고서 words ".repeat(long))).collect()
}

fn bytes(life: usize, step: usize) -> Vec<u8> {
    let mut bytes = vec![0; 150_000];
    blake3::Hasher::new().update(format!("{life} {step}").as_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

fn tool(step: usize) -> String {
    format!("tool {step}")
}

fn place(life: usize) -> String {
    format!("Life {life}")
}

/// The writer: does one step after the other, and says so once each is done.
pub(super) fn write(folder: &Path, life: usize) {
    let ledger = open(folder);
    let session = session(&ledger, &place(life));
    let mut out = std::io::stdout();
    // The harness may have left a line open.
    out.write_all(b"\n").unwrap();
    for step in 0..STEPS {
        take(&ledger, &session, life, step);
        out.write_all(format!("{DONE}{step}\n").as_bytes()).unwrap();
        out.flush().unwrap();
    }
    super::until_killed();
}

fn take(ledger: &Ledger, session: &Session, life: usize, step: usize) {
    if is_output(step) {
        let mut output = ledger.start_output(session, NewOutput::of(tool(step))).unwrap();
        output.write(StreamKind::Stdout, &bytes(life, step)).unwrap();
        output.finish(Ended::by(Ending::Exit(0))).unwrap();
        return;
    }
    let write = |plan: &mut sayso::Plan<'_>| {
        said(life, step).into_iter().try_for_each(|text| plan.append(session.id, words(text)).map(drop))
    };
    ledger.transact(&Scope::All, write).unwrap();
}

/// One writer from its start to its kill; how many steps it was heard to have done.
fn live(folder: &Path, seed: u64, life: usize) -> usize {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(ARGUMENTS).env(FOLDER, folder).env(PART, "write until killed").env(NUMBER, life.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut other = Other(command.spawn().unwrap());
    let mut heard = heard(&mut other.0);
    // Some are killed while they open the ledger, the others in the middle of some step.
    let wanted = usize::try_from(draw(seed, life, "steps") % 9).unwrap();
    let listened = heard.by_ref().take(wanted).count();
    let moment = draw(seed, life, "moment") % if wanted == 0 { 90_000 } else { 9_000 };
    std::thread::sleep(Duration::from_micros(moment));
    other.kill();
    // What it said before it died is said, also where nobody had listened yet.
    listened + heard.count()
}

/// The steps that a writer says it has done; a line that was cut off says nothing.
fn heard(child: &mut Child) -> impl Iterator<Item = usize> + use<> {
    let mut lines = BufReader::<ChildStdout>::new(child.stdout.take().unwrap());
    let mut expected = 0;
    std::iter::from_fn(move || {
        loop {
            let mut line = String::new();
            lines.read_line(&mut line).unwrap();
            let whole = line.strip_suffix('\n')?;
            if let Some(step) = whole.strip_prefix(DONE) {
                assert_eq!(step, expected.to_string(), "in order");
                expected += 1;
                return Some(expected);
            }
        }
    })
}

/// The steps of a life that the ledger has: the first ones, each whole, and none besides.
fn kept(ledger: &Ledger, life: usize, heard: usize) -> usize {
    let session = session(ledger, &place(life));
    let said_here = texts(ledger, &session);
    let outputs = ledger.reader(Scope::All).archived_outputs(session.id, None, STEPS).unwrap();
    let complete: Vec<_> = outputs.iter().filter(|o| o.state == OutputState::Complete).collect();
    assert_eq!(said_here.len() % TOGETHER, 0, "life {life}: a half batch");
    let kept = said_here.len() / TOGETHER + complete.len();
    let lost = heard.saturating_sub(kept);
    assert_eq!(lost, 0, "life {life}: {heard} steps were acknowledged, {kept} are there");
    assert!(kept <= heard + 1, "life {life}: {heard} steps were acknowledged, {kept} are there");
    let expected: Vec<String> =
        (0..kept).filter(|step| !is_output(*step)).flat_map(|step| said(life, step)).collect();
    assert!(said_here == expected, "life {life}: other words, or in another order");
    for step in (0..kept).filter(|step| is_output(*step)) {
        let output = complete.iter().find(|o| o.tool == tool(step)).unwrap();
        let mut found = Vec::new();
        ledger.reader(Scope::All).read_output(output.id, StreamKind::Stdout, &mut found).unwrap();
        assert!(found == bytes(life, step), "life {life}, step {step}: other bytes");
    }
    kept
}

#[test]
fn s9_writers_killed_at_random_moments_lose_nothing_that_was_acknowledged() {
    let (kills, writers) =
        (number("SAYSO_KILLS").unwrap_or(KILLS), number("SAYSO_WRITERS").unwrap_or(WRITERS));
    let seed = number("SAYSO_SEED").unwrap_or(1);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ledger = open(folder);
    let (next, told, more) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|threads| {
        for _ in 0..writers {
            threads.spawn(|| {
                loop {
                    let life = next.fetch_add(1, Ordering::Relaxed);
                    if life >= kills {
                        return;
                    }
                    let heard = live(folder, seed, life);
                    // At once, while the others go on writing.
                    let kept = kept(&ledger, life, heard);
                    told.fetch_add(heard, Ordering::Relaxed);
                    more.fetch_add(kept - heard, Ordering::Relaxed);
                }
            });
        }
    });
    drop(ledger);
    let ledger = open(folder);
    sound(&ledger);
    let (told, more) = (told.into_inner(), more.into_inner());
    println!(
        "{kills} kills, {writers} writers, seed {seed}: {told} steps acknowledged, 0 lost, {more} more were whole"
    );
    assert!(told >= kills, "the writers came to write: {told} steps in {kills} lives");
}
