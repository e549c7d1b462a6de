//! The chores of the workspace: `cargo xtask <chore>`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "xtask is a program whose output is read on a terminal")]

mod book;
mod chores;
mod manifest;
mod source;
mod sources;
mod tidy;
mod tree;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::chores::{bench, codegen, format, fuzz, new_dialect, new_rule, postgres, soak, test};
use crate::workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask <chore>

  test [--fast]             all that CI runs; --fast leaves out docs, release and licences
  tidy                      checks of the tree that the compiler cannot make
  codegen [--check]         write docs/cli.md, rules/ and providers/ anew; --check only compares
  format [--check]          format every Rust file; --check only compares
  bench <name> [args]       measure; names: core, streams, store
  fuzz [target] [--seconds N]
                            run one fuzz target or all of them; needs nightly and cargo-fuzz
  postgres <command>        run a command while a PostgreSQL for its tests runs
  soak                      the tests of stores at full length: kills, damage, broken connections
  new-rule <group> <name>   the skeleton of a rule and its fixtures
  new-dialect <name>        the skeleton of a dialect, its row in the testkit and its first fixture
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Result<()> {
    let workspace = Workspace::find()?;
    match args {
        ["test"] => test::run(&workspace, test::Extent::Whole),
        ["test", "--fast"] => test::run(&workspace, test::Extent::Fast),
        ["tidy"] => chores::tidy::run(&workspace),
        ["codegen"] => codegen::run(&workspace, codegen::Mode::Write),
        ["codegen", "--check"] => codegen::run(&workspace, codegen::Mode::Check),
        ["format"] => format::run(&workspace, format::Mode::Write),
        ["format", "--check"] => format::run(&workspace, format::Mode::Check),
        ["bench", name, rest @ ..] => bench::run(&workspace, name, rest),
        ["fuzz", rest @ ..] => fuzz::run(&workspace, rest),
        ["postgres", program, rest @ ..] => postgres::run(&workspace, program, rest),
        ["soak"] => soak::run(&workspace),
        ["new-rule", group, name] => new_rule::run(&workspace, group, name),
        ["new-dialect", name] => new_dialect::run(&workspace, name),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        [] => bail!("which chore?\n\n{USAGE}"),
        _ => bail!("no such chore: `{}`\n\n{USAGE}", args.join(" ")),
    }
}
