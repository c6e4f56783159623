//! Outputs that are written while their tool runs, and read in parts.

use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sayso::model::{OutputId, PartBody, ToolResult};
use sayso::store::{OutputState, OutputStream, ReadOrder, Refusal, Run, StoreOutput, StreamKind};
use sayso::{
    Ended, Ending, Error, Forks, LinePlace, NewOutput, NewTurn, OutputBytes, Pattern, Quotes, Scope,
    SpeakerKind, Target,
};

use super::open;
use crate::support::World;

const DAY: Duration = Duration::from_secs(86_400);

fn written(world: &World, output: NewOutput, pieces: &[(StreamKind, &[u8])], ending: Ending) -> OutputId {
    let session = world.session("Acme", "Plan");
    let mut writer = world.ledger.start_output(&session, output).unwrap();
    for (kind, bytes) in pieces {
        writer.write(*kind, bytes).unwrap();
    }
    writer.finish(Ended::by(ending).after(Duration::from_millis(2_000))).unwrap()
}

fn stdout(world: &World, id: OutputId) -> OutputBytes {
    world.all().open_output(id, StreamKind::Stdout).unwrap().expect("it has a stdout")
}

fn whole(world: &World, id: OutputId) -> Vec<u8> {
    let mut bytes = Vec::new();
    assert!(world.all().read_output(id, StreamKind::Stdout, &mut bytes).unwrap());
    bytes
}

fn names(output: OutputId) -> NewTurn {
    let result = ToolResult {
        call_id: "call_1".into(),
        tool: "bash".into(),
        outcome: sayso::model::Outcome::Ok,
        text: "seen".into(),
        output: Some(output),
    };
    let mut turn = NewTurn::text(SpeakerKind::Tool, "bash", "");
    turn.parts = vec![(None, PartBody::ToolResult(result))];
    turn
}

#[test]
fn t6_a_timeout_keeps_what_came_and_invents_no_exit_code() {
    let world = open();
    let id = written(&world, NewOutput::of("bash"), &[(StreamKind::Stdout, b"P\n")], Ending::Timeout);
    let output = world.all().output(id).unwrap().unwrap();
    assert_eq!((output.exit, output.run.timed_out, output.run.duration_ms), (None, true, Some(2_000)));
    assert_eq!(whole(&world, id), b"P\n");
    // Nor can anybody else say both.
    let session = world.session("Acme", "Plan");
    let streams = vec![OutputStream::new(StreamKind::Stdout, output.streams[0].blob)];
    let run = Run { timed_out: true, ..Run::default() };
    let (id, tool, state) = (world.ledger.fresh_output(), "bash".into(), OutputState::Complete);
    let both = StoreOutput { id, session: session.id, tool, state, exit: Some(124), streams, run };
    let refused = world.ledger.write(&Scope::All, vec![sayso::store::Command::StoreOutput(both)]);
    assert!(matches!(refused.unwrap_err().refusal(), Some(Refusal::Contradiction(_))));
}

#[test]
fn t16_a_giant_first_line_is_read_in_parts() {
    let world = open();
    let line = format!("{{\"list\":[{}]}}", "\"0123456789\",".repeat(4_616));
    let line = &line.as_bytes()[..60_008];
    let id = written(&world, NewOutput::of("cat"), &[(StreamKind::Stdout, line)], Ending::Exit(0));
    let mut bytes = stdout(&world, id);
    let mut part = Vec::new();
    assert_eq!(bytes.range(30_000, 31_024, &mut part).unwrap(), 1_024);
    assert_eq!(part, line[30_000..31_024]);
    let mut head = Vec::new();
    assert_eq!(bytes.head(1, &mut head).unwrap(), 1);
    assert!(head == line, "the line is whole");
    let mut shown = Vec::new();
    let mut each = |found: &sayso::GrepMatch<'_>| {
        shown.push((found.line, found.at, found.text.len(), found.cut()));
        Ok(ControlFlow::Continue(()))
    };
    let _ = bytes.grep(&Pattern::new("list").unwrap(), &mut each).unwrap();
    assert_eq!(shown, [(1, 0, 4_096, true)]);
}

