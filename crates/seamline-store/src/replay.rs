//! Replays stored commits into the state of a session.

use serde::{Deserialize, Serialize};

use crate::cause;
use crate::commit::{Flaw, OpenedCommit, VERSION};
use crate::error::Error;
use crate::hash::Hash;
use crate::id::SessionId;
use crate::loss;
use crate::record::Record;
use crate::seal::SealKey;
use crate::state::State;
use crate::store::{Head, StoredCommit};

/// The state of a session, and its damage.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replayed {
    /// The state that the intact commits give.
    pub state: State,
    /// The number of intact commits.
    pub commits: u64,
    /// The number of the first record of an unknown kind.
    pub first_unknown: Option<u64>,
    /// The damage that was found.
    pub damages: Vec<Damage>,
}

impl Replayed {
    /// The error that forbids writing the session here: a newer version wrote a part of it, which this version cannot
    /// read.
    pub fn newer(&self) -> Option<Error> {
        let formats = self
            .damages
            .iter()
            .filter_map(|damage| if let DamageKind::Newer { format } = damage.kind { Some(format) } else { None });
        let unknown = || {
            let first = self.first_unknown?;
            Some(Error::UnknownRecords { count: self.state.unknown, first })
        };
        formats.max().map(|found| Error::NewerFormat { found, known: VERSION }).or_else(unknown)
    }

    /// The error that forbids reading the session: a part of it is sealed with a key that was not given.
    pub fn wrong_key(&self) -> Option<Error> {
        wrong_key(&self.damages)
    }
}

/// Damage of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The number of the first record that is affected.
    pub seq: u64,
    /// The kind of damage.
    #[serde(flatten)]
    pub kind: DamageKind,
    /// The hash of the unreadable bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Hash>,
}

impl Damage {
    /// The damage of a session that was made from one that had lost records.
    pub fn inherited(state: &State) -> Option<Self> {
        let parent = state.begin.as_ref()?.parent.as_ref().filter(|parent| parent.is_degraded)?;
        Some(Self { seq: 1, kind: DamageKind::Inherited { session: parent.session.clone() }, bytes: None })
    }

    /// The number of the first record of the damaged commit.
    pub fn commit(&self) -> u64 {
        if let DamageKind::UnreadableRecord { commit, .. } = self.kind { commit } else { self.seq }
    }
}

/// The kind of damage of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "damage", rename_all = "snake_case")]
pub enum DamageKind {
    /// The bytes of a commit differ from the sealed bytes.
    Altered,
    /// The seal is intact, but the commit cannot be read.
    Unreadable {
        /// The reason why not.
        why: String,
    },
    /// The commit is intact, but records of it have a content that this version cannot read. They were skipped.
    UnreadableRecord {
        /// The number of the first record of the commit.
        commit: u64,
        /// The kind of the first such record.
        kind: String,
        /// The number of such records in the commit.
        records: u64,
    },
    /// A newer version wrote the commit.
    Newer {
        /// The format of the commit.
        format: u64,
    },
    /// The commit belongs to another session.
    Foreign {
        /// The name of the other session.
        session: SessionId,
    },
    /// Records are missing.
    Missing {
        /// The number of the last missing record.
        to: u64,
    },
    /// The commit does not follow the previous one.
    Unlinked,
    /// The commit is stored under a wrong number.
    Misplaced {
        /// The number that the commit itself has.
        own: u64,
    },
    /// The session does not end where the store says.
    Head,
    /// Records refer to lost records. They were skipped, or applied in part.
    Unfit {
        /// The number of such records.
        records: u64,
    },
    /// The store lost a part of its write-ahead log. Commits of this session may be among the lost ones.
    Log {
        /// Whether the store had acknowledged a lost commit.
        is_certain: bool,
        /// The file that keeps the bytes of the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<String>,
    },
    /// The commit is sealed with a key that was not given.
    Keyed {
        /// Whether another key was given.
        is_other: bool,
    },
    /// The commit is sealed without a key, and follows commits that are sealed with one.
    Unkeyed,
    /// The index of the store does not lead to commits that its table has. Nothing of them is lost.
    Unindexed {
        /// The number of such commits.
        commits: u64,
    },
    /// The session is a fork of one that had lost records, so its first messages may have gaps.
    Inherited {
        /// The name of the other session.
        session: SessionId,
    },
    /// A kind that a newer version wrote into an incident.
    #[serde(other)]
    Other,
}

