//! Lines, settings, ids and expressions. What belongs to a program and not to a library is compiled here once more.

use std::path::Path;

use sayso::Pattern;
use sayso::model::{Address, EntryId, LedgerId};
use sayso_bridge::config::Config;
use sayso_bridge::telegram::People;
use sayso_output::thresholds::Policies;

use super::{hook, mcp, setup};

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

pub(super) fn bridge_config(bytes: &[u8]) {
    if let Err(error) = Config::parse(Path::new("/home/mira/bridge.toml"), &text(bytes)) {
        assert!(!error.to_string().is_empty(), "it says why");
    }
}

pub(super) fn telegram_update(bytes: &[u8]) {
    let people = People { owners: [5].into(), people: [6].into(), chats: [-7].into() };
    let taken = sayso_bridge::telegram::any_update(&text(bytes), &people);
    assert!(
        !(taken && sayso_bridge::telegram::any_update(&text(bytes), &People::default())),
        "nobody may speak unasked"
    );
}

pub(super) fn session_lines(bytes: &[u8]) {
    for line in text(bytes).lines() {
        let _ = sayso_bridge::session::lines::any_line(line);
        let _ = sayso_bridge::session::pi::any_event(line);
    }
}

pub(super) fn command_source(bytes: &[u8]) {
    for line in text(bytes).lines() {
        let _ = sayso_bridge::command::any_line(line);
    }
}

pub(super) fn hook_input(bytes: &[u8]) {
    let _ = hook::read(bytes);
}

/// Hooks that were added are there, and taken out again they leave the settings as they were, as far as JSON goes.
pub(super) fn setup_json(bytes: &[u8]) {
    let before = text(bytes);
    let hooks = setup::hooks();
    let Ok(added) = hooks.add(&before) else { return };
    assert_eq!(hooks.add(&added).ok().as_ref(), Some(&added), "added again, nothing changes");
    let taken = hooks.remove(&added, Some(&before));
    assert!(taken.is_ok(), "what was added can be taken out");
}

pub(super) fn setup_toml(bytes: &[u8]) {
    let before = text(bytes);
    let server = setup::server();
    let Ok(added) = server.add(&before) else { return };
    assert!(added.starts_with(&*before), "what was there stays where it stands");
    assert_eq!(server.add(&added).ok().as_ref(), Some(&added), "added again, nothing changes");
    assert!(server.remove(&added).is_ok(), "what was added can be taken out");
}

pub(super) fn mcp_cursor(bytes: &[u8]) {
    let given = text(bytes);
    let request = mcp::Request::new(LedgerId::from_u128(1), "show", &("a", 1));
    if let Ok(place) = request.place(&given) {
        assert_eq!(request.cursor(place), given, "a cursor is what was given");
    }
    let cursor = request.cursor(&given);
    assert_eq!(request.place(&cursor).ok(), Some(&*given), "any place comes back");
}

/// Any text as a pattern: it is taken, or refused with words.
pub(super) fn patterns(bytes: &[u8]) {
    if let Err(error) = Pattern::new(&text(bytes)) {
        assert!(!error.to_string().is_empty(), "it says why");
    }
}

/// What parses is written as it was given, byte for byte.
pub(super) fn ids(bytes: &[u8]) {
    let given = text(bytes);
    if let Ok(address) = given.parse::<Address>() {
        assert_eq!(address.to_string(), given, "one address has one form");
    }
    if let Ok(id) = given.parse::<EntryId>() {
        assert_eq!(id.to_string(), given, "one id has one form");
    }
}

pub(super) fn policies(bytes: &[u8]) {
    if let Ok(policies) = serde_json::from_slice::<Policies>(bytes) {
        let written = serde_json::to_vec(&policies).unwrap_or_default();
        assert_eq!(serde_json::from_slice::<Policies>(&written).ok(), Some(policies), "policies come back");
    }
}