#[test]
fn t17_a_clock_that_jumps_collects_nothing_that_is_referred_to() {
    let world = open();
    let session = world.session("Acme", "Plan");
    let named = written(&world, NewOutput::of("bash"), &[(StreamKind::Stdout, b"named")], Ending::Exit(0));
    world.ledger.append(&session, names(named)).unwrap();
    let unnamed =
        written(&world, NewOutput::of("bash"), &[(StreamKind::Stdout, b"unnamed")], Ending::Exit(0));
    let mut growing = world.ledger.start_output(&session, NewOutput::of("bash")).unwrap();
    growing.write(StreamKind::Stdout, b"so far").unwrap();
    growing.keep().unwrap();
    let loose = world.ledger.put_blob(&mut &b"loose"[..]).unwrap();
    let first = world.ledger.collect(2 * DAY).unwrap();
    assert_eq!((first.blobs, first.waiting, first.waiting_bytes), (0, 1, 5), "a grace begins");
    // 48 hours back, then ten years ahead.
    world.host.clock.fetch_sub(2 * 86_400_000, Ordering::Relaxed);
    assert_eq!(world.ledger.collect(2 * DAY).unwrap().waiting, 1);
    world.host.clock.fetch_add(10 * 365 * 86_400_000, Ordering::Relaxed);
    let gone = world.ledger.collect(2 * DAY).unwrap();
    assert_eq!((gone.blobs, gone.bytes, gone.waiting), (1, 5, 0));
    for _ in 0..2 {
        world.ledger.collect(Duration::ZERO).unwrap();
    }
    assert_eq!(whole(&world, named), b"named");
    assert_eq!(
        whole(&world, unnamed),
        b"unnamed",
        "an output refers to its bytes, whether a turn names it or not"
    );
    assert_eq!(whole(&world, growing.id()), b"so far");
    growing.write(StreamKind::Stdout, b" and on").unwrap();
    assert_eq!(whole(&world, growing.finish(Ended::by(Ending::Exit(0))).unwrap()), b"so far and on");
    // What was collected is said to be missing, and can be stored again.
    let (id, run) = (world.ledger.fresh_output(), Run::default());
    let (tool, state, exit) = ("bash".to_owned(), OutputState::Complete, None);
    let streams = vec![OutputStream::new(StreamKind::Stdout, loose)];
    let output = StoreOutput { id, session: session.id, tool, state, exit, streams, run };
    let store = || world.ledger.write(&Scope::All, vec![sayso::store::Command::StoreOutput(output.clone())]);
    assert!(matches!(store().unwrap_err().refusal(), Some(Refusal::UnknownBlob(_))));
    world.ledger.put_blob(&mut &b"loose"[..]).unwrap();
    store().unwrap();
    assert_eq!(world.ledger.collect(Duration::ZERO).unwrap().blobs, 0);
}

#[test]
fn bytes_that_are_stored_again_have_their_grace_again() {
    let world = open();
    let put = || world.ledger.put_blob(&mut &b"loose"[..]).unwrap();
    put();
    assert_eq!(world.ledger.collect(DAY).unwrap().waiting, 1);
    world.host.clock.fetch_add(2 * 86_400_000, Ordering::Relaxed);
    put();
    let kept = world.ledger.collect(DAY).unwrap();
    assert_eq!((kept.blobs, kept.waiting), (0, 1));
}

#[test]
fn t19_a_cap_is_told_with_how_much_there_was() {
    let world = open();
    let pieces: &[(StreamKind, &[u8])] = &[
        (StreamKind::Stdout, &[b'x'; 1_000]),
        (StreamKind::Stdout, &[b'y'; 1_048]),
        (StreamKind::Stderr, b"w"),
    ];
    let id = written(&world, NewOutput::of("yes").cap(1_024), pieces, Ending::Exit(0));
    let output = world.all().output(id).unwrap().unwrap();
    assert_eq!(output.state, OutputState::Capped);
    let kept: Vec<_> = output.streams.iter().map(|s| (s.kind, s.blob.bytes, s.total)).collect();
    assert_eq!(kept, [(StreamKind::Stdout, 1_024, Some(2_048)), (StreamKind::Stderr, 1, None)]);
    assert_eq!(whole(&world, id), [&[b'x'; 1_000][..], &[b'y'; 24]].concat());
    // One byte less than the cap and exactly the cap are whole.
    for length in [1_023, 1_024] {
        let bytes = vec![b'z'; length];
        let id = written(
            &world,
            NewOutput::of("yes").cap(1_024),
            &[(StreamKind::Stdout, &bytes)],
            Ending::Exit(0),
        );
        assert_eq!(world.all().output(id).unwrap().unwrap().state, OutputState::Complete);
    }
}

