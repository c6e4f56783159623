//! A server of the Model Context Protocol in a TOML file of settings: a table of its own at the end, and nothing else changes.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::json::BOM;
use super::part::Why;

/// Under what name the table stands, and in which table.
const TABLES: &str = "mcp_servers";
const NAME: &str = "sayso";

/// The server's command.
pub(super) struct Server {
    pub(super) command: String,
    pub(super) args: Vec<String>,
}

impl Server {
    /// The text with the table at its end. A table that is there already stays as it is: somebody may have chosen its scope. Another
    /// scope is refused, lest whoever asks for a narrower one believes that it is in force.
    pub(super) fn add(&self, text: &str) -> Result<String, Why> {
        let before = parsed(text)?;
        if let Some(found) = there(&before) {
            return match self.agrees(found) {
                true => Ok(text.to_owned()),
                false => Err(Why(format!(
                    "[{TABLES}.{NAME}] is there with other arguments, which stay in force: change its args by hand, or take it out \
                     with --remove first"
                ))),
            };
        }
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let gap = match text.trim_start_matches(BOM) {
            "" => "",
            text if text.ends_with('\n') => end,
            _ => &end.repeat(2),
        };
        let after = format!("{text}{gap}{}", self.table().replace('\n', end));
        let by_hand = || Why(format!("no [{TABLES}.{NAME}] can be added to it: add it by hand"));
        let added = parsed(&after).map_err(|_| by_hand())?;
        let mut without = added.clone();
        take_out(&mut without);
        // A table at the end is no part of what stands before it, unless servers are written in a way that admits no more.
        if there(&added).is_none() || !same(&without, &before) {
            return Err(by_hand());
        }
        Ok(after)
    }

    /// Whether a server that is there has the scope that is asked for, where one is.
    fn agrees(&self, found: &Item) -> bool {
        let args = found.get("args").and_then(Item::as_array);
        let args: Vec<&str> = args.into_iter().flatten().filter_map(toml_edit::Value::as_str).collect();
        args == self.args || !self.args.iter().any(|arg| arg == "--scope")
    }

    fn table(&self) -> String {
        let mut server = Table::new();
        server.insert("command", value(&self.command));
        server.insert("args", value(self.args.iter().collect::<Array>()));
        let mut servers = Table::new();
        servers.set_implicit(true);
        servers.insert(NAME, Item::Table(server));
        let mut document = DocumentMut::new();
        document.insert(TABLES, Item::Table(servers));
        document.to_string()
    }

    /// The text without the table.
    #[expect(clippy::unused_self, reason = "what is taken out is told by its name alone")]
    pub(super) fn remove(&self, text: &str) -> Result<String, Why> {
        let mut wanted = match parsed(text) {
            // Whatever is wrong in it, the table is not there.
            Err(_) if !text.contains(NAME) => return Ok(text.to_owned()),
            parsed => parsed?,
        };
        if there(&wanted).is_none() {
            return Ok(text.to_owned());
        }
        take_out(&mut wanted);
        let left = cut(text);
        match left.as_deref().map(parsed) {
            Some(Ok(found)) if same(&found, &wanted) => Ok(left.unwrap_or_default()),
            _ => Err(Why(format!("{TABLES}.{NAME} is written in a way of its own: take it out by hand"))),
        }
    }
}

/// The text without the table's header and the lines right behind it, and without one empty line before it.
fn cut(text: &str) -> Option<String> {
    let header = format!("[{TABLES}.{NAME}]");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let start = lines.iter().position(|line| line.trim_start_matches(BOM).trim() == header)?;
    let others = |line: &str| line.trim().is_empty() || line.trim_start().starts_with(['[', '#']);
    let length = lines.iter().skip(start + 1).take_while(|line| !others(line)).count();
    let gap = usize::from(start > 0 && lines.get(start - 1).is_some_and(|line| line.trim().is_empty()));
    let before = lines.iter().take(start - gap);
    Some(before.chain(lines.iter().skip(start + 1 + length)).copied().collect())
}

fn parsed(text: &str) -> Result<DocumentMut, Why> {
    let plain = text.strip_prefix(BOM).unwrap_or(text);
    plain.parse().map_err(|error: toml_edit::TomlError| {
        Why(format!("it is no TOML ({}): mend it there, and run this again", error.message()))
    })
}

