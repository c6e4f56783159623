//! Re-injections as they stand in their record.

use sayso::model::{
    EntryId, Layout, Outcome, OutputId, RangeSource, RangeUnit, Reinjected, Reinjection, StreamKind,
    TextRange, UtcMs, Why,
};
use serde::{Deserialize, Serialize};

use super::words::Word;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReinjectionForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<Word<EntryId>>,
    layout: Word<Layout>,
    items: Vec<RangeForm>,
}

#[derive(Debug, Serialize, Deserialize)]
struct RangeForm {
    turn: Word<EntryId>,
    part: u32,
    /// A stored output and its stream; without one it is the text of the result itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<(Word<OutputId>, Word<StreamKind>)>,
    range: (Word<RangeUnit>, u64, u64),
    why: Word<Why>,
    call_id: String,
    tool: String,
    outcome: Word<Outcome>,
    seq: u64,
    at: i64,
}

impl ReinjectionForm {
    pub(super) fn of(reinjection: &Reinjection) -> Self {
        let items = reinjection.items.iter().map(RangeForm::of).collect();
        Self { of: reinjection.of.map(Word), layout: Word(reinjection.layout), items }
    }

    pub(super) fn taken(self) -> Reinjection {
        let items = self.items.into_iter().map(RangeForm::taken).collect();
        Reinjection { of: self.of.map(|id| id.0), layout: self.layout.0, items }
    }
}

impl RangeForm {
    fn of(item: &Reinjected) -> Self {
        let (unit, first, second) = item.range.parts();
        Self {
            turn: Word(item.turn),
            part: item.part,
            output: item.source.output().zip(item.source.stream()).map(|(id, s)| (Word(id), Word(s))),
            range: (Word(unit), first, second),
            why: Word(item.why),
            call_id: item.call_id.clone(),
            tool: item.tool.clone(),
            outcome: Word(item.outcome),
            seq: item.seq,
            at: item.at.0,
        }
    }

    fn taken(self) -> Reinjected {
        let (unit, first, second) = self.range;
        Reinjected {
            turn: self.turn.0,
            part: self.part,
            source: self.output.map_or(RangeSource::Result, |(id, s)| RangeSource::Output(id.0, s.0)),
            range: TextRange::of(unit.0, first, second),
            why: self.why.0,
            call_id: self.call_id,
            tool: self.tool,
            outcome: self.outcome.0,
            seq: self.seq,
            at: UtcMs(self.at),
        }
    }
}
