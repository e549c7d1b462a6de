//! Reads SQLite's write-ahead log and its index without SQLite.
//!
//! SQLite recovers the log up to the first frame that is not intact, and says nothing about the commits behind it. This
//! module finds them. The format is documented: <https://www.sqlite.org/fileformat.html>, section 4, and
//! <https://www.sqlite.org/walformat.html>, section 2.

use std::io::{self, Read};

/// The bytes of the header of the log, and of the header of a frame.
const HEADER: usize = 32;
const FRAME: usize = 24;

/// The first word of the log; its last bit says that checksums read big-endian words.
const MAGIC: u32 = 0x377f_0682;

/// The version of the log and of its index.
const VERSION: u32 = 3_007_000;

/// The bytes of the index that this module reads: two copies of its header, and the state of the last checkpoint.
pub(crate) const INDEX: usize = 100;

/// The bytes of one header of the index, and of its part before the checksum.
const INDEX_HEADER: usize = 48;
const INDEX_SUMMED: usize = 40;

/// The two numbers that each frame repeats from the header of its log. SQLite changes them when it overwrites the log.
type Salts = [u8; 8];

/// The content of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Log {
    /// The salts of the header; none if the header is not intact, so that SQLite ignores the whole log.
    salts: Option<Salts>,
    /// The number of the last frame that SQLite recovers: it ends the last commit of the intact frames.
    committed: u64,
    /// Whole frames with the same salts behind the intact ones.
    behind: u64,
    /// Those of them that end a commit.
    commits_behind: u64,
    /// Whether a log without an intact header has other bytes than zeros.
    is_filled: bool,
}

/// The state of the log according to its index. The index is not synced, but the writer changes it only after a commit
/// is on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Index {
    salts: Salts,
    /// The number of the last frame of the last commit.
    committed: u64,
    /// The number of frames that the database already has.
    copied: u64,
}

/// The losses of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Commits that were on the disk.
    Certain,
    /// The last commit, if it was acknowledged. A power cut during a commit leaves the same bytes.
    Possible,
}

/// Decides what a log lost. `is_fresh` says that the index was written since the machine started, so that it knows all
/// commits.
pub(crate) fn judge(log: &Log, index: Option<&Index>, is_fresh: bool) -> Option<Loss> {
    if let Some(index) = index {
        let is_copied = index.copied >= index.committed;
        match log.salts {
            // SQLite ignores the log, and the database has all that the log had.
            _ if is_copied && log.committed == 0 && log.salts.is_none_or(|salts| salts == index.salts) => return None,
            None => return Some(Loss::Certain),
            Some(salts) if salts == index.salts && log.committed < index.committed => return Some(Loss::Certain),
            Some(salts) if salts == index.salts && is_fresh => return None,
            Some(_) => {}
        }
    }
    match log {
        // A commit begins when the one before it is on the disk.
        Log { commits_behind: 2.., .. } => Some(Loss::Certain),
        Log { behind: 1.., .. } | Log { salts: None, is_filled: true, .. } => Some(Loss::Possible),
        _ => None,
    }
}

impl Log {
    /// Reads a log to its end.
    pub(crate) fn read(mut from: impl Read) -> io::Result<Self> {
        let mut header = [0; HEADER];
        let found = fill(&mut from, &mut header)?;
        let Some((page, is_big, sum)) = header_of(&header).filter(|_| found == HEADER) else {
            let mut is_filled = false;
            let mut piece = [0; 4096];
            // A file without a whole frame had no commit.
            let mut bytes = 0;
            loop {
                let count = fill(&mut from, &mut piece)?;
                (bytes, is_filled) = (bytes + count, is_filled || piece[..count].iter().any(|byte| *byte != 0));
                if count < piece.len() {
                    break;
                }
            }
            return Ok(Self { is_filled: is_filled && bytes >= FRAME, ..Self::default() });
        };
        let salts = array(&header[16..24]);
        let mut log = Self { salts: Some(salts), ..Self::default() };
        let (mut frame, mut number, mut intact) = (vec![0; FRAME + page], 0, Some(sum));
        while fill(&mut from, &mut frame)? == frame.len() {
            number += 1;
            intact = intact.and_then(|sum| next(&frame, salts, is_big, sum));
            log.take(number, &frame, salts, intact.is_some());
        }
        Ok(log)
    }

