//! `cargo xtask test`: runs everything that CI runs, step by step, up to the first failure.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Error, Result, bail};

use super::tally::Tally;
use super::{codegen, format, licences, node, oracles, postgres, python_package, readme, tidy};
use crate::workspace::{self, Workspace};

/// How much to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of the steps.
    Whole,
    /// The steps that find most mistakes in the least time.
    Fast,
}

/// How a step ended.
pub(super) enum Outcome {
    Passed,
    /// The step ran in part; the text says what is missing.
    Partly(String),
    /// The step did not run; the text says why.
    Skipped(String),
    Failed(Error),
}

struct Step {
    name: &'static str,
    least: Extent,
    run: fn(&Workspace, &mut Tally) -> Result<Outcome>,
}

const STEPS: [Step; 13] = [
    step("format", Extent::Fast, format),
    step("tidy", Extent::Fast, check_tidy),
    step("clippy", Extent::Fast, clippy),
    step("no features", Extent::Fast, no_features),
    step("tests", Extent::Fast, tests),
    step("oracles", Extent::Whole, run_oracles),
    step("node package", Extent::Whole, node::run),
    step("python package", Extent::Whole, python),
    step("doc tests", Extent::Whole, doc_tests),
    step("docs", Extent::Whole, docs),
    step("generated docs", Extent::Whole, generated_docs),
    step("licences", Extent::Whole, check_licences),
    step("readme", Extent::Whole, check_readme),
];

const fn step(name: &'static str, least: Extent, run: fn(&Workspace, &mut Tally) -> Result<Outcome>) -> Step {
    Step { name, least, run }
}

struct Done {
    name: &'static str,
    outcome: Outcome,
    elapsed: Duration,
}

/// Runs the steps and prints a summary.
pub(crate) fn run(workspace: &Workspace, extent: Extent) -> Result<()> {
    run_steps(workspace, extent, 0)
}

/// Runs the named step and those after it, for example once a failed step is mended.
pub(crate) fn run_from(workspace: &Workspace, name: &str) -> Result<()> {
    let Some(first) = STEPS.iter().position(|step| step.name == name) else {
        let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        bail!("no step is called `{name}`\nhint: one of {}", names.join(", "));
    };
    run_steps(workspace, Extent::Whole, first)
}

fn run_steps(workspace: &Workspace, extent: Extent, first: usize) -> Result<()> {
    let mut tally = Tally::default();
    let mut done = Vec::new();
    for (index, step) in STEPS.iter().enumerate() {
        println!("\n=== {}/{} {}", index + 1, STEPS.len(), step.name);
        let start = Instant::now();
        let outcome = if index < first {
            Outcome::Skipped("--from".to_owned())
        } else if extent == Extent::Fast && step.least == Extent::Whole {
            Outcome::Skipped("--fast".to_owned())
        } else {
            (step.run)(workspace, &mut tally).unwrap_or_else(Outcome::Failed)
        };
        let elapsed = start.elapsed();
        println!("--- {}: {} ({})", step.name, word(&outcome), seconds(elapsed));
        let has_failed = matches!(outcome, Outcome::Failed(_));
        done.push(Done { name: step.name, outcome, elapsed });
        if has_failed {
            break;
        }
    }
    print!("{}", summary(&done, tally));
    match done.pop().map(|last| (last.name, last.outcome)) {
        Some((name, Outcome::Failed(error))) => bail!(error.context(format!("step `{name}`"))),
        _ => Ok(()),
    }
}

/// Runs the tests of the packages for Node.js and Python, or of the named one. They install tools from their registries.
pub(crate) fn run_packages(workspace: &Workspace, names: &[&str]) -> Result<()> {
    let mut tally = Tally::default();
    let packages = [("node", node::run as fn(&Workspace, &mut Tally) -> Result<Outcome>), ("python", python)];
    if let Some(unknown) = names.iter().find(|name| !packages.iter().any(|(known, _)| known == *name)) {
        bail!("no package is called `{unknown}`\nhint: node or python");
    }
    for (name, run) in packages.into_iter().filter(|(name, _)| names.is_empty() || names.contains(name)) {
        println!("\n=== {name}");
        println!("--- {name}: {}", word(&run(workspace, &mut tally)?));
    }
    Ok(())
}

fn summary(done: &[Done], tally: Tally) -> String {
    let mut lines = vec![String::new(), "=== summary".to_owned()];
    for step in done {
        let mut line = format!("{:<16}{:<9}{:>8}", step.name, word(&step.outcome), seconds(step.elapsed));
        if let Outcome::Skipped(why) | Outcome::Partly(why) = &step.outcome {
            line = format!("{line}  {why}");
        }
        lines.push(line);
    }
    for step in STEPS.iter().skip(done.len()) {
        lines.push(format!("{:<16}not run", step.name));
    }
    let total: Duration = done.iter().map(|step| step.elapsed).sum();
    lines.push(format!("{:<25}{:>8}", "total", seconds(total)));
    if tally.closing_lines > 0 {
        lines.push(format!("{} passed, {} failed", tally.passed, tally.failed));
    }
    lines.join("\n") + "\n"
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "ok",
        Outcome::Partly(_) => "partly",
        Outcome::Skipped(_) => "skipped",
        Outcome::Failed(_) => "FAILED",
    }
}

