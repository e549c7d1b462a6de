//! Names of sessions, and ids of commits, cycles, calls, checkpoints and repairs.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of a session: 1 to 128 letters, digits, `.`, `_`, `-` or `:`, the first of them a letter or digit.
///
/// It is safe in a path, a URL and a shell.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// The most characters of a name.
    pub const LEN_MAX: usize = 128;

    /// The text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The error for a text that cannot be the name of a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` cannot name a session: a name has 1 to 128 letters, digits, `.`, `_`, `-` or `:` and starts with a letter or digit"
)]
pub struct InvalidSessionId(String);

impl FromStr for SessionId {
    type Err = InvalidSessionId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let starts_well = text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-:".contains(&byte));
        if starts_well && is_plain && text.len() <= Self::LEN_MAX {
            return Ok(Self(text.into()));
        }
        // The error repeats a bounded part of the text.
        Err(InvalidSessionId(text.chars().take(Self::LEN_MAX).flat_map(char::escape_default).collect()))
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl Serialize for SessionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SessionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <std::borrow::Cow<'de, str>>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The identity of a commit. A commit that is sent twice has the same one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(u128);

impl CommitId {
    /// Makes an id from 16 bytes, which the caller must never use twice.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// The bytes of the id.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for CommitId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CommitId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let is_ours = text.len() == 32 && text.bytes().all(|letter| letter.is_ascii_hexdigit());
        let number = u128::from_str_radix(&text, 16).ok().filter(|_| is_ours);
        number.map(Self).ok_or_else(|| serde::de::Error::custom("not an id of 32 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_in_paths_and_shells() {
        for good in ["a", "0190b0c4-7c7e-7cc0-8000-000000000000", "agent:main.sub_1"] {
            assert_eq!(good.parse::<SessionId>().unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", "-rf", "a/b", "a b", "ä", "a\n", &"a".repeat(129)] {
            assert!(bad.parse::<SessionId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_id_of_a_commit_survives_a_round_trip() {
        let id = CommitId::from_bytes([7; 16]);
        let written = serde_json::to_string(&id).unwrap();
        assert_eq!(serde_json::from_str::<CommitId>(&written).unwrap(), id);
        assert!(serde_json::from_str::<CommitId>("\"+7\"").is_err());
    }
}

/// Declares an id that a record writes as a string.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The text of the id.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl From<&String> for $name {
            fn from(text: &String) -> Self {
                Self(text.as_str().into())
            }
        }

        impl From<&$name> for $name {
            fn from(id: &$name) -> Self {
                id.clone()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                *self.0 == *other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                *self.0 == **other
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <std::borrow::Cow<'de, str>>::deserialize(deserializer).map(|text| Self(text.into()))
            }
        }
    };
}

text_id! {
    /// The id of a tool cycle, such as `cycle_4_0123456789abcdef`.
    CycleId
}

text_id! {
    /// The id of a tool call. Each call of a turn has its own: where the model gave two calls one id, the second is
    /// called `id#2`.
    CallId
}

text_id! {
    /// The id of a checkpoint, such as `ckpt_3`.
    CheckpointId
}

text_id! {
    /// The id of a repair, such as `repair_7`.
    RepairId
}

text_id! {
    /// The identity of an inbox message, which its sender chooses. A message that is sent twice has the same one.
    InboxId
}

text_id! {
    /// The name of a dialect, such as `openai_chat`.
    DialectName
}
