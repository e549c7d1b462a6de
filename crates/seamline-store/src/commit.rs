//! Commits and their seal.
//!
//! A commit is one JSON object. Its last member is the hash of all bytes before it, so the seal covers the exact bytes
//! and needs no canonical form. The object holds the name of the session, its own number and the hash of the previous
//! commit, so that a commit that is moved to another place or session is detected.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::cause;
use crate::error::Error;
use crate::hash::Hash;
use crate::id::{CommitId, DialectName, InboxId, SessionId};
use crate::record::Record;
use crate::seal::SealKey;
use crate::store::Head;

/// The version of the commit format.
pub(crate) const VERSION: u64 = 1;

/// The largest size of a commit, in bytes.
pub const COMMIT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The bytes before the name of the key, and the bytes after it, where a commit is sealed with a key.
const KEY: &str = "{\"v\":1,\"key\":\"";
const KEY_END: &str = "\"";

/// The bytes before the hash, and the bytes after it.
const SEAL: &str = ",\"hash\":\"";
const SEAL_END: &str = "\"}";
const SEAL_LEN: usize = SEAL.len() + Hash::HEX_LEN + SEAL_END.len();

/// Records that become durable together or not at all.
#[derive(Debug, Clone, Copy)]
pub struct Commit<'a> {
    /// The name of the session.
    pub session: &'a SessionId,
    /// The epoch of the writer.
    pub epoch: u64,
    /// The head that the commit follows.
    pub head: Head,
    /// The identity of the commit. A commit that is sent twice has the same one.
    pub id: CommitId,
    /// The time of the commit, in milliseconds since 1970. Only shown.
    pub at: u64,
    /// The records of the commit.
    pub records: &'a [Record],
}

impl Commit<'_> {
    /// Serializes and seals the commit.
    ///
    /// # Errors
    /// Fails when there are no records, or more than [`COMMIT_BYTES_MAX`] bytes.
    pub fn seal(&self) -> Result<Sealed, Error> {
        self.seal_with(None)
    }

    /// As [`Commit::seal`], with a key if there is one.
    ///
    /// # Errors
    /// As [`Commit::seal`].
    pub fn seal_with(&self, key: Option<&SealKey>) -> Result<Sealed, Error> {
        if self.records.is_empty() {
            return Err(Error::Refused(cause::Refused::EmptyCommit));
        }
        let (seq, prev) = (self.head.seq + 1, self.head.hash);
        let Self { session, epoch, id, at, records, .. } = self;
        let (count, start) = (records.len() as u64, records.iter().map(Record::bytes_about).sum::<usize>());
        let mut bytes = Vec::with_capacity(start + 512);
        let keyed = key.map(|key| format!("\"key\":\"{}\",", key.name())).unwrap_or_default();
        bytes.extend_from_slice(
            format!(
                "{{\"v\":{VERSION},{keyed}\"session\":\"{session}\",\"epoch\":{epoch},\"seq\":{seq},\"n\":{count},\"at\":{at},\"id\":\"{id}\",\"prev\":\"{prev}\",\"records\":"
            )
            .as_bytes(),
        );
        serde_json::to_writer(&mut bytes, records)
            .map_err(|error| Error::Refused(cause::Refused::Other(error.to_string())))?;
        if bytes.len() + SEAL_LEN > COMMIT_BYTES_MAX {
            return Err(Error::Refused(cause::Refused::CommitTooLarge { bytes: bytes.len() + SEAL_LEN }));
        }
        let hash = seal_over(&bytes, key);
        bytes.extend_from_slice(format!("{SEAL}{hash}{SEAL_END}").as_bytes());
        let taken = records.iter().flat_map(Record::taken).cloned().collect();
        let dialect = records.iter().rev().find_map(Record::dialect);
        let session = (*session).clone();
        Ok(Sealed { session, epoch: *epoch, seq, count, id: *id, prev, hash, taken, dialect, bytes })
    }
}

/// A commit with its seal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    session: SessionId,
    epoch: u64,
    seq: u64,
    count: u64,
    id: CommitId,
    prev: Hash,
    hash: Hash,
    taken: Vec<InboxId>,
    dialect: Option<DialectName>,
    bytes: Vec<u8>,
}

impl Sealed {
    /// The name of the session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The epoch of the writer.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The number of the first record.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The number of records.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The identity of the commit. A commit that is sent twice has the same one.
    pub fn id(&self) -> CommitId {
        self.id
    }

    /// The hash of the previous commit.
    pub fn prev(&self) -> Hash {
        self.prev
    }

    /// The hash of the commit.
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// The ids of the inbox messages that it takes in.
    pub fn taken(&self) -> &[InboxId] {
        &self.taken
    }

    /// The dialect of the session from this commit on, if the commit sets it. A store keeps it for
    /// [`crate::SessionInfo::dialect`].
    pub fn dialect(&self) -> Option<&DialectName> {
        self.dialect.as_ref()
    }

    /// The bytes of the commit, with the seal.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The head that the commit follows.
    pub fn before(&self) -> Head {
        Head { epoch: self.epoch, seq: self.seq - 1, hash: self.prev }
    }

