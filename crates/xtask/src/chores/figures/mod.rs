//! `cargo xtask figures`: size, shape and language of a checkout, in numbers.
//!
//! `--root DIR` measures another checkout with the same code, so that two commits can be compared.

mod build;
mod language;
mod lines;
mod public_names;
mod session;
mod table;
mod touched;
mod type_names;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use self::table::Table;
use crate::rust::Sources;
use crate::tree::Tree;
use crate::workspace::Workspace;

const USAGE: &str = "usage: cargo xtask figures [--root DIR] [--format text|json] [--cold-build]";

/// How the figures are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Json,
}

/// Whether the chore also measures a cold build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColdBuild {
    Measure,
    Skip,
}

/// The command line of the chore.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    /// Another checkout to measure.
    root: Option<PathBuf>,
    format: Format,
    cold_build: ColdBuild,
}

/// Measures a checkout and prints the figures.
pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Result<()> {
    let request = parse(args)?;
    let root = match &request.root {
        Some(root) => root.canonicalize().with_context(|| format!("cannot open {}", root.display()))?,
        None => workspace.root().to_owned(),
    };
    let tree = Tree::read(&root)?;
    let sources = Sources::parse(&tree)?;
    let mut tables = vec![
        lines::table(&tree),
        session::table(&sources),
        touched::table(&tree),
        public_names::table(&sources),
        type_names::table(&sources),
        language::table(&tree),
        build::sizes(&root),
    ];
    if request.cold_build == ColdBuild::Measure {
        tables.push(build::cold(&Workspace::at(root))?);
    }
    match request.format {
        Format::Text => print!("{}", table::text(&tables)),
        Format::Json => println!("{:#}", table::json(&tables)),
    }
    Ok(())
}

fn parse(args: &[&str]) -> Result<Request> {
    let mut request = Request { root: None, format: Format::Text, cold_build: ColdBuild::Skip };
    let mut rest = args;
    loop {
        rest = match rest {
            [] => return Ok(request),
            ["--root", root, rest @ ..] => {
                request.root = Some(PathBuf::from(root));
                rest
            }
            ["--format", "text", rest @ ..] => rest,
            ["--format", "json", rest @ ..] => {
                request.format = Format::Json;
                rest
            }
            ["--cold-build", rest @ ..] => {
                request.cold_build = ColdBuild::Measure;
                rest
            }
            [unknown, ..] => bail!("unknown argument `{unknown}`\n{USAGE}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_in_any_order() {
        let request = parse(&["--cold-build", "--format", "json", "--root", "../old"]).unwrap();
        let expected =
            Request { root: Some(PathBuf::from("../old")), format: Format::Json, cold_build: ColdBuild::Measure };
        assert_eq!(request, expected);
    }

    #[test]
    fn an_unknown_argument_is_refused() {
        assert!(parse(&["--formats"]).is_err());
        assert!(parse(&["--format", "xml"]).is_err());
        assert!(parse(&["--root"]).is_err());
    }
}
