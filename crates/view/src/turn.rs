//! Any entry as people see it: a turn with all its parts, a compaction, a mark.

use sayso_model::{
    Address, Compaction, Entry, EntryBody, Kept, LedgerId, Mark, OriginState, Part, PartBody, Reinjected,
    Reinjection, Seal, Turn,
};
use serde_json::{Map, Value, json};

use crate::card::{Card, Who, address};
use crate::marker::{REDACTED, is_note};
use crate::names;
use crate::sheet::{Block, Foot, Sheet, counted, said, utc, who};

/// An entry with what a rendering needs to know about it.
#[derive(Debug, Clone, Copy)]
pub struct Show<'a> {
    /// The ledger.
    pub ledger: LedgerId,
    /// The entry.
    pub entry: &'a Entry,
    /// What became of its quote's origin, where the reader may know.
    pub state: Option<OriginState>,
    /// The turn that stands in its place now, where it was edited.
    pub superseded_by: Option<Address>,
}

impl Show<'_> {
    /// Plain text in at most `width` columns; addresses are never broken. What hides is shown.
    ///
    /// ```
    /// # use sayso_view::example;
    /// use sayso_view::turn::Show;
    /// let entry = example::entry(1, example::owner(), vec![example::part(sayso_model::PartBody::Text("hi".into()))]);
    /// let text = Show { ledger: example::ledger(), entry: &entry, state: None, superseded_by: None }.terminal(80);
    /// assert!(text.starts_with("owner · Kim\n2026-12-01 09:15:00 +09:00 · turn 1\n\n│ hi\n"));
    /// ```
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
    pub fn json(&self) -> Value {
        let mut all = Map::new();
        all.insert("address".to_owned(), json!(self.address()));
        all.insert("seq".to_owned(), json!(self.entry.seq));
        let body = match &self.entry.body {
            EntryBody::Turn(turn) => self.turn_json(turn),
            EntryBody::Compaction(compaction) => compaction_json(compaction),
            EntryBody::Reinjection(reinjection) => reinjection_json(reinjection),
            EntryBody::Mark(mark) => self.mark_json(mark),
        };
        if let Value::Object(body) = body {
            all.extend(body);
        }
        all.insert("recorded_at".to_owned(), json!(self.entry.recorded_at));
        all.insert("hash".to_owned(), json!(self.entry.hash));
        Value::Object(all)
    }

    fn address(&self) -> Address {
        address(self.ledger, self.entry)
    }

    fn card(&self) -> Option<Card> {
        Card::of(self.ledger, self.entry, self.state)
    }

    fn turn_json(&self, turn: &Turn) -> Value {
        let parts: Vec<Value> = turn.parts.iter().map(part_json).collect();
        let mut all = json!({
            "kind": "turn",
            "speaker": Who::from(&turn.speaker),
            "said_at": turn.said_at,
            "reply_to": turn.reply_to,
            "repairs": turn.repairs,
            "text": turn.text(),
            "parts": parts,
            "quote": self.card().map(|card| card.json()),
        });
        if let Some(all) = all.as_object_mut() {
            all.extend(turn.supersedes.map(|id| ("supersedes".to_owned(), json!(id))));
            all.extend(self.superseded_by.map(|address| ("superseded_by".to_owned(), json!(address))));
        }
        all
    }

    fn mark_json(&self, mark: &Mark) -> Value {
        let mut body = json!({"kind": "mark", "mark": mark.kind, "of": mark.of, "route": mark.route});
        if let Some(all) = body.as_object_mut() {
            all.extend(mark.title.as_ref().map(|title| ("title".to_owned(), json!(title))));
            let project = mark.project.map(|id| Address::Project(self.ledger, id));
            all.extend(project.map(|project| ("project".to_owned(), json!(project))));
        }
        body
    }

    fn sheet(&self) -> Sheet {
        match &self.entry.body {
            EntryBody::Turn(turn) => self.turn_sheet(turn),
            EntryBody::Compaction(compaction) => self.compaction_sheet(compaction),
            EntryBody::Reinjection(reinjection) => self.reinjection_sheet(reinjection),
            EntryBody::Mark(mark) => self.mark_sheet(mark),
        }
    }

    fn turn_sheet(&self, turn: &Turn) -> Sheet {
        if let Some(card) = self.card() {
            let mut sheet = card.sheet();
            let others = turn.parts.iter().filter(|part| !is_note(turn, part));
            sheet.blocks.extend(others.map(|part| block(turn, part)));
            return sheet;
        }
        let mut sheet = Sheet::new("turn", &turn.speaker);
        sheet.facts = vec![said(turn.said_at), format!("turn {}", self.entry.seq)];
        if turn.repairs > 0 {
            sheet.facts.push(format!("{} repaired to U+FFFD", turn.repairs));
        }
        if turn.supersedes.is_some() {
            sheet.facts.push("edited".to_owned());
        }
        sheet.blocks = turn.parts.iter().map(|part| block(turn, part)).collect();
        if let Some(now) = self.superseded_by {
            sheet.foot.push(Foot { label: "Edited; now", text: String::new(), code: Some(now.to_string()) });
        }
        sheet.foot.push(self.place());
        sheet
    }

    fn compaction_sheet(&self, compaction: &Compaction) -> Sheet {
        let mut sheet = Sheet::new("turn", &compaction.speaker);
        sheet.head.push(format!("summary of the entries up to {}", compaction.through));
        sheet.facts = vec![said(compaction.said_at), format!("entry {}", self.entry.seq)];
        let text = kept(compaction.kept, &compaction.summary);
        sheet.blocks.push(Block { label: String::new(), text: text.to_owned() });
        sheet.foot.push(self.place());
        sheet
    }

    fn reinjection_sheet(&self, reinjection: &Reinjection) -> Sheet {
        let count = reinjection.items.len() as u64;
        let mut sheet = Sheet {
            class: "turn",
            kind: "re-injection",
            name: counted(count, "range"),
            head: vec![served(reinjection).to_owned()],
            facts: vec![utc(self.entry.recorded_at), format!("entry {}", self.entry.seq)],
            blocks: Vec::new(),
            foot: vec![self.place()],
        };
        let ranges: Vec<String> = reinjection.items.iter().map(told).collect();
        sheet.blocks.push(Block { label: String::new(), text: ranges.join("\n") });
        sheet
    }

    fn mark_sheet(&self, mark: &Mark) -> Sheet {
        let mut sheet = Sheet {
            class: "turn",
            kind: "mark",
            name: mark.kind.to_string(),
            head: Vec::new(),
            facts: vec![utc(self.entry.recorded_at), format!("entry {}", self.entry.seq)],
            blocks: Vec::new(),
            foot: vec![self.place()],
        };
        sheet.head.extend(mark.of.map(|id| id.to_string()));
        sheet.head.extend(mark.title.as_ref().map(|title| names::shown(title)));
        sheet.head.extend(mark.project.map(|id| Address::Project(self.ledger, id).to_string()));
        sheet.head.extend((!mark.route.is_empty()).then(|| names::shown(&mark.route)));
        sheet
    }

    fn place(&self) -> Foot {
        Foot { label: "Address", text: String::new(), code: Some(self.address().to_string()) }
    }
}