fn there(document: &DocumentMut) -> Option<&Item> {
    document.get(TABLES)?.get(NAME)
}

fn take_out(document: &mut DocumentMut) {
    let Some(servers) = document.get_mut(TABLES).and_then(Item::as_table_like_mut) else { return };
    servers.remove(NAME);
    if servers.is_empty() {
        document.remove(TABLES);
    }
}

/// Whether two documents say the same, whatever their comments and blanks, and a table of servers without any.
fn same(one: &DocumentMut, other: &DocumentMut) -> bool {
    said(one.as_item()) == said(other.as_item())
}

fn said(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        let empty = |(name, item): &(&str, &Item)| {
            *name == TABLES && item.as_table_like().is_some_and(|servers| servers.is_empty())
        };
        let members = table.iter().filter(|member| !empty(member));
        return members.map(|(name, item)| (name.to_owned(), said(item))).collect();
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables.iter().map(|table| said(&Item::Table(table.clone()))).collect();
    }
    item.as_value().map_or(Value::Null, |value| value.clone().decorated("", "").to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> Server {
        Server { command: "/bin/sayso".into(), args: vec!["mcp".into(), "--scope".into(), "it's".into()] }
    }

    #[test]
    fn what_is_added_can_be_taken_out_again_and_the_rest_stays() {
        for text in [
            "",
            "# only words\n",
            "model = 'x' # y\r\n\r\n[a.b]\r\nc=1\r\n",
            "\u{FEFF}a=1\n",
            "a = 1",
            "[mcp_servers.other]\ncommand='x'\n",
            "[mcp_servers]\n",
            "[[list]]\na = 1\n\n[z]\n",
        ] {
            let added = server().add(text).unwrap();
            assert!(added.starts_with(text) && added.contains("[mcp_servers.sayso]"), "{added}");
            assert_eq!(server().add(&added).unwrap(), added, "twice is once");
            let removed = server().remove(&added).unwrap();
            let ended = text.is_empty() || text.ends_with('\n');
            assert_eq!(removed, if ended { text.to_owned() } else { format!("{text}\n") });
            let later = "\n# of later\n[later]\nx = 1\n";
            assert!(server().remove(&format!("{added}{later}")).unwrap().ends_with(later));
        }
    }

    #[test]
    fn another_scope_than_the_one_in_force_is_refused() {
        let with = |args: &[&str]| Server {
            command: "/bin/sayso".into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        };
        let all = with(&["mcp"]).add("").unwrap();
        assert!(with(&["mcp", "--scope", "harbour"]).add(&all).is_err());
        let harbour = with(&["mcp", "--scope", "harbour"]).add("").unwrap();
        assert!(with(&["mcp", "--scope", "lantern"]).add(&harbour).is_err());
        for args in [&["mcp", "--scope", "harbour"][..], &["mcp"]] {
            assert_eq!(with(args).add(&harbour).unwrap(), harbour, "what is there is as narrow");
        }
    }

    #[test]
    fn what_cannot_be_understood_is_left_as_it_is() {
        for text in
            ["a = ", "mcp_servers = {other = {command = 'x'}}\n", "[mcp_servers]\nsayso = 1\nsayso = 2\n"]
        {
            assert!(server().add(text).is_err(), "{text}");
        }
        for text in ["mcp_servers = {other = {command = 'x'}}\n", "mcp_servers = 3\n"] {
            assert!(server().add(text).unwrap_err().0.ends_with("add it by hand"), "{text}");
        }
        let inline = "[mcp_servers]\nsayso = {command = 'mine'}\n";
        let unscoped = Server { args: vec!["mcp".into()], ..server() };
        assert_eq!(unscoped.add(inline).unwrap(), inline, "somebody's own stays");
        assert!(server().add(inline).is_err(), "it has no such scope");
        assert!(server().remove(inline).is_err());
        let broken = "model = \n";
        assert_eq!(server().remove(broken).unwrap(), broken, "it is not there, whatever else is wrong");
        assert!(server().remove(&format!("{broken}[mcp_servers.sayso]\n")).is_err());
    }
}
