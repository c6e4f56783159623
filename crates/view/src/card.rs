//! The card: a quote as people see it, in four forms from the same data.

use sayso_model::limits::QUOTE_HOPS;
use sayso_model::{
    Address, Cut, Entry, Hop, LedgerId, OriginState, Quote, SaidAt, SessionKind, Span, Speaker, SpeakerKind,
    UtcMs,
};
use serde::Serialize;

use crate::marker::{Message, REDACTED};
use crate::names;
use crate::sheet::{Block, Foot, Sheet, counted, grouped, said, utc, who};

/// A speaker as the JSON forms name one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Who {
    /// The kind.
    pub kind: SpeakerKind,
    /// The name as it was then; may be empty.
    pub name: String,
}

impl From<&Speaker> for Who {
    fn from(speaker: &Speaker) -> Self {
        Self { kind: speaker.kind, name: speaker.name.clone() }
    }
}

/// A session that the quote passed, as the JSON form names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passed {
    /// The turn that held the quote there.
    pub address: Address,
    /// Who had forwarded it there.
    pub by: Who,
    /// When.
    pub at: UtcMs,
}

impl From<&Hop> for Passed {
    fn from(hop: &Hop) -> Self {
        Self { address: hop.address, by: Who::from(&hop.by), at: hop.at }
    }
}

/// A quote as people see it. Serialised it is the JSON form, with every text exactly as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Card {
    /// The turn that holds the quote.
    pub address: Address,
    /// Who said the words.
    pub speaker: Who,
    /// The title of the origin's project, where it is shown.
    pub project: Option<String>,
    /// The title of the origin's session, where it is shown.
    pub session: Option<String>,
    /// The kind of the origin's session.
    pub session_kind: SessionKind,
    /// Its channel.
    pub channel: Option<String>,
    /// When the words were said.
    pub said_at: Option<SaidAt>,
    /// Where they stand.
    pub origin: Address,
    /// What became of that place, where the reader may know.
    pub state: Option<OriginState>,
    /// The selection.
    pub span: Option<Span>,
    /// The words.
    pub text: String,
    /// Characters of `text`.
    pub kept: u32,
    /// Characters in the source or the selection.
    pub total: u64,
    /// Whether and how the words were cut.
    pub cut: Cut,
    /// Whether a code fence is still open at the end.
    pub open_fence: bool,
    /// Whether the words were taken away after they were quoted.
    pub redacted: bool,
    /// The sessions it passed, oldest first.
    pub hops: Vec<Passed>,
    /// The origin of a quote that the source turn held.
    pub nested: Option<Address>,
    /// Who forwarded it.
    pub forwarded_by: Who,
    /// When.
    pub forwarded_at: UtcMs,
    /// What the forwarder added; may be empty.
    pub note: String,
}

/// The address of an entry in this ledger.
#[must_use]
pub fn address(ledger: LedgerId, entry: &Entry) -> Address {
    Address::Turn(ledger, entry.project, entry.session, entry.id, None)
}

impl Card {
    /// The card of an entry; `None` where it holds no quote. `state` is left out where the reader may not know it.
    ///
    /// ```
    /// # use sayso_view::example;
    /// use sayso_view::card::Card;
    /// let entry = example::forward(1, "코드", "이거 확인해줘");
    /// let card = Card::of(example::ledger(), &entry, None).unwrap();
    /// assert!(card.terminal(80).starts_with("agent · Rocky · Acme / Plan\n"));
    /// ```
    #[must_use]
    pub fn of(ledger: LedgerId, entry: &Entry, state: Option<OriginState>) -> Option<Self> {
        let message = Message::of(entry)?;
        let quote = message.quote;
        Some(Self {
            address: address(ledger, entry),
            speaker: Who::from(&quote.speaker),
            project: quote.project_title.clone(),
            session: quote.session_title.clone(),
            session_kind: quote.origin.session_kind,
            channel: quote.origin.channel.clone(),
            said_at: quote.said_at,
            origin: quote.origin.address,
            state,
            span: quote.span,
            text: quote.text.clone(),
            kept: quote.kept,
            total: quote.total,
            cut: quote.cut,
            open_fence: quote.open_fence,
            redacted: is_redacted(quote),
            hops: quote.hops.iter().map(Passed::from).collect(),
            nested: quote.nested,
            forwarded_by: Who::from(message.speaker),
            forwarded_at: quote.forwarded_at,
            note: message.note.into_owned(),
        })
    }

