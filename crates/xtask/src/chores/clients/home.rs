//! The home of a client: made new for each test, with its configuration and its sessions.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::client::{Client, Resume, Sessions, newest_session};
use super::damage::Damage;
use super::npm;
use crate::workspace;

/// How long a client may take for one turn.
pub(super) const TURN_SECONDS: &str = "120";

/// A client with a home of its own.
pub(super) struct Home {
    pub(super) client: &'static Client,
    pub(super) folder: PathBuf,
    /// A copy of the home after the first turn.
    saved: PathBuf,
    path: String,
    url: String,
}

impl Home {
    /// Makes an empty home with the configuration for a provider.
    pub(super) fn make(client: &'static Client, url: &str, programs: &[PathBuf]) -> Result<Self> {
        let path = npm::path(programs)?.to_string_lossy().into_owned();
        let homes = npm::folder().join("homes");
        let (folder, saved) = (homes.join(client.name), homes.join(format!("{}.saved", client.name)));
        for folder in [&folder, &saved] {
            if folder.exists() {
                std::fs::remove_dir_all(folder)?;
            }
        }
        std::fs::create_dir_all(folder.join("work"))?;
        (client.prepare)(&folder, url)?;
        Ok(Self { client, folder, saved, path, url: url.to_owned() })
    }

    /// Keeps a copy to restore.
    pub(super) fn save(&self) -> Result<()> {
        copy(&self.folder, &self.saved)
    }

    /// Restores the copy and returns the file of its session.
    pub(super) fn restore(&self) -> Result<PathBuf> {
        std::fs::remove_dir_all(&self.folder)?;
        copy(&self.saved, &self.folder)?;
        self.session_file()
    }

    /// The newest file with a session.
    pub(super) fn session_file(&self) -> Result<PathBuf> {
        match &self.client.sessions {
            Sessions::Lines(folder) => newest_session(&self.folder.join(folder)).context("the client wrote no session"),
            Sessions::Database(database) => Ok(self.folder.join(database.path)),
        }
    }

    /// The id of the session in a file.
    pub(super) fn session_id(&self, file: &Path) -> Result<String> {
        match &self.client.sessions {
            Sessions::Lines(_) => session_id(file),
            Sessions::Database(database) => Ok(sqlite(file, database.id)?.trim().to_owned()),
        }
    }

    /// Restores the copy and damages its session; nothing if its format cannot have the damage.
    pub(super) fn damage(&self, damage: Damage) -> Result<Option<PathBuf>> {
        let file = self.restore()?;
        match &self.client.sessions {
            Sessions::Lines(_) => {
                let Some(damaged) = damage.apply(&std::fs::read_to_string(&file)?) else { return Ok(None) };
                std::fs::write(&file, damaged)?;
            }
            Sessions::Database(database) => {
                let Some(statements) = (database.damage)(damage) else { return Ok(None) };
                sqlite(&file, statements)?;
            }
        }
        Ok(Some(file))
    }

    /// Goes on with the session in a file.
    pub(super) fn resume(&self, file: &Path) -> Result<ExitStatus> {
        let id = self.session_id(file)?;
        self.turn("go on", Some((&id, file)))
    }

    /// Runs one turn.
    pub(super) fn turn(&self, prompt: &str, session: Option<Resume<'_>>) -> Result<ExitStatus> {
        let words = (self.client.turn)(prompt, session);
        // `timeout` ends the processes that a client started, too.
        let mut command = Command::new("timeout");
        command
            .args(["--kill-after=5", TURN_SECONDS, "env", "-i"])
            .arg(format!("PATH={}", self.path))
            .arg(format!("HOME={}", self.folder.display()));
        command
            .arg("TERM=dumb")
            .args((self.client.variables)(&self.url).iter().map(|(name, value)| format!("{name}={value}")));
        command.args(&words).current_dir(self.folder.join("work")).stdin(Stdio::null());
        let log = std::fs::File::create(self.output())?;
        Ok(command.stdout(log.try_clone()?).stderr(log).status()?)
    }

    /// The end of what the client printed.
    pub(super) fn last_line(&self) -> String {
        last_line(&self.output())
    }

    fn output(&self) -> PathBuf {
        self.folder.join("output.txt")
    }
}

/// The last line of a file, shortened.
pub(super) fn last_line(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    format!(": {}", line.chars().take(60).collect::<String>())
}

/// The id of a session: the last UUID in its name, or the id in its first record.
fn session_id(file: &Path) -> Result<String> {
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_uuid = |text: &str| text.len() == 36 && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    if let Some(id) = stem.len().checked_sub(36).and_then(|start| stem.get(start..)).filter(|id| is_uuid(id)) {
        return Ok(id.to_owned());
    }
    let text = std::fs::read_to_string(file)?;
    let first: Value = serde_json::from_str(text.lines().next().unwrap_or_default()).unwrap_or_default();
    let id = ["sessionId", "id"].iter().find_map(|name| first[*name].as_str());
    Ok(id.unwrap_or(stem).to_owned())
}

/// Runs statements with the `sqlite3` command. It may write rows that no client would write.
fn sqlite(file: &Path, statements: &str) -> Result<String> {
    let statements = format!("PRAGMA foreign_keys=OFF; {statements}");
    workspace::output(Command::new("sqlite3").arg(file).arg(statements))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let done = Command::new("cp").arg("-a").arg(from).arg(to).status()?;
    if !done.success() {
        bail!("cannot copy {}", from.display());
    }
    Ok(())
}
