//! `seamline session import`

use std::io::Read as _;
use std::path::PathBuf;

use clap::Args;
use seamline::store::SessionId;
use serde_json::value::RawValue;

use super::export::End;
use super::place::Place;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::render::style;
use crate::screen;

/// Take in sessions that another store exported
///
/// Byte for byte, under the name they had. Every seal and the whole chain are checked first; a file that was cut off or
/// altered is refused, and it is said where.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Import {
    /// What `seamline session export` wrote, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  seamline session import s-1.jsonl
  seamline session export s-1 | seamline session import - --store sqlite:backup.db";

/// The commits of one session.
struct Exported {
    end: End,
    commits: Vec<Vec<u8>>,
}

impl Import {
    pub(super) fn run(&self, store: Option<&str>) -> Result<Exit, Failure> {
        let label = self.file.display().to_string();
        let about = |failure: Failure| Failure {
            message: format!("{}: {}", output::named(&label), failure.message),
            ..failure
        };
        let bytes = self.read().map_err(|error| about(Failure::io("read", &error)))?;
        let sessions = exported(&bytes).map_err(about)?;
        for Exported { end, commits } in &sessions {
            checked(end, commits).map_err(about)?;
        }
        let place = Place::make(store)?;
        let mut output = Output::new();
        for Exported { end, commits } in &sessions {
            let head = place.wait(place.store.import(&end.session, commits)).map_err(about)?;
            let name = SessionId::as_str(&end.session);
            let records = screen::count(head.seq as usize, "record");
            let commits = screen::count(commits.len(), "commit");
            output.text(&format!("{} {name}: took in {commits} with {records}\n", style::GOOD.paint("✓")));
        }
        Ok(output.finish(Exit::Clean))
    }

    fn read(&self) -> std::io::Result<Vec<u8>> {
        if self.file.as_os_str() != "-" {
            return std::fs::read(&self.file);
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// The sessions of a file. A commit may have line breaks between its values, where its messages had.
fn exported(bytes: &[u8]) -> Result<Vec<Exported>, Failure> {
    let cut = "export the session again; this file is cut off or altered";
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Failure::new(format!("not UTF-8 from byte {} on", error.valid_up_to())).with_hint(cut))?;
    let mut sessions = Vec::new();
    let mut commits = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
        let value = value.map_err(|error| {
            Failure::new(format!("no export: behind commit {}: {error}", commits.len())).with_hint(cut)
        })?;
        match serde_json::from_str::<End>(value.get()) {
            Ok(end) => sessions.push(Exported { end, commits: std::mem::take(&mut commits) }),
            Err(_) => commits.push(value.get().as_bytes().to_vec()),
        }
    }
    if commits.is_empty() && !sessions.is_empty() {
        return Ok(sessions);
    }
    let end = if commits.is_empty() {
        "there is nothing in it".to_owned()
    } else {
        format!("it ends behind commit {} without the line that closes an export", commits.len())
    };
    Err(Failure::new(format!("no whole export: {end}")).with_hint(cut))
}

/// Whether the chain is whole and ends where it should. A store checks it, too; but nothing of a file is taken in
/// before all of it was checked.
fn checked(end: &End, commits: &[Vec<u8>]) -> Result<(), Failure> {
    if end.seamline_export > End::VERSION {
        return Err(Failure::new(format!(
            "the export has format {}, this version knows {}",
            end.seamline_export,
            End::VERSION
        ))
        .with_hint("use a newer version of seamline"));
    }
    let (head, _) = seamline::store::chain(&end.session, commits)
        .map_err(|error| Failure::new(error.to_string()).with_hint("nothing was taken in; export the session again"))?;
    if (head.seq, head.hash, commits.len()) == (end.seq, end.hash, end.commits) {
        return Ok(());
    }
    Err(Failure::new(format!(
        "session `{}` ends at record {} of commit {}, and its last line says record {} of commit {}",
        end.session,
        head.seq,
        commits.len(),
        end.seq,
        end.commits
    ))
    .with_hint("commits are missing from the file; export the session again"))
}
