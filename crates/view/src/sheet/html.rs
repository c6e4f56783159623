//! HTML: one article that stands by itself. Everything that people wrote is escaped by the template.

use maud::{Markup, html};
use sayso_model::hidden;

use super::{Block, Foot, Sheet};
use crate::guard::lines;

impl Sheet {
    /// The sheet as one `<article>` element.
    pub(crate) fn html(&self) -> String {
        html! {
            article class={ "sayso-" (self.class) } {
                header {
                    p { (self.kind) " · " strong dir="auto" { (self.name) } @for part in &self.head { " · " bdi { (part) } } }
                    p { small { (self.facts.join(" · ")) } }
                }
                @for part in &self.blocks { (block(part)) }
                @if !self.foot.is_empty() { footer { ul { @for line in &self.foot { (foot(line)) } } } }
            }
        }
        .into_string()
    }
}

fn block(block: &Block) -> Markup {
    let shown = hidden::show(&block.text);
    let text: Vec<&str> = lines(&shown).map(|(_, line)| line).collect();
    html! {
        @if !block.label.is_empty() { p { (block.label) ":" } }
        // No <pre>: a reader of HTML drops the line break that one starts with.
        blockquote dir="auto" style="white-space:pre-wrap;overflow-wrap:anywhere" { (text.join("\n")) }
    }
}

fn foot(foot: &Foot) -> Markup {
    html! {
        li {
            (foot.label) ": " (foot.text)
            @if let Some(code) = &foot.code { @if !foot.text.is_empty() { ", " } code { (code) } }
        }
    }
}
