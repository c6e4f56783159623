//! A source that waits in a thread of its own, so that what the session says is not kept waiting by a long poll.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sayso_relay::port::{Clock, Incoming, Source, SourceFail};

use crate::clock::SystemClock;

type Polled = Result<Vec<Incoming>, SourceFail>;

/// How a source is read.
pub struct Reading {
    /// How long it is asked to wait for a message.
    pub wait: Duration,
    /// The pause after a failure that may pass; each further one is twice as long, up to [`LONGEST_PAUSE`]. Also the least time
    /// from one poll that gave nothing to the next, for a source that does not wait.
    pub pause: Duration,
    /// Breaks off what waits.
    pub stop: Box<dyn Fn() + Send>,
    /// Is told what went wrong, and that it goes on.
    pub note: Box<dyn FnMut(&str) + Send>,
}

/// The longest pause after failures, unless the source asks for more.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Refusals for another reader, one after the other, after which there surely is one: a poll of a bridge that crashed may still
/// wait at the server.
const CONFLICTS: u32 = 3;

/// A source behind a thread. It is asked for what comes after a cursor, once; until the answer is there, asking again only waits.
/// What fails and may pass is tried again after a pause. When this is dropped, what waits is broken off.
pub struct Background {
    account: String,
    channel: String,
    ask: Option<Sender<Option<String>>>,
    answers: Receiver<Polled>,
    asked: bool,
    closed: Option<Sender<()>>,
    stop: Box<dyn Fn() + Send>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// A source that is read like this.
    pub fn new(mut source: impl Source + Send + 'static, reading: Reading) -> Self {
        let (account, channel_name) = (source.account(), source.channel());
        let (ask, asked) = channel::<Option<String>>();
        let (answer, answers) = channel();
        let (closed, closing) = channel::<()>();
        let Reading { wait, pause, stop, note } = reading;
        let mut patience = Patience { pause, failures: 0, closing, note };
        let thread = thread::spawn(move || {
            for after in asked {
                let polled = patience.polled(|| source.poll(after.as_deref(), wait));
                if polled.is_none_or(|polled| answer.send(polled).is_err()) {
                    return;
                }
            }
        });
        Self {
            account,
            channel: channel_name,
            ask: Some(ask),
            answers,
            asked: false,
            closed: Some(closed),
            stop,
            thread: Some(thread),
        }
    }
}

/// What is done about failures.
struct Patience {
    pause: Duration,
    failures: u32,
    /// Is closed when nothing more is to be read.
    closing: Receiver<()>,
    note: Box<dyn FnMut(&str) + Send>,
}

impl Patience {
    /// Polls until something comes of it; `None` when nothing more is to be read.
    fn polled(&mut self, mut poll: impl FnMut() -> Polled) -> Option<Polled> {
        loop {
            let clock = SystemClock::default();
            let fail = match poll() {
                Ok(messages) => {
                    let rest = self.pause.saturating_sub(clock.elapsed());
                    if messages.is_empty() && self.ends_within(rest) {
                        return None;
                    }
                    if std::mem::take(&mut self.failures) > 0 {
                        (self.note)("the source can be read again");
                    }
                    return Some(Ok(messages));
                }
                Err(fail) => fail,
            };
            if self.closing.try_recv() == Err(TryRecvError::Disconnected) {
                // It was broken off.
                return None;
            }
            let asked = match &fail {
                SourceFail::Temporary { retry_after_ms, .. } => *retry_after_ms,
                SourceFail::Conflict { .. } if self.failures < CONFLICTS => None,
                SourceFail::Malformed { .. } => {
                    (self.note)(&format!("{fail}; it is passed over"));
                    return Some(Err(fail));
                }
                _ => return Some(Err(fail)),
            };
            let pause = self.next(asked);
            // Once when it begins to fail, and then only as often as it is tried after long pauses.
            if self.failures == 1 || pause >= LONGEST_PAUSE {
                (self.note)(&format!("{fail}; it is tried again"));
            }
            if self.ends_within(pause) {
                return None;
            }
        }
    }

    /// Waits, and says whether nothing more is to be read.
    fn ends_within(&self, pause: Duration) -> bool {
        self.closing.recv_timeout(pause) != Err(RecvTimeoutError::Timeout)
    }

    fn next(&mut self, asked: Option<u64>) -> Duration {
        let doubled = self.pause.saturating_mul(1 << self.failures.min(16)).min(LONGEST_PAUSE);
        self.failures = self.failures.saturating_add(1);
        doubled.max(Duration::from_millis(asked.unwrap_or(0)))
    }
}

impl Source for Background {
    fn account(&self) -> String {
        self.account.clone()
    }

