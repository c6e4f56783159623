//! A source that waits in a thread of its own, so that what the session says is not kept waiting by a long poll.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sayso_relay::port::{Incoming, Source, SourceFail};

type Polled = Result<Vec<Incoming>, SourceFail>;

/// A source behind a thread. It is asked for what comes after a cursor, once; until the answer is there, asking again only waits.
/// When this is dropped, what waits is broken off.
pub struct Background {
    account: String,
    channel: String,
    ask: Option<Sender<Option<String>>>,
    answers: Receiver<Polled>,
    asked: bool,
    stop: Box<dyn Fn() + Send>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// A source that is asked to wait so long each time; `stop` breaks off what waits.
    pub fn new(
        mut source: impl Source + Send + 'static,
        wait: Duration,
        stop: impl Fn() + Send + 'static,
    ) -> Self {
        let (account, channel_name) = (source.account(), source.channel());
        let (ask, asked) = channel::<Option<String>>();
        let (answer, answers) = channel();
        let thread = thread::spawn(move || {
            for after in asked {
                if answer.send(source.poll(after.as_deref(), wait)).is_err() {
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
            stop: Box::new(stop),
            thread: Some(thread),
        }
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
        drop(self.ask.take());
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

    #[test]
    fn it_is_asked_once_until_it_answers() {
        let (open, gate) = sync_channel(1);
        let (tell, told) = channel();
        let mut source = Background::new(Gated(gate, tell), Duration::ZERO, move || {
            let _ = open.send(());
        });
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
}
