//! The records between two outputs of the model, and whose words they are.

use sayso::SpeakerKind;
use serde_json::Value;

use super::events::{Announced, By};
use super::outputs::Ended;
use crate::blocks::{Block, blocks};
use crate::draft::{Draft, DraftPart, Meta, Who};
use crate::formats::Format;
use crate::sink::{Sink, Summary};

/// How texts start that the program puts among a person's words.
const WRAPPINGS: &[&str] = &[
    "<environment_context>",
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<turn_aborted>",
    "<permissions instructions>",
    "<skill>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<INSTRUCTIONS>",
    "<collaboration_mode>",
];

/// What is held of a record.
pub(super) enum Slot {
    /// A turn that is decided.
    Ready(Draft),
    /// A message that may show markers of forwarded turns.
    Shown(Draft),
    User(UserItem),
    Said(Announced, Meta),
    Compacted(Summary),
    /// So many of the owner's turns were taken back.
    RolledBack(u64),
}

/// An item of the role user, whose speaker is not decided yet.
pub(super) struct UserItem {
    meta: Meta,
    blocks: Vec<UserBlock>,
    /// Whether the words of a person were announced elsewhere and not here.
    demoted: bool,
    matched: bool,
    /// Whether the item itself says who wrote it.
    told: bool,
    /// The key under which its words stand in the ledger, where that is another one.
    known: Option<String>,
}

enum UserBlock {
    /// A text, and whose it is.
    Text(String, Whose),
    Attached(DraftPart),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Human,
    Program,
}

/// What an editor put before a person's words (open files, selections), and the words: the extension of Codex for editors
/// joins both to one text, with a heading between. Their parts joined by LF are the text again.
fn from_editor(text: &str) -> Option<(&str, &str)> {
    const REQUEST: &str = "\n## My request for Codex:\n";
    let at = text.starts_with("# Context from my IDE setup:").then(|| text.find(REQUEST))??;
    let (around, words) = text.split_at_checked(at + REQUEST.len())?;
    Some((around.strip_suffix('\n')?, words))
}

fn whose(text: &str, source: Option<&str>) -> Whose {
    let start = text.trim_start();
    match source {
        Some("user") => Whose::Human,
        Some(_) => Whose::Program,
        None if WRAPPINGS.iter().any(|w| start.starts_with(w)) => Whose::Program,
        None => Whose::Human,
    }
}

impl UserItem {
    /// `sources` says who wrote each block, where the item tells; else the way a text starts does.
    pub(super) fn new(meta: Meta, content: Value, sources: &[Option<String>]) -> Self {
        let mut told = sources.iter().map(Option::as_deref);
        let blocks = blocks(content).into_iter().filter_map(|block| match (block, told.next().flatten()) {
            (Block::Text(text), source) => {
                let whose = whose(&text, source);
                Some(UserBlock::Text(text, whose))
            }
            (Block::Attached(part), _) => Some(UserBlock::Attached(part)),
            (Block::Sealed, _) => None,
        });
        // What the item itself says needs no announcement and is not undone by one.
        let told = sources.iter().any(Option::is_some);
        Self { meta, blocks: blocks.collect(), told, demoted: false, matched: false, known: None }
    }

    fn human(&self) -> bool {
        self.blocks.iter().any(|b| !matches!(b, UserBlock::Text(_, Whose::Program)))
    }

    /// Whether the person's texts together are these words.
    fn says(&self, words: &str) -> bool {
        let texts = self.blocks.iter().filter_map(|b| match b {
            UserBlock::Text(text, Whose::Human) => Some(text.as_str()),
            _ => None,
        });
        let texts: Vec<&str> = texts.collect();
        !texts.is_empty() && texts.join("\n") == words
    }

    fn place_of(&self, words: &str) -> Option<usize> {
        self.blocks.iter().position(|b| matches!(b, UserBlock::Text(text, _) if text == words))
    }

    /// Matches an announcement: what it announces is the person's, whatever it looks like.
    fn claim(&mut self, words: &str) -> bool {
        if self.matched {
            return false;
        }
        let place = if self.says(words) { None } else { self.place_of(words) };
        self.matched = place.is_some() || self.says(words);
        if let Some(UserBlock::Text(_, whose)) = place.and_then(|at| self.blocks.get_mut(at)) {
            *whose = Whose::Human;
        }
        self.matched
    }

    /// Takes words out that stand in the ledger already.
    fn without(&mut self, words: &str) {
        if self.says(words) {
            self.blocks.retain(|b| !matches!(b, UserBlock::Text(_, Whose::Human)));
        } else if let Some(at) = self.place_of(words) {
            self.blocks.remove(at);
        }
    }

    fn draft(self, owner: &str) -> Draft {
        let owned = self.human() && !self.demoted;
        let system = || Who::new(SpeakerKind::System, Format::Codex.program());
        let speaker = if owned { Who::new(SpeakerKind::Owner, owner) } else { system() };
        let parts = self.blocks.into_iter().flat_map(|block| match block {
            UserBlock::Text(text, Whose::Program) => vec![DraftPart::text(text).by(system())],
            UserBlock::Text(text, Whose::Human) => match from_editor(&text) {
                Some((around, words)) => vec![DraftPart::text(around).by(system()), DraftPart::text(words)],
                None => vec![DraftPart::text(text)],
            },
            UserBlock::Attached(part) => vec![part],
        });
        Draft::new(self.meta, speaker, parts.collect())
    }
}

