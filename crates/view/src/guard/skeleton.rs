//! What a line looks like to a reader: letters without their disguise.
//!
//! A small part of the idea of UTS #39: decompose (NFKD), drop marks, spaces and what is ignorable, fold case, then
//! replace look-alikes by one letter. The table holds what is used to imitate Latin letters, not every confusable there is.

use sayso_model::hidden::is_ignorable;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The visible characters of a line with their byte offsets: no spaces, marks, ignorables or `⟦U+202E⟧`.
pub(super) fn visible(line: &str) -> impl Iterator<Item = (usize, char)> {
    let mut code_ends = 0;
    line.char_indices().filter(move |(at, c)| {
        if *at < code_ends {
            return false;
        }
        if let Some(length) = line.get(*at..).and_then(code) {
            code_ends = at + length;
            return false;
        }
        !c.is_whitespace() && !is_ignorable(*c) && !c.is_control() && !is_combining_mark(*c)
    })
}

/// The length of a shown hidden character at the start of `text`.
fn code(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("⟦U+")?;
    let digits = rest.find(|c: char| !c.is_ascii_hexdigit())?;
    rest.get(digits..)?.starts_with('⟧').then_some("⟦U+".len() + digits + '⟧'.len_utf8())
}

/// What the first `limit` visible characters look like.
pub(super) fn skeleton(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for (_, c) in visible(text).take(limit) {
        fold(c, &mut out);
    }
    out
}

fn fold(c: char, out: &mut String) {
    for part in std::iter::once(plain(c)).nfkd() {
        if !is_combining_mark(part) && !is_ignorable(part) && !part.is_whitespace() {
            part.to_lowercase().for_each(|lower| push(look(lower), out));
        }
    }
}

fn push(c: char, out: &mut String) {
    match c {
        'm' => out.push_str("rn"),
        'w' => out.push_str("vv"),
        _ => out.push(c),
    }
}

/// Letters in filled circles and squares and regional indicators, which have no decomposition.
fn plain(c: char) -> char {
    let bases = [0x1F150, 0x1F170, 0x1F1E6];
    let letter = bases.iter().find_map(|base| u32::from(c).checked_sub(*base).filter(|at| *at < 26));
    letter.and_then(|at| char::from_u32(u32::from('a') + at)).unwrap_or(c)
}

/// One character for all that look alike, after decomposition and case folding.
const fn look(c: char) -> char {
    match c {
        'а' | 'α' | 'ɑ' | 'ᴀ' | 'ӕ' => 'a',
        'с' | 'ϲ' | 'ᴄ' => 'c',
        'ԁ' | 'ɗ' | 'ᴅ' => 'd',
        'е' | 'є' | 'ε' | 'ҽ' | '℮' | 'ᴇ' | 'ɛ' | 'ө' | 'ə' => 'e',
        'ɡ' | 'ց' | 'ɢ' | 'ԍ' => 'g',
        'һ' | 'н' | 'հ' | 'ʜ' => 'h',
        'і' | 'ι' | 'ı' | 'l' | 'ӏ' | '1' | '|' | 'ɩ' | 'ɪ' | 'ʟ' | 'ǀ' | '∣' => 'i',
        'м' | 'ᴍ' => 'm',
        'п' | 'η' | 'ո' | 'ɴ' | 'ν' => 'n',
        'о' | 'ο' | 'օ' | 'σ' | 'ᴏ' | '0' | 'ø' | 'ɵ' => 'o',
        'р' | 'ρ' | 'ᴘ' | 'þ' => 'p',
        'ԛ' | 'զ' | 'գ' | 'ɋ' | 'ʠ' | 'ꞯ' => 'q',
        'г' | 'ʀ' => 'r',
        'ѕ' | 'ꜱ' | 'ʂ' => 's',
        'т' | 'τ' | 'ᴛ' | 'ŧ' | 'ƭ' | 'ț' => 't',
        'υ' | 'ս' | 'ᴜ' | 'ʋ' | 'ʊ' | 'μ' | 'и' => 'u',
        'ѡ' | 'ω' | 'ԝ' | 'ա' | 'ᴡ' => 'w',
        'у' | 'γ' | 'ү' | 'ʏ' | 'ყ' => 'y',
        'ѵ' | 'ᴠ' => 'v',
        '‹' | '〈' | '⟨' | '❮' | '❰' | '❬' | '˂' | '⟪' | '«' | '《' | '⦑' | '≺' | 'ᐸ' | '⧼' | '≪' | '⋘' => {
            '<'
        }
        '⁄' | '∕' | '⧸' | '╱' | '⟋' | '\\' | '丿' | 'ノ' => '/',
        '【' | '〔' | '⁅' | '❲' | '〖' | '⦋' | '〚' | '「' => '[',
        '“' | '”' | '„' | '″' | '‟' | '\'' | '’' | '‘' => '"',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguises_fall_off() {
        let plain = skeleton("<quote", 64);
        for text in [
            "＜ｑｕｏｔｅ",
            "‹ԛuоте",
            "<𝐪𝓊𝔬𝕥𝖾",
            "< q\u{200B}u\u{AD}ó\u{335}te",
            "⟦U+202E⟧<QUOTE",
            "<🅠uΟtΕ",
            "≮quote",
        ] {
            assert_eq!(skeleton(text, 64), plain, "{text}");
        }
        assert_eq!(skeleton("systеm", 64), skeleton("SYSTEM", 64));
    }
}
