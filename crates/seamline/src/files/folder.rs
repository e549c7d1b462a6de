//! Sessions that programs spread over the files of a folder, such as `OpenHands` and the older storage of opencode.
//!
//! The caller lists folders and reads files. [`find`] names the sessions of a folder with their files, [`check`] and
//! [`repair`] work on the texts of these files as [`files::check`](super::check) and [`files::repair`](super::repair) do on
//! one file. A repair changes some of the files and neither adds nor removes one.

#[doc(inline)]
pub use seamline_files::folder::{FolderEntry, FolderLayout, FolderSession, NumberGap, find, part_of};

use std::path::PathBuf;

use seamline_files::lines::{RecordPlace, on_one_line};
use seamline_files::session::{FileInput, KeptTexts};

use super::check::{CheckedFile, checked, ordinal_gap};
use super::repair::{CANNOT_HOLD, RepairedFile, RepairedRows, repair_rows};
use super::salvage::{Salvaged, salvage_rows};
use super::saved::SavedConversation;
use super::unmended::{unmendable, without_mending};
use crate::{Error, Finding, Options};

/// The outcome of a repair of a session in files. Nothing is written yet.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RepairedFolder {
    /// The outcome of the repair. Its bytes are the records, one per line; none if nothing changes.
    pub repaired: RepairedFile<'static>,
    /// The files that change: the index of each, and its new text.
    pub changed: Vec<(usize, String)>,
}

/// Checks a session by the texts of its files. The line of a finding is the number of the file, from 1.
///
/// ```
/// use seamline::files::folder::{self, FolderEntry};
///
/// let list = |folder: &std::path::Path| match folder.ends_with("events") {
///     true => vec![FolderEntry { name: "event-00000-a.json".to_owned(), is_folder: false }],
///     false => vec![FolderEntry { name: "events".to_owned(), is_folder: true }],
/// };
/// let (layout, sessions) = folder::find("conversations/0a1b".as_ref(), &list).unwrap();
/// assert_eq!((layout.program.name, sessions[0].files.len()), ("OpenHands", 1));
///
/// let event = r#"{"id":"a","source":"user","llm_message":{"role":"user","content":"hi"},"kind":"MessageEvent"}"#;
/// let checked = folder::check(layout, &[event.to_owned()], &seamline::Options::default())?;
/// assert_eq!((checked.messages, checked.is_healthy()), (1, true));
/// # Ok::<(), seamline::Error>(())
/// ```
///
/// # Errors
///
/// Fails when the options name something that does not exist.
pub fn check(layout: &FolderLayout, texts: &[String], options: &Options) -> Result<CheckedFile, Error> {
    let lines = lines(texts);
    let mut bytes = lines.as_slice();
    let input = &mut FileInput { bytes: &mut bytes, name: "", content: KeptTexts::Whole };
    let reading = layout.format.read(input).map_err(|error| Error::Unreadable(error.to_string()))?;
    let mut checked = checked(layout.program, &reading, options)?;
    unmendable(&mut checked.findings);
    Ok(checked)
}

/// The finding about the numbers in the names of files, if the program expects each file to have the next number and one is
/// missing. The line is the number of the file behind the gap, from 1.
///
/// ```
/// use seamline::files::folder::{self, FolderEntry};
///
/// let names = ["event-00000-a.json", "event-00002-c.json"];
/// let list = |folder: &std::path::Path| match folder.ends_with("events") {
///     true => names.map(|name| FolderEntry { name: name.to_owned(), is_folder: false }).to_vec(),
///     false => vec![FolderEntry { name: "events".to_owned(), is_folder: true }],
/// };
/// let (layout, sessions) = folder::find("conversations/0a1b".as_ref(), &list).unwrap();
/// let gap = folder::gap(layout, &sessions[0].files).unwrap();
/// assert_eq!((gap.code, gap.line), ("FILE011", Some(2)));
/// ```
pub fn gap(layout: &FolderLayout, files: &[PathBuf]) -> Option<Finding> {
    let gap = layout.gap(files)?;
    let missing = if gap.missing == 1 { "a file is".to_owned() } else { format!("{} files are", gap.missing) };
    Some(ordinal_gap(gap.file + 1, format!("{missing} missing before this one")))
}

/// Repairs a session by the texts of its files. It writes nothing.
///
/// # Errors
///
/// Fails when the options name something that does not exist.
pub fn repair(layout: &FolderLayout, texts: &[String], options: &Options) -> Result<RepairedFolder, Error> {
    let lines = lines(texts);
    let RepairedRows { repaired, origins } = repair_rows(layout.program, layout.format, ("", &lines), options)?;
    let repaired = without_mending(repaired);
    if !repaired.is_changed() {
        return Ok(RepairedFolder { repaired: repaired.unchanged(None), changed: Vec::new() });
    }
    let (old, new) = (records(layout, &lines)?, records(layout, &repaired.bytes)?);
    let stays = |(index, origin): (usize, &Option<usize>)| *origin == Some(index);
    if old.len() != new.len() || origins.len() != new.len() || !origins.iter().enumerate().all(stays) {
        return Ok(RepairedFolder { repaired: repaired.unchanged(Some(CANNOT_HOLD)), changed: Vec::new() });
    }
    let mut changed = Vec::new();
    for (old, new) in old.iter().zip(&new) {
        let (before, after) = (text(&lines, old), text(&repaired.bytes, new));
        if before != after {
            // Each file is one line.
            changed.push((old.line - 1, after));
        }
    }
    Ok(RepairedFolder { repaired: repaired.into_owned(), changed })
}

/// The conversation that the program would send, repaired as [`repair`] does.
///
/// # Errors
///
/// Fails when the options name something that does not exist.
pub fn conversation(layout: &FolderLayout, texts: &[String], options: &Options) -> Result<SavedConversation, Error> {
    let mut done = repair(layout, texts, options)?.repaired;
    let lines = if done.is_changed() { std::mem::take(&mut done.bytes).into_owned() } else { lines(texts) };
    Ok(SavedConversation::of(done).with_records(layout.format, ("", &lines)))
}

/// Everything readable of a session: its conversation, and the texts of all other files.
///
/// # Errors
///
/// Fails when the options name something that does not exist.
pub fn salvage(layout: &FolderLayout, texts: &[String], options: &Options) -> Result<Salvaged<'static>, Error> {
    let repaired = repair(layout, texts, options)?.repaired;
    Ok(salvage_rows("", lines(texts), (layout.program, layout.format), repaired))
}

/// The line of an empty file. A blank line would be no record, and an empty file is a damaged one.
const EMPTY: &str = "\u{b}";

fn lines(texts: &[String]) -> Vec<u8> {
    let mut lines = Vec::new();
    for text in texts {
        let text = text.trim_start_matches('\u{feff}').trim();
        let text = if text.is_empty() { EMPTY } else { text };
        lines.extend_from_slice(on_one_line(text.to_owned()).as_bytes());
        lines.push(b'\n');
    }
    lines
}

fn records(layout: &FolderLayout, mut bytes: &[u8]) -> Result<Vec<RecordPlace>, Error> {
    let input = &mut FileInput { bytes: &mut bytes, name: "", content: KeptTexts::Whole };
    let reading = layout.format.read(input).map_err(|error| Error::Unreadable(error.to_string()))?;
    Ok(reading.records)
}

fn text(bytes: &[u8], place: &RecordPlace) -> String {
    String::from_utf8_lossy(&bytes[place.span.start as usize..place.span.end as usize]).into_owned()
}
