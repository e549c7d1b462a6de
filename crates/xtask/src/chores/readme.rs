//! Checks that the first command of README.md works.

use anyhow::{Context, Result, bail};

use super::test::Outcome;
use crate::workspace::{self, Workspace};

/// The first command of README.md, split into arguments.
const COMMAND: [&str; 7] = ["cargo", "run", "--release", "--", "fix", "--diff", EXAMPLE];
const EXAMPLE: &str = "examples/stuck-agent.json";

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let readme = workspace.root().join("README.md");
    let example = workspace.root().join(EXAMPLE);
    if !readme.is_file() {
        return Ok(Outcome::Skipped("README.md is missing".to_owned()));
    }
    let text = std::fs::read_to_string(&readme).context("cannot read README.md")?;
    if !is_shown(&text) {
        bail!("README.md does not show `{}`", COMMAND.join(" "));
    }
    if !example.is_file() {
        return Ok(Outcome::Skipped(format!("{EXAMPLE} is missing")));
    }
    let before = std::fs::read(&example)?;
    workspace::run(&mut workspace.cargo(&COMMAND[1..]))?;
    if std::fs::read(&example)? != before {
        bail!("`{}` changed {EXAMPLE}", COMMAND.join(" "));
    }
    Ok(Outcome::Passed)
}

fn is_shown(readme: &str) -> bool {
    let command = COMMAND.join(" ");
    readme.lines().any(|line| line.trim().trim_start_matches("$ ").starts_with(&command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_on_its_own_line() {
        assert!(is_shown("```sh\n$ cargo run --release -- fix --diff examples/stuck-agent.json\n```\n"));
        assert!(!is_shown("run `cargo run`"));
    }
}
