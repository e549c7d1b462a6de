//! Identifies inputs that a command does not read, by their first bytes.

use seamline::providers::message_lists;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::failure::Failure;

/// How many lines are searched for a sign of a stream.
const LINES_MAX: usize = 64;
/// How many bytes decide whether the input is text.
const TEXT_BYTES: usize = 1024;

/// The kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    Empty,
    Gzip,
    Utf16,
    /// Binary frames that a program decoded as text, which destroys them.
    Mangled,
    NotText,
    EventStream,
    /// Frames that follow a time, a level or another prefix of a log.
    LogLines,
    /// Frames between the columns of a table.
    Table,
    Request,
    Response,
    ProviderError,
    Har,
    JsonText,
    OtherJson,
    Unknown,
}

impl Nature {
    /// Identifies an input by its first bytes.
    pub(crate) fn of(start: &[u8]) -> Self {
        let head = &start[..start.len().min(TEXT_BYTES)];
        match head {
            _ if start.trim_ascii().is_empty() => Self::Empty,
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [1..=127, 0, 1..=127, 0, ..] | [0, 1..=127, 0, 1..=127, ..] => {
                Self::Utf16
            }
            // A checksum starts at the ninth byte; a decoder replaces invalid bytes by `U+FFFD`.
            [0, ..] if head.get(8..).is_some_and(|rest| rest.starts_with("\u{fffd}".as_bytes())) => Self::Mangled,
            [0, ..] => Self::Unknown,
            _ => match Self::of_text(&String::from_utf8_lossy(start)) {
                // An invalid byte spoils one frame of a stream, not the others.
                Self::EventStream => Self::EventStream,
                _ if !is_text(head) => Self::NotText,
                nature => nature,
            },
        }
    }

    fn of_text(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with(['{', '[', '"']) {
            return Outline::of(text).nature();
        }
        let mut lines = text.lines().take(LINES_MAX);
        if lines.clone().any(|line| line.starts_with("data:") || line.starts_with("event:")) {
            return Self::EventStream;
        }
        let has_frame = |line: &str| line.contains("data: {") || line.contains("data:{");
        match () {
            () if lines.clone().any(has_frame) => Self::LogLines,
            () if lines.any(|line| line.contains("\t{\"")) => Self::Table,
            () => Self::Unknown,
        }
    }

    /// Whether the input cannot be a response in any dialect.
    pub(crate) fn is_hopeless(self) -> bool {
        matches!(self, Self::Empty | Self::Gzip | Self::Utf16)
    }

    /// Explains why the input is not a response.
    pub(crate) fn no_response(self) -> Option<Failure> {
        let (message, hint) = match self {
            Self::Empty => ("the file is empty", "give the body of a response as it was streamed"),
            Self::Gzip => (COMPRESSED, "unpack it first, as with `gunzip -c FILE | seamline assemble`"),
            Self::Utf16 => (UTF16, "`iconv -f UTF-16 -t UTF-8 FILE | seamline assemble` reads it"),
            Self::Mangled => {
                ("a binary stream that was saved as text", "save its bytes as they come, as `curl --output FILE` does")
            }
            Self::NotText => ("this is not text", "give the body of a response as it was streamed"),
            Self::LogLines => (
                "every line of the stream has a prefix",
                "remove it, as with `sed 's/^[^{]*data: */data: /; s/^ *$//' FILE | seamline assemble`",
            ),
            Self::Table => (
                "the frames of the stream are in a table",
                "take them out, as with `grep -o '{.*}' FILE | seamline assemble`",
            ),
            Self::Request => ("this is a request body, not a response", "see `seamline check`"),
            Self::Har => (
                "this is a HAR file, not a response",
                "take one response out, as with `jq -r '.log.entries[0].response.content.text' FILE | seamline assemble`",
            ),
            Self::JsonText => ("this is one JSON string", "`jq -r . FILE | seamline assemble` reads its content"),
            Self::OtherJson => (
                "this is JSON, but not a response of a provider",
                "give the body of the response alone; if another object contains it, take it out, as with `jq .response FILE`",
            ),
            Self::EventStream | Self::Response | Self::ProviderError | Self::Unknown => return None,
        };
        Some(Failure::new(message).with_hint(hint))
    }

    /// Explains why the input is not a request body, if its kind explains it better than the JSON error.
    pub(crate) fn no_body(self) -> Option<Failure> {
        let (message, hint) = match self {
            Self::Gzip => (COMPRESSED, "unpack it first, as with `gunzip -c FILE`"),
            Self::Utf16 => (UTF16, "`iconv -f UTF-16 -t UTF-8 FILE` writes it as UTF-8"),
            Self::EventStream => {
                ("this is a streamed response, not a request body", "`seamline assemble FILE` assembles it")
            }
            Self::Response => ("this is a response, not a request body", "`seamline assemble FILE` reads it"),
            Self::ProviderError => {
                ("this is a provider's error, not a request body", "`seamline explain --error - < FILE` explains it")
            }
            _ => return None,
        };
        Some(Failure::new(message).with_hint(hint))
    }
}

