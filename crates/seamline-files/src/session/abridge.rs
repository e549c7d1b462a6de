//! Cuts long texts, so that the conversation of a very large file can be checked in little memory.

use std::borrow::Cow;

/// How much of long texts a reading keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeptTexts {
    /// All of it.
    #[default]
    Whole,
    /// The start of each long text. Enough for a check of the order and pairing of messages; never written back.
    Abridged,
}

/// The members whose long texts are cut. No rule reads more than the start of them.
const TEXTS: &[&str] = &[
    "text",
    "content",
    "thinking",
    "signature",
    "output",
    "summary",
    "encrypted_content",
    "reasoning_content",
    "stdout",
    "stderr",
];
/// The kept bytes of a text member. A multiple of four, so that base64 stays base64.
const TEXT_BYTES: usize = 48;
/// The most bytes of any other text, such as an image or a part of the input of a call. Ids and names that are longer are
/// too long for every provider, and stay so.
const OTHER_BYTES: usize = 132;

/// The number of records for which the lists of a long file get room at once. The system gives memory only for those that
/// are there, and a list that does not grow is not copied.
const RECORDS: usize = 1 << 18;

impl KeptTexts {
    /// The number of records to make room for.
    pub(crate) fn records(self) -> usize {
        match self {
            Self::Whole => 0,
            Self::Abridged => RECORDS,
        }
    }

    /// A part of a record for the carrier.
    pub(crate) fn keep(self, json: &str) -> Cow<'_, str> {
        match self {
            Self::Abridged if json.len() > TEXT_BYTES => Cow::Owned(abridge(json)),
            Self::Whole | Self::Abridged => Cow::Borrowed(json),
        }
    }

    /// A number that is the same for records that say the same, to tell copies in one file. A repair removes copies, so
    /// that texts which are kept whole get a number that hostile records cannot share.
    pub(crate) fn digest(self, text: &str) -> u64 {
        match self {
            Self::Whole => {
                let hash = blake3::hash(text.as_bytes());
                hash.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
            }
            Self::Abridged => fold(text.as_bytes()),
        }
    }
}

/// The multiplier of a hash that is as fast as memory; from the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// The bytes that one step of the hash takes: four words, which the processor multiplies at the same time.
const STEP_BYTES: usize = 32;

fn fold(bytes: &[u8]) -> u64 {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
    let mix = |sum: u64, word: u64| (sum.rotate_left(5) ^ word).wrapping_mul(GOLDEN);
    let (steps, rest) = bytes.as_chunks::<STEP_BYTES>();
    let mut sums = [bytes.len() as u64; 4];
    for step in steps {
        let (words, _) = step.as_chunks::<8>();
        for (sum, bytes) in sums.iter_mut().zip(words) {
            *sum = mix(*sum, u64::from_le_bytes(*bytes));
        }
    }
    let sum = rest.chunks(8).fold(0, |sum, chunk| mix(sum, word(chunk)));
    sums.into_iter().fold(sum, |sum, other| mix(sum, other ^ other >> 29))
}

/// Copies valid JSON with its long texts cut.
fn abridge(json: &str) -> String {
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len().min(1024));
    let mut at = 0;
    // The last string, and whether the next one is the value of a text member.
    let (mut key, mut is_value) = ("", false);
    while let Some(start) = memchr::memchr(b'"', &bytes[at..]).map(|offset| at + offset) {
        let between = &json[at..start];
        is_value = between.contains(':') || (is_value && !between.contains(['{', '}']) && between.contains('['));
        out.push_str(between);
        let string = string(json, start);
        let inner = &json[start + 1..string.end];
        if is_value && inner.len() > TEXT_BYTES && !string.has_half {
            let most = if TEXTS.contains(&key) { TEXT_BYTES } else { OTHER_BYTES };
            out.push('"');
            out.push_str(cut(inner, most));
            out.push('"');
        } else {
            out.push_str(&json[start..=string.end]);
        }
        key = inner;
        at = string.end + 1;
    }
    out.push_str(&json[at..]);
    // A long file has many of them.
    out.shrink_to_fit();
    out
}

/// A string in JSON.
struct Quoted {
    /// The place of the quote that ends it.
    end: usize,
    /// Whether it has the escape of half of a surrogate pair without the other half, which providers reject.
    has_half: bool,
}

