//! Sessions of real clients, exported by `seamline convert --to-agent` and resumed in another client.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::client::Sessions;
use super::files::{Bench, Resumed};

/// The clients that sessions can be written for, with their names in `--to-agent`.
const TARGETS: [(&str, &str); 5] =
    [("claude", "claude-code"), ("codex", "codex"), ("gemini", "gemini-cli"), ("pi", "pi"), ("qwen", "qwen-code")];

/// Exports the session of every client to every other one, and prints a table. Returns how many were not resumed.
pub(super) fn run(benches: &[Bench<'_>]) -> Result<usize> {
    println!("\n{:<10}{:<10}after `seamline convert --to-agent --install`", "from", "to");
    let mut failed = 0;
    for from in benches {
        for (name, agent) in TARGETS {
            let Some(to) = benches.iter().find(|bench| bench.home.client.name == name && name != from.home.client.name)
            else {
                continue;
            };
            let resumed = export(from, to, agent)?;
            println!("{:<10}{name:<10}{resumed}", from.home.client.name);
            failed += usize::from(!resumed.is_good());
        }
    }
    Ok(failed)
}

fn export(from: &Bench<'_>, to: &Bench<'_>, agent: &str) -> Result<Resumed> {
    let file = from.home.restore()?;
    to.home.restore()?;
    let mut command = Command::new(&to.seamline);
    command
        .arg("convert")
        .arg(&file)
        .args(["--to-agent", agent, "--install", "--folder"])
        .arg(to.home.folder.join("work"));
    if let Sessions::Database(_) = from.home.client.sessions {
        command.args(["--session", &from.home.session_id(&file)?]);
    }
    let done = command.env("HOME", &to.home.folder).stdin(Stdio::null()).output().context("cannot run the command")?;
    if done.status.code() != Some(0) {
        println!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    }
    let mut resumed = to.resume_session(&to.home.session_file()?)?;
    resumed.needs_result = true;
    Ok(resumed)
}