    fn take(&mut self, number: u64, frame: &[u8], salts: Salts, is_intact: bool) {
        let ends_commit = word(&frame[4..8]) != 0;
        if is_intact {
            self.committed = if ends_commit { number } else { self.committed };
        } else if is_near(array(&frame[8..16]), salts) {
            self.behind += 1;
            self.commits_behind += u64::from(ends_commit);
        }
    }
}

impl Index {
    /// Reads the start of the index; none if no header of it is intact.
    pub(crate) fn read(bytes: &[u8; INDEX]) -> Option<Self> {
        // A writer writes the second copy first.
        let (first, second) = (&bytes[..INDEX_HEADER], &bytes[INDEX_HEADER..2 * INDEX_HEADER]);
        let header = [second, first].into_iter().find(|copy| is_index_header(copy))?;
        let copied = native(&bytes[2 * INDEX_HEADER..INDEX]);
        let committed = native(&header[16..20]);
        Some(Self { salts: array(&header[32..40]), committed: committed.into(), copied: copied.into() })
    }
}

fn is_index_header(copy: &[u8]) -> bool {
    let sum = Sum::default().then(&copy[..INDEX_SUMMED], cfg!(target_endian = "big"));
    let is_sealed = (sum.0, sum.1) == (native(&copy[40..44]), native(&copy[44..48]));
    native(&copy[..4]) == VERSION && copy[12] == 1 && is_sealed
}

/// Returns the page size, the order of bytes and the checksum of a header, if SQLite accepts it.
fn header_of(header: &[u8; HEADER]) -> Option<(usize, bool, Sum)> {
    let (magic, page) = (word(&header[..4]), word(&header[8..12]));
    let is_big = magic & 1 == 1;
    let sum = Sum::default().then(&header[..24], is_big);
    let is_whole = magic & !1 == MAGIC
        && word(&header[4..8]) == VERSION
        && page.is_power_of_two()
        && (512..=65_536).contains(&page)
        && (sum.0, sum.1) == (word(&header[24..28]), word(&header[28..32]));
    is_whole.then_some((usize::try_from(page).ok()?, is_big, sum))
}

/// Returns the checksum after a frame, if SQLite accepts the frame.
fn next(frame: &[u8], salts: Salts, is_big: bool, sum: Sum) -> Option<Sum> {
    let sum = sum.then(&frame[..8], is_big).then(&frame[FRAME..], is_big);
    let is_whole = word(&frame[..4]) != 0
        && array(&frame[8..16]) == salts
        && (sum.0, sum.1) == (word(&frame[16..20]), word(&frame[20..24]));
    is_whole.then_some(sum)
}

/// Whether the salts are the same but for one bit. The salts of an overwritten log differ in about sixteen.
fn is_near(one: Salts, other: Salts) -> bool {
    (u64::from_be_bytes(one) ^ u64::from_be_bytes(other)).count_ones() <= 1
}

/// SQLite's checksum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sum(u32, u32);

impl Sum {
    fn then(self, bytes: &[u8], is_big: bool) -> Self {
        let read = |at: &[u8]| if is_big { word(at) } else { word(at).swap_bytes() };
        bytes.chunks_exact(8).fold(self, |Self(one, two), pair| {
            let one = one.wrapping_add(read(&pair[..4])).wrapping_add(two);
            Self(one, two.wrapping_add(read(&pair[4..])).wrapping_add(one))
        })
    }
}

/// Reads a big-endian word of four bytes.
fn word(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(array(bytes))
}

/// Reads a word of four bytes in the order of this machine.
fn native(bytes: &[u8]) -> u32 {
    u32::from_ne_bytes(array(bytes))
}

/// Copies bytes into an array of their length.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut copy = [0; N];
    copy.copy_from_slice(bytes);
    copy
}

/// Fills a buffer as far as the input goes, and returns how many bytes it got.
pub(crate) fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
