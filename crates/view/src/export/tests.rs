use sayso_model::{
    Compaction, EntryBody, Kept, Mark, MarkKind, Outcome, OutputId, PartBody, ProjectId, ToolCall, ToolResult,
};

use super::*;
use crate::example;

const HOSTILE: &str =
    "</div><script>alert(1)</script>\u{202E}\n```\n# [x](javascript:y)\0 <img src=x onerror=y>";

fn chapter(title: &str) -> Chapter {
    let (project, session) = (ProjectId::from_u128(7), SessionId::from_u128(8));
    Chapter {
        session,
        address: Address::Session(example::ledger(), project, session),
        project: "Acme".into(),
        title: title.into(),
        kind: SessionKind::Thread,
        channel: Some("cli".into()),
        fork: None,
        closed: true,
        turns: 3,
        last_at: Some(UtcMs(1_796_202_900_000)),
        last_seq: 4,
        head: Digest::ZERO,
    }
}

/// Everything that can stand in a session, with the same words everywhere.
fn entries(words: &str) -> Vec<Entry> {
    let call = ToolCall { call_id: words.into(), tool: words.into(), arguments: words.into() };
    let result = ToolResult {
        call_id: "c".into(),
        tool: words.into(),
        outcome: Outcome::Failed,
        text: words.into(),
        output: Some(OutputId::from_u128(5)),
    };
    let parts = [PartBody::Text(words.into()), PartBody::ToolCall(call), PartBody::ToolResult(result)];
    let speaker = example::speaker(sayso_model::SpeakerKind::Agent, words);
    let mut all = vec![
        example::entry(1, speaker.clone(), parts.into_iter().map(example::part).collect()),
        example::forward(2, words, words),
    ];
    let (said_at, kept) = (None, Kept::Whole);
    let summary = Compaction { speaker, said_at, through: 2, summary: words.into(), kept };
    let mark = Mark::new(MarkKind::Offered, Some(example::turn_id()), words);
    for (seq, body) in [(3, EntryBody::Compaction(summary)), (4, EntryBody::Mark(mark))] {
        let mut entry = example::entry(seq, example::owner(), Vec::new());
        entry.body = body;
        all.push(entry);
    }
    all
}

fn file(form: Form, words: &str) -> String {
    let chapters = [chapter(words)];
    let book = Book::new(form, example::ledger(), &chapters);
    let mut file = book.open(&chapters) + &book.chapter(&chapters[0]);
    for entry in &entries(words) {
        file += &book.entry(&Show { ledger: example::ledger(), entry, state: None, superseded_by: None });
    }
    file + book.end_chapter() + book.close()
}

/// Every tag of a page that is not one of the template's own.
fn foreign_tags(page: &str) -> Vec<&str> {
    let own = [
        "!DOCTYPE", "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "code", "div",
        "table", "thead", "tbody", "tr", "th", "td", "bdi", "a", "br", "section", "article", "header",
        "span", "strong", "ul", "li", "details", "summary",
    ];
    let tags = page.split('<').skip(1).map(|t| t.trim_start_matches('/'));
    let names = tags.map(|t| t.split([' ', '>', '\n']).next().unwrap_or_default());
    names.filter(|name| !own.contains(name)).collect()
}

#[test]
fn hostile_words_mark_nothing_up_in_html() {
    let page = file(Form::Html, HOSTILE);
    assert_eq!(foreign_tags(&page), Vec::<&str>::new());
    assert!(!page.contains('\u{202E}') && page.contains("⟦U+202E⟧") && page.contains("⟦U+0000⟧"));
    assert!(!page.contains('\0'));
    // Attributes hold what this crate makes: ids, addresses, classes.
    assert!(!page.contains("href=\"javascript") && !page.contains("\" onerror"));
    let tags = |page: &str| (page.matches("<div").count(), page.matches("</div>").count());
    let (opened, closed) = tags(&page);
    assert_eq!(opened, closed);
}

#[test]
fn hostile_words_mark_nothing_up_in_markdown() {
    let page = file(Form::Markdown, HOSTILE);
    assert!(!page.contains('\u{202E}') && page.contains("⟦U+202E⟧"));
    let mut fence = None;
    for line in page.lines().map(|l| l.trim_start_matches("> ")) {
        let ticks = line.chars().take_while(|c| *c == '`').count();
        match fence {
            Some(open) if ticks >= open && line.len() == ticks => fence = None,
            None if ticks >= 3 => fence = Some(ticks),
            None => assert!(!line.contains("<script") || line.contains("\\<script"), "{line}"),
            Some(_) => {}
        }
    }
    assert_eq!(fence, None);
}

#[test]
fn everything_has_its_place() {
    let page = file(Form::Html, "words");
    for told in [
        "<article id=\"",
        " class=\"compaction\"",
        "summary of the entries up to 2",
        "<details><summary>",
        "sayso output",
        "<div class=\"card\">",
        "Note from owner · Kim",
        "Show the origin on this page",
    ] {
        assert!(page.contains(told), "{told} is not in {page}");
    }
}