/// What a re-injection belongs to.
pub(crate) const fn served(reinjection: &Reinjection) -> &'static str {
    match reinjection.of {
        Some(_) => "behind the summary",
        None => "for the next turn",
    }
}

/// A range on one line, without its text.
pub(crate) fn told(item: &Reinjected) -> String {
    let source = match item.source.output() {
        Some(id) => format!("output {id}"),
        None => format!("result in turn {}", item.turn),
    };
    let stream = item.source.stream().map(|stream| format!(" of {stream}")).unwrap_or_default();
    let names = [&item.tool, &item.call_id].into_iter().filter(|name| !name.is_empty());
    let names: String = names.map(|name| format!(" · {}", names::shown(name))).collect();
    format!("{source} · {}{stream} · {}{names}", item.range, item.why)
}

fn reinjection_json(reinjection: &Reinjection) -> Value {
    let items: Vec<Value> = reinjection.items.iter().map(reinjected_json).collect();
    json!({"kind": "reinjection", "of": reinjection.of, "layout": reinjection.layout, "items": items})
}

fn reinjected_json(item: &Reinjected) -> Value {
    let (unit, first, second) = item.range.parts();
    json!({
        "turn": item.turn,
        "part": item.part,
        "output": item.source.output(),
        "stream": item.source.stream(),
        "unit": unit,
        "first": first,
        "second": second,
        "why": item.why,
        "call_id": item.call_id,
        "tool": item.tool,
        "outcome": item.outcome,
        "seq": item.seq,
        "at": item.at,
    })
}

