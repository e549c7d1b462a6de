//! Checks commits that another store exported.

use crate::cause::{self, ImportFlaw};
use crate::commit::{Flaw, OpenedCommit};
use crate::error::Error;
use crate::id::SessionId;
use crate::seal::SealKey;
use crate::store::Head;

/// Checks that commits are the complete chain of a session, and returns its head. A seal with a key is not checked: a
/// store has no key.
///
/// # Errors
/// [`Error::Refused`], with the first commit that breaks the chain.
pub fn chain(session: &SessionId, commits: &[Vec<u8>]) -> Result<(Head, Vec<OpenedCommit>), Error> {
    link(session, commits, OpenedCommit::outline)
}

/// As [`chain`], and checks the seals with a key, too.
///
/// # Errors
/// As [`chain`]; also when a commit is sealed with another key.
pub fn chain_with(
    session: &SessionId,
    commits: &[Vec<u8>],
    key: Option<&SealKey>,
) -> Result<(Head, Vec<OpenedCommit>), Error> {
    link(session, commits, |bytes| OpenedCommit::open_with(bytes, key))
}

fn link(
    session: &SessionId,
    commits: &[Vec<u8>],
    open: impl Fn(&[u8]) -> Result<OpenedCommit, Flaw>,
) -> Result<(Head, Vec<OpenedCommit>), Error> {
    let mut head = Head { epoch: 1, ..Head::START };
    let mut opened = Vec::with_capacity(commits.len());
    for (number, bytes) in (1..).zip(commits) {
        let refused =
            |flaw: ImportFlaw| Error::Refused(cause::Refused::Import { session: session.clone(), number, flaw });
        let commit = open(bytes).map_err(|flaw| refused(flaw.into()))?;
        if commit.session != *session {
            return Err(refused(ImportFlaw::OtherSession(commit.session)));
        }
        if commit.seq != head.seq + 1 || commit.prev != head.hash || commit.epoch < head.epoch {
            return Err(refused(ImportFlaw::Unchained));
        }
        head = Head { epoch: commit.epoch, seq: commit.last_seq(), hash: commit.hash };
        opened.push(commit);
    }
    Ok((head, opened))
}
