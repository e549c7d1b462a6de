//! Views of JSON text that keep every byte: the members of an object and the elements of a list, as text.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An object, and the places of its members.
pub(crate) struct Object<'t> {
    text: &'t str,
    members: Vec<Member<'t>>,
}

struct Member<'t> {
    name: String,
    /// The first byte of the key.
    start: usize,
    value: &'t str,
}

impl<'t> Object<'t> {
    /// Reads an object; nothing if the text is something else.
    pub(crate) fn of(text: &'t str) -> Option<Self> {
        let pairs: Pairs<'t> = serde_json::from_str(text).ok()?;
        let member = |(key, value): (&'t RawValue, &'t RawValue)| {
            Some(Member { name: string(key.get())?, start: offset(text, key.get()), value: value.get() })
        };
        Some(Self { text, members: pairs.0.into_iter().map(member).collect::<Option<_>>()? })
    }

    /// The text of a member's value. If a member is repeated, the last value is used, as in most programs.
    pub(crate) fn get(&self, name: &str) -> Option<&'t str> {
        self.members.iter().rev().find(|member| member.name == name).map(|member| member.value)
    }

    /// The first of several members that the object has, with its name.
    pub(crate) fn first<'n>(&self, names: &[&'n str]) -> Option<(&'n str, &'t str)> {
        names.iter().find_map(|name| Some((*name, self.get(name)?)))
    }

    /// The value of a member that is a string.
    pub(crate) fn string(&self, name: &str) -> Option<String> {
        self.get(name).and_then(string)
    }

    /// Whether a member is one of these strings.
    pub(crate) fn says(&self, name: &str, words: &[&str]) -> bool {
        self.string(name).is_some_and(|said| words.contains(&said.as_str()))
    }

    /// Whether the object has no other members than these.
    pub(crate) fn has_only(&self, names: &[&str]) -> bool {
        self.members.iter().all(|member| names.contains(&member.name.as_str()))
    }

    /// The elements of a member that is a list.
    pub(crate) fn list(&self, name: &str) -> Vec<&'t str> {
        self.get(name).and_then(elements).unwrap_or_default()
    }

    /// Writes the object with other values for some members; `None` removes a member. New members go to the end.
    pub(crate) fn with(&self, changes: &[(&str, Option<String>)]) -> String {
        let changed = |name: &str| changes.iter().find(|(changed, _)| *changed == name).map(|(_, value)| value);
        let mut pieces = Vec::new();
        for member in &self.members {
            let key = &self.text[member.start..offset(self.text, member.value)];
            match changed(&member.name) {
                None => pieces.push(format!("{key}{}", member.value)),
                Some(Some(value)) => pieces.push(format!("{key}{value}")),
                Some(None) => {}
            }
        }
        let colon = self.members.first().map_or(":", |first| self.colon(first));
        for (name, value) in changes {
            if let (Some(value), None) = (value, self.get(name)) {
                pieces.push(format!("{}{colon}{value}", quoted(name)));
            }
        }
        let spans = self.members.iter().map(|member| member.start..end(self.text, member.value));
        joined(self.text, &spans.collect::<Vec<_>>(), &pieces)
    }

    /// The text between a key and its value.
    fn colon(&self, member: &Member<'t>) -> &'t str {
        let key_and_colon = &self.text[member.start..offset(self.text, member.value)];
        key_and_colon.rfind('"').map_or(":", |quote| &key_and_colon[quote + 1..])
    }
}

/// Writes a list with other elements, in the layout that it has.
pub(crate) fn relisted(list: &str, pieces: &[String]) -> String {
    let old = elements(list).unwrap_or_default();
    let spans: Vec<_> = old.iter().map(|element| offset(list, element)..end(list, element)).collect();
    if spans.is_empty() { format!("[{}]", pieces.join(",")) } else { joined(list, &spans, pieces) }
}

/// Writes pieces between the brackets of a text, separated as its first two parts are.
fn joined(text: &str, old: &[Range<usize>], pieces: &[String]) -> String {
    let (Some(first), Some(last)) = (old.first(), old.last()) else {
        let (open, close) = text.split_at(text.len() / 2);
        return format!("{open}{}{close}", pieces.join(","));
    };
    let separator = old.get(1).map_or(",", |second| &text[first.end..second.start]);
    format!("{}{}{}", &text[..first.start], pieces.join(separator), &text[last.end..])
}

/// The elements of a list, as text; nothing if the text is something else.
pub(crate) fn elements(text: &str) -> Option<Vec<&str>> {
    let raw: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(raw.into_iter().map(RawValue::get).collect())
}

/// The value of a string; nothing if the text is something else. Half of a surrogate pair has no value, so such a
/// string is taken as it is written.
pub(crate) fn string(text: &str) -> Option<String> {
    unquoted(text).map(Cow::into_owned)
}