#[test]
fn the_order_in_which_streams_were_read_is_kept() {
    let world = open();
    let pieces: &[(StreamKind, &[u8])] = &[
        (StreamKind::Stdout, b"one "),
        (StreamKind::Stdout, b"two"),
        (StreamKind::Stderr, b""),
        (StreamKind::Stderr, b"warning"),
        (StreamKind::Stdout, b"!"),
    ];
    let id = written(&world, NewOutput::of("bash").command("make"), pieces, Ending::Signal(9));
    let run = world.all().output(id).unwrap().unwrap().run;
    assert_eq!(run.order.to_text(), "o7 e7 o1");
    assert_eq!((run.signal, run.command.as_deref()), (Some(9), Some("make")));
    let mut long = ReadOrder::default();
    for n in 0..10_000 {
        long.push([StreamKind::Stdout, StreamKind::Stderr][n % 2], 1);
    }
    assert_eq!(long.runs().len(), 4_096);
    assert_eq!(ReadOrder::parse(&long.to_text()), Some(long));
}

#[test]
fn an_output_that_grows_is_partial_and_no_turn_names_it() {
    let world = open();
    let session = world.session("Acme", "Plan");
    let mut writer = world.ledger.start_output(&session, NewOutput::of("bash")).unwrap();
    let id = writer.id();
    writer.write(StreamKind::Stdout, b"one\n").unwrap();
    assert_eq!(world.all().output(id).unwrap(), None, "nothing was kept yet");
    writer.keep().unwrap();
    let output = world.all().output(id).unwrap().unwrap();
    assert_eq!((output.state, output.growing), (OutputState::Partial, true));
    let refused = world.ledger.append(&session, names(id)).unwrap_err();
    assert!(matches!(refused.refusal(), Some(Refusal::OutputGrowing(_))), "{refused:?}");
    // A reader goes on with what it opened; one that opens it now sees more.
    let mut early = stdout(&world, id);
    writer.write(StreamKind::Stdout, &[b'x'; 200_000]).unwrap();
    writer.keep().unwrap();
    let mut seen = Vec::new();
    early.read_to_end(&mut seen).unwrap();
    assert_eq!((seen.as_slice(), whole(&world, id).len()), (&b"one\n"[..], 200_004));
    // Its writer is thought dead, and is not.
    world.ledger.close_output(id).unwrap();
    world.ledger.close_output(id).unwrap();
    world.ledger.append(&session, names(id)).unwrap();
    writer.write(StreamKind::Stdout, b"more").unwrap();
    let late = writer.finish(Ended::by(Ending::Exit(0))).unwrap_err();
    assert!(matches!(late.refusal(), Some(Refusal::OutputEnded(_))), "{late:?}");
    let closed = world.all().output(id).unwrap().unwrap();
    assert_eq!(
        (closed.state, closed.growing, whole(&world, id).len()),
        (OutputState::Partial, false, 200_004)
    );
    assert_eq!(world.all().verify(&std::collections::BTreeMap::new()).unwrap().problems, Vec::new());
}

#[test]
fn a_writer_that_stops_leaves_a_partial_output_that_turns_may_name() {
    let world = open();
    let session = world.session("Acme", "Plan");
    let mut writer = world.ledger.start_output(&session, NewOutput::of("bash")).unwrap();
    writer.write(StreamKind::Stdout, b"half").unwrap();
    let id = writer.stop().unwrap();
    world.ledger.append(&session, names(id)).unwrap();
    let output = world.all().output(id).unwrap().unwrap();
    assert_eq!((output.state, output.growing, output.exit), (OutputState::Partial, false, None));
}

#[test]
fn what_is_erased_while_it_is_written_or_read_stays_gone() {
    let world = open();
    let session = world.session("Acme", "Plan");
    let mut writer = world.ledger.start_output(&session, NewOutput::of("bash")).unwrap();
    writer.write(StreamKind::Stdout, &[b'x'; 300_000]).unwrap();
    writer.keep().unwrap();
    let mut reading = stdout(&world, writer.id());
    reading.read_exact(&mut [0; 10]).unwrap();
    world.all().erase(Target::Session(session.id), Forks::Refuse, Quotes::Keep).unwrap();
    assert!(writer.write(StreamKind::Stdout, b"more").is_ok());
    assert!(matches!(writer.keep().unwrap_err().refusal(), Some(Refusal::UnknownSession(_))));
    reading.seek(SeekFrom::Start(200_000)).unwrap();
    let error = reading.range(250_000, 260_000, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, Error::OutputGone { .. }), "{error:?}");
    assert_eq!(world.all().open_output(writer.id(), StreamKind::Stdout).unwrap().map(|b| b.size()), None);
    assert_eq!(world.ledger.collect(Duration::ZERO).unwrap().blobs, 0, "nothing is left to collect");
}

