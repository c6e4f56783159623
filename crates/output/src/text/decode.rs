//! Bytes to characters, piece by piece.

use encoding_rs::DecoderResult;

use super::charset::{Charset, Plan};
use super::survey::whole_characters;

/// Decodes a stream piece by piece; a character may lie over two pieces.
pub(crate) struct Decoder {
    other: Option<encoding_rs::Decoder>,
    /// The beginning of a UTF-8 sequence at the end of the last piece.
    begun: Vec<u8>,
    /// Sequences that the charset does not explain.
    pub(crate) unexplained: u64,
}

impl Decoder {
    pub(crate) fn new(plan: Plan) -> Self {
        let Charset(encoding) = plan.charset;
        let other = plan.charset != Charset::UTF_8;
        Self {
            other: other.then(|| encoding.new_decoder_without_bom_handling()),
            begun: Vec::new(),
            unexplained: 0,
        }
    }

    /// Appends the characters of a piece to `text`.
    pub(crate) fn feed(&mut self, bytes: &[u8], last: bool, text: &mut String) {
        match self.other.as_mut() {
            Some(decoder) => self.unexplained += other(decoder, bytes, last, text),
            None => self.utf8(bytes, last, text),
        }
    }

    fn utf8(&mut self, bytes: &[u8], last: bool, text: &mut String) {
        let mut joined = std::mem::take(&mut self.begun);
        joined.extend_from_slice(bytes);
        let whole = if last { joined.len() } else { whole_characters(&joined) };
        let (front, rest) = joined.split_at_checked(whole).unwrap_or((&joined, &[]));
        self.begun = rest.to_vec();
        for chunk in front.utf8_chunks() {
            text.push_str(chunk.valid());
            self.unexplained += u64::from(!chunk.invalid().is_empty());
            chunk.invalid().iter().for_each(|b| text.push_str(&format!("\\x{b:02X}")));
        }
    }
}

fn other(decoder: &mut encoding_rs::Decoder, mut bytes: &[u8], last: bool, text: &mut String) -> u64 {
    let mut unexplained = 0;
    loop {
        let room = decoder.max_utf8_buffer_length_without_replacement(bytes.len()).unwrap_or(bytes.len() * 3);
        text.reserve(room + 4);
        let (result, read) = decoder.decode_to_string_without_replacement(bytes, text, last);
        bytes = bytes.get(read..).unwrap_or_default();
        match result {
            DecoderResult::InputEmpty => return unexplained,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => {
                text.push(char::REPLACEMENT_CHARACTER);
                unexplained += 1;
            }
        }
    }
}