impl DamageKind {
    /// Whether something of the session may be lost. A damaged index hides commits that are all there.
    pub fn is_loss(&self) -> bool {
        !matches!(self, Self::Unindexed { .. })
    }

    /// Whether an incident about this damage also covers another one that begins at the same record. Counts of affected
    /// records may grow; a further loss is another damage.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Log { .. }, Self::Log { .. }) => self == other,
            (Self::Missing { to: known }, Self::Missing { to }) => to <= known,
            (Self::Log { .. } | Self::Missing { .. }, _) => false,
            (
                Self::Altered
                | Self::Unreadable { .. }
                | Self::UnreadableRecord { .. }
                | Self::Newer { .. }
                | Self::Foreign { .. }
                | Self::Unlinked
                | Self::Misplaced { .. }
                | Self::Head
                | Self::Unfit { .. }
                | Self::Keyed { .. }
                | Self::Unkeyed
                | Self::Unindexed { .. }
                | Self::Inherited { .. }
                | Self::Other,
                other,
            ) => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seq = self.seq;
        match &self.kind {
            DamageKind::Altered => write!(f, "the commit at record {seq} was altered"),
            DamageKind::Unreadable { why } => write!(f, "the commit at record {seq} cannot be read: {why}"),
            DamageKind::UnreadableRecord { kind, records, .. } => {
                write!(f, "record {seq} of the kind `{kind}` cannot be read")?;
                let more = records.saturating_sub(1);
                if more > 0 { write!(f, ", nor can {more} more of its commit") } else { Ok(()) }
            }
            DamageKind::Newer { format } => {
                write!(f, "the commit at record {seq} has format {format}, which is newer than this version")
            }
            DamageKind::Foreign { session } => write!(f, "the commit at record {seq} belongs to session `{session}`"),
            DamageKind::Missing { to } => write!(f, "records {seq} to {to} are missing"),
            DamageKind::Unlinked => write!(f, "the commit at record {seq} does not follow the previous one"),
            DamageKind::Misplaced { own } => write!(f, "the commit at record {seq} is numbered {own}"),
            DamageKind::Unfit { records: 1 } => write!(f, "record {seq} refers to a lost record"),
            DamageKind::Unfit { records } => {
                write!(f, "{records} records from record {seq} on refer to lost records")
            }
            DamageKind::Unindexed { commits } => write!(
                f,
                "the index of the store is damaged at record {seq} and hides {commits} commit{}; nothing is lost; copy \
                 the file of the store, then run `sqlite3 FILE 'REINDEX commits'`",
                if *commits == 1 { "" } else { "s" }
            ),
            DamageKind::Inherited { session } => {
                write!(f, "the session is a fork of `{session}`, which had lost records; messages may be missing")
            }
            DamageKind::Keyed { is_other: false } => {
                write!(f, "the commit at record {seq} is sealed with a key, and no key was given")
            }
            DamageKind::Keyed { is_other: true } => write!(f, "the commit at record {seq} is sealed with another key"),
            DamageKind::Other => write!(f, "the session is damaged at record {seq}"),
            DamageKind::Unkeyed => {
                write!(f, "the commit at record {seq} is sealed without a key, unlike those before it")
            }
            DamageKind::Log { is_certain, kept } => {
                f.write_str(loss::sentence(*is_certain))?;
                write!(f, "; records of this session from record {seq} on may be among them")?;
                loss::kept(f, kept.as_deref())
            }
            DamageKind::Head => {
                write!(f, "the store says that the session ends at record {seq}, but its commits say otherwise")
            }
        }
    }
}

