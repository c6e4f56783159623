//! Markdown. Words stand in fences that nothing inside closes; names mark nothing up.

use maud::html;
use sayso_model::hidden;

use super::{Book, Chapter, Page, Piece, Quoted, title, told};
use crate::guard::lines;
use crate::names;
use crate::sheet::markdown::{block, escaped, fence, foot};
use crate::sheet::{counted, utc};

pub(super) fn open(book: &Book, chapters: &[Chapter]) -> String {
    let mut out = format!(
        "# Conversations\n\n{} of ledger `{}`\n\n| project | session | kind | turns | last turn |\n|---|---|---|---:|---|\n",
        counted(chapters.len() as u64, "session"),
        book.ledger
    );
    for chapter in chapters {
        out.push_str(&format!(
            "| {} | [{}](#{}) | {} | {} | {} |\n",
            escaped(&names::shown(&chapter.project)),
            escaped(&title(chapter)),
            chapter.session,
            chapter.kind,
            chapter.turns,
            chapter.last_at.map(utc).unwrap_or_default()
        ));
    }
    out
}

pub(super) fn chapter(chapter: &Chapter) -> String {
    let fork = chapter.fork.map(|(session, seq)| {
        format!("Begins with the entries up to {seq} of [`{session}`](#{session})\\\n")
    });
    format!(
        "\n<a id=\"{}\"></a>\n\n## {} / {}\n\n{}\\\n{}`{}`\\\nhead {} `{}`\n",
        chapter.session,
        escaped(&names::shown(&chapter.project)),
        escaped(&title(chapter)),
        escaped(&told(chapter).join(" · ")),
        fork.unwrap_or_default(),
        chapter.address,
        chapter.last_seq,
        chapter.head
    )
}

pub(super) fn entry(book: &Book, page: &Page) -> String {
    let mut out = format!(
        "\n<a id=\"{}\"></a>\n\n### {} · {} · {}\n\n{}",
        page.id,
        page.seq,
        page.kind,
        escaped(&page.name),
        escaped(&page.facts.join(" · "))
    );
    if let Some((how, id)) = page.about {
        out.push_str(&format!(" · {how} [`{id}`](#{id})"));
    }
    out.push_str(&format!("\\\n`{}`\n", page.address));
    if let Some(card) = &page.card {
        quoted(&mut out, book, card);
    }
    page.pieces.iter().for_each(|piece| words(&mut out, page, piece));
    out
}

pub(super) fn lost(seq: u64, why: &str) -> String {
    format!("\n### {seq} · lost\n\n*This entry does not read whole: {}*\n", escaped(&names::shown(why)))
}

/// The card is a block quotation of its own; the note stands after it.
fn quoted(out: &mut String, book: &Book, card: &Quoted) {
    let sheet = &card.sheet;
    let mut inner = format!("{} · **{}**", sheet.kind, escaped(&sheet.name));
    for part in sheet.head.iter().chain(&sheet.facts) {
        inner.push_str(&format!(" · {}", escaped(part)));
    }
    inner.push('\n');
    let mut blocks = sheet.blocks.iter();
    if let Some(words) = blocks.next() {
        block(&mut inner, words);
    }
    inner.push('\n');
    sheet.foot.iter().for_each(|line| foot(&mut inner, line));
    if let Some(id) = book.inside(&card.origin) {
        inner.push_str(&format!("- [Show the origin on this page](#{id})\n"));
    }
    out.push('\n');
    for line in inner.lines() {
        out.push_str(if line.is_empty() { ">\n" } else { "> " });
        if !line.is_empty() {
            out.extend([line, "\n"]);
        }
    }
    blocks.for_each(|note| block(out, note));
}

fn words(out: &mut String, page: &Page, piece: &Piece) {
    if piece.fold {
        folded(out, piece);
    } else {
        block(out, &piece.block);
    }
    if let Some(id) = &piece.output {
        out.push_str(&format!("\nStored whole: `sayso output {id}`\n"));
    } else if piece.rest.is_some() {
        out.push_str(&format!("\nAll of it: `sayso show --json {}`\n", page.address));
    }
}

/// Raw HTML up to the blank line: there Markdown's own escapes would be letters.
fn folded(out: &mut String, piece: &Piece) {
    let summary = html! { (piece.block.label) " (" (piece.extent) ")" }.into_string();
    out.push_str(&format!("\n<details><summary>{summary}</summary>\n\n"));
    fenced(out, &piece.block.text);
    if let Some((note, tail)) = &piece.rest {
        out.push_str(&format!("\n*{note}*\n\n"));
        fenced(out, tail);
    }
    out.push_str("\n</details>\n");
}

fn fenced(out: &mut String, text: &str) {
    let shown = hidden::show(text);
    let fence = fence(&shown);
    out.push_str(&format!("{fence}\n"));
    for (_, line) in lines(&shown) {
        out.extend([line, "\n"]);
    }
    out.push_str(&format!("{fence}\n"));
}
