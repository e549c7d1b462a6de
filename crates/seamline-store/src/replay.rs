//! From what a store gives back to the state of a session.

use serde::Serialize;

use crate::commit::{Flaw, OpenedCommit, VERSION};
use crate::error::Error;
use crate::hash::Hash;
use crate::id::SessionId;
use crate::record::Record;
use crate::state::State;
use crate::store::{Head, StoredCommit};

/// What a session is, and what of it was damaged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replayed {
    /// What its whole commits make of it.
    pub state: State,
    /// How many commits were whole.
    pub commits: u64,
    /// What was not.
    pub damages: Vec<Damage>,
}

impl Replayed {
    /// Why it may not be written here: a newer version wrote some of it, which is not damaged and cannot be read.
    pub fn newer(&self) -> Option<Error> {
        let formats = self.damages.iter().filter_map(|damage| match damage.kind {
            DamageKind::Newer { format } => Some(format),
            _ => None,
        });
        formats.max().map(|found| Error::NewerFormat { found, known: VERSION })
    }
}

/// Something that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The number of the first record it is about.
    pub seq: u64,
    /// What.
    #[serde(flatten)]
    pub kind: DamageKind,
    /// The hash of the bytes that cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Hash>,
}

/// What is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "damage", rename_all = "snake_case")]
pub enum DamageKind {
    /// The bytes of a commit are not those that were sealed.
    Altered,
    /// Its seal is right, but it cannot be read.
    Unreadable {
        /// Why.
        why: String,
    },
    /// It was written by a newer version.
    Newer {
        /// Its format.
        format: u64,
    },
    /// It belongs to another session.
    Foreign {
        /// Which.
        session: SessionId,
    },
    /// Records are missing.
    Missing {
        /// The number of the last one that is missing.
        to: u64,
    },
    /// It does not follow the commit before it.
    Unlinked,
    /// It stands under a number that is not its own.
    Misplaced {
        /// Its own.
        own: u64,
    },
    /// The end of the session is not the one that the store says.
    Head,
    /// Records are about something that is lost with others, and were passed over, or could only be taken in part.
    Unfit {
        /// How many.
        records: u64,
    },
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seq = self.seq;
        match &self.kind {
            DamageKind::Altered => write!(f, "the commit at record {seq} is not what was written"),
            DamageKind::Unreadable { why } => write!(f, "the commit at record {seq} cannot be read: {why}"),
            DamageKind::Newer { format } => {
                write!(f, "the commit at record {seq} has format {format}, which is newer than this version")
            }
            DamageKind::Foreign { session } => write!(f, "the commit at record {seq} belongs to session `{session}`"),
            DamageKind::Missing { to } => write!(f, "records {seq} to {to} are missing"),
            DamageKind::Unlinked => write!(f, "the commit at record {seq} does not follow the one before it"),
            DamageKind::Misplaced { own } => write!(f, "the commit at record {seq} is numbered {own}"),
            DamageKind::Unfit { records: 1 } => write!(f, "record {seq} is about something that is lost"),
            DamageKind::Unfit { records } => {
                write!(f, "{records} records, the first of them {seq}, are about something that is lost")
            }
            DamageKind::Head => write!(f, "the session does not end at record {seq} as its store says"),
        }
    }
}

/// Reads all commits of a session as its store gives them back, checks them, and takes the whole ones in.
///
/// What is damaged is passed over and named; nothing of it is taken for what was written.
pub fn replay<'a>(session: &SessionId, head: Head, commits: impl IntoIterator<Item = &'a StoredCommit>) -> Replayed {
    let mut replay = Replay::new(session.clone());
    for stored in commits {
        replay.take(stored);
    }
    replay.finish(head)
}

/// A [`replay`] that goes on when more commits come.
#[derive(Debug)]
pub struct Replay {
    session: SessionId,
    replayed: Replayed,
    /// The number under which the last commit stood.
    met: u64,
    /// The number of the last record that was met.
    seq: u64,
    /// The hash of the last commit, where it is known.
    hash: Option<Hash>,
    /// Whether the last commit was passed over: how many records it had is not known.
    after_damage: bool,
    /// The first record that did not fit because others are lost, and how many did not.
    unfit: Option<(u64, u64)>,
}

