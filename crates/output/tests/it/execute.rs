//! Execution: cases T5 to T7, T19, T24.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use sayso_output::execute::{Chunk, Execution, Request, Sinks, SpawnError, execute};
use sayso_output::{Capture, Ending, Kept, Stream, StreamName, View, present};

use crate::support::{has, last, profile};

struct Ran {
    went: Execution,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Ran {
    fn view(&self) -> View {
        let mut capture = Capture::of("sh", Stream::whole(&self.stdout), self.went.ending);
        capture.stderr = Stream::whole(&self.stderr);
        capture.duration = Some(self.went.duration);
        capture.pipe_held = self.went.pipe_held();
        present(&capture, &profile()).unwrap()
    }
}

fn run(request: &Request) -> Ran {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let sinks = Sinks { stdout: &mut stdout, stderr: &mut stderr };
    let went = execute(request, sinks).expect("it starts");
    Ran { went, stdout, stderr }
}

#[test]
fn t5_stderr_and_the_code_of_a_failure() {
    let ran = run(&Request::argv("ls", ["/nonexistent-for-sure"]));
    assert_eq!(ran.went.ending, Ending::Exit(2));
    has(&ran.view(), "[stderr]\nls: ");
    assert!(last(&ran.view()).starts_with("[exit:2 | "));
}

#[test]
fn t6_a_timeout_keeps_what_came() {
    for (line, ignores) in [("echo P; sleep 30", false), ("trap '' TERM; echo P; sleep 30; sleep 30", true)] {
        let mut request = Request::shell(line).timeout(Duration::from_millis(400));
        request.kill_grace = Duration::from_millis(if ignores { 200 } else { 20_000 });
        let ran = run(&request);
        assert_eq!((ran.stdout.as_slice(), ran.went.ending), (&b"P\n"[..], Ending::Timeout), "{line}");
        assert!(ran.went.duration < Duration::from_secs(15), "it did not wait for the end of sleep");
        let footer = last(&ran.view());
        assert!(footer.starts_with("[timeout | ") && !footer.contains("exit"), "{footer}");
        assert!(!ran.went.pipe_held(), "the whole group was ended");
    }
}

#[test]
fn t7_a_background_child_is_not_waited_for() {
    for line in ["sleep 30 & echo done", "sleep 30 >&2 & echo done", "(sleep 30; echo late) & echo done"] {
        let ran = run(&Request::shell(line));
        assert_eq!((ran.stdout.as_slice(), ran.went.ending), (&b"done\n"[..], Ending::Exit(0)));
        assert!(ran.went.pipe_held());
        assert!(ran.went.duration < Duration::from_secs(15), "it did not wait for the child");
        has(&ran.view(), "pipe held");
    }
    let ran = run(&Request::shell("sleep 30 >/dev/null 2>&1 & echo done"));
    assert!(!ran.went.pipe_held(), "a child that holds no pipe is no matter");
}

#[test]
fn t19_a_cap_counts_on() {
    let ran =
        run(&Request::shell("head -c 2048 /dev/zero | tr '\\0' x; head -c 2000 /dev/zero >&2").cap(1_024));
    assert_eq!((ran.stdout.len(), ran.stderr.len()), (1_024, 1_024));
    assert_eq!(ran.went.stdout.kept(), Kept::Capped { of: 2_048 });
    assert_eq!(ran.went.stderr.kept(), Kept::Capped { of: 2_000 });
}

#[test]
fn t24_an_end_without_a_line_break_is_an_end() {
    let ran = run(&Request::argv("printf", ["x"]));
    assert_eq!((ran.stdout.as_slice(), ran.went.ending), (&b"x"[..], Ending::Exit(0)));
    assert!(ran.went.duration < Duration::from_secs(15));
}

#[test]
fn bytes_are_raw_and_streams_apart() {
    let ran = run(&Request::shell("printf 'a\\000\\377\\r'; printf '\\033[31m' >&2; exit 7"));
    assert_eq!(ran.stdout, b"a\0\xFF\r");
    assert_eq!(ran.stderr, b"\x1B[31m");
    assert_eq!(ran.went.ending, Ending::Exit(7));
    let ran = run(&Request::shell("kill -KILL $$"));
    assert_eq!(ran.went.ending, Ending::Signal(9));
}

#[test]
fn everything_of_a_large_output_comes() {
    let ran = run(&Request::shell("head -c 5000000 /dev/zero; head -c 3000000 /dev/zero >&2"));
    assert_eq!((ran.stdout.len(), ran.stderr.len()), (5_000_000, 3_000_000));
    let noted: u64 = ran.went.order.iter().map(|c| c.bytes).sum();
    assert!(ran.went.order_cut || noted == 8_000_000, "{noted}");
}

#[test]
fn the_read_order_is_noted() {
    let ran = run(&Request::shell("echo one; sleep 0.3; echo two >&2; sleep 0.3; echo three"));
    let chunk = |stream, bytes| Chunk { stream, bytes };
    let order = [chunk(StreamName::Stdout, 4), chunk(StreamName::Stderr, 4), chunk(StreamName::Stdout, 6)];
    assert_eq!(ran.went.order, order);
    let ran = run(&Request::shell("i=0; while [ $i -lt 6000 ]; do echo a; echo b >&2; i=$((i+1)); done"));
    assert!(ran.went.order.len() <= 4_096);
    assert_eq!((ran.stdout.len(), ran.stderr.len()), (12_000, 12_000));
}

#[test]
fn what_cannot_start_says_why() {
    let start = |request: &Request| {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        execute(request, Sinks { stdout: &mut out, stderr: &mut err }).expect_err("it cannot start")
    };
    let none: [OsString; 0] = [];
    let missing = start(&Request::argv("no-such-program-here", none.clone()));
    assert!(matches!(missing, SpawnError::NotFound { .. }), "{missing}");
    assert_eq!(missing.code(), Some(127));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    std::fs::write(&file, "text").unwrap();
    let refused = start(&Request::argv(&file, none.clone()));
    assert_eq!((refused.code(), matches!(refused, SpawnError::NotExecutable { .. })), (Some(126), true));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(&file, [0u8, 1, 2, 3]).unwrap();
    assert_eq!(start(&Request::argv(&file, none)).code(), Some(126));
    let mut request = Request::shell("true");
    request.folder = Some(folder.path().join("missing"));
    assert!(matches!(start(&request), SpawnError::NoFolder { .. }));
}

#[test]
fn a_sink_that_fails_ends_nothing() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (mut full, mut stderr) = (Full(10), Vec::new());
    let request = Request::shell("head -c 500000 /dev/zero; echo end >&2; exit 3");
    let went = execute(&request, Sinks { stdout: &mut full, stderr: &mut stderr }).unwrap();
    assert_eq!((went.ending, stderr.as_slice()), (Ending::Exit(3), &b"end\n"[..]));
    assert_eq!((went.stdout.kept(), went.stdout.produced), (Kept::Partial, 500_000));
}

#[test]
fn a_command_can_be_stopped() {
    for (asked, ended) in [(10, 10), (15, 15), (13, 13), (999, 15)] {
        let mut request = Request::shell("echo P; sleep 30");
        request.stop = Some(Arc::new(AtomicUsize::new(asked)));
        let ran = run(&request);
        assert_eq!(ran.went.ending, Ending::Signal(ended), "asked by {asked}");
    }
}
