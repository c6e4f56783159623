//! Hooks in a JSON file of settings, which may have comments: only what is added or taken out changes.

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
        let plain = if plain.trim().is_empty() { "{}\n" } else { plain };
        let root = parsed(plain)?;
        let settings = root.object_value().ok_or_else(|| shape("it holds no JSON object"))?;
        let hooks =
            settings.object_value_or_create("hooks").ok_or_else(|| shape("its \"hooks\" is no object"))?;
        for entry in &self.entries {
            self.add_entry(&hooks, entry)?;
        }
        Ok(bom + &root.to_string())
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
        let Some(hooks) = root.object_value().and_then(|settings| settings.object_value("hooks")) else {
            return Ok(text.to_owned());
        };
        let mut removed = false;
        for entry in &self.entries {
            let had_list = had.as_ref().is_some_and(|had| had.get(entry.event).is_some());
            removed |= self.remove_entry(&hooks, entry.event, had_list);
        }
        if removed && hooks.properties().is_empty() && had.is_none() {
            let property = root.object_value().and_then(|settings| settings.get("hooks"));
            property.into_iter().for_each(jsonc_parser::cst::CstObjectProp::remove);
        }
        Ok(if removed { bom + &root.to_string() } else { text.to_owned() })
    }

    fn remove_entry(&self, hooks: &CstObject, event: &str, had_list: bool) -> bool {
        let Some(groups) = hooks.array_value(event) else { return false };
        let ours = self.ours(&groups, event);
        let found = !ours.is_empty();
        for hook in ours {
            hook.remove();
        }
        let emptied = |group: &CstNode| list(group).is_some_and(|list| list.elements().is_empty());
        if found {
            groups.elements().into_iter().filter(emptied).for_each(CstNode::remove);
        }
        if found && groups.elements().is_empty() && !had_list {
            hooks.get(event).into_iter().for_each(jsonc_parser::cst::CstObjectProp::remove);
        }
        found
    }

    /// The hooks in a list that call Sayso at this event.
    fn ours(&self, groups: &CstArray, event: &str) -> Vec<CstNode> {
        let end = format!(" hook {} {event}", self.program);
        let calls = |hook: &CstNode| {
            let value = hook.to_serde_value();
            let command = value.as_ref().and_then(|value| value.get("command")?.as_str());
            command.is_some_and(|command| command.contains("sayso") && command.ends_with(&end))
        };
        let hooks = groups.elements().into_iter().filter_map(|group| list(&group));
        hooks.flat_map(|list| list.elements()).filter(calls).collect()
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

/// A byte order mark, and the text behind it.
fn parted(text: &str) -> (String, &str) {
    match text.strip_prefix(BOM) {
        Some(plain) => (BOM.to_string(), plain),
        None => (String::new(), text),
    }
}

fn parsed(text: &str) -> Result<CstRootNode, Why> {
    CstRootNode::parse(text, &ParseOptions::default())
        .map_err(|error| Why(format!("it is no JSON ({error}): mend it there, and run this again")))
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
