//! What an export takes out of a ledger, and how it is put into another one: exactly, so that every hash comes out the same.
//!
//! Archived values carry what a plain read leaves out: salts, commitments, and what a session's beginning was taken over.
//! [`Restore`] commands write them with the ids, times and salts that they have. A store recomputes every hash before it
//! writes, and a value that does not fit is refused. Restoring what is there already changes nothing.
//!
//! What is restored is done again: a mark that says that a text was redacted or an entry erased takes it away here as well, a
//! renaming gives the title, a move changes the project (where that project is known here).

use sayso_model::canon::commit;
use sayso_model::form::{self, Link};
use sayso_model::{
    Digest, Entry, EntryBody, EntryId, LedgerId, Mark, MarkKind, ProjectId, Salt, SessionId, SessionKind,
    Speaker, UtcMs,
};

use crate::command::Alias;
use crate::query::{ForkPoint, Output};

/// A project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedProject {
    /// Its id.
    pub id: ProjectId,
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created_at: UtcMs,
    /// The project that it is part of now.
    pub merged_into: Option<ProjectId>,
    /// Its aliases, in order.
    pub aliases: Vec<Alias>,
}

/// A speaker with the salt of the name, whose commitment stands in every entry of theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedSpeaker {
    /// The speaker.
    pub speaker: Speaker,
    /// The salt of the name.
    pub salt: Salt,
}

/// A session with what its beginning was taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedSession {
    /// Its id.
    pub id: SessionId,
    /// The ledger that it was made in.
    pub ledger: LedgerId,
    /// The project that it was made in.
    pub first_project: ProjectId,
    /// The project that it is in now.
    pub project: ProjectId,
    /// Its kind.
    pub kind: SessionKind,
    /// Its channel.
    pub channel: Option<String>,
    /// When it was made.
    pub created_at: UtcMs,
    /// The commitment to its first title.
    pub first_title: Digest,
    /// Its first title and the salt; `None` where it was renamed since, and the entry that says so holds the title.
    pub title: Option<(String, Salt)>,
    /// Where it was forked off, and the hash of the entry there.
    pub fork: Option<(ForkPoint, Digest)>,
    /// Its aliases, in order.
    pub aliases: Vec<Alias>,
    /// The place of its last entry.
    pub last_seq: u64,
    /// The hash of its last entry.
    pub head: Digest,
}

/// An entry with what its hash was taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedEntry {
    /// The entry. One that was erased is a mark `erased` of nothing: its hash cannot be recomputed.
    pub entry: Entry,
    /// The salts of its texts, in the order of [`sayso_model::EntryBody::texts`]; `None` where the text was taken away.
    pub salts: Vec<Option<Salt>>,
    /// The commitments to its texts, in the same order.
    pub commitments: Vec<Digest>,
}

impl ArchivedEntry {
    /// Whether every text fits its commitment and all of it the hash, after the entry before. Of an erased entry only place
    /// and hash are left, and nothing to compare with.
    #[must_use]
    pub fn fits(&self, link: &Link, names: form::Names<'_>) -> bool {
        let body = &self.entry.body;
        if let EntryBody::Mark(Mark { kind: MarkKind::Erased, of: None, .. }) = body {
            return self.commitments.is_empty() && self.salts.is_empty();
        }
        let texts = body.texts();
        texts.len() == self.commitments.len()
            && texts.len() == self.salts.len()
            && texts.iter().zip(&self.salts).zip(&self.commitments).all(|((text, salt), commitment)| {
                match salt {
                    Some(salt) => commit(salt, text.as_bytes()) == *commitment,
                    None => text.is_empty(),
                }
            })
            && form::entry_hash(link, body, &self.commitments, names) == self.entry.hash
    }
}

/// An idempotency key of an entry whose text is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedKey {
    /// The session.
    pub session: SessionId,
    /// The word for the kind of command, see [`crate::content::kind`].
    pub kind: String,
    /// The key.
    pub value: String,
    /// The salt of the content that it stands for.
    pub salt: Salt,
    /// The commitment to that content.
    pub content: Digest,
    /// What was written.
    pub entry: EntryId,
}

/// Writes one archived value as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restore {
    /// A project; one that is there stays as it is. Aliases that another project has stay there.
    Project(ArchivedProject),
    /// A speaker. Where another one here has the same kind and name, it stands beside it, as a namesake.
    Speaker(ArchivedSpeaker),
    /// A session, without its entries. One that is there must have the same beginning.
    Session(ArchivedSession),
    /// An entry. One that is there must have the same hash.
    Entry(ArchivedEntry),
    /// An idempotency key.
    Key(ArchivedKey),
    /// An output whose bytes are stored.
    Output(Output),
}