/// Checks all commits that a store returned for a session, and applies the intact ones.
///
/// Skips and reports damaged commits; nothing of them enters the state.
pub fn replay<'a>(session: &SessionId, head: Head, commits: impl IntoIterator<Item = &'a StoredCommit>) -> Replayed {
    replay_with(session, head, commits, None)
}

/// As [`replay`], for commits that may be sealed with a key.
pub fn replay_with<'a>(
    session: &SessionId,
    head: Head,
    commits: impl IntoIterator<Item = &'a StoredCommit>,
    key: Option<&SealKey>,
) -> Replayed {
    let mut replay = Replay::with_key(session.clone(), key.cloned());
    for stored in commits {
        replay.take(stored);
    }
    replay.finish(head)
}

/// A [`replay`] that continues when more commits arrive.
#[derive(Debug)]
pub struct Replay {
    session: SessionId,
    replayed: Replayed,
    /// The number under which the last commit was stored.
    met: u64,
    /// The number of the last record so far.
    seq: u64,
    /// The hash of the last commit, where it is known.
    hash: Option<Hash>,
    /// Whether the last commit was skipped, so that its number of records is unknown.
    after_damage: bool,
    /// The key of the seals.
    key: Option<SealKey>,
    /// Whether a commit was sealed with the key.
    is_keyed: bool,
    /// The first record that did not fit because others are lost, and the number of such records.
    unfit: Option<(u64, u64)>,
    /// The first commit that the index of the store does not lead to, and the number of such commits.
    unindexed: Option<(u64, u64)>,
}

impl Replay {
    /// Makes a replay that has read no commit.
    pub fn new(session: SessionId) -> Self {
        Self::with_key(session, None)
    }

    /// As [`Replay::new`], for commits that may be sealed with a key.
    pub fn with_key(session: SessionId, key: Option<SealKey>) -> Self {
        let (replayed, hash) = (Replayed::default(), Some(Hash::ZERO));
        let (met, seq, after_damage, is_keyed, unfit, unindexed) = (0, 0, false, false, None, None);
        Self { session, replayed, met, seq, hash, after_damage, key, is_keyed, unfit, unindexed }
    }

    /// The error that forbids reading the session: a part of it is sealed with a key that was not given.
    pub fn wrong_key(&self) -> Option<Error> {
        wrong_key(&self.replayed.damages)
    }

    /// The state after the commits so far.
    pub fn state(&self) -> &State {
        &self.replayed.state
    }

    /// The number to pass to [`Store::read`](crate::Store::read) for the next commits.
    pub fn met(&self) -> u64 {
        self.met
    }

    /// The head of the session so far, without an epoch, where the last commit was readable.
    pub fn end(&self) -> Option<Head> {
        Some(Head { epoch: 0, seq: self.seq, hash: self.hash? })
    }

    /// The damage so far, if the store says that the session ends at `head`.
    pub fn damages(&self, head: Head) -> Vec<Damage> {
        self.replayed.damages.iter().cloned().chain(self.misfits()).chain(self.wrong_end(head)).collect()
    }