pub(crate) fn kept(kept: Kept, text: &str) -> &str {
    match kept {
        Kept::Whole => text,
        Kept::Redacted => REDACTED,
    }
}

pub(crate) fn block(turn: &Turn, part: &Part) -> Block {
    let what = label(&part.body);
    let by = part.by.as_ref().filter(|by| **by != turn.speaker).map(who);
    let label = match (by, what.is_empty()) {
        (Some(by), true) => by,
        (Some(by), false) => format!("{by} · {what}"),
        (None, _) => what,
    };
    let text = match &part.body {
        PartBody::Reasoning(Seal::Sealed, _) if part.kept == Kept::Whole => "[sealed by the provider]",
        body => kept(part.kept, body.text()),
    };
    Block { label, text: text.to_owned() }
}

fn label(body: &PartBody) -> String {
    match body {
        PartBody::Text(_) => String::new(),
        PartBody::Reasoning(..) => "reasoning".to_owned(),
        PartBody::ToolCall(call) => titled("call", &[&call.tool, &call.call_id]),
        PartBody::ToolResult(result) => {
            titled("result", &[&result.tool, result.outcome.as_str(), &result.call_id])
        }
        PartBody::Attachment(attachment) => titled("attachment", &[&attachment.media_type]),
    }
}

fn titled(what: &str, names: &[&str]) -> String {
    let shown = names.iter().filter(|name| !name.is_empty()).map(|name| names::shown(name));
    std::iter::once(what.to_owned()).chain(shown).collect::<Vec<_>>().join(" · ")
}

fn part_json(part: &Part) -> Value {
    let mut all = Map::new();
    let mut add = |name: &str, value: Value| all.insert(name.to_owned(), value);
    add("kind", json!(kind(&part.body)));
    if let Some(by) = &part.by {
        add("by", json!(Who::from(by)));
    }
    match &part.body {
        PartBody::Text(_) => {}
        PartBody::Reasoning(seal, _) => {
            add("seal", json!(seal));
        }
        PartBody::ToolCall(call) => {
            add("call_id", json!(call.call_id));
            add("tool", json!(call.tool));
        }
        PartBody::ToolResult(result) => {
            add("call_id", json!(result.call_id));
            add("tool", json!(result.tool));
            add("outcome", json!(result.outcome));
            add("output", json!(result.output));
        }
        PartBody::Attachment(attachment) => {
            add("media_type", json!(attachment.media_type));
            add("output", json!(attachment.output));
        }
    }
    add("text", json!(part.body.text()));
    if part.kept == Kept::Redacted {
        add("redacted", json!(true));
    }
    Value::Object(all)
}

const fn kind(body: &PartBody) -> &'static str {
    match body {
        PartBody::Text(_) => "text",
        PartBody::Reasoning(..) => "reasoning",
        PartBody::ToolCall(_) => "tool_call",
        PartBody::ToolResult(_) => "tool_result",
        PartBody::Attachment(_) => "attachment",
    }
}

