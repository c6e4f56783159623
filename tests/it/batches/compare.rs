//! Every read of two stores, compared.

use std::fmt::Debug;

use sayso_model::{Address, SpeakerKind};
use sayso_store::{Lookup, Scope, Store, StoreError, StreamKind};

use super::LEDGER;
use super::random::Random;
use super::world::{World, alias, key, name};

/// Two stores that should say the same.
pub(crate) struct Pair<'a> {
    pub(crate) oracle: &'a dyn Store,
    pub(crate) store: &'a dyn Store,
}

impl Pair<'_> {
    pub(super) fn same<T: PartialEq + Debug>(
        &self,
        what: &str,
        read: impl Fn(&dyn Store) -> Result<T, StoreError>,
    ) -> T {
        let expected = read(self.oracle).unwrap_or_else(|e| panic!("{what}: {e:?}"));
        let found = read(self.store).unwrap_or_else(|e| panic!("{what}: {e:?}"));
        assert!(expected == found, "{what}\n expected: {expected:?}\n    found: {found:?}");
        expected
    }

    /// Compares everything that the world names, under several scopes.
    pub(crate) fn compare(&self, world: &World, r: &mut Random) {
        for scope in [Scope::All, world.scope(r), Scope::Projects(Vec::new())] {
            self.projects(world, &scope, r);
            self.sessions(world, &scope, r);
            self.entries(world, &scope, r);
            self.outputs(world, &scope);
            super::relay::compare(self, world, &scope);
        }
        let report = self.same("verify", |s| s.verify(&Scope::All));
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        let narrow = self.store.verify(&world.scope(r));
        assert!(matches!(narrow, Err(StoreError::NeedsWholeLedger)));
    }

    fn lookups(&self, ids: impl Iterator<Item = String>, r: &mut Random) -> Vec<Lookup> {
        let suffixes = ids.flat_map(|id| [id[20..].to_owned(), id[25..].to_owned(), format!("0{id}")]);
        let mut lookups: Vec<Lookup> = suffixes.map(Lookup::Suffix).collect();
        lookups.push(Lookup::Suffix(String::new()));
        lookups.extend((0..4).map(|_| Lookup::Name(name(r))));
        lookups.extend((0..4).map(|_| Lookup::Alias(alias(r))));
        lookups
    }

    fn projects(&self, world: &World, scope: &Scope, r: &mut Random) {
        self.same("projects", |s| s.projects(scope));
        for id in &world.known.projects {
            self.same("project", |s| s.project(scope, *id));
            self.same("sessions of a project", |s| s.sessions(scope, Some(*id)));
        }
        let some = world.known.projects.iter().take(2).map(ToString::to_string);
        for lookup in self.lookups(some, r) {
            self.same("find_projects", |s| s.find_projects(scope, &lookup));
        }
        for id in &world.known.speakers {
            self.same("speaker", |s| s.speaker(scope, *id));
        }
        for kind in SpeakerKind::ALL {
            let name = name(r);
            self.same("find_speaker", |s| s.find_speaker(*kind, &name));
        }
    }

    fn sessions(&self, world: &World, scope: &Scope, r: &mut Random) {
        self.same("sessions", |s| s.sessions(scope, None));
        self.same("waiting", |s| s.waiting(scope, None));
        let project = r.maybe(50, |r| *r.pick(&world.known.projects));
        let some = world.known.sessions.iter().take(2).map(ToString::to_string);
        for lookup in self.lookups(some, r) {
            self.same("find_sessions", |s| s.find_sessions(scope, project, &lookup));
        }
        for id in &world.known.sessions {
            let last = self.same("session", |s| s.session(scope, *id)).map_or(0, |s| s.last_seq);
            self.same("entries", |s| s.entries(scope, *id, 0, usize::MAX));
            let (after, limit) = (r.number() >> r.below(64), r.below(4));
            self.same("some entries", |s| s.entries(scope, *id, after, limit));
            self.same("latest_compaction", |s| s.latest_compaction(scope, *id));
            self.same("pinned", |s| s.pinned(scope, *id));
            self.same("quotes", |s| s.quotes(scope, *id, u64::MAX));
            self.same("some quotes", |s| s.quotes(scope, *id, last / 2));
            self.same("waiting of a session", |s| s.waiting(scope, Some(*id)));
            let key = key(r);
            self.same("known", |s| s.known(scope, *id, &key));
            let most = [0, 3, usize::MAX][r.below(3)];
            self.same("known_keys", |s| s.known_keys(scope, *id, most));
            for seq in 0..last + 2 {
                self.same("hash_at", |s| s.hash_at(scope, *id, seq));
            }
            self.same("hash_at the end of numbers", |s| s.hash_at(scope, *id, u64::MAX));
        }
    }

    fn entries(&self, world: &World, scope: &Scope, r: &mut Random) {
        for id in &world.known.entries {
            self.same("marks", |s| s.marks(scope, *id));
            let named = Address::Turn(
                LEDGER,
                *r.pick(&world.known.projects),
                *r.pick(&world.known.sessions),
                *id,
                None,
            );
            self.same("was_erased", |s| s.was_erased(scope, &named));
            self.same("quotes_of", |s| s.quotes_of(scope, *id));
            self.same("superseding", |s| s.superseding(scope, *id));
            if r.chance(25) {
                self.same("entry", |s| s.entry(scope, *id));
            }
        }
        let some = world.known.entries.first().map(ToString::to_string).unwrap_or_default();
        for (suffix, limit) in
            [(some.get(21..), 5), (some.get(25..), 2), (Some(""), 3), (Some("!"), 9), (Some(""), 0)]
        {
            self.same("find_entries", |s| s.find_entries(scope, suffix.unwrap_or("A"), limit));
        }
    }

    fn outputs(&self, world: &World, scope: &Scope) {
        for id in &world.known.outputs {
            self.same("output", |s| s.output(scope, *id));
            for stream in [StreamKind::Stdout, StreamKind::Stderr] {
                self.same("read_output", |s| {
                    let mut bytes = Vec::new();
                    let there = s.read_output(scope, *id, stream, &mut bytes)?;
                    Ok((there, bytes))
                });
            }
            let suffix = id.to_string()[20..].to_owned();
            self.same("find_outputs", |s| s.find_outputs(scope, &suffix, 3));
        }
        self.same("all outputs", |s| s.find_outputs(scope, "", 2));
    }
}
