//! Spool and frames: cases T28 and T34, and whatever bytes come.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use sayso_output::envelope::{Delivery, Envelope, ModelContext, Purpose, Received, Reply, decide};
use sayso_output::wire::{
    FRAME_VARIABLE, Finding, Found, FrameReader, Nonce, Route, SPOOL_VARIABLE, Sections, Spool, Why, collect,
    emit, frame,
};

fn nonce() -> Nonce {
    Nonce::of([7; 16])
}

fn sections(model: &[u8], user: &[u8]) -> Sections {
    Sections { model: model.to_vec(), user: user.to_vec(), purpose: Purpose::Detail }
}

fn framed(sections: &Sections) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame(sections, &nonce(), &mut bytes).unwrap();
    bytes
}

/// The frames in a stream that comes in pieces, and the text around them.
fn read(bytes: &[u8], piece: usize) -> (Vec<Found>, Vec<u8>) {
    let mut text = Vec::new();
    let mut reader = FrameReader::new(nonce(), &mut text);
    bytes.chunks(piece.max(1)).for_each(|piece| reader.feed(piece).unwrap());
    let found = reader.finish().unwrap();
    (found, text)
}

#[test]
fn t24_a_frame_after_text_without_a_line_break_is_found() {
    let given = sections(b"model", b"person");
    let stream = [b"x".to_vec(), framed(&given), b"y".to_vec(), framed(&given)].concat();
    assert_eq!(read(&stream, 3), (vec![Found::Whole(given.clone()), Found::Whole(given)], b"xy".to_vec()));
}

#[test]
fn t28_a_frame_for_the_person_alone_goes_to_the_model_too() {
    for empty in ["", "  \n"] {
        let (found, _) = read(&framed(&sections(empty.as_bytes(), "보고서".as_bytes())), 64);
        let decision = decide(&found[0].received(), Delivery::Pending);
        assert_eq!((decision.model.as_str(), decision.person.as_deref()), ("보고서", Some("보고서")));
    }
}

#[test]
fn a_frame_that_lies_is_truncated() {
    let right = framed(&sections(b"for the model", b"for the person"));
    let (text, other) = (String::from_utf8(right.clone()).unwrap(), Nonce::of([8; 16]));
    let wrong_hash = text.replace("for the model", "for the modem");
    let short = text.replace("for the model", "for");
    let lengths = text.replace(" 13 14 ", " 14 13 ");
    let no_end = text.replace("sayso-end", "sayso-bend");
    for bad in [wrong_hash, short, lengths, no_end, text.replace("detail", "nonsense")] {
        let (found, outside) = read(bad.as_bytes(), 1_000);
        let [Found::Truncated(kept)] = found.as_slice() else { panic!("{found:?}") };
        let decision = decide(&found[0].received(), Delivery::Delivered);
        assert_eq!((decision.person, decision.reply), (None, Reply::Release), "nothing is suppressed");
        assert!(String::from_utf8_lossy(kept).contains("for the person"), "all of it goes to the model");
        assert!(outside.is_empty());
    }
    // A frame of another call, and words that look like one, are plain text.
    let foreign = text.replace(nonce().as_str(), other.as_str());
    assert_eq!(read(foreign.as_bytes(), 10), (Vec::new(), foreign.into_bytes()));
    // A broken frame does not swallow the next one.
    let stream = [&right[..right.len() - 60], &right[..]].concat();
    let (found, _) = read(&stream, 7);
    assert!(matches!(found.as_slice(), [Found::Truncated(_), Found::Whole(_)]), "{found:?}");
}

