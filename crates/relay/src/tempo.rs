//! The relay's time: that of the system's clock when the relay began, going on evenly from there.

use std::time::Duration;

use crate::port::{Clock, UtcMs};

/// Time that goes on evenly, also while somebody sets the clock, and never begins before what was written with it last.
#[derive(Debug, Clone, Copy)]
pub struct Tempo {
    began: UtcMs,
    elapsed: Duration,
}

impl Tempo {
    /// Begins now, or at the time of the last thing that stands in the ledger where the clock is behind it.
    pub fn new(clock: &dyn Clock, last: Option<UtcMs>) -> Self {
        let began = clock.now();
        Self { began: last.map_or(began, |last| began.max(last)), elapsed: clock.elapsed() }
    }

    /// The time.
    pub fn now(&self, clock: &dyn Clock) -> UtcMs {
        let passed = clock.elapsed().saturating_sub(self.elapsed).as_millis();
        UtcMs(self.began.0.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX)))
    }
}
