//! Outputs that are written while batches are, and collections in between.

use std::sync::Arc;
use std::time::Duration;

use sayso_model::UtcMs;
use sayso_model::limits::{CHUNK_BYTES, NAME_LENGTH};
use sayso_sqlite::SqliteStore;
use sayso_store::{EndOutput, GrowingOutput, Oracle, OutputState, StartOutput, Store, StreamKind};

use super::compare::Pair;
use super::random::Random;
use super::world::World;
use super::{Counts, outcome, put_blobs, variant};

/// The two stores, and the outputs that are being written into both.
pub(super) struct Growing {
    pub(super) oracle: Arc<Oracle>,
    pub(super) store: Arc<SqliteStore>,
    open: Vec<[Box<dyn GrowingOutput>; 2]>,
    at: i64,
}

const KINDS: [StreamKind; 2] = [StreamKind::Stdout, StreamKind::Stderr];

impl Growing {
    pub(super) fn new(oracle: Arc<Oracle>, store: Arc<SqliteStore>) -> Self {
        Self { oracle, store, open: Vec::new(), at: 0 }
    }

    pub(super) fn step(&mut self, world: &mut World, r: &mut Random, counts: &mut Counts) {
        match r.below(10) {
            0..3 => self.start(world, r, counts),
            9 => self.collect(world, r, counts),
            _ if self.open.is_empty() => {}
            3..7 => self.write(r, counts),
            7 => drop(self.open.swap_remove(r.below(self.open.len()))),
            _ => self.finish(r, counts),
        }
    }

    fn both<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, found: T, counts: &mut Counts) -> T {
        assert_eq!(found, expected, "{what}");
        *counts.entry(what.to_owned()).or_default() += 1;
        expected
    }

    fn start(&mut self, world: &mut World, r: &mut Random, counts: &mut Counts) {
        let start = StartOutput {
            scope: world.scope(r),
            at: UtcMs(5),
            id: world.fresh_output(r),
            session: world.some_session(r),
            tool: if r.chance(2) { "n".repeat(NAME_LENGTH + 1) } else { "bash".into() },
            command: r.maybe(50, |r| format!("make {}", r.below(3))),
            charset: r.maybe(20, |_| "euc-kr".into()),
        };
        let oracle = outcome(Arc::clone(&self.oracle).start_output(start.clone()));
        let store = outcome(Arc::clone(&self.store).start_output(start));
        let what = if oracle.is_ok() { "start output" } else { "start output refused" };
        let said = |done: &Result<Box<dyn GrowingOutput>, _>| done.as_ref().map(|_| ()).map_err(Clone::clone);
        let _ = Self::both(what, said(&oracle), said(&store), counts);
        if let (Ok(oracle), Ok(store)) = (oracle, store) {
            self.open.push([oracle, store]);
        }
    }

    fn write(&mut self, r: &mut Random, counts: &mut Counts) {
        let place = r.below(self.open.len());
        let [oracle, store] = &mut self.open[place];
        let length = *r.pick(&[0, 7, CHUNK_BYTES - 7, CHUNK_BYTES, 2 * CHUNK_BYTES + 1]);
        // Few different bytes, so that the same streams grow several times.
        let (kind, bytes) = (*r.pick(&KINDS), vec![b'a' + r.below(2) as u8; length]);
        oracle.write(kind, &bytes).unwrap();
        store.write(kind, &bytes).unwrap();
        if r.chance(70) {
            let kept = Self::both("keep output", outcome(oracle.keep()), outcome(store.keep()), counts);
            *counts.entry(kept.map_or_else(|(_, why)| variant(&why), |()| "kept".to_owned())).or_default() +=
                1;
        }
    }

    fn finish(&mut self, r: &mut Random, counts: &mut Counts) {
        let [mut oracle, mut store] = self.open.swap_remove(r.below(self.open.len()));
        let state = *r.pick(&[OutputState::Complete, OutputState::Capped, OutputState::Partial]);
        let end = EndOutput {
            state,
            exit: r.maybe(50, |r| r.below(3) as i32),
            signal: r.maybe(10, |_| 9),
            timed_out: r.chance(10),
            duration_ms: r.maybe(50, |r| r.number() >> r.below(40)),
            pipe_held: r.chance(20),
            totals: if r.chance(20) { vec![(*r.pick(&KINDS), r.below(1 << 20) as u64)] } else { Vec::new() },
        };
        let done =
            Self::both("finish output", outcome(oracle.finish(&end)), outcome(store.finish(&end)), counts);
        *counts.entry(done.map_or_else(|(_, why)| variant(&why), |()| "finished".to_owned())).or_default() +=
            1;
    }

    fn collect(&mut self, world: &mut World, r: &mut Random, counts: &mut Counts) {
        // Now and then the clock goes back.
        self.at += r.below(100) as i64 - 20;
        let (now, grace) = (UtcMs(self.at), Duration::from_millis(r.below(100) as u64));
        let (oracle, store) = (self.oracle.collect(now, grace), self.store.collect(now, grace));
        let done = Self::both("collect", oracle.unwrap(), store.unwrap(), counts);
        *counts.entry("collected".to_owned()).or_default() += done.blobs as usize;
        put_blobs(&Pair { oracle: &*self.oracle, store: &*self.store }, world, r);
    }
}