proptest! {
    #[test]
    fn any_bytes_come_back(model in any::<Vec<u8>>(), user in any::<Vec<u8>>(), before in any::<Vec<u8>>(), piece in 1usize..70) {
        // Texts that hold a frame of the same nonce are bytes like others.
        let given = sections(&[&model[..], &framed(&sections(b"m", b"u"))[..]].concat(), &user);
        let stream = [&before[..], &framed(&given)[..], &b"after"[..]].concat();
        let (found, text) = read(&stream, piece);
        prop_assert_eq!(found, vec![Found::Whole(given)]);
        prop_assert_eq!(text, [&before[..], &b"after"[..]].concat());
    }

    #[test]
    fn a_frame_cut_anywhere_is_truncated_or_whole(model in ".{0,40}", user in ".{0,40}", piece in 1usize..50) {
        let given = sections(model.as_bytes(), user.as_bytes());
        let stream = framed(&given);
        for cut in 1..=stream.len() {
            let (found, text) = read(&stream[..cut], piece);
            prop_assert!(text.is_empty());
            match found.as_slice() {
                [Found::Whole(whole)] => prop_assert!(*whole == given && cut + 1 >= stream.len()),
                [Found::Truncated(_)] => prop_assert!(cut + 1 < stream.len()),
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }

    #[test]
    fn no_bytes_confuse_the_reader(pieces in proptest::collection::vec(prop_oneof![
        any::<Vec<u8>>(), Just(framed(&sections(b"m", b"u"))), Just(framed(&sections(b"m", b"u"))[..50].to_vec()),
        Just(format!("\u{1E}sayso-end {}\n", nonce().as_str()).into_bytes()),
    ], 0..6), piece in 1usize..90) {
        let (found, text) = read(&pieces.concat(), piece);
        let kept: usize = found.iter().map(|f| match f {
            Found::Whole(s) => s.model.len() + s.user.len(),
            Found::Truncated(bytes) => bytes.len(),
        }).sum();
        prop_assert!(kept + text.len() <= pieces.concat().len());
        prop_assert_eq!(read(&pieces.concat(), 1_000_000), (found, text), "pieces do not matter");
    }
}

fn spool(parent: &Path) -> Spool {
    Spool::create(parent, nonce()).unwrap()
}

#[test]
fn a_spool_gives_back_what_was_left_in_order() {
    let parent = tempfile::tempdir().unwrap();
    let spool = spool(parent.path());
    let mode = std::fs::metadata(spool.folder()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let envelopes: Vec<Envelope> = (0..12)
        .map(|n| Envelope::received(&format!("model {n}"), &format!("사람 {n}"), Purpose::Article).unwrap())
        .collect();
    let route = Route::Spool(spool.folder().to_owned(), nonce());
    let mut stdout = Vec::new();
    envelopes.iter().for_each(|envelope| emit(envelope, &route, &mut stdout).unwrap());
    assert!(stdout.is_empty(), "stdout stays raw");
    let collected = collect(&spool).unwrap();
    assert_eq!(collected.received, envelopes.into_iter().map(Received::Whole).collect::<Vec<_>>());
    assert_eq!(collected.findings, []);
    let folder = spool.folder().to_owned();
    spool.remove().unwrap();
    assert!(!folder.exists());
}

#[test]
fn what_does_not_belong_into_a_spool_is_ignored_and_named() {
    let parent = tempfile::tempdir().unwrap();
    let spool = spool(parent.path());
    spool.put(&sections(b"right", b"")).unwrap();
    let path = |name: &str| spool.folder().join(name);
    let random = "0123456789abcdef".repeat(2);
    let envelope = |n: u32| format!("{n:06}-{random}.envelope");
    let right = framed(&sections(b"m", b"u"));
    std::fs::write(parent.path().join("outside"), &right).unwrap();
    symlink(parent.path().join("outside"), path(&envelope(10))).unwrap();
    std::fs::create_dir(path(&envelope(11))).unwrap();
    std::fs::File::create(path(&envelope(12))).unwrap().set_len(17 * 1024 * 1024).unwrap();
    std::fs::write(path("notes.txt"), &right).unwrap();
    std::fs::write(path(&format!("tmp-{random}")), &right).unwrap();
    let foreign =
        String::from_utf8(right.clone()).unwrap().replace(nonce().as_str(), Nonce::of([1; 16]).as_str());
    std::fs::write(path(&envelope(13)), foreign).unwrap();
    std::fs::write(path(&envelope(14)), &right[..right.len() - 30]).unwrap();
    std::fs::write(path(&envelope(15)), [&right[..], b"and words"].concat()).unwrap();
    assert!(Command::new("mkfifo").arg(path(&envelope(16))).status().unwrap().success());
    let collected = collect(&spool).unwrap();
    let why = |name: String, why| Finding { name, why };
    let wanted = vec![
        why(envelope(10), Why::Link),
        why(envelope(11), Why::NotRegular),
        why(envelope(12), Why::Oversize),
        why(envelope(13), Why::Nonce),
        why(envelope(14), Why::Truncated),
        why(envelope(15), Why::Truncated),
        why(envelope(16), Why::NotRegular),
        why("notes.txt".into(), Why::Name),
        why(format!("tmp-{random}"), Why::Unfinished),
    ];
    assert_eq!(collected.findings, wanted);
    let whole = collected.received.iter().filter(|r| matches!(r, Received::Whole(_))).count();
    assert_eq!((whole, collected.received.len()), (1, 3), "what was truncated goes to the model");
}

#[test]
fn a_spool_that_others_can_write_to_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let spool = spool(parent.path());
    let folder = spool.folder().to_owned();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o770)).unwrap();
    assert!(Spool::open(&folder, nonce()).is_err());
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert!(Spool::open(&folder, nonce()).is_ok());
    symlink(&folder, parent.path().join("link")).unwrap();
    assert!(Spool::open(&parent.path().join("link"), nonce()).is_err());
}