    fn channel(&self) -> String {
        self.channel.clone()
    }

    fn poll(&mut self, after: Option<&str>, wait: Duration) -> Polled {
        if !self.asked {
            let sent = self.ask.as_ref().map(|ask| ask.send(after.map(str::to_owned)));
            self.asked = sent.is_some_and(|sent| sent.is_ok());
        }
        match self.answers.recv_timeout(wait) {
            Ok(polled) => {
                self.asked = false;
                polled
            }
            Err(RecvTimeoutError::Timeout) => Ok(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => {
                Err(SourceFail::Temporary { why: "the source has ended".to_owned(), retry_after_ms: None })
            }
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop((self.ask.take(), self.closed.take()));
        (self.stop)();
        if let Some(thread) = self.thread.take() {
            // It ended, or panicked and had nothing to give any more.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    /// Gives the cursor that it was asked for, once it may.
    struct Gated(Receiver<()>, Sender<Option<String>>);

    impl Source for Gated {
        fn account(&self) -> String {
            "a".to_owned()
        }

        fn channel(&self) -> String {
            "c".to_owned()
        }

        fn poll(&mut self, after: Option<&str>, _: Duration) -> Polled {
            self.1.send(after.map(str::to_owned)).unwrap();
            let _ = self.0.recv();
            Err(SourceFail::Refused { why: after.unwrap_or("none").to_owned() })
        }
    }

    fn reading(stop: impl Fn() + Send + 'static) -> (Reading, Receiver<String>) {
        let (tell, told) = channel();
        let note = move |note: &str| tell.send(note.to_owned()).unwrap();
        let pause = Duration::from_millis(1);
        (Reading { wait: Duration::ZERO, pause, stop: Box::new(stop), note: Box::new(note) }, told)
    }

    #[test]
    fn it_is_asked_once_until_it_answers() {
        let (open, gate) = sync_channel(1);
        let (tell, told) = channel();
        let (reading, _) = reading(move || {
            let _ = open.send(());
        });
        let mut source = Background::new(Gated(gate, tell), reading);
        assert_eq!(source.poll(None, Duration::ZERO), Ok(Vec::new()));
        assert_eq!(source.poll(Some("later"), Duration::ZERO), Ok(Vec::new()));
        assert_eq!(told.recv().unwrap(), None);
        (source.stop)();
        let why = "none".to_owned();
        assert_eq!(source.poll(None, Duration::from_secs(60)), Err(SourceFail::Refused { why }));
        assert_eq!(source.poll(Some("next"), Duration::ZERO), Ok(Vec::new()));
        assert_eq!(told.recv().unwrap().as_deref(), Some("next"));
        // Dropped while it waits: it is broken off and joined.
    }

    /// Fails as often as it is told to.
    struct Failing(Vec<SourceFail>);

    impl Source for Failing {
        fn account(&self) -> String {
            "a".to_owned()
        }

        fn channel(&self) -> String {
            "c".to_owned()
        }

        fn poll(&mut self, _: Option<&str>, _: Duration) -> Polled {
            self.0.pop().map_or(Ok(Vec::new()), Err)
        }
    }

    #[test]
    fn failures_that_may_pass_are_tried_again_and_told_once() {
        let temporary = SourceFail::Temporary { why: "down".to_owned(), retry_after_ms: Some(2) };
        let conflict = SourceFail::Conflict { why: "two".to_owned() };
        for (fails, polled, notes) in [
            (vec![temporary.clone(), conflict.clone(), temporary], Ok(Vec::new()), 2),
            (vec![conflict.clone(); 4], Err(conflict), 1),
            (
                vec![SourceFail::Refused { why: "no".to_owned() }],
                Err(SourceFail::Refused { why: "no".to_owned() }),
                0,
            ),
        ] {
            let (reading, told) = reading(|| {});
            let mut source = Background::new(Failing(fails), reading);
            assert_eq!(source.poll(None, Duration::from_secs(60)), polled);
            drop(source);
            let told: Vec<String> = told.iter().collect();
            assert_eq!(told.len(), notes, "{told:?}");
        }
    }

    #[test]
    fn pauses_grow_and_end_when_it_is_dropped() {
        let (closed, closing) = channel();
        let mut patience =
            Patience { pause: Duration::from_secs(1), failures: 0, closing, note: Box::new(|_| {}) };
        let pauses: Vec<u64> = (0..8).map(|_| patience.next(None).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(patience.next(Some(90_000)).as_secs(), 90);
        drop(closed);
        let fail = || Err(SourceFail::Temporary { why: "down".to_owned(), retry_after_ms: None });
        assert_eq!(patience.polled(fail), None);
    }
}
