//! Seals with a secret key.

use std::fmt;

use crate::hash::Hash;

/// The context that separates this use of a secret from others.
const CONTEXT: &str = "seamline 2026-11 key of commit seals";

/// A secret key of seals.
///
/// The usual seal of a commit is a hash without a secret: it detects corruption, not a change by a person who can write
/// the store, because that person can compute the hash again. With a key, only those who have the key can write a commit
/// that opens. A key does not detect that the last commits of a session, or all of them, were removed.
#[derive(Clone, PartialEq, Eq)]
pub struct SealKey {
    key: [u8; 32],
    name: String,
}

impl SealKey {
    /// The number of characters of the name of a key.
    pub(crate) const NAME_LEN: usize = 16;

    /// Derives a key from a secret. The secret should have at least 128 bits of randomness: the derivation is fast.
    ///
    /// ```
    /// use seamline_store::SealKey;
    ///
    /// let key = SealKey::derive("4f1c9f2ab1d94ce0b9c8e57c5d2f6a11");
    /// assert!(!format!("{key:?}").contains("4f1c"));
    /// ```
    pub fn derive(secret: &str) -> Self {
        let key = blake3::derive_key(CONTEXT, secret.as_bytes());
        let mut name = Hash::keyed(&key, b"name").to_string();
        name.truncate(Self::NAME_LEN);
        Self { key, name }
    }

    /// The name of the key, which each commit that it seals has. It does not reveal the key.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Computes the seal of some bytes.
    pub(crate) fn seal(&self, bytes: &[u8]) -> Hash {
        Hash::keyed(&self.key, bytes)
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealKey").field("name", &self.name).finish_non_exhaustive()
    }
}
