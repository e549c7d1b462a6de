//! Sessions of real clients: made, damaged, repaired by `seamline doctor --fix` and resumed in the client.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::client::{self, Client, Resume, Sessions, newest_session};
use super::damage::{self, Damage};
use super::exports;
use super::npm;
use super::provider::Provider;
use crate::workspace::{self, Workspace};

/// The output of the command that the fake provider asks clients to run.
const PROBE: &str = "probe-output-4711";
/// How long a client may take for one turn.
const TURN_SECONDS: &str = "120";
/// How often a client may try to make a session.
const FIRST_TURNS_MAX: usize = 3;

/// Runs every damage with every client, or with those named, and prints a table.
pub(super) fn run(workspace: &Workspace, names: &[&str]) -> Result<()> {
    let clients: Vec<&Client> =
        client::ALL.into_iter().filter(|client| names.is_empty() || names.contains(&client.name)).collect();
    if clients.is_empty() {
        let known: Vec<&str> = client::ALL.iter().map(|client| client.name).collect();
        bail!("no client has this name\nhint: there are {}", known.join(", "));
    }
    let seamline = seamline(workspace)?;
    let provider = Provider::start(workspace)?;
    println!("{:<10}{:<10}{:<44}after `seamline doctor --fix`", "client", "damage", "before");
    let mut failed = 0;
    let mut benches = Vec::new();
    for client in clients {
        let bench = match npm::install(client.name, client.package) {
            Ok(folders) => Bench::prepare(client, &provider, &folders, &seamline)?,
            Err(error) => {
                println!("{:<10}not installable: {error}", client.name);
                continue;
            }
        };
        for damage in damage::ALL {
            match bench.run(damage)? {
                None => println!("{:<10}{:<10}{:<44}", client.name, damage.name(), "not possible in this format"),
                Some((before, after)) => {
                    println!("{:<10}{:<10}{:<44}{after}", client.name, damage.name(), before.to_string());
                    failed += usize::from(!after.is_good());
                }
            }
        }
        benches.push(bench);
    }
    failed += exports::run(&benches)?;
    if failed > 0 {
        bail!("{failed} repaired or exported sessions were not resumed as they should be");
    }
    Ok(())
}

/// The command under test: the one that `SEAMLINE` names, or a new build.
fn seamline(workspace: &Workspace) -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("SEAMLINE") {
        return Ok(PathBuf::from(named));
    }
    workspace::run(&mut workspace.cargo(&["build", "--release", "-p", "seamline-cli"]))?;
    Ok(workspace.root().join("target/release/seamline"))
}

/// How a client went on with a session.
pub(super) struct Resumed {
    requests: usize,
    rejected: usize,
    has_result: bool,
    pub(super) needs_result: bool,
    complaint: Option<String>,
}

impl Resumed {
    pub(super) fn is_good(&self) -> bool {
        self.requests > 0 && self.rejected == 0 && (self.has_result || !self.needs_result)
    }
}

impl std::fmt::Display for Resumed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let result = match (self.has_result, self.needs_result) {
            (true, _) => "real result sent",
            (false, true) => "REAL RESULT LOST",
            (false, false) => "no result to send",
        };
        let text = match (self.requests, self.rejected) {
            (0, _) => format!("no request{}", self.complaint.as_deref().unwrap_or_default()),
            (_, 0) => format!("accepted, {result}"),
            (_, rejected) => format!("{rejected} rejected, {result}"),
        };
        f.write_str(&text)
    }
}

/// A client with a healthy session.
pub(super) struct Bench<'b> {
    pub(super) client: &'b Client,
    provider: &'b Provider,
    path: String,
    pub(super) home: PathBuf,
    /// A copy of the home after the first turn.
    saved: PathBuf,
    pub(super) seamline: PathBuf,
}

impl<'b> Bench<'b> {
    fn prepare(client: &'b Client, provider: &'b Provider, programs: &[PathBuf], seamline: &Path) -> Result<Self> {
        let path = npm::path(programs)?.to_string_lossy().into_owned();
        let homes = npm::folder().join("homes");
        let (home, saved) = (homes.join(client.name), homes.join(format!("{}.saved", client.name)));
        let bench = Self { client, provider, path, home, saved, seamline: seamline.to_owned() };
        let mut first = bench.first_turn()?;
        // On a busy machine some clients lose the output of a command.
        for _ in 1..FIRST_TURNS_MAX {
            if first.is_good() && first.has_result {
                break;
            }
            first = bench.first_turn()?;
        }
        if !first.is_good() || !first.has_result {
            bail!("{}: the first turn failed: {first}", client.name);
        }
        copy(&bench.home, &bench.saved)?;
        Ok(bench)
    }

    /// Makes a session in an empty home.
    fn first_turn(&self) -> Result<Resumed> {
        for folder in [&self.home, &self.saved] {
            if folder.exists() {
                std::fs::remove_dir_all(folder)?;
            }
        }
        std::fs::create_dir_all(self.home.join("work"))?;
        (self.client.prepare)(&self.home, &self.provider.url)?;
        self.turn("run the probe", None)
    }