/// The string that begins with the quote at a place.
fn string(json: &str, start: usize) -> Quoted {
    let bytes = json.as_bytes();
    let mut string = Quoted { end: bytes.len() - 1, has_half: false };
    let mut at = start + 1;
    while let Some(offset) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += offset;
        if bytes[at] == b'"' {
            string.end = at;
            break;
        }
        if matches!(bytes.get(at + 1..at + 3), Some(b"ud" | b"uD")) {
            // Both halves of a pair are taken together.
            let is_pair = json.get(at..).and_then(unit) == Some(PAIR_BYTES);
            let is_half = bytes.get(at + 3).is_some_and(|digit| digit.to_ascii_lowercase() >= b'8');
            string.has_half |= is_half && !is_pair;
            at += if is_pair { PAIR_BYTES } else { 2 };
        } else {
            at += 2;
        }
    }
    string
}

/// The start of the inner text of a string, cut where no escape is split. A text that may be JSON, or that begins with
/// more spaces than are kept, stays whole.
fn cut(inner: &str, most: usize) -> &str {
    if inner.len() <= most {
        return inner;
    }
    let mut end = 0;
    while let Some(length) = unit(&inner[end..]).filter(|length| end + length <= most) {
        end += length;
    }
    let start = &inner[..end];
    let mut written = start;
    while let Some(rest) = [" ", "\\n", "\\t", "\\r"].iter().find_map(|space| written.strip_prefix(space)) {
        written = rest;
    }
    if written.is_empty() || written.starts_with(['{', '[']) { inner } else { start }
}

/// The bytes of the escapes of a surrogate pair.
const PAIR_BYTES: usize = 12;

/// The bytes of the first character of the inner text of a string. The escapes of a surrogate pair are one character.
fn unit(inner: &str) -> Option<usize> {
    let escape =
        |from: usize| inner.get(from..).and_then(|rest| rest.strip_prefix("\\u")).and_then(|rest| rest.get(..4));
    let is_half = |digits: Option<&str>, first: [char; 4]| {
        digits.is_some_and(|digits| {
            digits[..1].eq_ignore_ascii_case("d") && digits[1..].to_ascii_lowercase().starts_with(first)
        })
    };
    let length = match inner.chars().next()? {
        '\\' if is_half(escape(0), ['8', '9', 'a', 'b']) && is_half(escape(6), ['c', 'd', 'e', 'f']) => PAIR_BYTES,
        '\\' if escape(0).is_some() => 6,
        '\\' => 2,
        other => other.len_utf8(),
    };
    Some(length.min(inner.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_the_rest_stays() {
        let long = "word ".repeat(100);
        let json = format!(r#"{{"type":"text","text":"{long}","signature":"{long}","input":{{"a":"{long}"}}}}"#);
        let short = KeptTexts::Abridged.keep(&json).into_owned();
        let value: serde_json::Value = serde_json::from_str(&short).unwrap();
        assert_eq!(value["text"].as_str().unwrap().len(), TEXT_BYTES);
        assert_eq!(value["signature"].as_str().unwrap().len(), TEXT_BYTES);
        assert_eq!(value["input"]["a"].as_str().unwrap().len(), OTHER_BYTES);
        assert_eq!(KeptTexts::Whole.keep(&json), json);
    }

    #[test]
    fn a_cut_splits_no_escape_and_keeps_json_and_spaces() {
        for at in 20..70 {
            let text = format!(r#"{{"text":"{}\ud83d\ude00\\\"{}"}}"#, "x".repeat(at), "y".repeat(90));
            let value: Result<serde_json::Value, _> = serde_json::from_str(&KeptTexts::Abridged.keep(&text));
            assert!(value.is_ok(), "{at}");
        }
        let spaces = format!(r#"{{"text":"{}x"}}"#, "\\n".repeat(80));
        assert_eq!(KeptTexts::Abridged.keep(&spaces), spaces);
        let half = format!(r#"{{"text":"{}\ud83dx"}}"#, "z".repeat(200));
        assert_eq!(KeptTexts::Abridged.keep(&half), half);
        let object = format!(r#"{{"output":" {{\"a\":\"{}\"}}"}}"#, "z".repeat(200));
        assert_eq!(KeptTexts::Abridged.keep(&object), object);
    }

    #[test]
    fn a_digest_depends_on_every_byte_and_on_the_length() {
        let text = "0123456789".repeat(9);
        for content in [KeptTexts::Whole, KeptTexts::Abridged] {
            let mut seen = std::collections::HashSet::new();
            for length in 0..text.len() {
                assert!(seen.insert(content.digest(&text[..length])), "{length}");
                let changed = [&text[..length], "x", &text[length + 1..]].concat();
                assert!(seen.insert(content.digest(&changed)), "{length}");
            }
        }
    }
}
