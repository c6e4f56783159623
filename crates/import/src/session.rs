//! Which session a file belongs to.

use sayso::store::{Alias, Session};
use sayso::{Error, Ledger, Scope};
use sayso_model::limits::NAME_LENGTH;
use sayso_model::{SessionKind, text};

use crate::formats::Format;

/// Characters of a title at most.
const TITLE_CHARS: usize = 60;

/// What a file's header says about its session.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    format: Format,
    id: String,
    /// The folder that the program ran in, where the header tells it.
    cwd: Option<String>,
}

impl Home {
    pub(crate) fn new(format: Format, id: &str, cwd: Option<&str>) -> Self {
        let cwd = cwd.filter(|c| !c.is_empty()).map(str::to_owned);
        Self { format, id: id.to_owned(), cwd }
    }

    /// The id that the program gave the session.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The home of a conversation beside this one.
    pub(crate) fn beside(&self, name: &str) -> Self {
        Self { id: format!("{}/{name}", self.id), ..self.clone() }
    }

    fn alias(&self) -> Alias {
        Alias::new(self.format.word(), &self.id)
    }

    /// The session, if the ledger has it, in whatever project it is by now.
    pub(crate) fn find(&self, ledger: &Ledger) -> Result<Option<Session>, Error> {
        Ok(ledger.reader(Scope::All).sessions_as(&self.alias())?.into_iter().next())
    }

    /// The session, made with this title or, where no words of a person are known, under its own id.
    pub(crate) fn make(&self, ledger: &Ledger, title: Option<&str>) -> Result<Session, Error> {
        if let Some(found) = self.find(ledger)? {
            return Ok(found);
        }
        let (alias, name) = self.project();
        let project = ledger.project_as(&Scope::All, &alias, &name)?;
        let title = shortened(title.unwrap_or(&self.id));
        ledger.session_as(&Scope::All, project.id, &self.alias(), title, SessionKind::Thread)
    }

    /// Whether a title says no more than the program's id.
    pub(crate) fn is_untitled(&self, title: &str) -> bool {
        title == shortened(&self.id) || title == placeholder(self.format.word(), &self.id)
    }

    /// Without a folder, the sessions of a program stand together. The alias has a kind of its own, since a project that
    /// a person named like the program is another one.
    fn project(&self) -> (Alias, String) {
        match &self.cwd {
            Some(cwd) => (Alias::new("path", cwd), folder(cwd).to_owned()),
            None => (Alias::new("import", self.format.word()), self.format.word().to_owned()),
        }
    }
}

/// The last component of a path of any system; the path itself where it has none.
fn folder(path: &str) -> &str {
    let separators = ['/', '\\'];
    let last = path.trim_end_matches(separators).rsplit(separators).next().unwrap_or_default();
    within(if last.is_empty() { path } else { last })
}

/// The longest start that fits a name.
pub(crate) fn within(name: &str) -> &str {
    name.get(..text::cut(name, NAME_LENGTH).bytes).unwrap_or_default()
}

/// What a session is called before anything is known of it but its id, whose end tells sessions apart.
///
/// ```
/// assert_eq!(sayso_import::placeholder("codex", "01997ea4-a70d-7da3"), "codex d-7da3");
/// ```
#[must_use]
pub fn placeholder(program: &str, id: &str) -> String {
    let end: Vec<char> = id.chars().rev().take(6).collect();
    format!("{program} {}", end.into_iter().rev().collect::<String>())
}

/// A title of a first line.
pub(crate) fn shortened(line: &str) -> &str {
    within(line.get(..text::cut(line, TITLE_CHARS).bytes).unwrap_or_default()).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_named_after_its_folder() {
        let cases = [
            ("/work/harbour", "harbour"),
            ("/work/harbour/", "harbour"),
            ("C:\\work\\harbour", "harbour"),
            ("C:\\work/mixed\\", "mixed"),
            ("/", "/"),
            ("harbour", "harbour"),
        ];
        for (path, wanted) in cases {
            assert_eq!(folder(path), wanted, "{path}");
        }
    }

    #[test]
    fn a_title_is_cut_between_characters_that_people_see() {
        let family = "👩‍👩‍👧".repeat(30);
        assert_eq!(shortened(&family).chars().count(), 60);
        assert_eq!(shortened(&format!("a{family}")).chars().count(), 56);
    }
}
