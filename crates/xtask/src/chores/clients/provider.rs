//! The fake provider, as a child process that prints one line of JSON for each request.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
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
    server: Server,
    pub(super) url: String,
}

impl Provider {
    pub(super) fn start(workspace: &Workspace) -> Result<Self> {
        let mut command = workspace.cargo(&EXAMPLE);
        command.args(["--", "0"]);
        let server = Server::start(&mut command).context("cannot start the fake provider")?;
        Ok(Self { url: server.url.clone(), server })
    }

    /// The requests since the last call.
    pub(super) fn requests(&self) -> Vec<Value> {
        let mut requests = Vec::new();
        while let Ok(line) = self.server.lines.recv_timeout(SILENCE) {
            requests.extend(serde_json::from_str(&line));
        }
        requests
    }
}

/// A server in a child process, whose first line of output ends with its URL. It ends with this value.
pub(super) struct Server {
    child: Child,
    pub(super) url: String,
    lines: Receiver<String>,
}

impl Server {
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn()?;
        let mut output = BufReader::new(child.stdout.take().context("the server has no output")?);
        let mut first = String::new();
        output.read_line(&mut first)?;
        let url = first.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        let server = Self { child, url, lines: follow(output) };
        anyhow::ensure!(server.url.starts_with("http://"), "it does not say where it listens");
        Ok(server)
    }
}

impl Drop for Server {
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
