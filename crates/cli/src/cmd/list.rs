//! `sayso projects`, `sayso sessions`

use sayso::Address;
use sayso::model::{SessionKind, UtcMs};
use sayso::store::{Project, Session};
use serde::Serialize;

use crate::args::{Global, Sessions};
use crate::fail::Failure;
use crate::io::{Out, counted};
use crate::open;

#[derive(Serialize)]
pub(crate) struct Row<'a> {
    address: Address,
    name: &'a str,
    kind: &'a str,
    turns: u64,
    last_at: Option<UtcMs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fork: Option<Shared>,
}

/// The beginning that a fork shares.
#[derive(Serialize)]
struct Shared {
    parent: Address,
    entries: u64,
}

impl Row<'_> {
    /// `place` is where it stands: a session's project.
    pub(crate) fn text(&self, place: &str) -> String {
        let at = self.last_at.map_or_else(|| "-".to_owned(), UtcMs::utc);
        let turns = counted(self.turns, "turn", "turns");
        let turns = match &self.fork {
            Some(shared) => {
                format!("{turns} of its own, {} shared", counted(shared.entries, "entry", "entries"))
            }
            None => turns,
        };
        let name = crate::io::one_line(self.name);
        let name = if name.is_empty() { "(no title)" } else { &name };
        let closed = if self.closed == Some(true) { ", closed" } else { "" };
        let (kind, address) = (self.kind, self.address);
        format!("{place}{name}\n  {kind}, {turns}, last {at}{closed}\n  {address}")
    }
}

pub(crate) fn projects(global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let projects = reader.projects()?;
    for project in &projects {
        let row = project_row(project, reader.ledger().project_address(project.id));
        out.either(&row, || row.text(""))?;
    }
    hint(out, projects.is_empty(), "There are no projects yet: `sayso import` or `sayso append` makes them.");
    Ok(())
}

pub(crate) fn project_row(project: &Project, address: Address) -> Row<'_> {
    Row {
        address,
        name: &project.name,
        kind: "project",
        turns: project.turns,
        last_at: project.last_at,
        closed: None,
        project: None,
        fork: None,
    }
}

pub(crate) fn sessions(args: &Sessions, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let project = args.project.as_deref().map(|p| reader.find_project(p)).transpose()?;
    let sessions = reader.sessions(project.map(|p| p.id))?;
    let projects = reader.projects()?;
    for session in &sessions {
        let project = projects.iter().find(|p| p.id == session.project);
        let row = session_row(session, project, reader.ledger().session_address(session));
        let place = place(project);
        out.either(&row, || row.text(&place))?;
    }
    hint(out, sessions.is_empty(), "There are no sessions yet: `sayso import` or `sayso append` makes them.");
    Ok(())
}

/// What stands before a session's title.
pub(crate) fn place(project: Option<&Project>) -> String {
    format!("{} / ", crate::io::one_line(project.map_or("", |p| &p.name)))
}

pub(crate) fn session_row<'a>(session: &'a Session, project: Option<&Project>, address: Address) -> Row<'a> {
    let kind: SessionKind = session.kind;
    Row {
        address,
        name: &session.title,
        kind: kind.as_str(),
        turns: session.turns,
        last_at: session.last_at,
        closed: Some(session.closed),
        project: project.map(|p| p.name.clone()),
        // A fork stays in the project of its parent.
        fork: session.fork.map(|fork| Shared {
            parent: Address::Session(address.ledger(), session.project, fork.session),
            entries: fork.seq,
        }),
    }
}

pub(crate) fn hint(out: &Out<'_>, empty: bool, text: &str) {
    if empty && !out.json() {
        crate::io::say(text);
    }
}
