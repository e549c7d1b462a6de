//! Commits that a store lost before it could read them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::id::SessionId;
use crate::replay::{Damage, DamageKind};
use crate::store::Head;

/// Commits that a store lost together with a part of its write-ahead log. The store cannot tell which sessions they
/// belonged to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLoss {
    /// Whether commits are lost that the store had acknowledged. If not, the last commit is lost, and the store may have
    /// acknowledged it: a power cut during a commit leaves the same bytes.
    pub is_certain: bool,
    /// The file that keeps the bytes of the log, if there were any and they could be kept.
    pub kept: Option<PathBuf>,
    /// The last record of each session that the store had after the loss; none if that is not known.
    pub heads: Option<BTreeMap<SessionId, u64>>,
}

impl LogLoss {
    /// Returns the damage of a session that existed when the log was damaged and ends at `head` now.
    pub fn damage(&self, session: &SessionId, head: Head) -> Option<Damage> {
        let last = match &self.heads {
            Some(heads) => *heads.get(session)?,
            None => head.seq,
        };
        let kept = self.kept.as_ref().map(|path| path.display().to_string());
        let kind = DamageKind::Log { is_certain: self.is_certain, kept };
        Some(Damage { seq: last.saturating_add(1), kind, bytes: None })
    }
}

impl fmt::Display for LogLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(sentence(self.is_certain))?;
        kept(f, self.kept.as_ref().map(|path| path.display().to_string()).as_deref())
    }
}

/// Describes the damage to the log.
pub(crate) fn sentence(is_certain: bool) -> &'static str {
    if is_certain {
        "the write-ahead log of the store was damaged, and commits that it had acknowledged are lost"
    } else {
        "the write-ahead log of the store ends with damaged bytes: a commit may have been lost, or a crash interrupted \
         one that was never acknowledged"
    }
}

/// Adds where the bytes of the log are.
pub(crate) fn kept(f: &mut fmt::Formatter<'_>, kept: Option<&str>) -> fmt::Result {
    match kept {
        Some(path) => write!(f, "; `{path}` keeps the bytes of the log"),
        None => Ok(()),
    }
}