impl Nature {
    /// Explains why the input is not a message, if its kind explains it better than the JSON error.
    pub(crate) fn no_message(self) -> Option<Failure> {
        match self {
            Self::EventStream => Some(Failure::new("this is a streamed response, not a message").with_hint(
                "nothing was added; `seamline assemble FILE --format json | jq -c '.messages[]'` gives the messages in it",
            )),
            other => other.no_body().filter(|_| matches!(other, Self::Gzip | Self::Utf16)),
        }
    }
}

const COMPRESSED: &str = "it is compressed with gzip";
const UTF16: &str = "it is written in UTF-16, not in UTF-8";

/// Whether bytes are text, as far as they go.
fn is_text(head: &[u8]) -> bool {
    let is_utf8 = match std::str::from_utf8(head) {
        Ok(_) => true,
        // The last character may be cut.
        Err(error) => error.error_len().is_none(),
    };
    is_utf8 && !head.contains(&0)
}

/// The members at the root of a JSON text; of a truncated text, those before the cut.
#[derive(Debug, Default)]
struct Outline {
    members: Vec<String>,
    /// The value of its `type` or `object`.
    kinds: Vec<String>,
    is_list: bool,
    is_text: bool,
}

impl Outline {
    fn of(text: &str) -> Self {
        let mut outline = Self::default();
        // Members that cannot be read are ignored.
        let _ = Look(&mut outline).deserialize(&mut serde_json::Deserializer::from_str(text));
        outline
    }

    fn nature(&self) -> Nature {
        let has = |name: &str| self.members.iter().any(|member| member == name);
        let is = |name: &str| self.kinds.iter().any(|kind| kind == name);
        match () {
            () if self.is_text => Nature::JsonText,
            () if message_lists().iter().any(|list| has(list)) => Nature::Request,
            () if self.is_list && has("role") && !has("stop_reason") => Nature::Request,
            () if has("choices") || has("candidates") || has("output") || is("message") && has("content") => {
                Nature::Response
            }
            () if has("error") || is("error") => Nature::ProviderError,
            () if has("log") => Nature::Har,
            () if has("tools") || has("max_tokens") => Nature::Request,
            () => Nature::OtherJson,
        }
    }
}

/// Reads an object, or the first element of a list.
struct Look<'o>(&'o mut Outline);

impl<'de> DeserializeSeed<'de> for Look<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Look<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object, a list or a string")
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.0.is_text = true;
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.0.is_list = true;
        let first = list.next_element_seed(Element(self.0))?;
        if first.is_some() {
            while list.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        while let Some(member) = object.next_key::<String>()? {
            let names_kind = member == "type" || member == "object";
            self.0.members.push(member);
            if names_kind {
                let kind: serde_json::Value = object.next_value()?;
                self.0.kinds.extend(kind.as_str().map(str::to_owned));
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Reads an element if it is an object.
struct Element<'o>(&'o mut Outline);

impl<'de> DeserializeSeed<'de> for Element<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(Look(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_input_are_recognized_by_their_first_bytes() {
        for (bytes, nature) in [
            (&b" \n\r\n"[..], Nature::Empty),
            (b"\x1f\x8b\x08\0\0", Nature::Gzip),
            (b"\xff\xfed\0a\0", Nature::Utf16),
            (b"d\0a\0t\0a\0", Nature::Utf16),
            (b"\0d\0a\0t\0a", Nature::Utf16),
            (b"\0\0\0\x77\0\0\0\x52\xef\xbf\xbd", Nature::Mangled),
            (b"\0\0\0\x77\0\0\0\x52\x12\x34\x56\x78", Nature::Unknown),
            (b"\x89PNG\r\n", Nature::NotText),
            (b"\xef\xbb\xbfdata: {}\n\n", Nature::EventStream),
            (b": hi\n\nevent: message_start\n", Nature::EventStream),
            (b"12:00 DEBUG data: {\"a\":1}\n", Nature::LogLines),
            (b"\tmessage\t{\"id\":\"c\"}\t12:00\n", Nature::Table),
            (b"{\"model\":\"m\",\"messages\":[{\"ro", Nature::Request),
            (b"[{\"role\":\"user\",\"content\":\"hi\"},{", Nature::Request),
            (b"{\"max_tokens\":1,\"tools\":[{", Nature::Request),
            (b"{\"choices\":[]}", Nature::Response),
            (b"[{\"candidates\":[]}]", Nature::Response),
            (b"{\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}", Nature::Response),
            (b"{\"type\":\"error\",\"error\":{}}", Nature::ProviderError),
            (b"{\"log\":{\"entries\":[]}}", Nature::Har),
            (b"\"data: {}\"", Nature::JsonText),
            (b"{\"a\":1}", Nature::OtherJson),
            (b"[1,2]", Nature::OtherJson),
            (b"<html>", Nature::Unknown),
        ] {
            assert_eq!(Nature::of(bytes), nature, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
