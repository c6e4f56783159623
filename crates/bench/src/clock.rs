//! Wall time and processor time.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// How long something took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Took {
    /// On the wall.
    pub(crate) wall: Duration,
    /// Of the processor, in all threads of this process.
    pub(crate) cpu: Duration,
}

pub(crate) fn now() -> Instant {
    #[allow(clippy::disallowed_methods)] // measuring is what this program is for
    Instant::now()
}

fn cpu() -> Duration {
    let at = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(at.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(at.tv_nsec).unwrap_or(0))
}

/// Runs something and says how long it took.
pub(crate) fn time<T>(work: impl FnOnce() -> T) -> (T, Took) {
    let (cpu_before, wall_before) = (cpu(), now());
    let done = work();
    (done, Took { wall: wall_before.elapsed(), cpu: cpu().saturating_sub(cpu_before) })
}

pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
