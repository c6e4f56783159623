//! Reads both pipes of a running command until it is over.

use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdout, ExitStatus};
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::plan::{Plan, Seen, Step, Times};
use super::{Clock, Execution, Request, Sinks, StreamEnd};
use crate::capture::{Ending, StreamName};
use crate::limits::{READ_BYTES, READ_ORDER};

/// Bytes that were read from one stream in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Which stream.
    pub stream: StreamName,
    /// How many bytes.
    pub bytes: u64,
}

/// How often a request to stop is looked for.
const STOP_TICK: Duration = Duration::from_millis(50);
/// Bytes read after the last moment, from a pipe that something goes on writing to.
const LAST_BYTES: u64 = 1024 * 1024;

pub(super) fn pump(
    mut child: Child,
    request: &Request,
    sinks: Sinks<'_>,
    clock: &dyn Clock,
) -> io::Result<Execution> {
    let group = Pid::from_child(&child);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut pumps = Pumps {
        stdout: Pump::new(StreamName::Stdout, stdout.map(Pipe::Stdout), sinks.stdout, request.cap),
        stderr: Pump::new(StreamName::Stderr, stderr.map(Pipe::Stderr), sinks.stderr, request.cap),
        order: Vec::new(),
        order_cut: false,
        buffer: vec![0; READ_BYTES],
    };
    let ran = run(&mut pumps, group, request, clock);
    if ran.is_err() {
        // Nothing is left running that nobody reads from.
        let _ = kill_process_group(group, Signal::KILL);
        child.wait()?;
    }
    let (timed_out, duration) = ran?;
    let ending = ending(child.wait()?, timed_out);
    let (stdout, stderr) = (pumps.stdout.end(), pumps.stderr.end());
    let (order, order_cut) = (pumps.order, pumps.order_cut);
    Ok(Execution { ending, duration, stdout, stderr, order, order_cut })
}

/// Reads until the plan says that it is over; says whether it was for its time, and when the command ended.
fn run(
    pumps: &mut Pumps<'_>,
    group: Pid,
    request: &Request,
    clock: &dyn Clock,
) -> io::Result<(bool, Duration)> {
    let mut exit = watch(group)?;
    let times =
        Times { timeout: request.timeout, kill_grace: request.kill_grace, pipe_grace: request.pipe_grace };
    let (mut plan, mut ended) = (Plan::default(), false);
    loop {
        let asked = request.stop.as_ref().map_or(0, |stop| stop.load(Ordering::Relaxed));
        let stop = asked != 0;
        let open = pumps.stdout.pipe.is_some() || pumps.stderr.pipe.is_some();
        match plan.step(&times, &Seen { now: clock.now(), ended, open, stop }) {
            Step::Wait(limit) => {
                let tick = request.stop.as_ref().map(|_| STOP_TICK);
                let limit = limit.into_iter().chain(tick).min();
                ended |= pumps.wait((!ended).then_some(&mut exit), limit)?;
            }
            // A group that has no member left is what was wanted.
            Step::Terminate => {
                let signal = i32::try_from(asked).ok().and_then(Signal::from_named_raw);
                let _ = kill_process_group(group, signal.unwrap_or(Signal::TERM));
            }
            Step::Kill => {
                let _ = kill_process_group(group, Signal::KILL);
            }
            Step::Finish => {
                pumps.rest()?;
                return Ok((plan.timed_out, plan.ended.unwrap_or_default()));
            }
        }
    }
}

/// A pipe that closes when the process has ended. It stays unreaped, so that its group's id cannot be given to others.
fn watch(process: Pid) -> io::Result<PipeReader> {
    let (reader, writer) = io::pipe()?;
    let wait = move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(process), options).is_err_and(|e| e == rustix::io::Errno::INTR) {}
        drop(writer);
    };
    std::thread::Builder::new().name("sayso-wait".to_owned()).spawn(wait)?;
    Ok(reader)
}

fn ending(status: ExitStatus, timed_out: bool) -> Ending {
    match (timed_out, status.code(), status.signal()) {
        (true, ..) => Ending::Timeout,
        (false, Some(code), _) => Ending::Exit(code),
        (false, None, Some(signal)) => Ending::Signal(signal),
        (false, None, None) => Ending::Unknown,
    }
}

enum Pipe {
    Stdout(ChildStdout),
    Stderr(ChildStderr),
}

impl Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(pipe) => pipe.read(buffer),
            Self::Stderr(pipe) => pipe.read(buffer),
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Stdout(pipe) => pipe.as_fd(),
            Self::Stderr(pipe) => pipe.as_fd(),
        }
    }
}

struct Pump<'a> {
    name: StreamName,
    pipe: Option<Pipe>,
    sink: &'a mut dyn Write,
    cap: u64,
    produced: u64,
    passed: u64,
    failed: Option<io::Error>,
}

