//! The canonical forms of sessions, entries and rows.
//!
//! Texts, titles and names never enter a form as they are, only as salted commitments, in the order of
//! [`EntryBody::texts`]. So a form can be written again after a text and its salt were deleted.

use crate::address::Address;
use crate::canon::{Digest, Form, Salt, commit};
use crate::entry::{Compaction, EntryBody, Mark, Part, PartBody, Turn};
use crate::id::{EntryId, LedgerId, ProjectId, SessionId, SpeakerId};
use crate::quote::{Hop, Quote};
use crate::reinjection::{Reinjected, Reinjection};
use crate::said::{SaidAt, UtcMs};
use crate::speaker::{SessionKind, Speaker, SpeakerKind};

/// 32 random bytes that come with a command; the salts of its texts are derived from them and they are then forgotten.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub [u8; 32]);

impl std::fmt::Debug for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seed(…)")
    }
}

impl Seed {
    /// The `index`-th salt: the first 16 bytes of BLAKE3, keyed with the seed, over the index.
    #[must_use]
    pub fn salt(&self, index: u64) -> Salt {
        let hash = blake3::keyed_hash(&self.0, &index.to_le_bytes());
        let mut salt = [0; 16];
        salt.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
        Salt(salt)
    }
}

impl Seed {
    /// The seed of the `index`-th thing under this one: BLAKE3 in key derivation mode over the seed and the index.
    #[must_use]
    pub fn child(&self, index: u64) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("sayso 2026-11-30 seed of a command v1");
        hasher.update(&self.0).update(&index.to_le_bytes());
        Self(*hasher.finalize().as_bytes())
    }
}

impl EntryBody {
    /// Every text that enters the chain as a commitment, in this order: of a turn its parts, then the text and the titles
    /// (project, session; those that are there) of its quote; of a compaction its summary; of a mark its title; of a re-injection none.
    #[must_use]
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Turn(turn) => turn.texts(),
            Self::Compaction(compaction) => vec![&compaction.summary],
            Self::Mark(mark) => mark.title.iter().map(String::as_str).collect(),
            Self::Reinjection(_) => Vec::new(),
        }
    }
}

impl Turn {
    fn texts(&self) -> Vec<&str> {
        let parts = self.parts.iter().map(|p| p.body.text());
        let quote = self.quote.iter().flat_map(|q| q.texts());
        parts.chain(quote).collect()
    }
}

impl Quote {
    /// Its text, then the titles that are there: project, session.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let titles = [&self.project_title, &self.session_title];
        std::iter::once(self.text.as_str()).chain(titles.into_iter().filter_map(|t| t.as_deref()))
    }
}

/// The salts of a body's texts, from the seed of its command.
#[must_use]
pub fn salts(seed: &Seed, body: &EntryBody) -> Vec<Salt> {
    (0..body.texts().len() as u64).map(|i| seed.salt(i)).collect()
}

/// The commitments to a body's texts.
#[must_use]
pub fn commitments(salts: &[Salt], body: &EntryBody) -> Vec<Digest> {
    let texts = body.texts().into_iter();
    texts.zip(salts).map(|(text, salt)| commit(salt, text.as_bytes())).collect()
}

/// Where an entry stands in its chain.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// The session.
    pub session: SessionId,
    /// The entry's place.
    pub seq: u64,
    /// The entry's id.
    pub id: EntryId,
    /// When it was recorded.
    pub recorded_at: UtcMs,
    /// The hash before it: the previous entry's, or the session's [`genesis`].
    pub prev: Digest,
}

/// Finds the commitment to a speaker's name.
pub type Names<'a> = &'a dyn Fn(SpeakerId) -> Digest;

/// The form of an entry (domain `sayso.entry.v1`). `commitments` stand in the order of [`EntryBody::texts`]; a missing one
/// is written as zeros, which no chain that was written here holds.
#[must_use]
pub fn entry(form: Form, link: &Link, body: &EntryBody, commitments: &[Digest], names: Names<'_>) -> Form {
    let head = form
        .field(1, &link.session.to_bytes())
        .number(2, link.seq)
        .field(3, &link.id.to_bytes())
        .number(4, link.recorded_at.0)
        .field(5, &link.prev.0);
    let mut texts = commitments.iter().copied();
    let mut next = || texts.next().unwrap_or(Digest::ZERO);
    match body {
        EntryBody::Turn(turn) => write_turn(head, turn, &mut next, names),
        EntryBody::Compaction(compaction) => write_compaction(head, compaction, next(), names),
        EntryBody::Mark(mark) => write_mark(head, mark, &mut next),
        EntryBody::Reinjection(reinjection) => write_reinjection(head, reinjection),
    }
}

