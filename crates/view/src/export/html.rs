//! The HTML page. Everything that people wrote is escaped by the template; a policy in the head forbids the rest.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use sayso_model::hidden;

use super::{Book, Chapter, Page, Piece, Quoted, title, told};
use crate::guard::lines;
use crate::names;
use crate::sheet::{Block, Foot, counted, utc};

const STYLE: &str = include_str!("style.css");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

pub(super) fn open(book: &Book, chapters: &[Chapter]) -> String {
    let head = html! {
        meta charset="utf-8";
        meta http-equiv="Content-Security-Policy" content=(POLICY);
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="referrer" content="no-referrer";
        meta name="color-scheme" content="light dark";
        title { "Sayso: " (counted(chapters.len() as u64, "session")) }
        style { (PreEscaped(STYLE)) }
    };
    let top = html! {
        h1 { "Conversations" }
        p.facts { (counted(chapters.len() as u64, "session")) " of ledger " code { (book.ledger) } }
        div.wide {
            table {
                thead { tr { th { "Project" } th { "Session" } th { "Kind" } th.number { "Turns" } th { "Last turn" } } }
                tbody { @for chapter in chapters { (row(chapter)) } }
            }
        }
    };
    let (doctype, head, top) = (DOCTYPE.into_string(), head.into_string(), top.into_string());
    format!("{doctype}\n<html lang=\"und\">\n<head>{head}</head>\n<body>\n<main>\n{top}\n")
}

fn row(chapter: &Chapter) -> Markup {
    html! {
        tr {
            td { bdi { (names::shown(&chapter.project)) } }
            td { a href={ "#" (chapter.session) } { bdi { (title(chapter)) } } }
            td { (chapter.kind) @if let Some(channel) = &chapter.channel { ", " bdi { (names::shown(channel)) } } }
            td.number { (chapter.turns) }
            td { (chapter.last_at.map(utc).unwrap_or_default()) }
        }
    }
}

pub(super) fn chapter(chapter: &Chapter) -> String {
    let head = html! {
        h2 { bdi { (names::shown(&chapter.project)) } " / " bdi { (title(chapter)) } }
        p.facts { bdi { (told(chapter).join(" · ")) } }
        @if let Some((session, seq)) = chapter.fork {
            p.facts { "Begins with the entries up to " (seq) " of " a href={ "#" (session) } { code { (session) } } }
        }
        p.facts { code { (chapter.address) } br; "head " (chapter.last_seq) " " code { (chapter.head) } }
    };
    format!("<section id=\"{}\">\n{}\n", chapter.session, head.into_string())
}

pub(super) fn entry(book: &Book, page: &Page) -> String {
    let article = html! {
        article id=(page.id) class=(page.class) {
            header {
                a.seq href={ "#" (page.id) } title=(page.address) { (page.seq) }
                span.kind { (page.kind) }
                strong { bdi { (page.name) } }
                @for fact in &page.facts { span.fact { bdi { (fact) } } }
                @if let Some((how, id)) = page.about { span.fact { (how) " " a href={ "#" (id) } { code { (id) } } } }
            }
            @if let Some(card) = &page.card { (quoted(book, card)) }
            @for piece in &page.pieces { (words(page, piece)) }
        }
    };
    format!("{}\n", article.into_string())
}

pub(super) fn lost(seq: u64, why: &str) -> String {
    let article = html! {
        article.lost {
            header { span.seq { (seq) } span.kind { "lost" } }
            p.gap { "This entry does not read whole: " bdi { (names::shown(why)) } }
        }
    };
    format!("{}\n", article.into_string())
}

fn quoted(book: &Book, card: &Quoted) -> Markup {
    let mut blocks = card.sheet.blocks.iter();
    let link = book.inside(&card.origin);
    html! {
        div.card {
            p.facts {
                span.kind { (card.sheet.kind) } strong { bdi { (card.sheet.name) } }
                @for part in card.sheet.head.iter().chain(&card.sheet.facts) { span.fact { bdi { (part) } } }
            }
            @if let Some(block) = blocks.next() { (body(&block.text)) }
            ul.facts {
                @for line in &card.sheet.foot { (foot(line)) }
                @if let Some(id) = link { li { a href={ "#" (id) } { "Show the origin on this page" } } }
            }
        }
        @for block in blocks { (labelled(block)) }
    }
}

fn foot(foot: &Foot) -> Markup {
    html! {
        li {
            (foot.label) ": " bdi { (foot.text) }
            @if let Some(code) = &foot.code { @if !foot.text.is_empty() { ", " } code { (code) } }
        }
    }
}

fn words(page: &Page, piece: &Piece) -> Markup {
    html! {
        @if piece.fold {
            details {
                summary { bdi { (piece.block.label) } span.fact { (piece.extent) } }
                (body(&piece.block.text))
                @if let Some((note, tail)) = &piece.rest {
                    p.gap { (note) }
                    (body(tail))
                }
            }
        } @else { (labelled(&piece.block)) }
        @if let Some(id) = &piece.output { p.facts { "Stored whole: " code { "sayso output " (id) } } }
        @else if piece.rest.is_some() { p.facts { "All of it: " code { "sayso show --json " (page.address) } } }
    }
}

fn labelled(block: &Block) -> Markup {
    html! {
        @if !block.label.is_empty() { p.label { bdi { (block.label) } } }
        (body(&block.text))
    }
}

fn body(text: &str) -> Markup {
    let shown = hidden::show(text);
    let text: Vec<&str> = lines(&shown).map(|(_, line)| line).collect();
    html! { div.words dir="auto" { (text.join("\n")) } }
}
