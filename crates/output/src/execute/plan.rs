//! What is done when: decisions about a running command, from times that come in.

use std::time::Duration;

/// The times a command runs within.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) timeout: Option<Duration>,
    pub(super) kill_grace: Duration,
    pub(super) pipe_grace: Duration,
}

/// What is known at a moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) now: Duration,
    /// Whether the command itself has ended.
    pub(super) ended: bool,
    /// Whether a pipe is still open.
    pub(super) open: bool,
    /// Whether someone asked it to stop.
    pub(super) stop: bool,
}

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Wait for something, at most so long.
    Wait(Option<Duration>),
    /// Ask the group to end.
    Terminate,
    /// Kill the group.
    Kill,
    /// It is over.
    Finish,
}

/// Where a command stands.
#[derive(Debug, Default)]
pub(super) struct Plan {
    asked: Option<Duration>,
    killed: bool,
    /// When the command ended.
    pub(super) ended: Option<Duration>,
    /// Whether it was its time that was over.
    pub(super) timed_out: bool,
}

impl Plan {
    pub(super) fn step(&mut self, times: &Times, seen: &Seen) -> Step {
        if seen.ended {
            return self.after_end(times, seen);
        }
        match self.asked {
            None => self.running(times, seen),
            Some(asked) if !self.killed => match left(asked, times.kill_grace, seen.now) {
                Some(left) => Step::Wait(Some(left)),
                None => {
                    self.killed = true;
                    Step::Kill
                }
            },
            Some(_) => Step::Wait(None),
        }
    }

    fn running(&mut self, times: &Times, seen: &Seen) -> Step {
        let left = times.timeout.map(|timeout| left(Duration::ZERO, timeout, seen.now));
        self.timed_out = left == Some(None);
        if self.timed_out || seen.stop {
            self.asked = Some(seen.now);
            return Step::Terminate;
        }
        Step::Wait(left.flatten())
    }

    fn after_end(&mut self, times: &Times, seen: &Seen) -> Step {
        let ended = *self.ended.get_or_insert(seen.now);
        // What is left of a group that was asked to end is not waited for.
        if self.asked.is_some() && !self.killed {
            self.killed = true;
            return Step::Kill;
        }
        match left(ended, times.pipe_grace, seen.now) {
            Some(left) if seen.open => Step::Wait(Some(left)),
            _ => Step::Finish,
        }
    }
}

fn left(since: Duration, grace: Duration, now: Duration) -> Option<Duration> {
    (since + grace).checked_sub(now).filter(|left| !left.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn times() -> Times {
        Times { timeout: Some(ms(2_000)), kill_grace: ms(500), pipe_grace: ms(200) }
    }

    #[test]
    fn a_command_is_asked_then_killed() {
        let mut plan = Plan::default();
        let mut at = |now, ended, open| {
            (plan.step(&times(), &Seen { now: ms(now), ended, open, stop: false }), plan.timed_out)
        };
        assert_eq!(at(0, false, true), (Step::Wait(Some(ms(2_000))), false));
        assert_eq!(at(2_000, false, true), (Step::Terminate, true));
        assert_eq!(at(2_100, false, true), (Step::Wait(Some(ms(400))), true));
        assert_eq!(at(2_500, false, true), (Step::Kill, true));
        assert_eq!(at(2_501, false, true), (Step::Wait(None), true));
        assert_eq!(at(2_600, true, true), (Step::Wait(Some(ms(200))), true));
        assert_eq!(at(2_800, true, true), (Step::Finish, true));
    }

    #[test]
    fn an_ended_command_is_waited_for_only_while_a_pipe_is_open() {
        let mut plan = Plan::default();
        let seen = Seen { now: ms(10), ended: true, open: true, stop: false };
        assert_eq!(plan.step(&times(), &seen), Step::Wait(Some(ms(200))));
        assert_eq!(plan.step(&times(), &Seen { open: false, ..seen }), Step::Finish);
        assert_eq!(plan.step(&times(), &Seen { now: ms(210), ..seen }), Step::Finish);
        assert!(!plan.timed_out);
    }

    #[test]
    fn a_stop_is_no_timeout() {
        let mut plan = Plan::default();
        let seen = Seen { now: ms(10), ended: false, open: true, stop: true };
        assert_eq!(plan.step(&times(), &seen), Step::Terminate);
        assert_eq!(plan.step(&times(), &Seen { ended: true, ..seen }), Step::Kill);
        assert!(!plan.timed_out);
    }
}