/// The records since the last output of the model, that output first.
#[derive(Default)]
pub(super) struct Segment(Vec<Slot>);

/// What becomes of an announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Its words stand in an item, or in another announcement.
    Covered,
    /// Its words stand nowhere else.
    Alone,
}

impl Segment {
    pub(super) fn push(&mut self, slot: Slot) {
        self.0.push(slot);
    }

    /// Gives a whole output to the result of its call, if that is held; else hands it back.
    pub(super) fn offer(&mut self, call: &str, ended: Ended) -> Option<Ended> {
        let result = self.0.iter_mut().find_map(|slot| match slot {
            Slot::Ready(draft) => {
                let answers = draft.result().is_some_and(|(result, _)| result.call_id == call);
                answers.then_some(draft)
            }
            _ => None,
        });
        match result {
            Some(draft) => {
                ended.attach(draft);
                None
            }
            None => Some(ended),
        }
    }

    /// Decides whose words everything is, and hands it on in file order.
    pub(super) fn settle(&mut self, owner: &str, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        let mut slots = std::mem::take(&mut self.0);
        let fates = decide(&mut slots, sink)?;
        for (slot, fate) in slots.into_iter().zip(fates) {
            match slot {
                Slot::Ready(draft) => sink.turn(draft)?,
                Slot::Shown(draft) => sink.message(draft)?,
                Slot::User(UserItem { known: Some(key), blocks, .. }) if blocks.is_empty() => {
                    sink.again(&key)?
                }
                Slot::User(item) => sink.decided(item.draft(owner))?,
                Slot::Said(announced, _) if fate == Fate::Covered => sink.report.skip(announced.kind()),
                Slot::Said(announced, meta) => {
                    let who = Who::new(SpeakerKind::Owner, owner);
                    sink.message(Draft::new(meta, who, vec![DraftPart::text(announced.words)]))?;
                }
                Slot::Compacted(summary) => sink.compaction(summary)?,
                Slot::RolledBack(turns) => sink.roll_back(turns)?,
            }
        }
        Ok(())
    }
}

/// Matches announcements with items. The fates stand in the order of the slots; only those of announcements count.
fn decide(slots: &mut [Slot], sink: &Sink<'_>) -> Result<Vec<Fate>, sayso::Error> {
    let mut fates = vec![Fate::Covered; slots.len()];
    let announced: Vec<(usize, String, Vec<String>)> = announced(slots);
    let mut lonely = false;
    for (at, words, keys) in announced {
        let item = slots.iter_mut().find_map(|slot| match slot {
            Slot::User(item) => item.claim(&words).then_some(item),
            _ => None,
        });
        match item {
            // A part of this file was imported before, when the announcement was there and its item was not.
            Some(item) => {
                if let Some(key) = known(&keys, sink)? {
                    item.without(&words);
                    item.known = Some(key);
                }
            }
            None => {
                lonely = true;
                // The same words may have been written under the other announcement's key.
                let others = keys.get(1..).unwrap_or_default();
                if known(others, sink)?.is_none()
                    && let Some(fate) = fates.get_mut(at)
                {
                    *fate = Fate::Alone;
                }
            }
        }
    }
    if lonely {
        for slot in slots {
            if let Slot::User(item) = slot {
                item.demoted = !item.matched && !item.told;
            }
        }
    }
    Ok(fates)
}

/// The first of the keys under which something was written.
fn known(keys: &[String], sink: &Sink<'_>) -> Result<Option<String>, sayso::Error> {
    for key in keys {
        if sink.known(key)?.is_some() {
            return Ok(Some(key.clone()));
        }
    }
    Ok(None)
}

/// The announcements that count: where, their words, and the keys under which the words may have been written (their own
/// first). A completed item counts only where no message announces the same words.
fn announced(slots: &[Slot]) -> Vec<(usize, String, Vec<String>)> {
    let said = |by: By| {
        slots.iter().enumerate().filter_map(move |(at, slot)| match slot {
            Slot::Said(announced, meta) if announced.by == by => {
                Some((at, announced.words.as_str(), &meta.key))
            }
            _ => None,
        })
    };
    let mut twins: Vec<_> = said(By::ItemCompleted).collect();
    let mut counted: Vec<_> = said(By::UserMessage)
        .map(|(at, words, key)| {
            let mut keys = vec![key.clone()];
            if let Some(twin) = twins.iter().position(|(_, same, _)| *same == words) {
                keys.push(twins.remove(twin).2.clone());
            }
            (at, words.to_owned(), keys)
        })
        .collect();
    twins.retain(|(_, words, _)| said(By::UserMessage).all(|(_, same, _)| same != *words));
    counted.extend(twins.into_iter().map(|(at, words, key)| (at, words.to_owned(), vec![key.clone()])));
    counted.sort_by_key(|(at, ..)| *at);
    counted
}
