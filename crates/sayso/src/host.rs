//! Where times, ids and random bytes come from.

use std::time::{SystemTime, UNIX_EPOCH};

use sayso_model::{EntryId, LedgerId, OutputId, ProjectId, Seed, SessionId, SpeakerId, UtcMs};

/// What an app lets the ledger have from outside, so that a test can decide all of it.
pub trait Host: Send + Sync {
    /// The time now.
    fn now(&self) -> UtcMs;

    /// 32 bytes that nobody can guess.
    fn random(&self) -> [u8; 32];
}

/// The system's clock and random source.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemHost;

impl Host for SystemHost {
    #[allow(clippy::disallowed_methods)] // the one place where the real clock is read
    fn now(&self) -> UtcMs {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        UtcMs(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// # Panics
    ///
    /// Where the system has no random bytes to give: ids and salts must never be guessable.
    #[allow(clippy::expect_used)]
    fn random(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the system gives random bytes");
        bytes
    }
}

/// Fresh ids of every kind: 48 bits of time, 80 random bits. Never the monotonic generator: an id must not tell how many
/// were made, nor be guessable by whoever wrote the words that it will name.
pub(crate) trait FreshIds {
    fn number(&self) -> u128;

    fn ledger_id(&self) -> LedgerId {
        LedgerId::from_u128(self.number())
    }

    fn project_id(&self) -> ProjectId {
        ProjectId::from_u128(self.number())
    }

    fn session_id(&self) -> SessionId {
        SessionId::from_u128(self.number())
    }

    fn entry_id(&self) -> EntryId {
        EntryId::from_u128(self.number())
    }

    fn speaker_id(&self) -> SpeakerId {
        SpeakerId::from_u128(self.number())
    }

    fn output_id(&self) -> OutputId {
        OutputId::from_u128(self.number())
    }

    fn seed(&self) -> Seed;
}

impl<H: Host + ?Sized> FreshIds for H {
    fn number(&self) -> u128 {
        let ms = u128::from(self.now().0.max(0).unsigned_abs()) & ((1 << 48) - 1);
        let random = self.random();
        let low = random.iter().take(10).fold(0u128, |n, byte| (n << 8) | u128::from(*byte));
        (ms << 80) | low
    }

    fn seed(&self) -> Seed {
        Seed(self.random())
    }
}
