//! Hooks in a JSON file of settings, which may have comments: only what is added or taken out changes.

use std::collections::BTreeSet;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::part::Why;

/// What some editors put at the start of a file.
pub(super) const BOM: char = '\u{FEFF}';

/// The hooks of one program.
pub(super) struct Hooks {
    /// The program's word.
    pub(super) program: &'static str,
    /// How a command of this very Sayso begins.
    pub(super) start: String,
    pub(super) entries: Vec<Entry>,
}

/// One hook: `{"matcher": …, "hooks": [hook]}` in the list of its event.
pub(super) struct Entry {
    pub(super) event: &'static str,
    pub(super) matcher: Option<&'static str>,
    pub(super) hook: Value,
}

impl Entry {
    fn group(&self) -> Value {
        let matcher = self.matcher.map(|matcher| ("matcher".to_owned(), Value::from(matcher)));
        let hooks = ("hooks".to_owned(), Value::from(vec![self.hook.clone()]));
        matcher.into_iter().chain([hooks]).collect()
    }
}

impl Hooks {
    /// The text with the hooks in it; those that are there already are brought up to date where they stand.
    pub(super) fn add(&self, text: &str) -> Result<String, Why> {
        let (bom, plain) = parted(text);
        // Where there was nothing, the file ends with a line break like any other.
        let root = parsed(if plain.trim().is_empty() { "{}\n" } else { plain })?;
        let settings = root.object_value().ok_or_else(|| shape("it holds no JSON object"))?;
        once(&settings)?;
        let hooks =
            settings.object_value_or_create("hooks").ok_or_else(|| shape("its \"hooks\" is no object"))?;
        once(&hooks)?;
        for entry in &self.entries {
            self.add_entry(&hooks, entry)?;
        }
        Ok(bom + &with_breaks_of(plain, root.to_string()))
    }

    fn add_entry(&self, hooks: &CstObject, entry: &Entry) -> Result<(), Why> {
        let groups = hooks
            .array_value_or_create(entry.event)
            .ok_or_else(|| shape(&format!("its \"hooks\" have no list of {}", entry.event)))?;
        match self.ours(&groups, entry.event).first().and_then(CstNode::as_object) {
            Some(hook) => mend(&hook, &entry.hook),
            None => _ = groups.append(input(&entry.group())),
        }
        Ok(())
    }

    /// The text without the hooks, and without lists that hold nothing more, unless they were there before.
    pub(super) fn remove(&self, text: &str, before: Option<&str>) -> Result<String, Why> {
        let (bom, plain) = parted(text);
        let root = parsed(plain)?;
        let before =
            before.and_then(|before| parsed(parted(before).1).ok()).and_then(|root| root.object_value());
        let had = before.as_ref().and_then(|before| before.object_value("hooks"));
        let Some(settings) = root.object_value() else { return Ok(text.to_owned()) };
        once(&settings)?;
        let Some(hooks) = settings.object_value("hooks") else { return Ok(text.to_owned()) };
        once(&hooks)?;
        let mut removed = false;
        for entry in &self.entries {
            let had_list = had.as_ref().is_some_and(|had| had.get(entry.event).is_some());
            removed |= self.remove_entry(&hooks, entry.event, had_list);
        }
        if removed && hooks.properties().is_empty() && had.is_none() {
            settings.get("hooks").into_iter().for_each(jsonc_parser::cst::CstObjectProp::remove);
        }
        Ok(if removed { bom + &root.to_string() } else { text.to_owned() })
    }

    fn remove_entry(&self, hooks: &CstObject, event: &str, had_list: bool) -> bool {
        let Some(groups) = hooks.array_value(event) else { return false };
        let mut found = false;
        for group in groups.elements() {
            let ours = self.ours_in(&group, event);
            found |= !ours.is_empty();
            let all = list(&group).map_or(0, |list| list.elements().len());
            if ours.is_empty() || ours.len() < all {
                ours.into_iter().for_each(CstNode::remove);
            } else {
                // A group that somebody else left empty stays.
                group.remove();
            }
        }
        if found && groups.elements().is_empty() && !had_list {
            hooks.get(event).into_iter().for_each(jsonc_parser::cst::CstObjectProp::remove);
        }
        found
    }

    /// The hooks of an event that call Sayso at it.
    fn ours(&self, groups: &CstArray, event: &str) -> Vec<CstNode> {
        groups.elements().iter().flat_map(|group| self.ours_in(group, event)).collect()
    }

    /// The hooks in one group that do.
    fn ours_in(&self, group: &CstNode, event: &str) -> Vec<CstNode> {
        let end = format!(" hook {} {event}", self.program);
        let calls = |hook: &CstNode| {
            let value = hook.to_serde_value();
            let command = value.as_ref().and_then(|value| value.get("command")?.as_str());
            // Whatever it is called: a file of another name is known by its path.
            let begins = |command: &str| command.contains("sayso") || command.starts_with(&self.start);
            command.is_some_and(|command| begins(command) && command.ends_with(&end))
        };
        list(group).into_iter().flat_map(|list| list.elements()).filter(calls).collect()
    }
}

/// Brings a hook's values up to date where they stand; what else somebody gave it stays.
fn mend(hook: &CstObject, wanted: &Value) {
    for (name, value) in wanted.as_object().into_iter().flatten() {
        match hook.get(name) {
            Some(there) if there.value().and_then(|there| there.to_serde_value()).as_ref() == Some(value) => {
            }
            Some(there) => there.set_value(input(value)),
            None => _ = hook.append(name, input(value)),
        }
    }
}

/// The list of hooks in a group.
fn list(group: &CstNode) -> Option<CstArray> {
    group.as_object()?.array_value("hooks")
}

/// The text with the line breaks of the one before, where those are all of the other kind, also in a comment.
fn with_breaks_of(before: &str, text: String) -> String {
    let other = before.matches("\r\n").count();
    if other > 0 && other == before.matches('\n').count() {
        text.replace("\r\n", "\n").replace('\n', "\r\n")
    } else {
        text
    }
}

/// A byte order mark, and the text behind it.
fn parted(text: &str) -> (String, &str) {
    match text.strip_prefix(BOM) {
        Some(plain) => (BOM.to_string(), plain),
        None => (String::new(), text),
    }
}

/// JSON as people have it in settings: with comments, and commas behind the last. What the program itself may read in another
/// way, or not at all, is not guessed at.
const AS_SETTINGS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

fn parsed(text: &str) -> Result<CstRootNode, Why> {
    CstRootNode::parse(text, &AS_SETTINGS)
        .map_err(|error| Why(format!("it is no JSON ({error}): mend it there, and run this again")))
}

/// Of a name that stands twice, one program takes the first and another the last.
fn once(object: &CstObject) -> Result<(), Why> {
    let mut names = BTreeSet::new();
    let named = object.properties().into_iter().filter_map(|property| property.name()?.decoded_value().ok());
    for name in named {
        if !names.insert(name.clone()) {
            return Err(shape(&format!("{name:?} stands in it twice")));
        }
    }
    Ok(())
}

fn shape(what: &str) -> Why {
    Why(format!("{what}: mend that by hand, and run this again"))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}
