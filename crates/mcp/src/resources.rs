//! Resources: sessions, turns and outputs by their addresses.

use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use crate::args;
use crate::bound::ANSWER_BYTES;
use crate::fail::Fault;
use crate::room::Room;
use crate::tools;

const MARKDOWN: &str = "text/markdown";
const PLAIN: &str = "text/plain";

/// What an output's resource starts with.
const OUTPUT: &str = "sayso-output:";

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, about: &str, form: &str| {
        let about =
            format!("{about} At most {} KiB; the rest with the tool that it names.", ANSWER_BYTES / 1024);
        ResourceTemplate::new(uri, name).with_description(about).with_mime_type(form)
    };
    vec![
        template(
            "sayso://{ledger}/{project}/{session}/{turn}",
            "turn",
            "A recorded turn: every part with who said it.",
            MARKDOWN,
        ),
        template(
            "sayso://{ledger}/{project}/{session}",
            "session",
            "A recorded session from its first turn on.",
            MARKDOWN,
        ),
        template("sayso-output:{id}", "output", "The first lines of a stored tool output.", PLAIN),
    ]
}

/// The sessions in pages, the last used first.
pub(crate) fn list(room: &Room, cursor: Option<String>) -> Result<ListResourcesResult, Fault> {
    let args = args::Sessions { project: None, cursor };
    let (sessions, next) = tools::sessions_page(room, &args, "resources")?;
    let resources = sessions.into_iter().map(|session| {
        let title = if session.title.is_empty() { "(no title)".to_owned() } else { session.title };
        Resource::new(session.address, format!("{} / {title}", session.project))
            .with_description(format!(
                "A session of {} {}, by title and project as people named them.",
                session.turns,
                if session.turns == 1 { "turn" } else { "turns" }
            ))
            .with_mime_type(MARKDOWN)
    });
    let mut listed = ListResourcesResult::with_all_items(resources.collect());
    listed.next_cursor = next;
    Ok(listed)
}

pub(crate) fn read(room: &Room, uri: &str) -> Result<ReadResourceResult, Fault> {
    let contents = match uri.strip_prefix(OUTPUT) {
        Some(id) => text(tools::output_page(room, id)?.text(), uri, PLAIN),
        None if uri.starts_with("sayso://") => text(tools::first_page(room, uri)?.text(), uri, MARKDOWN),
        None => {
            return Err(Fault::request(
                "that is no resource of this server: resources/templates/list names their forms",
            ));
        }
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

fn text(text: &str, uri: &str, form: &str) -> ResourceContents {
    ResourceContents::text(text, uri).with_mime_type(form)
}
