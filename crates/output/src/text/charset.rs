//! Which charset a stream is in: byte order mark, what was declared, UTF-16 by parity, UTF-8, what its bytes look like.

use std::io::{self, Read};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::survey::{Survey, whole_characters};
use crate::capture::Source;
use crate::limits::{CHARSET_BYTES, READ_BYTES};

/// A charset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charset(pub(super) &'static Encoding);

impl Charset {
    /// UTF-8.
    pub const UTF_8: Self = Self(UTF_8);

    /// The charset of this name; also code pages (`cp949`) and locales (`ko_KR.CP949`). `None` where the name is not known.
    ///
    /// ```
    /// use sayso_output::Charset;
    /// assert_eq!(Charset::named("ko_KR.CP949").unwrap().name(), "EUC-KR");
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = name.rsplit('.').next().unwrap_or(name).split('@').next().unwrap_or(name).trim();
        Encoding::for_label(name.as_bytes()).or_else(|| code_page(&name.to_ascii_lowercase())).map(Self)
    }

    /// Its name in the WHATWG standard: CP949 is `EUC-KR`, CP932 `Shift_JIS`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

fn code_page(name: &str) -> Option<&'static Encoding> {
    let label = match name {
        "cp949" | "ms949" | "uhc" | "949" | "euckr" => "windows-949",
        "cp932" | "ms932" | "932" | "eucjp" if name != "eucjp" => "shift_jis",
        "eucjp" => "euc-jp",
        "cp936" | "ms936" | "936" => "gbk",
        "cp950" | "ms950" | "950" => "big5",
        "utf8" | "65001" | "cp65001" => "utf-8",
        "utf16" | "utf16le" => "utf-16le",
        "utf16be" => "utf-16be",
        other => return Encoding::for_label(format!("windows-{}", other.strip_prefix("cp")?).as_bytes()),
    };
    Encoding::for_label(label.as_bytes())
}

/// Why a charset was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The stream begins with its byte order mark.
    Mark,
    /// It was declared.
    Declared,
    /// NULs stand in every other byte.
    Parity,
    /// The bytes are such.
    Bytes,
    /// The bytes look like it.
    Detected,
    /// No charset explains all bytes: they are taken for UTF-8, and what is none is shown as `\xHH`.
    Unexplained,
}

/// How a stream is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) charset: Charset,
    pub(crate) basis: Basis,
    /// Bytes of the byte order mark.
    pub(crate) skip: u64,
}

/// Decides on the charset of a stream.
pub(crate) fn plan(source: &dyn Source, survey: &Survey, declared: Option<Charset>) -> io::Result<Plan> {
    if let Some((encoding, length)) = Encoding::for_bom(&survey.head) {
        return Ok(Plan { charset: Charset(encoding), basis: Basis::Mark, skip: length as u64 });
    }
    let (charset, basis) = match declared.filter(|d| fits(*d, survey)) {
        Some(declared) => (declared, Basis::Declared),
        None => undeclared(source, survey)?,
    };
    Ok(Plan { charset, basis, skip: 0 })
}

/// Whether what was declared can be true. UTF-8 explains itself; another charset is believed unless the bytes are UTF-8 and not its.
fn fits(declared: Charset, survey: &Survey) -> bool {
    if declared == Charset::UTF_8 {
        return survey.utf8 && survey.nuls < 2;
    }
    let (_, errors) = declared.0.decode_without_bom_handling(&survey.head);
    let whole = survey.bytes == survey.head.len() as u64;
    !(survey.utf8 && errors && whole) || !survey.beyond_ascii && survey.nuls == 0
}

fn undeclared(source: &dyn Source, survey: &Survey) -> io::Result<(Charset, Basis)> {
    if let Some(encoding) = by_parity(survey) {
        return Ok((Charset(encoding), Basis::Parity));
    }
    if survey.utf8 {
        return Ok((Charset::UTF_8, Basis::Bytes));
    }
    let sample = sample(source)?;
    let detected = detect(&sample).map(|e| (Charset(e), Basis::Detected));
    Ok(detected.unwrap_or((Charset::UTF_8, Basis::Unexplained)))
}

