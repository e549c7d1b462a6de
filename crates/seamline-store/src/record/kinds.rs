//! The names of the record kinds, as `serde` derives them.

use std::collections::BTreeMap;

use serde::de::value::Error;
use serde::de::{Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;

use super::Record;

/// The name of the kind, where the text is an object with one member that names a known kind.
pub(super) fn known_kind(text: &str) -> Option<&'static str> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let (name, _) = members.first_key_value().filter(|_| members.len() == 1)?;
    kinds().iter().copied().find(|kind| kind == name)
}

/// The names of all kinds. `serde` passes them to the deserializer of an enum, so no second list can differ from it.
fn kinds() -> &'static [&'static str] {
    let mut kinds: &'static [&'static str] = &[];
    // The deserializer has no value to give: it only takes the names.
    let _ = <Record as serde::Deserialize>::deserialize(Names(&mut kinds));
    kinds
}

struct Names<'n>(&'n mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no value"))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = variants;
        Err(Error::custom("no value"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_written_records() {
        assert_eq!((kinds().first(), kinds().last()), (Some(&"begin"), Some(&"renamed")));
        assert_eq!(known_kind(r#"{"rollback":7}"#), Some("rollback"));
        for text in [r#"{"future":{}}"#, r#""rollback""#, r#"{"rollback":7,"more":1}"#, "{}", "[]"] {
            assert_eq!(known_kind(text), None, "{text}");
        }
    }
}