#[test]
fn without_a_reader_the_output_is_plain() {
    let envelope =
        Envelope::plain(ModelContext::new("text").unwrap()).with_presentation("shown", Purpose::Listing);
    let mut stdout = Vec::new();
    emit(&envelope, &Route::of(|_| None), &mut stdout).unwrap();
    assert_eq!(stdout, b"text");
    let long = Envelope::plain(ModelContext::new("x".repeat(17 * 1024 * 1024)).unwrap());
    assert!(emit(&long, &Route::Frame(nonce()), &mut Vec::new()).is_err());
}

/// Cargo builds the examples beside the tests.
fn example() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.ancestors().nth(2).unwrap().join("examples/emit")
}

/// A megabyte and an end mark, then an exit at once: in three languages, both ways.
#[test]
fn t34_a_helper_drains_before_it_exits() {
    let tools = [("sh", "emit.sh"), ("python3", "emit.py"), ("node", "emit.mjs")];
    for (program, script) in tools {
        if Command::new(program).arg("--version").output().is_err() {
            println!("SKIPPED {script}: there is no {program} here");
            continue;
        }
        let parent = tempfile::tempdir().unwrap();
        let spool = spool(parent.path());
        let run = |spooled: bool| {
            let mut command = Command::new(program);
            let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
            command.arg(scripts.join(script)).arg("25000").env("SAYSO_EMIT", example());
            command.env(FRAME_VARIABLE, nonce().as_str()).env_remove(SPOOL_VARIABLE);
            if spooled {
                command.env(SPOOL_VARIABLE, spool.folder());
            }
            let output = command.output().unwrap();
            assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
            output.stdout
        };
        let check = |received: &Received| {
            let Received::Whole(envelope) = received else { panic!("{script}: truncated") };
            assert!(envelope.model_context().len() > 1_000_000);
            assert!(
                envelope.model_context().ends_with("entry 25000: everything the model may be asked about\n")
            );
            assert_eq!(envelope.user_presentation(), Some("25000 entries, newest first"));
        };
        let (found, text) = read(&run(false), 4_096);
        assert_eq!(String::from_utf8_lossy(&text), "raw progress on stdout\n", "{script}");
        check(&found[0].received());
        assert_eq!(
            String::from_utf8_lossy(&run(true)),
            "raw progress on stdout\n",
            "{script}: stdout is raw"
        );
        check(&collect(&spool).unwrap().received[0]);
    }
}
