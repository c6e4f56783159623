//! The system's clocks.

use std::time::{Duration, Instant};

use sayso::{Host, SystemHost};
use sayso_relay::port::{Clock, UtcMs};

/// The clocks of this system.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is where time comes in")]
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> UtcMs {
        SystemHost.now()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