    /// Damages the session, resumes it as it is, and resumes it after a repair.
    fn run(&self, damage: Damage) -> Result<Option<(Resumed, Resumed)>> {
        let Some(file) = self.damage(damage)? else { return Ok(None) };
        let before = self.resume(&file, damage)?;
        let file = self.damage(damage)?.context("the second copy has no session")?;
        let fixed = Command::new(&self.seamline)
            .args(["doctor", "--fix", "--force", "--home"])
            .arg(&self.home)
            .env("XDG_STATE_HOME", self.home.join("state"))
            .stdin(Stdio::null())
            .output()?;
        if fixed.status.code() != Some(0) {
            println!("{}{}", String::from_utf8_lossy(&fixed.stdout), String::from_utf8_lossy(&fixed.stderr));
        }
        let after = self.resume(&file, damage)?;
        Ok(Some((before, after)))
    }

    /// Restores the home and damages its session; nothing if its format cannot have the damage.
    fn damage(&self, damage: Damage) -> Result<Option<PathBuf>> {
        self.restore()?;
        let file = self.session_file()?;
        match &self.client.sessions {
            Sessions::Lines(_) => {
                let Some(damaged) = damage.apply(&std::fs::read_to_string(&file)?) else { return Ok(None) };
                std::fs::write(&file, damaged)?;
                Ok(Some(file))
            }
            Sessions::Database(database) => {
                let Some(statements) = (database.damage)(damage) else { return Ok(None) };
                sqlite(&file, statements)?;
                Ok(Some(file))
            }
        }
    }

    /// Gives the home its content after the first turn.
    pub(super) fn restore(&self) -> Result<()> {
        std::fs::remove_dir_all(&self.home)?;
        copy(&self.saved, &self.home)
    }

    /// The newest file with a session.
    pub(super) fn session_file(&self) -> Result<PathBuf> {
        match &self.client.sessions {
            Sessions::Lines(folder) => newest_session(&self.home.join(folder)).context("the client wrote no session"),
            Sessions::Database(database) => Ok(self.home.join(database.path)),
        }
    }

    pub(super) fn session_id(&self, file: &Path) -> Result<String> {
        match &self.client.sessions {
            Sessions::Lines(_) => session_id(file),
            Sessions::Database(database) => Ok(sqlite(file, database.id)?.trim().to_owned()),
        }
    }

    fn resume(&self, file: &Path, damage: Damage) -> Result<Resumed> {
        Ok(Resumed { needs_result: damage.keeps_result(), ..self.resume_session(file)? })
    }

    /// Continues a session by one turn.
    pub(super) fn resume_session(&self, file: &Path) -> Result<Resumed> {
        let id = self.session_id(file)?;
        self.turn("go on", Some((&id, file)))
    }

    /// Runs one turn and reads what the provider saw.
    fn turn(&self, prompt: &str, session: Option<Resume<'_>>) -> Result<Resumed> {
        self.provider.requests();
        let words = (self.client.turn)(prompt, session);
        // `timeout` ends the processes that a client started, too.
        let mut command = Command::new("timeout");
        command
            .args(["--kill-after=5", TURN_SECONDS, "env", "-i"])
            .arg(format!("PATH={}", self.path))
            .arg(format!("HOME={}", self.home.display()));
        command
            .arg("TERM=dumb")
            .args((self.client.variables)(&self.provider.url).iter().map(|(name, value)| format!("{name}={value}")));
        command.args(&words).current_dir(self.home.join("work")).stdin(Stdio::null());
        let output = self.home.join("output.txt");
        let log = std::fs::File::create(&output)?;
        command.stdout(log.try_clone()?).stderr(log).status()?;
        let requests = self.provider.requests();
        let complaint = requests.is_empty().then(|| last_line(&output));
        let talks: Vec<&Value> = requests.iter().filter(|request| has_history(request)).collect();
        let has_result = |request: &&&Value| request["results"].to_string().contains(PROBE) || keeps_text(request);
        Ok(Resumed {
            requests: talks.len(),
            rejected: talks.iter().filter(|request| request["status"] != 200).count(),
            // The first request of a resumed session holds its history; a client that lost the call runs the tool again.
            has_result: talks
                .iter()
                .take(if session.is_some() { 1 } else { usize::MAX })
                .any(|request| has_result(&request)),
            needs_result: false,
            complaint,
        })
    }
}

/// Whether a request is part of the conversation: clients also ask for titles.
fn has_history(request: &Value) -> bool {
    request["body"].to_string().contains("run the probe")
}

/// Whether the result is in the request as text.
fn keeps_text(request: &Value) -> bool {
    let lists = ["messages", "input", "contents"];
    lists.iter().any(|list| request["body"][list].to_string().contains(PROBE))
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

fn last_line(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    format!(": {}", line.chars().take(60).collect::<String>())
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
