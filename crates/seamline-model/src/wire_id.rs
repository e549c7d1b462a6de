//! Ids of calls and items in a body, stored inline so that comparing them is fast.

use std::hash::{Hash, Hasher};

/// The longest id stored without an allocation. Ids made by providers have 29 or 30 bytes.
const INLINE_MAX: usize = 30;

/// The id of a call or an item, as the body writes it. Short ids are stored in the block itself: pairing compares every id of a conversation, and reading
/// each from the source text would be most of its cost.
#[derive(Clone)]
pub struct WireId(Repr);

#[derive(Clone)]
enum Repr {
    Inline { len: u8, bytes: [u8; INLINE_MAX] },
    Long(Box<str>),
}

impl WireId {
    /// The id as text.
    #[inline]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Inline { len, bytes } => std::str::from_utf8(&bytes[..usize::from(*len)]).unwrap_or_default(),
            Repr::Long(text) => text,
        }
    }

    /// The length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.as_bytes().len()
    }

    /// Whether the id has no characters.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Repr::Long(text) => text.as_bytes(),
        }
    }
}

impl From<&str> for WireId {
    fn from(text: &str) -> Self {
        let mut bytes = [0; INLINE_MAX];
        match bytes.get_mut(..text.len()) {
            Some(place) => {
                place.copy_from_slice(text.as_bytes());
                Self(Repr::Inline { len: text.len() as u8, bytes })
            }
            None => Self(Repr::Long(text.into())),
        }
    }
}

impl std::ops::Deref for WireId {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for WireId {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            // Bytes after the end are zero in both, so whole arrays can be compared.
            (Repr::Inline { len, bytes }, Repr::Inline { len: other_len, bytes: other_bytes }) => {
                len == other_len && bytes == other_bytes
            }
            (Repr::Long(text), Repr::Long(other)) => text == other,
            _ => false,
        }
    }
}

impl Eq for WireId {}

impl Hash for WireId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl std::fmt::Debug for WireId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_keeps_its_text() {
        for len in [0, 1, 29, 30, 31, 300] {
            let text = "é".repeat(len / 2) + if len % 2 == 1 { "x" } else { "" };
            let id = WireId::from(&*text);
            assert_eq!(id.as_str(), text);
            assert_eq!(id, WireId::from(&*text));
            assert_ne!(id, WireId::from(&*(text + "y")));
        }
    }

    #[test]
    fn an_id_fits_half_a_cache_line() {
        assert_eq!(size_of::<Option<WireId>>(), 32);
    }
}