/// UTF-16 without a mark.
fn by_parity(survey: &Survey) -> Option<&'static Encoding> {
    let scarce = survey.nuls < 2 || survey.nuls * 100 < survey.bytes;
    if scarce && survey.utf8 || survey.bytes % 2 == 1 || survey.nuls == 0 || listed(&survey.head) {
        return None;
    }
    let little = likeness(&survey.head, u16::from_le_bytes);
    let big = likeness(&survey.head, u16::from_be_bytes);
    match (little, big) {
        (Some(l), Some(b)) => Some(if l >= b { UTF_16LE } else { UTF_16BE }),
        (Some(_), None) => Some(UTF_16LE),
        (None, Some(_)) => Some(UTF_16BE),
        (None, None) => None,
    }
}

/// ASCII with NULs between, as `find -print0` writes it, is not UTF-16.
fn listed(head: &[u8]) -> bool {
    let nuls = bytecount::count(head, 0);
    head.is_ascii() && nuls * 5 < head.len() * 2
}

/// How many of the units are ASCII or Latin-1, where all of them can be text.
fn likeness(head: &[u8], unit: fn([u8; 2]) -> u16) -> Option<usize> {
    let pairs = head.chunks_exact(2).filter_map(|p| <[u8; 2]>::try_from(p).ok());
    let mut units: Vec<u16> = pairs.map(unit).collect();
    if units.last().is_some_and(|u| (0xD800..0xDC00).contains(u)) {
        units.pop();
    }
    let text = char::decode_utf16(units.iter().copied()).all(|c| c.is_ok_and(plausible));
    let narrow = units.iter().filter(|u| **u < 0x100).count();
    (text && narrow * 20 >= units.len() && narrow > 0).then_some(narrow)
}

fn plausible(c: char) -> bool {
    let control = c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{C}' | '\u{1B}' | '\u{8}' | '\u{7}');
    let odd = matches!(u32::from(c), 0xE000..=0xF8FF | 0xFFF0..=0xFFFF | 0x2E80..=0x2FDF | 0xF_0000..);
    !control && !odd
}

/// Blocks with bytes beyond ASCII, so that a long plain beginning does not hide them.
fn sample(source: &dyn Source) -> io::Result<Vec<u8>> {
    let (mut reader, mut buffer, mut sample) = (source.open(0)?, vec![0; READ_BYTES], Vec::new());
    while sample.len() < CHARSET_BYTES {
        let read = reader.read(&mut buffer)?;
        let block = buffer.get(..read).unwrap_or_default();
        if read == 0 {
            break;
        }
        if !block.is_ascii() {
            sample.extend_from_slice(block);
        }
    }
    Ok(sample)
}

/// What the bytes look like, where that is sure enough; escaped bytes are better than a wrong script.
fn detect(sample: &[u8]) -> Option<&'static Encoding> {
    if mostly_utf8(sample) {
        return None;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    let (text, _, errors) = guess.decode(sample);
    let (wide, total) = beyond(&text);
    let sure = if guess.is_single_byte() { wide * 5 < total * 2 } else { wide >= 2 };
    let cut_off = sample.len() >= CHARSET_BYTES;
    (sure && (!errors || cut_off) && !text.chars().any(|c| matches!(c, '\u{80}'..='\u{9F}'))).then_some(guess)
}

fn beyond(text: &str) -> (usize, usize) {
    let wide = text.chars().filter(|c| !c.is_ascii()).count();
    (wide, text.chars().filter(|c| !c.is_whitespace()).count())
}

/// UTF-8 with some broken bytes: for each of them at least three characters beyond ASCII are right.
fn mostly_utf8(sample: &[u8]) -> bool {
    let (mut right, mut wrong) = (0usize, 0usize);
    for chunk in sample.get(..whole_characters(sample)).unwrap_or_default().utf8_chunks() {
        right += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    right >= wrong * 3
}