    /// The head of the session after the commit.
    pub fn after(&self) -> Head {
        Head { epoch: self.epoch, seq: self.seq + self.count - 1, hash: self.hash }
    }
}

/// The reason why the bytes of a commit cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The bytes differ from the sealed bytes.
    #[error("the bytes are not those that were sealed")]
    Altered,
    /// The commit is sealed with a key, and none was given.
    #[error("it is sealed with a key, and no key was given")]
    NoKey,
    /// The commit is sealed with another key.
    #[error("it is sealed with another key")]
    OtherKey,
    /// The seal is intact, but a newer version wrote the commit.
    #[error("format {0} is newer than this version of seamline")]
    Newer(u64),
    /// The seal is intact, but the content is not a commit.
    #[error("the seal is intact, but the content is not a commit: {0}")]
    Odd(String),
}

/// A commit with an intact seal.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenedCommit {
    /// The name of the session.
    pub session: SessionId,
    /// The epoch of the writer.
    pub epoch: u64,
    /// The number of the first record.
    pub seq: u64,
    /// The time of the commit, in milliseconds since 1970.
    pub at: u64,
    /// The identity of the commit. A commit that is sent twice has the same one.
    pub id: CommitId,
    /// The hash of the previous commit.
    pub prev: Hash,
    /// The hash of the commit.
    pub hash: Hash,
    /// Whether it is sealed with a key.
    pub is_keyed: bool,
    /// The records of the commit.
    pub records: Vec<Record>,
}

impl OpenedCommit {
    /// Checks the seal and parses the content.
    ///
    /// # Errors
    /// Fails when the bytes differ from the sealed bytes, they are sealed with a key, or a newer version wrote them.
    pub fn open(bytes: &[u8]) -> Result<Self, Flaw> {
        Self::open_with(bytes, None)
    }

    /// As [`OpenedCommit::open`], for commits that may be sealed with a key.
    ///
    /// # Errors
    /// As [`OpenedCommit::open`]; also when the commit is sealed with another key.
    pub fn open_with(bytes: &[u8], key: Option<&SealKey>) -> Result<Self, Flaw> {
        let key = match (key_name(bytes), key) {
            (None, _) => None,
            (Some(name), Some(key)) if name == key.name() => Some(key),
            (Some(_), Some(_)) => return Err(Flaw::OtherKey),
            (Some(_), None) => return Err(Flaw::NoKey),
        };
        let (inside, hash) = split(bytes).ok_or(Flaw::Altered)?;
        if seal_over(inside, key) != hash {
            return Err(Flaw::Altered);
        }
        Self::parse(bytes, hash)
    }

    /// As [`OpenedCommit::open`], for stores, which have no key: a seal with a key is not checked.
    ///
    /// # Errors
    /// As [`OpenedCommit::open`].
    pub fn outline(bytes: &[u8]) -> Result<Self, Flaw> {
        match split(bytes).filter(|_| key_name(bytes).is_some()) {
            Some((_, hash)) => Self::parse(bytes, hash),
            None => Self::open(bytes),
        }
    }

    fn parse(bytes: &[u8], hash: Hash) -> Result<Self, Flaw> {
        let odd = |error: serde_json::Error| Flaw::Odd(error.to_string());
        let version: Version = serde_json::from_slice(bytes).map_err(odd)?;
        if version.v > VERSION {
            return Err(Flaw::Newer(version.v));
        }
        let inside: Inside<'_> = serde_json::from_slice(bytes).map_err(odd)?;
        if inside.records.len() as u64 != inside.n || inside.n == 0 || inside.seq == 0 {
            return Err(Flaw::Odd("its number of records is wrong".to_owned()));
        }
        let records = inside.records.iter().map(|record| Record::read(record.get())).collect();
        let Inside { session, epoch, seq, at, id, prev, .. } = inside;
        let session = session.parse().map_err(|error: crate::id::InvalidSessionId| Flaw::Odd(error.to_string()))?;
        let is_keyed = key_name(bytes).is_some();
        Ok(Self { session, epoch, seq, at, id, prev, hash, is_keyed, records })
    }

    /// The ids of the inbox messages that it takes in.
    pub fn taken(&self) -> impl Iterator<Item = &InboxId> {
        self.records.iter().flat_map(Record::taken)
    }

    /// The dialect of the session from this commit on, if the commit sets it.
    pub fn dialect(&self) -> Option<DialectName> {
        self.records.iter().rev().find_map(Record::dialect)
    }

    /// The number of the last record.
    pub fn last_seq(&self) -> u64 {
        self.seq + self.records.len() as u64 - 1
    }
}

/// The sealed bytes, and the hash in their seal.
fn split(bytes: &[u8]) -> Option<(&[u8], Hash)> {
    let (inside, seal) = bytes.split_at_checked(bytes.len().checked_sub(SEAL_LEN)?)?;
    let seal = std::str::from_utf8(seal).ok()?;
    Some((inside, Hash::from_hex(seal.strip_prefix(SEAL)?.strip_suffix(SEAL_END)?)?))
}