impl<'a> Pump<'a> {
    fn new(name: StreamName, pipe: Option<Pipe>, sink: &'a mut dyn Write, cap: Option<u64>) -> Self {
        let cap = cap.unwrap_or(u64::MAX);
        Self { name, pipe, sink, cap, produced: 0, passed: 0, failed: None }
    }

    /// Reads once; 0 at the end.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(pipe) = self.pipe.as_mut() else { return Ok(0) };
        let read = match pipe.read(buffer) {
            Err(e) if matches!(e.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {
                return Ok(0);
            }
            read => read?,
        };
        if read == 0 {
            self.pipe = None;
        }
        self.pass(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }

    fn pass(&mut self, bytes: &[u8]) {
        self.produced += bytes.len() as u64;
        let room = usize::try_from(self.cap - self.passed).unwrap_or(usize::MAX).min(bytes.len());
        let bytes = bytes.get(..room).unwrap_or_default();
        if self.failed.is_some() || bytes.is_empty() {
            return;
        }
        match self.sink.write_all(bytes) {
            Ok(()) => self.passed += bytes.len() as u64,
            Err(e) => self.failed = Some(e),
        }
    }

    fn end(mut self) -> StreamEnd {
        if let Err(e) = self.sink.flush() {
            self.failed.get_or_insert(e);
        }
        let held = self.pipe.is_some();
        StreamEnd { produced: self.produced, passed: self.passed, held, failed: self.failed }
    }
}

struct Pumps<'a> {
    stdout: Pump<'a>,
    stderr: Pump<'a>,
    order: Vec<Chunk>,
    order_cut: bool,
    buffer: Vec<u8>,
}

impl Pumps<'_> {
    /// Waits for something to read, reads it, and says whether the command has ended.
    fn wait(&mut self, exit: Option<&mut PipeReader>, limit: Option<Duration>) -> io::Result<bool> {
        let (ready, ended) = {
            let pipes = [&self.stdout, &self.stderr]
                .into_iter()
                .filter_map(|p| Some((p.name, p.pipe.as_ref()?.fd())));
            ready(pipes, exit, limit)?
        };
        for name in ready {
            self.read(name)?;
        }
        Ok(ended)
    }

    fn read(&mut self, name: StreamName) -> io::Result<usize> {
        let pump = match name {
            StreamName::Stdout => &mut self.stdout,
            StreamName::Stderr => &mut self.stderr,
        };
        let read = pump.read(&mut self.buffer)?;
        if read > 0 {
            self.note(name, read as u64);
        }
        Ok(read)
    }

    fn note(&mut self, stream: StreamName, bytes: u64) {
        let full = self.order.len() >= READ_ORDER;
        match self.order.last_mut().filter(|last| last.stream == stream) {
            Some(last) if !self.order_cut => last.bytes += bytes,
            _ if full => self.order_cut = true,
            _ => self.order.push(Chunk { stream, bytes }),
        }
    }

    /// What stands in the pipes at the last moment; bounded, for something may go on writing.
    fn rest(&mut self) -> io::Result<()> {
        let before = self.stdout.produced + self.stderr.produced;
        while self.stdout.produced + self.stderr.produced < before + LAST_BYTES {
            let pipes = [&self.stdout, &self.stderr]
                .into_iter()
                .filter_map(|p| Some((p.name, p.pipe.as_ref()?.fd())));
            let (ready, _) = ready(pipes, None, Some(Duration::ZERO))?;
            if ready.is_empty() {
                break;
            }
            for name in ready {
                self.read(name)?;
            }
        }
        Ok(())
    }
}

/// Which pipes can be read, and whether the command has ended.
fn ready<'a>(
    pipes: impl Iterator<Item = (StreamName, BorrowedFd<'a>)>,
    exit: Option<&mut PipeReader>,
    limit: Option<Duration>,
) -> io::Result<(Vec<StreamName>, bool)> {
    let (names, fds): (Vec<StreamName>, Vec<BorrowedFd<'_>>) = pipes.unzip();
    let mut polled: Vec<PollFd<'_>> =
        fds.into_iter().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    polled.extend(exit.as_deref().map(|exit| PollFd::from_borrowed_fd(exit.as_fd(), PollFlags::IN)));
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    match poll(&mut polled, limit.as_ref()) {
        Err(rustix::io::Errno::INTR) => return Ok((Vec::new(), false)),
        result => result?,
    };
    let woken = |fd: &PollFd<'_>| !fd.revents().is_empty();
    let ended = polled.get(names.len()).is_some_and(woken);
    let ready = names.iter().zip(&polled).filter(|(_, fd)| woken(fd)).map(|(name, _)| *name).collect();
    Ok((ready, ended))
}
