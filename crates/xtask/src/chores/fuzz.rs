//! `cargo xtask fuzz`: runs the fuzz targets where a nightly compiler and cargo-fuzz are installed.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::workspace::{self, Workspace};

/// How long a target runs by default.
const SECONDS: u32 = 60;

/// Folders with inputs to start from, by the prefix of the target's name.
const SEEDS: [(&str, &str); 6] = [
    ("frame_", "fixtures/streams"),
    ("stream", "fixtures/streams"),
    ("check", "fixtures/rules"),
    ("repair", "fixtures/rules"),
    ("classify", "fixtures/errors"),
    ("request_path", "fixtures/rules"),
];

/// The command line of the chore.
#[derive(Debug, PartialEq, Eq)]
struct Request<'a> {
    target: Option<&'a str>,
    seconds: u32,
}

/// Runs the targets that the arguments name.
pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Result<()> {
    let request = parse(args)?;
    let targets = select(targets(workspace)?, request.target)?;
    let missing = missing_tools(workspace);
    if !missing.is_empty() {
        bail!("cannot fuzz: {}", missing.join("; "));
    }
    for target in &targets {
        println!("\n=== {target}, {} s", request.seconds);
        let corpus = workspace.root().join("fuzz/corpus").join(target);
        std::fs::create_dir_all(&corpus).with_context(|| format!("cannot create {}", corpus.display()))?;
        let mut command = nightly(workspace);
        // No sanitizer: our code has no unsafe, and the fuzzer tries many times more inputs without it.
        command.args(["fuzz", "run", "--sanitizer", "none", target]).arg(corpus);
        let seeds = seeds(target).map(|seeds| workspace.root().join(seeds));
        command.args(seeds.filter(|seeds| seeds.is_dir()));
        command.args(["--", &format!("-max_total_time={}", request.seconds), "-timeout=10", "-rss_limit_mb=2048"]);
        workspace::run(&mut command)?;
    }
    println!("\n{} targets, no failures", targets.len());
    Ok(())
}

fn parse<'a>(args: &[&'a str]) -> Result<Request<'a>> {
    let (target, rest) = match args {
        [target, rest @ ..] if !target.starts_with('-') => (Some(*target), rest),
        rest => (None, rest),
    };
    let seconds = match rest {
        [] => SECONDS,
        ["--seconds", seconds] => seconds.parse().context("--seconds needs a number")?,
        _ => bail!("usage: cargo xtask fuzz [target] [--seconds N]"),
    };
    Ok(Request { target, seconds })
}

/// The names of all targets.
fn targets(workspace: &Workspace) -> Result<Vec<String>> {
    let folder = workspace.root().join("fuzz/fuzz_targets");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let paths: Vec<_> = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    let mut names: Vec<_> = paths.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    Ok(names)
}

fn select(targets: Vec<String>, wanted: Option<&str>) -> Result<Vec<String>> {
    let Some(wanted) = wanted else { return Ok(targets) };
    if targets.iter().any(|target| target == wanted) {
        return Ok(vec![wanted.to_owned()]);
    }
    bail!("unknown fuzz target `{wanted}`\nhint: use one of {}", targets.join(", "))
}

/// The folder with inputs to start from.
fn seeds(target: &str) -> Option<&'static str> {
    SEEDS.iter().find(|(start, _)| target.starts_with(start)).map(|(_, folder)| *folder)
}

/// The tools that are not installed, with the command that installs each.
fn missing_tools(workspace: &Workspace) -> Vec<&'static str> {
    let succeeds = |command: &mut Command| {
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let mut missing = Vec::new();
    if !succeeds(nightly(workspace).arg("--version")) {
        missing.push("the nightly compiler is not installed (`rustup toolchain install nightly`)");
    } else if !succeeds(nightly(workspace).args(["fuzz", "--version"])) {
        missing.push("cargo-fuzz is not installed (`cargo install cargo-fuzz --locked`)");
    }
    missing
}

/// The nightly cargo, at the root.
fn nightly(workspace: &Workspace) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).current_dir(workspace.root());
    // These variables name the compiler that built xtask.
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_and_a_time_are_optional() {
        assert_eq!(parse(&[]).unwrap(), Request { target: None, seconds: SECONDS });
        assert_eq!(parse(&["check", "--seconds", "7"]).unwrap(), Request { target: Some("check"), seconds: 7 });
        assert_eq!(parse(&["--seconds", "7"]).unwrap(), Request { target: None, seconds: 7 });
        assert!(parse(&["--seconds"]).is_err() && parse(&["--seconds", "x"]).is_err());
    }

    #[test]
    fn an_unknown_target_is_refused_with_a_list() {
        let known = vec!["check".to_owned(), "repair".to_owned()];
        assert_eq!(select(known.clone(), Some("repair")).unwrap(), ["repair"]);
        let error = select(known, Some("speed")).unwrap_err().to_string();
        assert_eq!(error, "unknown fuzz target `speed`\nhint: use one of check, repair");
    }

    #[test]
    fn targets_have_inputs_to_start_from() {
        assert_eq!(seeds("stream"), Some("fixtures/streams"));
        assert_eq!(seeds("classify"), Some("fixtures/errors"));
    }
}