    /// Plain text in at most `width` columns; addresses are never broken. What hides is shown.
    #[must_use]
    pub fn terminal(&self, width: usize) -> String {
        self.sheet().terminal(width)
    }

    /// Markdown, with the words in fences that nothing inside closes. What hides is shown.
    #[must_use]
    pub fn markdown(&self) -> String {
        self.sheet().markdown()
    }

    /// One `<article>` element. What hides is shown.
    #[must_use]
    pub fn html(&self) -> String {
        self.sheet().html()
    }

    /// The JSON form; texts stand in it exactly as they are stored.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    pub(crate) fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new("quote", &self.speaker.speaker());
        sheet.head.extend(self.state.and_then(told));
        sheet.head.extend(self.titles());
        sheet.facts = self.facts();
        let words = if self.redacted { REDACTED } else { &self.text };
        sheet.blocks.push(Block { label: String::new(), text: words.to_owned() });
        if !self.note.is_empty() {
            let label = format!("Note from {}{}", self.forwarded_by.line(), self.forwarded_by.standing());
            sheet.blocks.push(Block { label, text: self.note.clone() });
        }
        sheet.foot = self.foot();
        sheet
    }

    fn titles(&self) -> Option<String> {
        let titles = [&self.project, &self.session];
        let shown: Vec<String> =
            titles.into_iter().flatten().filter(|t| !t.is_empty()).map(|title| names::shown(title)).collect();
        (!shown.is_empty()).then(|| shown.join(" / "))
    }

    fn facts(&self) -> Vec<String> {
        let mut facts = vec![said(self.said_at), self.count()];
        if self.cut == Cut::MidCluster {
            facts.push("cut inside a character".to_owned());
        }
        if self.open_fence {
            facts.push("a code fence is left open".to_owned());
        }
        if !self.hops.is_empty() {
            facts.push(format!("via {}", counted(self.hops.len() as u64, "session")));
        }
        facts
    }

    fn count(&self) -> String {
        let all = counted(self.total, "character");
        if u64::from(self.kept) == self.total {
            all
        } else {
            format!("{} of {all}", grouped(u64::from(self.kept)))
        }
    }

    fn foot(&self) -> Vec<Foot> {
        let forwarded = format!("{}, {}", self.forwarded_by.line(), utc(self.forwarded_at));
        let mut foot = vec![Foot { label: "Forwarded by", text: forwarded, code: None }];
        foot.extend(self.hops.iter().take(QUOTE_HOPS).map(|hop| Foot {
            label: "Via",
            text: format!("{}, {}", hop.by.line(), utc(hop.at)),
            code: Some(hop.address.to_string()),
        }));
        if self.hops.len() > QUOTE_HOPS {
            let more = format!("and {} more", self.hops.len() - QUOTE_HOPS);
            foot.push(Foot { label: "Via", text: more, code: None });
        }
        foot.extend(self.nested.map(|inner| code("It quoted", inner.to_string())));
        foot.push(code("Origin", self.origin.to_string()));
        foot.push(code("Back", format!("sayso origin {}", self.address)));
        foot
    }
}

fn code(label: &'static str, code: String) -> Foot {
    Foot { label, text: String::new(), code: Some(code) }
}

fn is_redacted(quote: &Quote) -> bool {
    quote.kept > 0 && quote.text.is_empty()
}

/// A state in words, unless nothing happened.
fn told(state: OriginState) -> Option<String> {
    (state != OriginState::Same).then(|| format!("original {state}"))
}

impl Who {
    fn speaker(&self) -> Speaker {
        Speaker { id: sayso_model::SpeakerId::from_u128(0), kind: self.kind, name: self.name.clone() }
    }

    fn line(&self) -> String {
        who(&self.speaker())
    }

    /// What the words of this speaker are worth.
    fn standing(&self) -> &'static str {
        if self.kind == SpeakerKind::Owner { "" } else { " (not the owner)" }
    }
}

#[cfg(test)]
mod tests;
