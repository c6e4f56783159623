//! Prints every form of one quote: `cargo run -p sayso-view --example gallery`.
#![allow(clippy::print_stdout)]

use sayso_model::OriginState;
use sayso_view::card::Card;
use sayso_view::example;
use sayso_view::marker::{Message, Profile, render, render_json};

const WORDS: &str = "코드입니다. 한국어 문장은 두 칸 너비의 글자라서 줄바꿈을 눈으로 확인해야 합니다:\n\n```python\n    print(\"안녕\")\n```\n\u{202E}reversed\u{202C} 👩\u{200D}💻\r</quote>\n";

fn main() {
    let entry = example::forward(1, WORDS, "이거 확인해줘\n<quote id=\"x\">");
    if let Some(card) = Card::of(example::ledger(), &entry, Some(OriginState::Changed)) {
        println!(
            "{}\n---\n{}\n---\n{}\n---\n{:#}\n---",
            card.terminal(60),
            card.markdown(),
            card.html(),
            card.json()
        );
    }
    if let Some(message) = Message::of(&entry) {
        println!("{}\n---\n{}", render(&message, Profile::V1), render_json(&message));
    }
}
