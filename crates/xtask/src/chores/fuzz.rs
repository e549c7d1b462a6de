//! `cargo xtask fuzz`: runs the fuzz targets where a nightly compiler and cargo-fuzz are installed.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::workspace::{self, Workspace};

/// How long a target is run when nobody says.
const SECONDS: u32 = 60;

/// Where inputs to start from stand, by the beginnings of targets' names.
const SEEDS: [(&str, &str); 5] = [
    ("frame_", "fixtures/streams"),
    ("stream", "fixtures/streams"),
    ("check", "fixtures/rules"),
    ("repair", "fixtures/rules"),
    ("classify", "fixtures/errors"),
];

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked<'a> {
    target: Option<&'a str>,
    seconds: u32,
}

pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Result<()> {
    let asked = asked(args)?;
    let targets = chosen(targets(workspace)?, asked.target)?;
    let missing = missing(workspace);
    if !missing.is_empty() {
        bail!("cannot fuzz: {}", missing.join("; "));
    }
    for target in &targets {
        println!("\n=== {target}, {} s", asked.seconds);
        let corpus = workspace.root().join("fuzz/corpus").join(target);
        std::fs::create_dir_all(&corpus).with_context(|| format!("cannot make {}", corpus.display()))?;
        let mut command = nightly(workspace);
        // No sanitizer: there is no unsafe code of ours, and without it many times as much is tried.
        command.args(["fuzz", "run", "--sanitizer", "none", target]).arg(corpus);
        let seeds = seeds(target).map(|seeds| workspace.root().join(seeds));
        command.args(seeds.filter(|seeds| seeds.is_dir()));
        command.args(["--", &format!("-max_total_time={}", asked.seconds), "-timeout=10", "-rss_limit_mb=2048"]);
        workspace::run(&mut command)?;
    }
    println!("\n{} targets, nothing found", targets.len());
    Ok(())
}

fn asked<'a>(args: &[&'a str]) -> Result<Asked<'a>> {
    let (target, rest) = match args {
        [target, rest @ ..] if !target.starts_with('-') => (Some(*target), rest),
        rest => (None, rest),
    };
    let seconds = match rest {
        [] => SECONDS,
        ["--seconds", seconds] => seconds.parse().context("--seconds wants a number")?,
        _ => bail!("usage: cargo xtask fuzz [target] [--seconds N]"),
    };
    Ok(Asked { target, seconds })
}

/// Every target, by name.
fn targets(workspace: &Workspace) -> Result<Vec<String>> {
    let folder = workspace.root().join("fuzz/fuzz_targets");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let paths: Vec<_> = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    let mut names: Vec<_> = paths.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    Ok(names)
}

fn chosen(targets: Vec<String>, asked: Option<&str>) -> Result<Vec<String>> {
    let Some(asked) = asked else { return Ok(targets) };
    if targets.iter().any(|target| target == asked) {
        return Ok(vec![asked.to_owned()]);
    }
    bail!("no such fuzz target: `{asked}`\nhint: there is {}", targets.join(", "))
}

/// The folder with inputs to start from.
fn seeds(target: &str) -> Option<&'static str> {
    SEEDS.iter().find(|(start, _)| target.starts_with(start)).map(|(_, folder)| *folder)
}

/// What is not installed, and how to install it.
fn missing(workspace: &Workspace) -> Vec<&'static str> {
    let says = |command: &mut Command| {
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let mut missing = Vec::new();
    if !says(nightly(workspace).arg("--version")) {
        missing.push("there is no nightly compiler (`rustup toolchain install nightly`)");
    } else if !says(nightly(workspace).args(["fuzz", "--version"])) {
        missing.push("cargo-fuzz is not installed (`cargo install cargo-fuzz --locked`)");
    }
    missing
}

/// The nightly cargo, at the root.
fn nightly(workspace: &Workspace) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).current_dir(workspace.root());
    // Those of the compiler that xtask was built with.
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_and_a_time_may_be_given() {
        assert_eq!(asked(&[]).unwrap(), Asked { target: None, seconds: SECONDS });
        assert_eq!(asked(&["check", "--seconds", "7"]).unwrap(), Asked { target: Some("check"), seconds: 7 });
        assert_eq!(asked(&["--seconds", "7"]).unwrap(), Asked { target: None, seconds: 7 });
        assert!(asked(&["--seconds"]).is_err() && asked(&["--seconds", "x"]).is_err());
    }

    #[test]
    fn an_unknown_target_says_what_there_is() {
        let there_is = vec!["check".to_owned(), "repair".to_owned()];
        assert_eq!(chosen(there_is.clone(), Some("repair")).unwrap(), ["repair"]);
        let error = chosen(there_is, Some("speed")).unwrap_err().to_string();
        assert_eq!(error, "no such fuzz target: `speed`\nhint: there is check, repair");
    }

    #[test]
    fn every_target_starts_from_something() {
        assert_eq!(seeds("stream"), Some("fixtures/streams"));
        assert_eq!(seeds("classify"), Some("fixtures/errors"));
    }
}
