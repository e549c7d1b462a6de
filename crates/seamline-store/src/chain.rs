//! Commits that come from elsewhere.

use crate::commit::OpenedCommit;
use crate::error::Error;
use crate::id::SessionId;
use crate::store::Head;

/// Checks that commits are the whole chain of a session, and gives its end.
///
/// # Errors
/// [`Error::Refused`], with the first commit that is not.
pub fn chain(session: &SessionId, commits: &[Vec<u8>]) -> Result<(Head, Vec<OpenedCommit>), Error> {
    let mut head = Head { epoch: 1, ..Head::START };
    let mut opened = Vec::with_capacity(commits.len());
    for (number, bytes) in (1..).zip(commits) {
        let refused = |why: String| Error::Refused(format!("commit {number} of `{session}` cannot be taken in: {why}"));
        let commit = OpenedCommit::open(bytes).map_err(|flaw| refused(flaw.to_string()))?;
        if commit.session != *session {
            return Err(refused(format!("it belongs to session `{}`", commit.session)));
        }
        if commit.seq != head.seq + 1 || commit.prev != head.hash || commit.epoch < head.epoch {
            return Err(refused("it does not follow the one before it".to_owned()));
        }
        head = Head { epoch: commit.epoch, seq: commit.last_seq(), hash: commit.hash };
        opened.push(commit);
    }
    Ok((head, opened))
}