#[test]
fn an_output_outside_the_scope_is_as_one_that_never_was() {
    let world = open();
    let id = written(&world, NewOutput::of("bash"), &[(StreamKind::Stdout, b"secret")], Ending::Exit(0));
    world.session("Other", "Elsewhere");
    let reader = world.only("Other");
    assert!(reader.open_output(id, StreamKind::Stdout).unwrap().is_none());
    assert!(world.all().open_output(id, StreamKind::Stderr).unwrap().is_none(), "it has no stderr");
    assert!(world.only("Acme").open_output(id, StreamKind::Stdout).unwrap().is_some());
}

#[test]
fn any_part_is_what_the_whole_has_there() {
    let world = open();
    let text: String = (0..40_000).map(|n| format!("{n} {}\n", "·".repeat(n % 7))).collect();
    let id = written(&world, NewOutput::of("seq"), &[(StreamKind::Stdout, text.as_bytes())], Ending::Exit(0));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut bytes = stdout(&world, id);
    assert_eq!((bytes.size(), bytes.count_lines().unwrap()), (text.len() as u64, 40_000));
    let size = text.len() as u64;
    for (from, to) in
        [(0, 1), (65_535, 65_537), (65_536, 131_072), (100_000, 400_000), (size - 1, size + 9), (size, size)]
    {
        let mut part = Vec::new();
        bytes.range(from, to, &mut part).unwrap();
        assert!(part == text.as_bytes()[from as usize..to.min(size) as usize], "{from}..{to}");
    }
    for (first, last) in [(1, 1), (17_000, 17_003), (39_999, 50_000), (40_001, 40_002)] {
        let mut part = Vec::new();
        bytes.lines(first, last, &mut part).unwrap();
        let wanted: String = lines.iter().take(last as usize).skip(first as usize - 1).copied().collect();
        assert_eq!(String::from_utf8(part).unwrap(), wanted, "{first}:{last}");
    }
    for count in [0, 1, 9, 12_345, 40_000, 50_000] {
        let mut part = Vec::new();
        bytes.tail(count, &mut part).unwrap();
        assert!(
            part == lines[lines.len().saturating_sub(count as usize)..].concat().as_bytes(),
            "tail {count}"
        );
    }
    let mut found = Vec::new();
    let mut each = |m: &sayso::GrepMatch<'_>| {
        found.push((m.line, m.at, String::from_utf8_lossy(m.text).into_owned()));
        Ok(if found.len() == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    let _ = bytes.grep(&Pattern::new("^3999[0-9] ·*$").unwrap(), &mut each).unwrap();
    let wanted = (39_990..39_994).map(|n| {
        let at: usize = lines[..n].iter().map(|l| l.len()).sum();
        (n as u64 + 1, at as u64, lines[n].trim_end().to_owned())
    });
    // A line of 0 dots ends with its space.
    let trimmed: Vec<_> =
        found.iter().map(|(line, at, text)| (*line, *at, text.trim_end().to_owned())).collect();
    assert_eq!(trimmed, wanted.collect::<Vec<_>>());
}

#[test]
fn a_search_goes_on_where_it_stopped_and_shows_no_line_again() {
    let world = open();
    let giant = format!("{}{}", "wanted ".repeat(3), format!("{} wanted", "-".repeat(900_000)).repeat(4));
    let text = format!("wanted\nno\n{giant}\nalso wanted\n\n{giant}");
    let id = written(&world, NewOutput::of("cat"), &[(StreamKind::Stdout, text.as_bytes())], Ending::Exit(0));
    let (mut bytes, pattern) = (stdout(&world, id), Pattern::new("wanted").unwrap());
    let (mut place, mut lines) = (LinePlace::START, Vec::new());
    loop {
        let mut next = None;
        let _ = bytes
            .grep_from(place, &pattern, &mut |m| {
                assert_eq!(&m.text[m.found.clone()], b"wanted");
                next = Some((m.line, m.after));
                Ok(ControlFlow::Break(()))
            })
            .unwrap();
        let Some((line, after)) = next else { break };
        lines.push(line);
        place = after;
    }
    assert_eq!(lines, [1, 3, 4, 6]);
    assert_eq!([1, 2, 3, 7].map(|n| bytes.place_of_line(n).unwrap()), [Some(0), Some(7), Some(10), None]);
}
