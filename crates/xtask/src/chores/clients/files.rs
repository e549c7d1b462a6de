//! Sessions of real clients: made, damaged, repaired by `seamline doctor --fix` and resumed in the client.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::client::{self, Client};
use super::damage::{self, Damage};
use super::exports;
use super::home::Home;
use super::npm;
use super::provider::Provider;
use crate::workspace::{self, Workspace};

/// The output of the command that the fake provider asks clients to run.
pub(super) const PROBE: &str = "probe-output-4711";

/// How often a client may try to make a session.
const FIRST_TURNS_MAX: usize = 3;

/// Runs every damage with every client, or with those named, and prints a table.
pub(super) fn run(workspace: &Workspace, names: &[&str]) -> Result<()> {
    let clients: Vec<&'static Client> =
        client::ALL.into_iter().filter(|client| names.is_empty() || names.contains(&client.name)).collect();
    if clients.is_empty() {
        let known: Vec<&str> = client::ALL.iter().map(|client| client.name).collect();
        bail!("no client has this name\nhint: the clients are {}", known.join(", "));
    }
    let seamline = seamline(workspace, &[])?;
    let provider = Provider::start(workspace)?;
    println!("{:<10}{:<10}{:<44}after `seamline doctor --fix`", "client", "damage", "before");
    let (mut failed, mut missing) = (0, Vec::new());
    let mut benches = Vec::new();
    for client in clients {
        let bench = match npm::install(client.name, client.package) {
            Ok(folders) => Bench::prepare(client, &provider, &folders, &seamline)?,
            Err(error) => {
                println!("{:<10}not installable: {error}", client.name);
                missing.push(client.name);
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
    verdict(failed, &missing)
}

/// Fails if a session was not resumed, or if a client was not tested at all.
fn verdict(failed: usize, missing: &[&str]) -> Result<()> {
    let mut wrong = Vec::new();
    if failed > 0 {
        wrong.push(format!("{failed} repaired or exported sessions were not resumed as they should be"));
    }
    if !missing.is_empty() {
        wrong.push(format!("not tested, because they cannot be installed: {}", missing.join(", ")));
    }
    if wrong.is_empty() { Ok(()) } else { bail!("{}", wrong.join("; ")) }
}

/// The command under test: the one that `SEAMLINE` names, or a new build with these arguments.
pub(super) fn seamline(workspace: &Workspace, args: &[&str]) -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("SEAMLINE") {
        return Ok(PathBuf::from(named));
    }
    workspace::run(workspace.cargo(&["build", "--release", "-p", "seamline-cli"]).args(args))?;
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
    pub(super) home: Home,
    provider: &'b Provider,
    pub(super) seamline: PathBuf,
}

impl<'b> Bench<'b> {
    fn prepare(client: &'static Client, provider: &'b Provider, programs: &[PathBuf], seamline: &Path) -> Result<Self> {
        let home = Home::make(client, &provider.url, programs)?;
        let mut bench = Self { home, provider, seamline: seamline.to_owned() };
        let mut first = bench.turn(None)?;
        // On a busy machine some clients lose the output of a command.
        for _ in 1..FIRST_TURNS_MAX {
            if first.is_good() && first.has_result {
                break;
            }
            bench.home = Home::make(client, &provider.url, programs)?;
            first = bench.turn(None)?;
        }
        if !first.is_good() || !first.has_result {
            bail!("{}: the first turn failed: {first}", client.name);
        }
        bench.home.save()?;
        Ok(bench)
    }

    /// Damages the session, resumes it as it is, and resumes it after a repair.
    fn run(&self, damage: Damage) -> Result<Option<(Resumed, Resumed)>> {
        let Some(file) = self.home.damage(damage)? else { return Ok(None) };
        let before = self.resume(&file, damage)?;
        let file = self.home.damage(damage)?.context("the second copy has no session")?;
        let fixed = Command::new(&self.seamline)
            .args(["doctor", "--fix", "--force", "--home"])
            .arg(&self.home.folder)
            .env("XDG_STATE_HOME", self.home.folder.join("state"))
            .stdin(Stdio::null())
            .output()?;
        if fixed.status.code() != Some(0) {
            println!("{}{}", String::from_utf8_lossy(&fixed.stdout), String::from_utf8_lossy(&fixed.stderr));
        }
        let after = self.resume(&file, damage)?;
        Ok(Some((before, after)))
    }

    fn resume(&self, file: &Path, damage: Damage) -> Result<Resumed> {
        Ok(Resumed { needs_result: damage.keeps_result(), ..self.resume_session(file)? })
    }

    /// Continues a session by one turn.
    pub(super) fn resume_session(&self, file: &Path) -> Result<Resumed> {
        self.turn(Some(file))
    }

    /// Runs one turn, of a session in a file or of a new one, and reads what the provider saw.
    fn turn(&self, session: Option<&Path>) -> Result<Resumed> {
        self.provider.requests();
        match session {
            None => self.home.turn("run the probe", None)?,
            Some(file) => self.home.resume(file)?,
        };
        let requests = self.provider.requests();
        let complaint = requests.is_empty().then(|| self.home.last_line());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_was_not_tested_is_a_failure() {
        assert!(verdict(0, &[]).is_ok());
        assert!(verdict(1, &[]).is_err());
        let error = verdict(0, &["goose", "pi"]).unwrap_err().to_string();
        assert_eq!(error, "not tested, because they cannot be installed: goose, pi");
    }
}
