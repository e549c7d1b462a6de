//! The store that a command works on, and the sessions in it.

use std::sync::Arc;

use clap::Args;
use seamline::session::{Follower, Health, OpenOptions, Session, SessionError, Truth, Unresolved};
use seamline::store::{
    Error, Flaw, Head, KeyedStore, LogLoss, OpenedCommit, Rejected, SealKey, SessionId, SessionInfo, Store,
    StoredCommit, cause,
};

use super::address::Address;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::screen;
use crate::suggest;

/// How many bytes are read at a time, about.
const PAGE_BYTES: usize = 8 * 1024 * 1024;
/// The variable with the secret that sessions are sealed with, and the least length of the secret.
const KEY_VARIABLE: &str = "SEAMLINE_SEAL_KEY";
const KEY_CHARS_MIN: usize = 16;
/// How many sessions are listed at a time.
const PAGE_SESSIONS: usize = 500;

/// A store, its address, and the session of a command.
pub(super) struct StoreContext {
    pub(super) store: Arc<dyn Store>,
    pub(super) address: Address,
    name: Option<SessionId>,
}

/// The options of commands that write a session.
#[derive(Debug, Args)]
pub(super) struct WriterArgs {
    /// Take over the lease from the process that writes the session; that process can no longer write
    #[arg(long)]
    take_over: bool,
    /// The dialect of the messages, if the first commit, which names it, is lost
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
}

impl WriterArgs {
    /// Opens the session and leaves open cycles open; only `recover` closes them.
    pub(super) fn options(&self) -> OpenOptions {
        let dialect = self.dialect.clone();
        OpenOptions { take_over: self.take_over, dialect, recover: false, ..OpenOptions::default() }
    }
}

impl StoreContext {
    /// Opens the store, and creates it if it is missing.
    pub(super) fn make(asked: Option<&str>) -> Result<Self, Failure> {
        let address = Address::of(asked)?;
        Self::open(address.clone()).map_err(|error| unopened(&address, &error))
    }

    /// Opens an existing store; a command that only reads creates none.
    fn find(asked: Option<&str>) -> Result<Self, Failure> {
        let address = find_address(asked)?;
        Self::open(address.clone()).map_err(|error| unopened(&address, &error))
    }

    /// Opens an existing store for reading.
    pub(super) fn to_read(asked: Option<&str>) -> Result<Self, Failure> {
        let address = find_address(asked)?;
        Self::open_to_read(address.clone()).map_err(|error| unopened(&address, &error))
    }

    /// As [`Self::to_read`], for a command about one session.
    pub(super) fn of_session_to_read(asked: Option<&str>, name: &SessionId) -> Result<Self, Failure> {
        Ok(Self { name: Some(name.clone()), ..Self::to_read(asked)? })
    }

    /// Opens an existing store for a command about one session.
    pub(super) fn of_session(asked: Option<&str>, name: &SessionId) -> Result<Self, Failure> {
        Ok(Self { name: Some(name.clone()), ..Self::find(asked)? })
    }

    /// Opens the store at an address.
    pub(super) fn open(address: Address) -> Result<Self, Error> {
        let store = futures_executor::block_on(seamline::open_store(address.as_str()))?;
        Ok(Self { store: with_key(store)?, address, name: None })
    }

    /// Opens the store at an address for reading.
    pub(super) fn open_to_read(address: Address) -> Result<Self, Error> {
        let store = futures_executor::block_on(seamline::store::open_store_to_read(address.as_str()))?;
        Ok(Self { store: with_key(store)?, address, name: None })
    }

    /// Another command on the same session and store, ready to paste.
    pub(super) fn command(&self, what: &str) -> String {
        let name = self.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        format!("`seamline session {what}{name}{}`", self.address.option())
    }

    /// The command that forks the session; the user fills in the new name.
    pub(super) fn fork_command(&self) -> String {
        let name = self.name.as_ref().map_or("NAME", SessionId::as_str);
        format!("`seamline session fork {name} NEW{}`", self.address.option())
    }