/// As [`string`], without a copy of a string that has no escapes.
pub(crate) fn unquoted(text: &str) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    Some(serde_json::from_str(text).map_or(Cow::Borrowed(inner), Cow::Owned))
}

/// A string as JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The length of the JSON value at the start of some bytes. The error is the number of bytes that were read to find out
/// that there is none.
pub(crate) fn value_length(bytes: &[u8]) -> Result<usize, usize> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(IgnoredAny)) => Ok(values.byte_offset()),
        Some(Err(error)) => {
            let lines = bytes.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
            Err((lines.map(<[u8]>::len).sum::<usize>() + error.column()).min(bytes.len()))
        }
        None => Err(bytes.len()),
    }
}

/// The place of a part of a text in it.
pub(crate) fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr().addr() - whole.as_ptr().addr()
}

fn end(whole: &str, part: &str) -> usize {
    offset(whole, part) + part.len()
}

/// The values of some members of an object, in the order of `names`. If a member is repeated, the last is used. The values
/// of other members are skipped without being kept, so this is the fastest way to read a few members of a long record.
///
/// # Errors
///
/// Fails when the text is not exactly one JSON object.
pub(crate) fn members<'t, const N: usize>(
    text: &'t str,
    names: &[&str; N],
) -> Result<[Option<&'t str>; N], serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = deserializer.deserialize_map(SomeMembers { names })?;
    deserializer.end()?;
    Ok(found)
}

struct SomeMembers<'n, const N: usize> {
    names: &'n [&'n str; N],
}

impl<'de, const N: usize> Visitor<'de> for SomeMembers<'_, N> {
    type Value = [Option<&'de str>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        while let Some(at) = object.next_key_seed(Position { names: self.names })? {
            match at {
                Some(at) => found[at] = Some(object.next_value::<&RawValue>()?.get()),
                None => {
                    object.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }
}

/// Finds a key among names.
struct Position<'n> {
    names: &'n [&'n str],
}

impl<'de> DeserializeSeed<'de> for Position<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Position<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.names.iter().position(|name| *name == key))
    }
}

/// The keys and values of an object, in order and with repetitions.
struct Pairs<'t>(Vec<(&'t RawValue, &'t RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Pairs<'de>, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = object.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_replaced_added_and_removed_in_place() {
        let text = r#"{ "a": 1, "b" : {"c":[1, 2]}, "d": "x" }"#;
        let object = Object::of(text).unwrap();
        assert_eq!((object.get("b"), object.string("d").as_deref()), (Some(r#"{"c":[1, 2]}"#), Some("x")));
        assert_eq!(object.with(&[]), text);
        let changed = object.with(&[("d", None), ("a", Some("2".to_owned())), ("e", Some("null".to_owned()))]);
        assert_eq!(changed, r#"{ "a": 2, "b" : {"c":[1, 2]}, "e": null }"#);
        assert_eq!(Object::of("{}").unwrap().with(&[("a", Some("1".to_owned()))]), r#"{"a":1}"#);
        assert!(Object::of("[1]").is_none());
    }

    #[test]
    fn some_members_are_found_and_the_last_of_a_repeated_one_counts() {
        let text = r#" {"a":1,"b":{"a":9},"c":"x","a":[2]} "#;
        assert_eq!(members(text, &["c", "a", "z"]).unwrap(), [Some("\"x\""), Some("[2]"), None]);
        for damaged in ["", "[1]", "{\"a\":1", "{}{}", "{\"a\":\"\u{1}\"}"] {
            assert!(members(damaged, &["a"]).is_err(), "{damaged}");
        }
    }

    #[test]
    fn a_value_ends_where_it_is_complete_or_breaks() {
        assert_eq!(value_length(br#"{"a":[1]} {"b""#), Ok(9));
        assert_eq!(value_length(b"{\"a\":\n\n x}, more and more text"), Err(9));
        assert_eq!(value_length(br#"{"a":"b"#), Err(7));
        assert_eq!(value_length(b""), Err(0));
    }

    #[test]
    fn a_list_keeps_its_layout() {
        let pieces = ["1".to_owned(), "3".to_owned(), "4".to_owned()];
        assert_eq!(relisted("[ 1,\n 2 ]", &pieces), "[ 1,\n 3,\n 4 ]");
        assert_eq!(relisted("[]", &pieces), "[1,3,4]");
        assert_eq!(relisted("[ 1 ]", &[]), "[  ]");
    }

    #[test]
    fn half_of_a_surrogate_pair_is_taken_as_written() {
        assert_eq!(string(r#""a\ud800b""#).as_deref(), Some(r"a\ud800b"));
        assert_eq!(string(r#""a\u00e9""#).as_deref(), Some("aé"));
    }
}