/// The hash of an entry.
#[must_use]
pub fn entry_hash(link: &Link, body: &EntryBody, commitments: &[Digest], names: Names<'_>) -> Digest {
    entry(Form::new("sayso.entry.v1"), link, body, commitments, names).hash()
}

fn write_turn(form: Form, turn: &Turn, next: &mut dyn FnMut() -> Digest, names: Names<'_>) -> Form {
    let form = speaker(form.field(6, b"turn"), 7, &turn.speaker, names);
    let form = said(form, turn.said_at)
        .option(10, turn.reply_to, |f, tag, id| f.field(tag, &id.to_bytes()))
        .number(11, turn.repairs)
        .option(13, turn.supersedes, |f, tag, id| f.field(tag, &id.to_bytes()))
        .number(12, turn.parts.len() as i64);
    let form = turn.parts.iter().fold(form, |f, part| write_part(f, part, next(), names));
    match &turn.quote {
        Some(quote) => write_quote(form, quote, next, names),
        None => form,
    }
}

fn write_part(form: Form, part: &Part, text: Digest, names: Names<'_>) -> Form {
    let form = match &part.by {
        Some(by) => speaker(form, 20, by, names),
        None => form,
    };
    match &part.body {
        PartBody::Text(_) => form.field(21, b"text"),
        PartBody::Reasoning(seal, _) => form.field(21, b"reasoning").field(22, seal.as_str().as_bytes()),
        PartBody::ToolCall(call) => {
            form.field(21, b"tool_call").field(23, call.call_id.as_bytes()).field(24, call.tool.as_bytes())
        }
        PartBody::ToolResult(result) => form
            .field(21, b"tool_result")
            .field(22, result.outcome.as_str().as_bytes())
            .field(23, result.call_id.as_bytes())
            .field(24, result.tool.as_bytes())
            .option(25, result.output, |f, tag, id| f.field(tag, &id.to_bytes())),
        PartBody::Attachment(attachment) => form
            .field(21, b"attachment")
            .field(24, attachment.media_type.as_bytes())
            .option(25, attachment.output, |f, tag, id| f.field(tag, &id.to_bytes())),
    }
    .field(26, &text.0)
}

fn write_quote(form: Form, quote: &Quote, next: &mut dyn FnMut() -> Digest, names: Names<'_>) -> Form {
    let form = address(form, 30, quote.origin.address)
        .field(31, quote.origin.session_kind.as_str().as_bytes())
        .option(32, quote.origin.channel.as_deref(), |f, tag, c| f.field(tag, c.as_bytes()))
        .option(33, quote.span, |f, tag, s| f.number(tag, s.start()).number(34, s.len()));
    let form = said(speaker(form, 35, &quote.speaker, names), quote.said_at)
        .number(36, quote.kept)
        .number(37, quote.total)
        .field(38, quote.cut.as_str().as_bytes())
        .number(39, quote.open_fence)
        .list(40, &quote.hops, |f, hop| write_hop(f, hop, names))
        .option(44, quote.nested, address);
    let form = speaker(form, 45, &quote.forwarded_by, names)
        .number(46, quote.forwarded_at.0)
        .field(47, &quote.source.0)
        .field(48, &next().0);
    let form = form.option(49, quote.project_title.as_ref(), |f, tag, _| f.field(tag, &next().0));
    form.option(50, quote.session_title.as_ref(), |f, tag, _| f.field(tag, &next().0))
}

fn write_hop(form: Form, hop: &Hop, names: Names<'_>) -> Form {
    speaker(address(form, 41, hop.address), 42, &hop.by, names).number(43, hop.at.0)
}

fn write_compaction(form: Form, compaction: &Compaction, summary: Digest, names: Names<'_>) -> Form {
    let form = speaker(form.field(6, b"compaction"), 7, &compaction.speaker, names);
    said(form, compaction.said_at).number(60, compaction.through).field(61, &summary.0)
}

fn write_mark(form: Form, mark: &Mark, next: &mut dyn FnMut() -> Digest) -> Form {
    form.field(6, b"mark")
        .field(70, mark.kind.as_str().as_bytes())
        .option(71, mark.of, |f, tag, id| f.field(tag, &id.to_bytes()))
        .field(72, mark.route.as_bytes())
        .option(73, mark.title.as_ref(), |f, tag, _| f.field(tag, &next().0))
        .option(74, mark.project, |f, tag, id| f.field(tag, &id.to_bytes()))
}

