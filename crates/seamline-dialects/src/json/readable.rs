//! JSON that every reader accepts.
//!
//! Bytes of a provider are copied unchanged. They may be JSON that some readers refuse: half of a surrogate pair, a
//! number outside the range of a float, or deep nesting.

use super::plain::string_prefix;
use super::text::{hex_escape, quoted};

/// The nesting depth at which the strictest readers stop; `serde_json` is one.
const LEVELS_MAX: usize = 127;

/// The number of digits up to which any number fits a float, so that shorter numbers need no look.
const NUMBER_MAX: f64 = 1.7e308;
const DIGITS_MAX: usize = 300;

/// Rewrites the parts of a JSON text that many readers refuse. Returns nothing if there are none. Half a character
/// becomes U+FFFD; a number that is too large, or a value that is too deep, becomes a string of its text.
pub fn readable(json: &str) -> Option<String> {
    let mut reader = Reader { json, at: 0, levels: 0, copied: 0, out: String::new() };
    while let Some(&byte) = json.as_bytes().get(reader.at) {
        match byte {
            b'"' => reader.string(),
            b'{' | b'[' => reader.open(),
            b'}' | b']' => {
                reader.levels = reader.levels.saturating_sub(1);
                reader.at += 1;
            }
            b'-' | b'0'..=b'9' => reader.number(),
            _ => reader.at += 1,
        }
    }
    (reader.copied > 0).then(|| reader.out + &json[reader.copied..])
}

struct Reader<'j> {
    json: &'j str,
    at: usize,
    levels: usize,
    /// Up to where the text is in `out`; nothing is while all of it can stay.
    copied: usize,
    out: String,
}

impl Reader<'_> {
    /// Replaces a value, and continues after it.
    fn replace(&mut self, end: usize, by: &str) {
        self.out.push_str(&self.json[self.copied..self.at]);
        self.out.push_str(by);
        (self.at, self.copied) = (end, end);
    }

    fn string(&mut self) {
        let bytes = self.json.as_bytes();
        self.at += 1;
        loop {
            self.at += string_prefix(&bytes[self.at..]).0;
            match hex_escape(bytes, self.at) {
                Some(0xd800..=0xdbff) if matches!(hex_escape(bytes, self.at + 6), Some(0xdc00..=0xdfff)) => {
                    self.at += 12;
                }
                Some(0xd800..=0xdfff) => self.replace(self.at + 6, "\\ufffd"),
                Some(_) => self.at += 6,
                // The quote, or the end of a text that is not JSON.
                None => break,
            }
        }
        self.at += 1;
    }

    fn open(&mut self) {
        if self.levels < LEVELS_MAX {
            self.levels += 1;
            self.at += 1;
        } else {
            let end = self.at + value_length(&self.json.as_bytes()[self.at..]);
            self.replace(end, &quoted(&self.json[self.at..end]));
        }
    }

    fn number(&mut self) {
        let rest = &self.json.as_bytes()[self.at..];
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let end = self.at + rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let number = &self.json[self.at..end];
        let may_be_large = number.len() > DIGITS_MAX || number.contains(['e', 'E']);
        if may_be_large && number.parse::<f64>().is_ok_and(|number| number.abs() > NUMBER_MAX) {
            self.replace(end, &quoted(number));
        } else {
            self.at = end;
        }
    }
}

/// The length of the list or object at the start of `bytes`.
fn value_length(bytes: &[u8]) -> usize {
    let (mut at, mut levels) = (0, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => levels += 1,
            b'}' | b']' if levels == 1 => return at,
            b'}' | b']' => levels -= 1,
            b'"' => at += string_length(&bytes[at..]),
            _ => {}
        }
    }
    bytes.len()
}

/// The length of a string, with its closing quote.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += string_prefix(&bytes[at..]).0;
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'"') => return at + 1,
            // The escape of a code unit, which cannot be a quote.
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_that_all_readers_accept_stays_unchanged() {
        for json in [
            r#"{"a":"\ud83d\ude00 \\ud83d \u0041\"","b":[-1.5e300,0e999,1e-999,true,null],"c":{}}"#,
            r#""\\""#,
            "0",
            "",
            // Not JSON. Callers give only JSON.
            "\"\\ud8",
            "\"",
            "]",
        ] {
            assert_eq!(readable(json), None, "{json}");
        }
        let deep = "[".repeat(LEVELS_MAX) + &"]".repeat(LEVELS_MAX);
        assert_eq!(readable(&format!("{deep},{deep}")), None);
    }

    #[test]
    fn half_a_character_is_replaced() {
        for (json, wanted) in [
            (r#"{"a\ud83d":"\ude00\ud83d\ude00\ud83d"}"#, r#"{"a\ufffd":"\ufffd\ud83d\ude00\ufffd"}"#),
            (r#"["\uD83D\n\\","\ud83d\u0041"]"#, r#"["\ufffd\n\\","\ufffd\u0041"]"#),
        ] {
            assert_eq!(readable(json).as_deref(), Some(wanted));
        }
    }

    #[test]
    fn a_number_that_nothing_holds_is_a_text() {
        let long = "9".repeat(400);
        let json = format!("[1E654,-1e400, {long}]");
        assert_eq!(readable(&json), Some(format!(r#"["1E654","-1e400", "{long}"]"#)));
    }

    #[test]
    fn a_value_that_lies_too_deep_is_a_text() {
        let (open, close) = ("[".repeat(LEVELS_MAX), "]".repeat(LEVELS_MAX));
        let json = format!(r#"{open}{{"a]\u0022":["\ud83d"]}},[1],2{close}"#);
        let wanted = format!(r#"{open}"{{\"a]\\u0022\":[\"\\ud83d\"]}}","[1]",2{close}"#);
        assert_eq!(readable(&json), Some(wanted));
    }
}
