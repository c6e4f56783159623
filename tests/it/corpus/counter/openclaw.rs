//! What OpenClaw keeps beside sessions: copies, traces, and the database of its newer versions.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::pi::{self, Program};
use super::tallies::Tallies;
use super::{Counts, lines, refused};

/// Whether a file of this name only repeats what stands elsewhere, or tells where it does.
pub(super) fn is_aside(name: &str) -> bool {
    let name = name.strip_suffix(".zst").unwrap_or(name);
    let json = name.ends_with(".json") || name.ends_with(".jsonl") || name.contains(".jsonl.");
    let aside = name == "sessions.json"
        || [".trajectory.jsonl", ".trajectory-path.json"].iter().any(|end| name.ends_with(end))
        || [".checkpoint.", ".bak-", ".jsonl.bak"].iter().any(|part| name.contains(part));
    json && aside
}

/// Whether a session that looks like one of pi is one of OpenClaw, by where it stands.
pub(super) fn owns(path: &Path) -> bool {
    let Some(folder) = path.parent() else { return false };
    let names: Vec<String> = folder.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    let programs = [".openclaw", "openclaw", ".clawdbot", ".moltbot"];
    let in_agents =
        matches!(names.as_slice(), [.., agents, _, sessions] if agents == "agents" && sessions == "sessions");
    in_agents || names.iter().any(|name| programs.contains(&name.as_str()))
}

/// Counts every session of a database.
pub(super) fn database(path: &Path) -> Result<Counts, String> {
    let failed = |error: rusqlite::Error| format!("{}: {error}", path.display());
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    let Ok(mut query) = conn.prepare("SELECT session_id, event_json FROM transcript_events ORDER BY 1, seq")
    else {
        return Ok(refused("it is a database without sessions"));
    };
    let rows = query
        .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
        .map_err(failed)?;
    let rows = rows.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let mut tallies = Tallies::default();
    let (mut records, mut broken) = (0, 0);
    for session in rows.chunk_by(|a, b| a.0 == b.0) {
        let events: Vec<_> = session.iter().filter_map(|(_, json)| lines::one(json)).collect();
        records += events.len() as u64;
        broken += (session.len() - events.len()) as u64;
        pi::entries(&events, Program::OpenClaw, &mut tallies);
    }
    (0..broken).for_each(|_| tallies.skip(super::BROKEN));
    let mut counts = tallies.finish();
    counts.records = records;
    for tally in [&mut counts.human, &mut counts.agent, &mut counts.tool, &mut counts.system] {
        tally.digests.sort();
    }
    Ok(counts)
}
