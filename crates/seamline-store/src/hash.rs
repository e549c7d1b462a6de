//! BLAKE3 hashes, written in hexadecimal.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A hash of 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The number of hexadecimal digits of a hash.
    pub const HEX_LEN: usize = 64;

    /// The hash before the first commit of a session.
    pub const ZERO: Self = Self([0; 32]);

    /// Hashes some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Hashes some bytes with a secret key.
    pub(crate) fn keyed(key: &[u8; 32], bytes: &[u8]) -> Self {
        Self(*blake3::keyed_hash(key, bytes).as_bytes())
    }

    /// Hashes this hash together with the bytes that follow it.
    #[must_use]
    pub fn then(self, bytes: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        hasher.update(bytes);
        Self(*hasher.finalize().as_bytes())
    }

    /// The bytes of the hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Makes a hash from its bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Parses 64 hexadecimal digits; rejects upper case, which this crate never writes.
    pub fn from_hex(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if bytes.len() != Self::HEX_LEN {
            return None;
        }
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(bytes.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Self(hash))
    }
}

fn nibble(letter: u8) -> Option<u8> {
    match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::from_hex(&text).ok_or_else(|| serde::de::Error::custom("not a hash of 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_survives_a_round_trip() {
        let hash = Hash::of(b"seam");
        assert_eq!(Hash::from_hex(&hash.to_string()), Some(hash));
        for wrong in ["", "0", &"g".repeat(64), &"A".repeat(64), &"0".repeat(65)] {
            assert_eq!(Hash::from_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_chain_of_hashes_depends_on_the_order() {
        let (a, b) = (Hash::ZERO.then(b"a").then(b"b"), Hash::ZERO.then(b"b").then(b"a"));
        assert_ne!(a, b);
        assert_ne!(Hash::ZERO.then(b"ab"), a);
    }
}