fn write_reinjection(form: Form, reinjection: &Reinjection) -> Form {
    form.field(6, b"reinjection")
        .option(80, reinjection.of, |f, tag, id| f.field(tag, &id.to_bytes()))
        .field(81, reinjection.layout.as_str().as_bytes())
        .list(82, &reinjection.items, write_reinjected)
}

fn write_reinjected(form: Form, item: &Reinjected) -> Form {
    let (unit, from, to) = item.range.parts();
    form.field(83, &item.turn.to_bytes())
        .number(84, item.part)
        .option(85, item.source.output(), |f, tag, id| f.field(tag, &id.to_bytes()))
        .option(86, item.source.stream(), |f, tag, stream| f.field(tag, stream.as_str().as_bytes()))
        .field(87, unit.as_str().as_bytes())
        .number(88, from)
        .number(89, to)
        .field(90, item.why.as_str().as_bytes())
        .field(91, item.call_id.as_bytes())
        .field(92, item.tool.as_bytes())
        .field(93, item.outcome.as_str().as_bytes())
        .number(94, item.seq)
        .number(95, item.at.0)
}

fn speaker(form: Form, tag: u8, speaker: &Speaker, names: Names<'_>) -> Form {
    form.field(tag, &speaker.id.to_bytes())
        .field(100, speaker.kind.as_str().as_bytes())
        .field(101, &names(speaker.id).0)
}

fn said(form: Form, said_at: Option<SaidAt>) -> Form {
    form.option(8, said_at, |f, tag, at| f.number(tag, at.ms()).number(9, at.offset_minutes()))
}

fn address(form: Form, tag: u8, address: Address) -> Form {
    form.field(tag, address.to_string().as_bytes())
}

/// What a session was when it was made; its hash stands before its first entry.
#[derive(Debug, Clone, Copy)]
pub struct Genesis<'a> {
    /// The ledger.
    pub ledger: LedgerId,
    /// The project it was made in.
    pub project: ProjectId,
    /// The session.
    pub session: SessionId,
    /// Its kind.
    pub kind: SessionKind,
    /// Its channel.
    pub channel: Option<&'a str>,
    /// The commitment to its first title.
    pub title: Digest,
    /// When it was made.
    pub created_at: UtcMs,
    /// Where it was forked off: the session, the place and the hash of the entry there.
    pub fork: Option<(SessionId, u64, Digest)>,
}

/// The hash of a session's beginning (domain `sayso.session.v1`).
#[must_use]
pub fn genesis(session: &Genesis<'_>) -> Digest {
    Form::new("sayso.session.v1")
        .field(1, &session.ledger.to_bytes())
        .field(2, &session.project.to_bytes())
        .field(3, &session.session.to_bytes())
        .field(4, session.kind.as_str().as_bytes())
        .option(5, session.channel, |f, tag, c| f.field(tag, c.as_bytes()))
        .field(6, &session.title.0)
        .number(7, session.created_at.0)
        .option(8, session.fork, |f, tag, (parent, seq, hash)| {
            f.field(tag, &parent.to_bytes()).number(9, seq).field(10, &hash.0)
        })
        .hash()
}

/// The digest of a speaker's row (domain `sayso.speaker.v1`), over the commitment to the name.
#[must_use]
pub fn speaker_row(id: SpeakerId, kind: SpeakerKind, name: Digest) -> Digest {
    Form::new("sayso.speaker.v1")
        .field(1, &id.to_bytes())
        .field(2, kind.as_str().as_bytes())
        .field(3, &name.0)
        .hash()
}

/// The digest of a project's row (domain `sayso.project.v1`), over the commitment to the name.
#[must_use]
pub fn project_row(id: ProjectId, name: Digest, created_at: UtcMs, merged_into: Option<ProjectId>) -> Digest {
    Form::new("sayso.project.v1")
        .field(1, &id.to_bytes())
        .field(2, &name.0)
        .number(3, created_at.0)
        .option(4, merged_into, |f, tag, id| f.field(tag, &id.to_bytes()))
        .hash()
}

/// Which text a quote was taken from, without telling it: BLAKE3 over the commitments of the source's parts and quote
/// (domain `sayso.source.v1`).
#[must_use]
pub fn source(commitments: &[Digest]) -> Digest {
    Form::new("sayso.source.v1").list(1, commitments, |f, c| f.field(2, &c.0)).hash()
}
