//! What a re-injection says of a range: taken from the turn that holds the result, never from whoever asks.

use sayso_model::{Entry, Kept, Part, PartBody, RangeSource, Reinjected, SaidAt, ToolResult, UtcMs};

use crate::command::NewRange;
use crate::error::Refusal;

/// The range as it is recorded, from the entry that its turn's id names.
///
/// # Errors
///
/// [`Refusal::NothingToReinject`] where that part is no result with its text; [`Refusal::UnknownOutput`] where the result
/// does not name that output.
pub fn item(entry: &Entry, new: &NewRange) -> Result<Reinjected, Refusal> {
    let nothing = || Refusal::NothingToReinject { turn: new.turn, part: new.part };
    let turn = entry.turn().ok_or_else(nothing)?;
    let part = usize::try_from(new.part).ok().and_then(|at| turn.parts.get(at)).ok_or_else(nothing)?;
    let result = result(part).ok_or_else(nothing)?;
    match new.source {
        RangeSource::Output(id, _) if result.output != Some(id) => return Err(Refusal::UnknownOutput(id)),
        RangeSource::Output(..) | RangeSource::Result => {}
    }
    let tool = if result.tool.is_empty() { &new.tool } else { &result.tool };
    Ok(Reinjected {
        turn: new.turn,
        part: new.part,
        source: new.source,
        range: new.range,
        why: new.why,
        call_id: result.call_id.clone(),
        tool: tool.clone(),
        outcome: result.outcome,
        seq: entry.seq,
        at: UtcMs(turn.said_at.map_or(entry.recorded_at.0, SaidAt::ms)),
    })
}

fn result(part: &Part) -> Option<&ToolResult> {
    match &part.body {
        PartBody::ToolResult(result) if part.kept == Kept::Whole => Some(result),
        _ => None,
    }
}