    /// Checks and applies the next commit.
    pub fn take(&mut self, stored: &StoredCommit) {
        self.met = self.met.max(stored.seq);
        if !stored.is_indexed {
            let (first, count) = self.unindexed.unwrap_or((stored.seq, 0));
            self.unindexed = Some((first, count + 1));
        }
        let next = self.seq + 1;
        if stored.seq > next && !self.after_damage {
            self.damage(next, DamageKind::Missing { to: stored.seq - 1 }, None);
            self.hash = None;
        }
        let commit = match OpenedCommit::open_with(&stored.bytes, self.key.as_ref()) {
            Ok(commit) => commit,
            Err(flaw) => return self.pass_over(stored, of_flaw(flaw)),
        };
        if commit.session != self.session {
            return self.pass_over(stored, DamageKind::Foreign { session: commit.session });
        }
        if commit.seq != stored.seq || stored.seq < next {
            return self.pass_over(stored, DamageKind::Misplaced { own: commit.seq });
        }
        if self.is_keyed && !commit.is_keyed {
            // A writer with the key would have used it.
            return self.pass_over(stored, DamageKind::Unkeyed);
        }
        self.is_keyed = commit.is_keyed;
        if self.hash.is_some_and(|hash| hash != commit.prev) {
            // A writer sealed it, but it does not follow the previous commit here.
            self.damage(commit.seq, DamageKind::Unlinked, None);
        }
        (self.seq, self.hash, self.after_damage) = (commit.last_seq(), Some(commit.hash), false);
        self.replayed.commits += 1;
        let damages = self.replayed.damages.len();
        for (seq, record) in (commit.seq..).zip(&commit.records) {
            if let Record::Unreadable(record) = record {
                self.note_unreadable(damages, (seq, record.kind), (commit.seq, stored));
                continue;
            }
            if let Record::Unknown(_) = record {
                self.replayed.first_unknown = self.replayed.first_unknown.or(Some(seq));
            }
            self.apply(seq, commit.at, record);
        }
    }

    /// Notes a record that cannot be read: one damage for each commit, which is the one at `place` of the list.
    fn note_unreadable(&mut self, place: usize, (seq, kind): (u64, &str), (commit, stored): (u64, &StoredCommit)) {
        if let Some(Damage { kind: DamageKind::UnreadableRecord { records, .. }, .. }) =
            self.replayed.damages.get_mut(place)
        {
            *records += 1;
            return;
        }
        let kind = DamageKind::UnreadableRecord { commit, kind: kind.to_owned(), records: 1 };
        self.damage(seq, kind, Some(Hash::of(&stored.bytes)));
    }

    fn apply(&mut self, seq: u64, at: u64, record: &Record) {
        let state = &mut self.replayed.state;
        let before = state.skipped;
        state.apply(seq, at, record);
        // While no record is lost, the writer skipped the same records.
        if state.skipped > before && !self.replayed.damages.is_empty() {
            let (first, count) = self.unfit.unwrap_or((seq, 0));
            self.unfit = Some((first, count + 1));
        }
    }

    /// The damage that is counted, not listed.
    fn misfits(&self) -> impl Iterator<Item = Damage> {
        let unfit = self.unfit.map(|(seq, records)| (seq, DamageKind::Unfit { records }));
        let unindexed = self.unindexed.map(|(seq, commits)| (seq, DamageKind::Unindexed { commits }));
        let counted = unfit.into_iter().chain(unindexed).map(|(seq, kind)| Damage { seq, kind, bytes: None });
        counted.chain(Damage::inherited(self.state()))
    }

    fn pass_over(&mut self, stored: &StoredCommit, kind: DamageKind) {
        self.damage(stored.seq, kind, Some(Hash::of(&stored.bytes)));
        // The next commit says its own number.
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

    /// Ends the replay of a session that ends at `head`.
    pub fn finish(mut self, head: Head) -> Replayed {
        self.replayed.damages = self.damages(head);
        self.replayed
    }
}

fn wrong_key(damages: &[Damage]) -> Option<Error> {
    damages.iter().find_map(|damage| {
        let DamageKind::Keyed { is_other } = damage.kind else { return None };
        let why = if is_other { cause::WrongSealKey::Other } else { cause::WrongSealKey::Missing };
        Some(Error::SealKey(why))
    })
}

fn of_flaw(flaw: Flaw) -> DamageKind {
    match flaw {
        Flaw::Altered => DamageKind::Altered,
        Flaw::NoKey => DamageKind::Keyed { is_other: false },
        Flaw::OtherKey => DamageKind::Keyed { is_other: true },
        Flaw::Newer(format) => DamageKind::Newer { format },
        Flaw::Odd(why) => DamageKind::Unreadable { why },
    }
}