fn compaction_json(compaction: &Compaction) -> Value {
    let mut body = json!({
        "kind": "compaction",
        "speaker": Who::from(&compaction.speaker),
        "said_at": compaction.said_at,
        "through": compaction.through,
        "summary": compaction.summary,
    });
    if let (Kept::Redacted, Some(all)) = (compaction.kept, body.as_object_mut()) {
        all.insert("redacted".to_owned(), json!(true));
    }
    body
}

#[cfg(test)]
mod tests {
    use sayso_model::{Outcome, SpeakerKind, ToolCall, ToolResult};

    use super::*;
    use crate::example;

    fn entry() -> Entry {
        let call =
            ToolCall { call_id: "c1".into(), tool: "bash".into(), arguments: "{\"cmd\":\"ls\"}".into() };
        let result = ToolResult {
            call_id: "c1".into(),
            tool: "bash".into(),
            outcome: Outcome::Failed,
            text: "a\u{1B}[0m".into(),
            output: None,
        };
        let mut reminder = example::part(PartBody::Text("plan mode".into()));
        reminder.by = Some(example::speaker(SpeakerKind::System, "harness"));
        let mut gone = example::part(PartBody::Text(String::new()));
        gone.kept = Kept::Redacted;
        let parts = [
            PartBody::Text("hi".into()),
            PartBody::Reasoning(Seal::Open, "hm".into()),
            PartBody::ToolCall(call),
            PartBody::ToolResult(result),
        ];
        let parts = parts.into_iter().map(example::part).chain([reminder, gone]).collect();
        example::entry(3, example::owner(), parts)
    }

    #[test]
    fn every_part_is_told_apart() {
        let entry = entry();
        let text =
            Show { ledger: example::ledger(), entry: &entry, state: None, superseded_by: None }.terminal(60);
        for told in [
            "\n│ hi\n",
            "\nreasoning:\n│ hm\n",
            "\ncall · bash · c1:\n│ {\"cmd\":\"ls\"}\n",
            "\nresult · bash · failed · c1:\n│ a⟦U+001B⟧[0m\n",
            "\nsystem · harness:\n│ plan mode\n",
            "\n│ [redacted]\n",
        ] {
            assert!(text.contains(told), "{told} is not in {text}");
        }
    }

    #[test]
    fn json_holds_what_is_stored() {
        let entry = entry();
        let value =
            Show { ledger: example::ledger(), entry: &entry, state: None, superseded_by: None }.json();
        assert_eq!(value["parts"][3]["text"], "a\u{1B}[0m");
        assert_eq!(value["parts"][4]["by"]["kind"], "system");
        assert_eq!(value["parts"][5]["redacted"], true);
        assert_eq!(
            (&value["kind"], &value["seq"], &value["quote"]),
            (&json!("turn"), &json!(3), &Value::Null)
        );
        assert_eq!(value["said_at"], "2026-12-01T09:15:00.000+09:00");
    }

    #[test]
    fn a_turn_with_a_quote_is_its_card_and_the_parts_of_others() {
        let mut entry = example::forward(1, "words", "note");
        if let EntryBody::Turn(turn) = &mut entry.body {
            let mut part = example::part(PartBody::Text("reminder".into()));
            part.by = Some(example::speaker(SpeakerKind::System, ""));
            turn.parts.push(part);
        }
        let show = Show {
            ledger: example::ledger(),
            entry: &entry,
            state: Some(OriginState::Moved),
            superseded_by: None,
        };
        let text = show.terminal(80);
        assert!(
            text.contains(
                "│ words\n\nNote from owner · Kim:\n│ note\n\nsystem · Unknown speaker:\n│ reminder\n"
            ),
            "{text}"
        );
        assert_eq!(show.json()["quote"]["state"], "moved");
    }
}
