//! What comes back after a compaction: the quotes that the summary covers, and ranges of earlier tool output.

use sayso::model::EntryId;
use sayso::{BroughtBack, Fate, ReinjectRequest, Trigger};

use super::program::Room;
use super::work::Work;
use crate::fail::Failure;

/// Tokens of room below which nothing is looked for: a range with its label needs more.
const LEAST_TOKENS: u64 = 400;

/// Behind the latest compaction, once for each: as soon as the program says that it compacted, or with the next prompt where
/// the transcript did not show it yet.
pub(super) fn behind_compaction(work: &mut Work, room: Room) -> Result<Vec<String>, Failure> {
    let latest = work.latest()?;
    let Some(compaction) = latest.filter(|latest| work.seen.answered.as_deref() != Some(&latest.to_string()))
    else {
        return Ok(Vec::new());
    };
    let texts = behind(work, compaction, room)?;
    work.seen.answered = Some(compaction.to_string());
    work.keep();
    Ok(texts)
}

/// Before a prompt: what stands behind the latest compaction, and what has words of the prompt.
pub(super) fn before_prompt(work: &mut Work, room: Room) -> Result<Vec<String>, Failure> {
    if work.latest()?.is_none() {
        return Ok(Vec::new());
    }
    let mut texts = behind_compaction(work, room)?;
    let left = texts.iter().try_fold(room, |room, text| room.behind(text));
    let words = work.input.prompt.clone().filter(|words| !words.trim().is_empty());
    if let (Some(words), Some(room)) = (words, left) {
        texts.extend(brought(work, Trigger::UserTurn(words), room)?);
    }
    Ok(texts)
}

fn behind(work: &Work, compaction: EntryId, room: Room) -> Result<Vec<String>, Failure> {
    let reader = work.reader();
    if reader.brought_back_behind(work.session.id, compaction)?.is_some() {
        return Ok(Vec::new());
    }
    let quotes = reader.carried(compaction)?;
    let room = quotes.as_ref().map_or(Some(room), |quotes| room.behind(quotes));
    let mut texts: Vec<String> = quotes.into_iter().collect();
    if let Some(room) = room {
        texts.extend(brought(work, Trigger::Compaction, room)?);
    }
    Ok(texts)
}

/// Records what comes back and gives its text; nothing where it was recorded before, since it was given then.
fn brought(work: &Work, trigger: Trigger, room: Room) -> Result<Option<String>, Failure> {
    if room.tokens() < LEAST_TOKENS {
        return Ok(None);
    }
    if !work.in_time() {
        return Err(Failure::request(
            "there was no time left to look for earlier output: see `sayso reinject --explain` for what would come back",
        ));
    }
    let reader = work.reader();
    let budget = Some(room.tokens());
    let request = ReinjectRequest { budget, ..ReinjectRequest::of(work.session.id, trigger) };
    match reader.reinject(&request)? {
        Some(BroughtBack { fate: Fate::New, placed, .. }) => Ok(reader.carried(placed.id)?),
        Some(_) | None => Ok(None),
    }
}
