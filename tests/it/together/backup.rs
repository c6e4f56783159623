//! Backups that are made while others write.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sayso::{HeadKept, Ledger, Options, Scope};
use sayso_model::SessionId;

use super::{Other, file, log, logged, open, place, session, sound, tell, told, wait_for, words};

/// Appends until told to stop, and writes down where each turn was placed.
fn write(folder: &Path, ledger: &Ledger, n: usize) {
    let session = session(ledger, &format!("Session {n}"));
    for round in 0.. {
        if told(folder, "stop") {
            return;
        }
        let placed = ledger.append(&session, words(format!("{round} {}", "words ".repeat(50)))).unwrap();
        log(folder, &format!("said {n}"), &place(&placed));
    }
}

type Places = BTreeMap<(String, u64), String>;

fn acknowledged(folder: &Path) -> Places {
    let lines = (0..3).flat_map(|n| logged(folder, &format!("said {n}")));
    let read = |line: String| {
        let words: Vec<&str> = line.split(' ').collect();
        ((words[0].to_owned(), words[1].parse().unwrap()), words[2].to_owned())
    };
    lines.map(read).collect()
}

#[test]
fn a_backup_holds_what_was_acknowledged_before_and_nothing_that_never_was() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ledger = open(folder);
    let copies: Vec<(PathBuf, Places)> = std::thread::scope(|threads| {
        for n in 0..2 {
            let ledger = ledger.clone();
            threads.spawn(move || write(folder, &ledger, n));
        }
        // One more process: it has nothing in common with this one but the file.
        let other = Other::start(folder, "append", 7);
        wait_for(folder, "done 7");
        let copies = (0..8).map(|n| {
            let before = acknowledged(folder);
            let to = folder.join(format!("copy {n}.db"));
            ledger.reader(Scope::All).backup(&to).unwrap();
            std::thread::sleep(Duration::from_millis(20));
            (to, before)
        });
        let copies = copies.collect();
        tell(folder, "stop");
        other.kill();
        copies
    });
    sound(&ledger);
    for (path, before) in copies {
        let copy = Ledger::open(&path, &Options { create: false, ..Options::default() }).unwrap();
        assert_eq!(copy.id(), ledger.id());
        let report = copy.reader(Scope::All).verify(&BTreeMap::new()).unwrap();
        assert_eq!(report.problems, Vec::new());
        // Every head was once the head of that session, so that what stands before it is the same as well.
        let heads = report.heads.iter().map(|h| (h.session, HeadKept { seq: h.seq, hash: h.hash })).collect();
        assert_eq!(ledger.reader(Scope::All).verify(&heads).unwrap().problems, Vec::new());
        let last = |session: &str| {
            let session: SessionId = session.parse().unwrap();
            report.heads.iter().find(|h| h.session == session).map_or(0, |h| h.seq)
        };
        for (session, seq) in before.keys() {
            assert!(*seq <= last(session), "{session} {seq} was acknowledged before the backup began");
        }
    }
}

/// Makes backups until it is killed.
pub(super) fn make(folder: &Path) {
    let ledger = open(folder);
    // A kill that comes late must not fill the disk.
    for n in 0..20 {
        tell(folder, "making");
        ledger.reader(Scope::All).backup(&folder.join(format!("killed {n}.db"))).unwrap();
        log(folder, "made", &n.to_string());
    }
    super::until_killed();
}

/// A backup that is killed leaves nothing that could be taken for one; those that were finished are whole.
#[test]
fn a_backup_that_is_killed_leaves_no_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ledger = open(folder);
    let plan = session(&ledger, "Plan");
    ledger.put_blob(&mut noise().as_slice()).unwrap();
    let said = ledger.append(&plan, words("said")).unwrap();
    let mut cut_off = 0;
    for round in 0..8 {
        let making = Other::start(folder, "backup", round);
        wait_for(folder, "making");
        std::thread::sleep(Duration::from_millis(5 + 7 * round as u64));
        making.kill();
        let made = logged(folder, "made").len();
        let mut found = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path == file(folder) || !path.to_string_lossy().contains("killed") {
                continue;
            }
            if path.extension().is_some_and(|e| e == "db") {
                let copy = Ledger::open(&path, &Options { create: false, ..Options::default() }).unwrap();
                assert_eq!(copy.reader(Scope::All).entry(said.id).unwrap().unwrap().hash, said.hash);
                sound(&copy);
                found += 1;
            } else if path.to_string_lossy().contains("unfinished") {
                cut_off += 1;
            }
            std::fs::remove_file(path).unwrap();
        }
        // The last may have been finished without its maker having lived to say so.
        assert!(found == made || found == made + 1, "{found} of {made}");
        for sign in ["making", "made"] {
            let _ = std::fs::remove_file(folder.join(sign));
        }
    }
    assert!(cut_off > 0, "none was cut off");
}

fn noise() -> Vec<u8> {
    (0..6_000_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 21) as u8).collect()
}
