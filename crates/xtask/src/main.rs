//! The chores of the workspace: `cargo xtask <chore>`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "xtask prints to a terminal")]

mod book;
mod chores;
mod drift;
mod manifest;
mod rust;
mod source;
mod sources;
mod tidy;
mod tree;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::chores::{bench, codegen, figures, format, fuzz, new_dialect, new_rule, postgres, soak, test};
use crate::workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask <chore>

  test [--fast]             run everything that CI runs; --fast skips docs, release and licences
  test --from STEP          run that step of the tests and those after it
  test packages [node|python]
                            test the packages for Node.js and Python; needs their registries
  tidy                      check the tree for what the compiler cannot check
  codegen [--check]         write docs/cli.md, rules/ and providers/; --check only compares
  format [--check]          format every Rust file; --check only compares
  figures [--root DIR] [--format text|json] [--cold-build]
                            print size, shape and language of a checkout in numbers
  bench <name> [args]       run a benchmark: core, streams, store, files, proxy or packages
  clients files [NAME]…     damage sessions of real clients, repair them, resume them; needs npm and the registry
  clients proxy [NAME]…     run real clients and libraries without and with `seamline proxy`; needs npm, Python and their registries
  clients frameworks [rust|node|python [NAME]…]
                            run frameworks with damaged histories, alone and with Seamline; needs npm, Python and their registries
  fake-provider [PORT]      run the strict fake provider for clients of your own
  fuzz [target] [--seconds N]
                            run one fuzz target or all of them; needs nightly and cargo-fuzz
  postgres <command>        run a command with a PostgreSQL server for its tests
  soak                      repair 100,000 damaged conversations; run the store tests at full length
  soak proxy [REQUESTS]     send 1,000,000 requests through `seamline proxy` and hold 10,000 streams
  dist [archive|wheel|npm]  build what a release ships and try it in an empty environment; needs npm, Python and their registries
  drift [--installed]       print what vendors added to their types and no dialect reads; needs the registry
  new-rule <group> <name>   write the skeleton of a rule and its fixtures
  new-dialect <name>        write the skeleton of a dialect, its row in the test kit and its first fixtures
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
        ["test", "--from", step] => test::run_from(&workspace, step),
        ["tidy"] => chores::tidy::run(&workspace),
        ["codegen"] => codegen::run(&workspace, codegen::Mode::Write),
        ["codegen", "--check"] => codegen::run(&workspace, codegen::Mode::Check),
        ["figures", rest @ ..] => figures::run(&workspace, rest),
        ["format"] => format::run(&workspace, format::Mode::Write),
        ["format", "--check"] => format::run(&workspace, format::Mode::Check),
        ["bench", name, rest @ ..] => bench::run(&workspace, name, rest),
        ["clients", rest @ ..] => chores::clients::run(&workspace, rest),
        ["fake-provider", rest @ ..] => chores::clients::serve(&workspace, rest),
        ["fuzz", rest @ ..] => fuzz::run(&workspace, rest),
        ["postgres", program, rest @ ..] => postgres::run(&workspace, program, rest),
        ["test", "packages", names @ ..] => test::run_packages(&workspace, names),
        ["soak"] => soak::run(&workspace),
        ["soak", "proxy", rest @ ..] => soak::run_proxy(&workspace, rest),
        ["dist", names @ ..] => chores::dist::run(&workspace, names),
        ["drift", rest @ ..] => chores::drift::run(&workspace, rest),
        ["new-rule", group, name] => new_rule::run(&workspace, group, name),
        ["new-dialect", name] => new_dialect::run(&workspace, name),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        [] => bail!("no chore given\n\n{USAGE}"),
        _ => bail!("unknown chore `{}`\n\n{USAGE}", args.join(" ")),
    }
}