    /// Waits for an operation of a store or a session.
    pub(super) fn wait<T, E: Into<SessionError>>(
        &self,
        asked: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Failure> {
        wait(asked).map_err(|error| self.failure(&error))
    }

    /// Opens a session for writing, runs the work, and releases the lease.
    pub(super) fn write<T>(
        &self,
        name: &SessionId,
        options: OpenOptions,
        work: impl FnOnce(&mut Session) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut session = self.wait(Session::open(self.store.clone(), name.clone(), options))?;
        self.warn_of_damage(name, session.health());
        let done = work(&mut session);
        match &done {
            Ok(_) => Self::close(session),
            // The caller should see the first error, not one of the release.
            Err(_) => drop(wait(session.close())),
        }
        done
    }

    /// Releases the lease of a session. If that fails, all that the command did is stored: an error would make the user
    /// repeat it, and store it twice. The lease ends with this process.
    pub(super) fn close(session: Session) {
        if let Err(error) = wait(session.close()) {
            let why = error.message();
            let why = screen::printable(&why);
            output::say(&format!("seamline: all of it is stored, but the session could not be closed: {why}\n"));
            output::say("hint: do not repeat the command; the next one can open the session\n");
        }
    }

    /// Reads a session without its lease.
    pub(super) fn read(&self, name: &SessionId) -> Result<Follower, Failure> {
        let session = self.wait(Follower::open(self.store.clone(), name.clone()))?;
        Ok(session)
    }

    /// As [`Self::read`], and reports damage on standard error.
    pub(super) fn read_aloud(&self, name: &SessionId) -> Result<Follower, Failure> {
        let session = self.read(name)?;
        self.warn_of_damage(name, session.health());
        Ok(session)
    }

    /// Opens a stored commit, with the key of the store if it has one.
    pub(super) fn open_commit(&self, stored: &StoredCommit) -> Result<OpenedCommit, Flaw> {
        OpenedCommit::open_with(&stored.bytes, self.store.seal_key())
    }

    /// All stored commits of a session.
    pub(super) fn commits(&self, name: &SessionId) -> Result<Vec<StoredCommit>, SessionError> {
        let mut commits: Vec<StoredCommit> = Vec::new();
        loop {
            let after = commits.last().map_or(0, |commit| commit.seq);
            let page = wait(self.store.read(name, after, PAGE_BYTES))?;
            let Some(last) = page.last() else { return Ok(commits) };
            // A damaged store must not cause an endless loop.
            if last.seq <= after {
                return Err(Error::Damaged(cause::Damaged::Disorder).into());
            }
            commits.extend(page);
        }
    }

    /// The head of a session and all commits up to it, without commits that another process writes meanwhile.
    pub(super) fn up_to_head(&self, name: &SessionId) -> Result<(Head, Vec<StoredCommit>), SessionError> {
        let head = wait(self.store.read_head(name))?;
        let mut commits = self.commits(name)?;
        let is_behind = |commit: &StoredCommit| commit.seq > head.seq;
        // Without such a process the head of the store is wrong, and `verify` must report it.
        if commits.last().is_some_and(is_behind) && wait(self.store.read_head(name))?.seq > head.seq {
            commits.retain(|commit| !is_behind(commit));
        }
        Ok((head, commits))
    }

    /// All sessions, by name.
    pub(super) fn list_sessions(&self) -> Result<Vec<SessionInfo>, SessionError> {
        let mut all: Vec<SessionInfo> = Vec::new();
        loop {
            let after = all.last().map(|info| info.session.clone());
            let page = wait(self.store.list_sessions(after.as_ref(), PAGE_SESSIONS))?;
            let is_last = page.len() < PAGE_SESSIONS;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }

    /// Explains a failed operation, with a hint for the command line.
    pub(super) fn failure(&self, error: &SessionError) -> Failure {
        match error {
            SessionError::Store(Error::NotFound(name)) => {
                let sessions = self.list_sessions().unwrap_or_default();
                let names: Vec<&str> = sessions.iter().map(|info| info.session.as_str()).collect();
                let option = self.address.option();
                let all = format!(
                    "`seamline session list{option}` lists the existing sessions, `seamline session new {name}{option}` \
                     creates it"
                );
                // A damaged log can have held the whole session.
                let losses = wait(self.store.losses()).unwrap_or_default();
                let mut text = error.to_string();
                for loss in losses {
                    text.push_str("; the store is damaged: ");
                    text.push_str(&loss.to_string());
                }
                Failure::new(text).with_hint(suggest::hint(name.as_str(), &names, &all))
            }
            SessionError::Store(error @ Error::Busy { .. }) => Failure::new(error.message()).with_hint(format!(
                "`--take-over` takes the lease from that process; reading the session and {} are always possible",
                self.fork_command()
            )),
            SessionError::Store(error @ Error::Damaged(cause::Damaged::Index { .. })) => of_store(error),
            SessionError::Store(error @ Error::Damaged(cause)) => {
                let dialect = if *cause == cause::Damaged::NoDialect { "; `--dialect` names the dialect" } else { "" };
                let hint = format!("{} lists what can still be read{dialect}", self.command("verify"));
                Failure::new(error.message()).with_hint(hint)
            }
            SessionError::Store(error @ Error::SealKey(_)) => Failure::new(error.message())
                .with_hint(format!("set {KEY_VARIABLE} to the secret that the session was sealed with")),
            SessionError::Store(error) => of_store(error),
            SessionError::Rejected(
                Rejected::NoCheckpoint(_) | Rejected::CheckpointSpent(..) | Rejected::Mismatch(_),
            ) => Failure::new(error.to_string()).with_hint(self.checkpoints_hint("lists them")),
            SessionError::Rejected(Rejected::NoRepair(_)) => Failure::new(error.to_string())
                .with_hint(format!("{} lists what came after it", self.command("show --records"))),
            SessionError::Rejected(Rejected::InFlight) => Failure::new("tool calls of a cycle have no result yet")
                .with_hint(format!("{} closes cycles that a crash left open", self.command("recover"))),
            SessionError::Conversation(error) => error.clone().into(),
            // The hint of the library names methods.
            SessionError::OpenCalls { .. } => {
                Failure::new(error.message()).with_hint("a host adds such a response with its results, in one cycle")
            }
            other => Failure { message: other.message(), hint: other.hint() },
        }
    }

    /// A hint to the command that lists checkpoints, if there are any.
    pub(super) fn checkpoints_hint(&self, what: &str) -> String {
        let read = self.name.as_ref().and_then(|name| self.read(name).ok());
        match read {
            Some(session) if session.state().checkpoints.is_empty() => {
                format!("there is none yet; {} creates one", self.command("checkpoint"))
            }
            _ => format!("{} {what}", self.command("checkpoints")),
        }
    }

    /// Notes on standard error that tool calls may have run whose results are not in the messages.
    pub(super) fn warn_of_calls(&self, calls: &[Unresolved]) {
        let tools = begun(calls);
        if !tools.is_empty() {
            let tools = tools.join(", ");
            output::say(&format!(
                "seamline: an open cycle has tool calls that ran or may have run, and is not shown: {tools}\n"
            ));
            output::say(&format!("hint: {} closes it once its process is gone\n", self.command("recover")));
        }
    }

    /// Refuses if tool calls of an open cycle ran or may have run: the model would not learn of them.
    pub(super) fn refuse_calls(&self, calls: &[Unresolved], otherwise: &str) -> Result<(), Failure> {
        let tools = begun(calls);
        if tools.is_empty() {
            return Ok(());
        }
        let what = "an open cycle has tool calls that ran or may have run, and this would roll it back";
        Err(Failure::new(format!("{what}: {}", tools.join(", ")))
            .with_hint(format!("{} closes it and tells the model; {otherwise}", self.command("recover"))))
    }

    /// Notes on standard error that the store lost commits.
    pub(super) fn warn_of_losses(losses: &[LogLoss]) {
        for loss in losses {
            output::say(&format!("seamline: {}\n", screen::printable(&loss.to_string())));
        }
        let kept = losses.iter().find_map(|loss| loss.kept.as_ref()?.parent());
        if let Some(folder) = kept {
            let folder = folder.display().to_string();
            output::say(&format!(
                "hint: restore the store from a backup, or continue without them; this report ends when `{}` is removed\n",
                screen::printable(&folder)
            ));
        }
    }

    /// Notes on standard error that a session is damaged; the command works with the readable part.
    pub(super) fn warn_of_damage(&self, name: &SessionId, health: &Health) {
        if let Health::Degraded(damages) = health {
            let first = damages.first().map(ToString::to_string).unwrap_or_default();
            output::say(&format!("seamline: session `{name}` is degraded: {first}\n"));
            output::say(&format!("hint: {} lists all damage\n", self.command("verify")));
        }
    }
}

/// The tools of the calls that ran or may have run.
fn begun(calls: &[Unresolved]) -> Vec<&str> {
    let is_begun = |call: &&Unresolved| matches!(call.truth, Truth::OutcomeUnknown | Truth::Finished);
    calls.iter().filter(is_begun).map(|call| call.tool.as_str()).collect()
}

/// The exit status of a command that read a session: a degraded one may lack messages.
pub(super) fn exit_of(health: &Health) -> Exit {
    if health.is_whole() { Exit::Clean } else { Exit::Findings }
}

/// Adds the key of the environment to a store, so that seals cannot be forged without it.
pub(in crate::commands) fn with_key(store: Arc<dyn Store>) -> Result<Arc<dyn Store>, Error> {
    let Some(secret) = std::env::var_os(KEY_VARIABLE).filter(|secret| !secret.is_empty()) else { return Ok(store) };
    let refused = |what: &str| Error::Refused(cause::Refused::Other(format!("{KEY_VARIABLE} {what}")));
    let secret = secret.to_str().ok_or_else(|| refused("is not UTF-8"))?;
    if secret.chars().count() < KEY_CHARS_MIN {
        return Err(refused(&format!("has fewer than {KEY_CHARS_MIN} characters")));
    }
    Ok(Arc::new(KeyedStore::new(store, SealKey::derive(secret))))
}

/// Waits for an operation of a store or a session and returns its own error.
pub(super) fn wait<T, E: Into<SessionError>>(asked: impl Future<Output = Result<T, E>>) -> Result<T, SessionError> {
    futures_executor::block_on(asked).map_err(Into::into)
}

/// Checks that the store at an address exists.
pub(super) fn find_address(asked: Option<&str>) -> Result<Address, Failure> {
    let address = Address::of(asked)?;
    if address.is_emptied() {
        return Err(Failure::new(format!("the store `{address}` is damaged: the file is empty"))
            .with_hint("restore it from a backup; `seamline session new` would create a new store in it"));
    }
    if address.is_there() {
        return Ok(address);
    }
    Err(address.missing())
}

/// Explains why a store could not be opened. It names the store, because the address may come from the environment.
pub(super) fn unopened(address: &Address, error: &Error) -> Failure {
    use cause::{Address as Wrong, Damaged};
    let hint = match error {
        // `verify` cannot read such a file either.
        Error::Damaged(Damaged::NotSqlite { .. }) => Some(address.other_hint()),
        Error::Damaged(_) => {
            Some(format!("`seamline session verify{}` lists what can still be read", address.option()))
        }
        Error::Address(Wrong::Missing { .. } | Wrong::NoTables) => Some(address.missing_hint()),
        Error::Refused(_) | Error::Address(_) | Error::Failed(_) => error.hint().or_else(|| Some(address.other_hint())),
        _ => of_store(error).hint,
    };
    Failure { message: format!("`{address}`: {}", error.message()), hint }
}

/// Explains an error of a store. Adds a hint about commands and options, which the store does not know.
pub(in crate::commands) fn of_store(error: &Error) -> Failure {
    let hint = error.hint().or_else(|| command_hint(error).map(str::to_owned));
    Failure { message: error.message(), hint }
}

/// The hint about commands and options for an error that has no hint of its own.
fn command_hint(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Exists(_) => "choose another name, or continue the existing session",
        Error::Erased(_) => "`seamline session erase` removed the session for good; choose another name",
        Error::Unavailable(_) => {
            "check that the server runs, and that `--store` or SEAMLINE_STORE names its host and port"
        }
        Error::ReadOnly(_) => "check with `ls -l` who may write it",
        Error::Address(_) => "check that `--store` or SEAMLINE_STORE names the right store",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_file_and_a_stopped_server_have_their_own_hints() {
        let hint = |cause: cause::Unavailable| of_store(&Error::Unavailable(cause)).hint;
        let locked = cause::Unavailable::Locked { path: "/s.db".into() };
        assert_eq!(hint(locked.clone()), locked.hint());
        let refused = cause::Unavailable::Connection("Connection refused (os error 111)".to_owned());
        assert_eq!(refused.hint(), None);
        assert_eq!(hint(refused).as_deref(), command_hint(&Error::Unavailable(cause::Unavailable::PoolBusy)));
    }
}