/// The name of the key that the bytes are sealed with.
fn key_name(bytes: &[u8]) -> Option<&str> {
    let (name, rest) = bytes.strip_prefix(KEY.as_bytes())?.split_at_checked(SealKey::NAME_LEN)?;
    rest.strip_prefix(KEY_END.as_bytes())?;
    std::str::from_utf8(name).ok()
}

fn seal_over(bytes: &[u8], key: Option<&SealKey>) -> Hash {
    key.map_or_else(|| Hash::of(bytes), |key| key.seal(bytes))
}

#[derive(Deserialize)]
struct Version {
    v: u64,
}

#[derive(Deserialize)]
struct Inside<'a> {
    #[serde(borrow)]
    session: Cow<'a, str>,
    epoch: u64,
    seq: u64,
    n: u64,
    at: u64,
    id: CommitId,
    prev: Hash,
    #[serde(borrow)]
    records: Vec<&'a RawValue>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::Raw;
    use crate::record::{MessageRecord, Origin};

    fn sealed() -> Sealed {
        let message = Raw::parse("{ \"role\":\"user\" , \"content\":\"h\\u00e9llo\"}").unwrap();
        let records = [Record::Message(MessageRecord::new(message, Origin::Said, None))];
        let session = "s-1".parse().unwrap();
        let head = Head { epoch: 3, seq: 7, hash: Hash::of(b"before") };
        let id = CommitId::from_bytes([9; 16]);
        Commit { session: &session, epoch: 3, head, id, at: 12, records: &records }.seal().unwrap()
    }

    #[test]
    fn a_sealed_commit_opens_unchanged() {
        let sealed = sealed();
        let opened = OpenedCommit::open(sealed.bytes()).unwrap();
        assert_eq!((opened.seq, opened.epoch, opened.at, opened.hash), (8, 3, 12, sealed.hash()));
        assert_eq!(opened.prev, sealed.prev());
        let Record::Message(message) = &opened.records[0] else { panic!("{:?}", opened.records) };
        assert_eq!(message.message.as_str(), "{ \"role\":\"user\" , \"content\":\"h\\u00e9llo\"}");
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_detected() {
        let sealed = sealed();
        for at in 0..sealed.bytes().len() {
            for bit in 0..8 {
                let mut bytes = sealed.bytes().to_vec();
                bytes[at] ^= 1 << bit;
                assert_eq!(OpenedCommit::open(&bytes), Err(Flaw::Altered), "byte {at}, bit {bit}");
            }
            assert!(OpenedCommit::open(&sealed.bytes()[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn a_commit_with_a_key_opens_with_that_key_only() {
        let (key, other) = (SealKey::derive("one secret"), SealKey::derive("another"));
        let records =
            [crate::record::Record::Message(MessageRecord::new(Raw::parse("{}").unwrap(), Origin::Said, None))];
        let (session, id) = ("s-1".parse().unwrap(), CommitId::from_bytes([9; 16]));
        let commit = Commit { session: &session, epoch: 1, head: Head::START, id, at: 12, records: &records };
        let sealed = commit.seal_with(Some(&key)).unwrap();
        let opened = OpenedCommit::open_with(sealed.bytes(), Some(&key)).unwrap();
        assert_eq!((opened.is_keyed, opened.hash), (true, sealed.hash()));
        assert_eq!(OpenedCommit::open(sealed.bytes()), Err(Flaw::NoKey));
        assert_eq!(OpenedCommit::open_with(sealed.bytes(), Some(&other)), Err(Flaw::OtherKey));
        assert_eq!(OpenedCommit::outline(sealed.bytes()), Ok(opened));
        // A commit without a key opens with any.
        let plain = commit.seal().unwrap();
        assert!(OpenedCommit::open_with(plain.bytes(), Some(&key)).is_ok_and(|opened| !opened.is_keyed));
        for at in 0..sealed.bytes().len() {
            let mut bytes = sealed.bytes().to_vec();
            bytes[at] ^= 1;
            assert!(OpenedCommit::open_with(&bytes, Some(&key)).is_err(), "byte {at}");
        }
        // Without the key the seal cannot be computed again.
        let (inside, _) = split(sealed.bytes()).unwrap();
        let forged = [inside, format!("{SEAL}{}{SEAL_END}", Hash::of(inside)).as_bytes()].concat();
        assert_eq!(OpenedCommit::open_with(&forged, Some(&key)), Err(Flaw::Altered));
    }

    #[test]
    fn a_newer_format_is_not_damage() {
        let text = String::from_utf8(sealed().bytes().to_vec()).unwrap();
        let inside = text[..text.len() - SEAL_LEN].replacen("{\"v\":1", "{\"v\":2", 1);
        let hash = Hash::of(inside.as_bytes());
        let newer = format!("{inside}{SEAL}{hash}{SEAL_END}");
        assert_eq!(OpenedCommit::open(newer.as_bytes()), Err(Flaw::Newer(2)));
    }
}