impl Replay {
    /// Nothing is read yet.
    pub fn new(session: SessionId) -> Self {
        let (replayed, hash) = (Replayed::default(), Some(Hash::ZERO));
        Self { session, replayed, met: 0, seq: 0, hash, after_damage: false, unfit: None }
    }

    /// What the commits make of the session so far.
    pub fn state(&self) -> &State {
        &self.replayed.state
    }

    /// The number behind which [`Store::read`](crate::Store::read) gives what comes next.
    pub fn met(&self) -> u64 {
        self.met
    }

    /// Where the session ends so far, in no epoch, where the last commit could be read.
    pub fn end(&self) -> Option<Head> {
        Some(Head { epoch: 0, seq: self.seq, hash: self.hash? })
    }

    /// What is damaged, where the store says that the session ends there.
    pub fn damages(&self, head: Head) -> Vec<Damage> {
        self.replayed.damages.iter().cloned().chain(self.unfit()).chain(self.wrong_end(head)).collect()
    }

    /// Takes the next commit in.
    pub fn take(&mut self, stored: &StoredCommit) {
        self.met = self.met.max(stored.seq);
        let next = self.seq + 1;
        if stored.seq > next && !self.after_damage {
            self.damage(next, DamageKind::Missing { to: stored.seq - 1 }, None);
            self.hash = None;
        }
        let commit = match OpenedCommit::open(&stored.bytes) {
            Ok(commit) => commit,
            Err(flaw) => return self.pass_over(stored, of_flaw(flaw)),
        };
        if commit.session != self.session {
            return self.pass_over(stored, DamageKind::Foreign { session: commit.session });
        }
        if commit.seq != stored.seq || stored.seq < next {
            return self.pass_over(stored, DamageKind::Misplaced { own: commit.seq });
        }
        if self.hash.is_some_and(|hash| hash != commit.prev) {
            // It is what somebody wrote, but not behind what is before it here.
            self.damage(commit.seq, DamageKind::Unlinked, None);
        }
        (self.seq, self.hash, self.after_damage) = (commit.last_seq(), Some(commit.hash), false);
        self.replayed.commits += 1;
        for (seq, record) in (commit.seq..).zip(&commit.records) {
            self.apply(seq, commit.at, record);
        }
    }

    fn apply(&mut self, seq: u64, at: u64, record: &Record) {
        let state = &mut self.replayed.state;
        let before = state.passed_over;
        state.apply(seq, at, record);
        // As long as nothing is lost, the writer passed over the same.
        if state.passed_over > before && !self.replayed.damages.is_empty() {
            let (first, count) = self.unfit.unwrap_or((seq, 0));
            self.unfit = Some((first, count + 1));
        }
    }

    fn unfit(&self) -> Option<Damage> {
        let (seq, records) = self.unfit?;
        Some(Damage { seq, kind: DamageKind::Unfit { records }, bytes: None })
    }

    fn pass_over(&mut self, stored: &StoredCommit, kind: DamageKind) {
        self.damage(stored.seq, kind, Some(Hash::of(&stored.bytes)));
        // The next commit says where it stands.
        self.seq = self.seq.max(stored.seq.saturating_sub(1));
        (self.hash, self.after_damage) = (None, true);
    }

    fn damage(&mut self, seq: u64, kind: DamageKind, bytes: Option<Hash>) {
        self.replayed.damages.push(Damage { seq, kind, bytes });
        self.replayed.state.expect_gaps();
    }

    fn wrong_end(&self, head: Head) -> Option<Damage> {
        let damage = |seq, kind| Some(Damage { seq, kind, bytes: None });
        if self.seq < head.seq && !self.after_damage {
            damage(self.seq + 1, DamageKind::Missing { to: head.seq })
        } else if self.seq > head.seq || self.hash.is_some_and(|hash| hash != head.hash) {
            damage(head.seq, DamageKind::Head)
        } else {
            None
        }
    }

    /// What came of it, for a session that ends here. Nothing more is to come.
    pub fn finish(mut self, head: Head) -> Replayed {
        self.replayed.damages = self.damages(head);
        self.replayed
    }
}

fn of_flaw(flaw: Flaw) -> DamageKind {
    match flaw {
        Flaw::Altered => DamageKind::Altered,
        Flaw::Newer(format) => DamageKind::Newer { format },
        Flaw::Odd(why) => DamageKind::Unreadable { why },
    }
}