fn seconds(elapsed: Duration) -> String {
    format!("{:.1} s", elapsed.as_secs_f64())
}

fn format(workspace: &Workspace, _: &mut Tally) -> Result<Outcome> {
    format::run(workspace, format::Mode::Check)?;
    Ok(Outcome::Passed)
}

fn check_tidy(workspace: &Workspace, _: &mut Tally) -> Result<Outcome> {
    tidy::run(workspace)?;
    Ok(Outcome::Passed)
}

fn clippy(workspace: &Workspace, _: &mut Tally) -> Result<Outcome> {
    let args = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    workspace::run(&mut workspace.cargo(&args))?;
    Ok(Outcome::Passed)
}

/// The library builds without its optional stores. Tests always have them.
fn no_features(workspace: &Workspace, _: &mut Tally) -> Result<Outcome> {
    let args = ["clippy", "-p", "seamline", "--lib", "--no-default-features", "--", "-D", "warnings"];
    workspace::run(&mut workspace.cargo(&args))?;
    Ok(Outcome::Passed)
}

fn tests(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let command = test_command(workspace, &[], &[]);
    postgres::watched(workspace, command, tally)
}

/// The command that runs tests of the workspace. Every call builds the same targets, so that nothing is compiled twice:
/// cargo compiles dependencies again where the selected targets need other features.
fn test_command(workspace: &Workspace, nextest: &[&str], harness: &[&str]) -> Command {
    if workspace.has_plugin("nextest") {
        return workspace.cargo(&[&["nextest", "run", "--workspace", "--no-fail-fast"], nextest].concat());
    }
    println!("cargo-nextest is not installed; cargo test runs the same tests");
    // Not `--all-targets`: that would run the benchmarks. Doc tests are another step. Some tests print how much they
    // covered; the configuration of nextest shows it.
    let args =
        ["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--tests", "--examples", "--", "--show-output"];
    workspace.cargo(&[&args, harness].concat())
}

/// Validates repaired conversations with the libraries of other projects.
fn run_oracles(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let Some(python) = oracles::python(workspace)? else {
        return Ok(Outcome::Skipped("python3 with venv is not installed".to_owned()));
    };
    let filter = ["-E", "test(/^oracles::/)", "--success-output", "immediate"];
    let mut command = test_command(workspace, &filter, &["oracles::"]);
    workspace::run_watched(command.env(oracles::VARIABLE, python), |line| tally.see(line))?;
    Ok(Outcome::Passed)
}

/// Runs the tests of the Python package, some of them with real frameworks.
fn python(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let Some(tests) = python_package::tests(workspace)? else {
        return Ok(Outcome::Skipped("python3 with venv is not installed".to_owned()));
    };
    postgres::watched(workspace, tests, tally)
}

fn doc_tests(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let mut command = workspace.cargo(&["test", "--doc", "--workspace", "--no-fail-fast"]);
    workspace::run_watched(&mut command, |line| tally.see(line))?;
    Ok(Outcome::Passed)
}

fn docs(workspace: &Workspace, _: &mut Tally) -> Result<Outcome> {
    // Libraries only: the command and the library have the same name and would write to the same folder.
    let mut command = workspace.cargo(&["doc", "--workspace", "--no-deps", "--lib"]);
    workspace::run(command.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::Passed)
}

fn generated_docs(workspace: &Workspace, _: &mut Tally) -> Result<Outcome> {
    codegen::run(workspace, codegen::Mode::Check)?;
    Ok(Outcome::Passed)
}

fn check_licences(workspace: &Workspace, _: &mut Tally) -> Result<Outcome> {
    licences::run(workspace)
}

fn check_readme(workspace: &Workspace, _: &mut Tally) -> Result<Outcome> {
    readme::run(workspace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_lists_every_step_and_the_count() {
        let done = [
            Done { name: "format", outcome: Outcome::Passed, elapsed: Duration::from_millis(1500) },
            Done { name: "tidy", outcome: Outcome::Skipped("because".to_owned()), elapsed: Duration::from_millis(200) },
        ];
        let tally = Tally { passed: 7, failed: 0, closing_lines: 1 };
        assert_eq!(
            summary(&done, tally),
            "\n=== summary\n\
             format          ok          1.5 s\n\
             tidy            skipped     0.2 s  because\n\
             clippy          not run\n\
             no features     not run\n\
             tests           not run\n\
             oracles         not run\n\
             node package    not run\n\
             python package  not run\n\
             doc tests       not run\n\
             docs            not run\n\
             generated docs  not run\n\
             licences        not run\n\
             readme          not run\n\
             total                       1.7 s\n\
             7 passed, 0 failed\n"
        );
    }

    #[test]
    fn without_a_closing_line_no_count_is_printed() {
        assert!(!summary(&[], Tally::default()).contains("passed"));
    }
}
