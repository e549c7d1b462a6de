//! A sketch of a JSON value: its first members and elements, without the rest.
//!
//! A truncated text gives what comes before the cut. The work is bounded by the length of the text, and the sketch by
//! its depth and the numbers below.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The deepest values of a sketch; deeper ones are `null`.
const DEPTH_MAX: usize = 6;
/// The most elements of a list in a sketch.
const ELEMENTS_MAX: usize = 16;
/// The most members of an object in a sketch.
const MEMBERS_MAX: usize = 64;
/// The most bytes of a string in a sketch.
const STRING_BYTES_MAX: usize = 200;

/// A sketch, and whether the text is one whole JSON value.
pub(crate) struct Sketch {
    pub(crate) value: Value,
    pub(crate) is_whole: bool,
    /// The line of the first error, from 1; nothing if the text is whole or only ends too early.
    pub(crate) wrong_line: Option<usize>,
}

impl Sketch {
    /// Sketches the first JSON value of a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut value = Value::Null;
        let mut reader = serde_json::Deserializer::from_str(text);
        let grown = Grow { slot: &mut value, depth: 0 }.deserialize(&mut reader);
        let read = grown.and_then(|()| reader.end());
        let wrong = read.as_ref().err().filter(|error| !error.is_eof());
        Self { is_whole: read.is_ok(), wrong_line: wrong.map(serde_json::Error::line), value }
    }
}

/// Reads a value into its slot while it goes, so that an error keeps what was read.
struct Grow<'v> {
    slot: &'v mut Value,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Grow<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.depth > DEPTH_MAX {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(drop);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Grow<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        *self.slot = Value::from(value);
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        *self.slot = Value::from(value);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        *self.slot = Value::from(value);
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        *self.slot = Value::from(value);
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        *self.slot = Value::from(&value[..value.floor_char_boundary(STRING_BYTES_MAX)]);
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        *self.slot = Value::Array(Vec::new());
        let Value::Array(elements) = self.slot else { return Ok(()) };
        while elements.len() < ELEMENTS_MAX {
            elements.push(Value::Null);
            let Some(slot) = elements.last_mut() else { break };
            if list.next_element_seed(Grow { slot, depth: self.depth + 1 })?.is_none() {
                elements.pop();
                return Ok(());
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        *self.slot = Value::Object(Map::new());
        let Value::Object(members) = self.slot else { return Ok(()) };
        while let Some(key) = object.next_key::<String>()? {
            if members.len() < MEMBERS_MAX {
                let slot = members.entry(key).or_insert(Value::Null);
                object.next_value_seed(Grow { slot, depth: self.depth + 1 })?;
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_truncated_text_gives_what_comes_before_the_cut() {
        let sketch = Sketch::of(r#"{"a":[1,{"b":"c"},{"d":"#);
        assert_eq!(sketch.value, json!({"a": [1, {"b": "c"}, {"d": null}]}));
        assert!(!sketch.is_whole);
    }

    #[test]
    fn a_sketch_is_bounded() {
        let list = format!("[{}]", vec!["1"; 1000].join(","));
        assert_eq!(Sketch::of(&list).value.as_array().map(Vec::len), Some(ELEMENTS_MAX));
        let deep = "[".repeat(60) + &"]".repeat(60);
        assert!(Sketch::of(&deep).is_whole);
        let long = format!("\"{}\"", "é".repeat(1000));
        assert!(Sketch::of(&long).value.as_str().is_some_and(|text| text.len() <= STRING_BYTES_MAX));
    }
}
