//! The fake provider, as a child process that prints one line of JSON for each request.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::workspace::Workspace;

/// The `cargo` command that runs the provider.
pub(super) const EXAMPLE: [&str; 6] = ["run", "--quiet", "-p", "seamline-testkit", "--example", "fake_provider"];

/// How long the provider may be silent before all requests of a client are taken to be printed.
const SILENCE: Duration = Duration::from_millis(400);

/// A running fake provider.
pub(super) struct Provider {
    child: Child,
    pub(super) url: String,
    lines: Receiver<String>,
}

impl Provider {
    pub(super) fn start(workspace: &Workspace) -> Result<Self> {
        let mut command = workspace.cargo(&EXAMPLE);
        command.args(["--", "0"]).stdout(Stdio::piped()).stdin(Stdio::null());
        let mut child = command.spawn().context("cannot start the fake provider")?;
        let mut output = BufReader::new(child.stdout.take().context("the fake provider has no output")?);
        let mut first = String::new();
        output.read_line(&mut first)?;
        let url = first.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        Ok(Self { child, url, lines: follow(output) })
    }

    /// The requests since the last call.
    pub(super) fn requests(&self) -> Vec<Value> {
        let mut requests = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(SILENCE) {
            requests.extend(serde_json::from_str(&line));
        }
        requests
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn follow(output: BufReader<ChildStdout>) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
