//! Files in the folder of an agent that no program is recognised by.

use std::path::Path;

use seamline::files::{ALL, Program, SessionFolder};
use serde::de::IgnoredAny;

use crate::failure::{Failure, quoted};

/// Why a file is neither a session nor a request body, if it lies where an agent keeps its sessions and is empty or damaged.
pub(crate) fn failure_at(path: &Path, bytes: &[u8]) -> Option<Failure> {
    if bytes.trim_ascii().is_empty() {
        let why = format!("{} keeps its sessions here, but this file is empty", program_at(path)?.name);
        return Some(Failure::new(why).with_hint("there is nothing to repair"));
    }
    refusal(path, bytes, false)
}

/// Why a file was not examined, if it lies where an agent keeps its sessions and is damaged. Another file in such a folder
/// is not a session.
pub(crate) fn refusal(path: &Path, head: &[u8], is_cut: bool) -> Option<Failure> {
    let program = program_at(path).filter(|_| is_damaged(head, is_cut))?;
    let why = format!("{} keeps its sessions here, but this file is damaged and cannot be recognised", program.name);
    let path = quoted(&path.display().to_string());
    Some(Failure::new(why).with_hint(format!("`seamline salvage {path}` writes everything that is readable")))
}

/// Whether the first bytes of a file are not JSON values. `is_cut` says whether the file has more bytes.
fn is_damaged(head: &[u8], is_cut: bool) -> bool {
    let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head);
    let mut values = serde_json::Deserializer::from_slice(head).into_iter::<IgnoredAny>();
    values.any(|value| value.is_err_and(|error| !(is_cut && error.is_eof())))
}

/// The agent that keeps its sessions in the folder of a file, in files with such a name.
fn program_at(path: &Path) -> Option<&'static Program> {
    let name = path.file_name()?.to_str()?;
    let holds =
        |place: &SessionFolder| place.endings.iter().any(|ending| name.ends_with(ending)) && is_below(path, place);
    ALL.iter().copied().find(|program| program.places.iter().any(holds))
}

/// Whether a file is below a place, in the home folder of any user or where a variable says.
fn is_below(path: &Path, place: &SessionFolder) -> bool {
    let named = place.variable.and_then(std::env::var_os);
    let named = named.as_deref().and_then(|folder| path.strip_prefix(folder).ok());
    if named.is_some_and(|rest| starts_with(&parts(rest), &place.path.split('/').collect::<Vec<_>>())) {
        return true;
    }
    let wanted: Vec<&str> = place.home.split('/').chain(place.path.split('/')).collect();
    let folders = parts(path);
    (0..folders.len()).any(|start| starts_with(&folders[start..], &wanted))
}

fn parts(path: &Path) -> Vec<&str> {
    path.iter().filter_map(std::ffi::OsStr::to_str).collect()
}

/// Whether folders begin with these ones; `*` is any folder.
fn starts_with(folders: &[&str], wanted: &[&str]) -> bool {
    folders.len() > wanted.len()
        && folders.iter().zip(wanted).all(|(folder, wanted)| *wanted == "*" || folder == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_damaged_files_in_the_folder_of_an_agent_are_refused() {
        let is_refused = |path: &str, head: &[u8]| refusal(Path::new(path), head, false).is_some();
        let session = "/srv/ann/.claude/projects/-a/1.jsonl";
        assert!(is_refused(session, b"\0\0\0\n\0"));
        assert!(is_refused(session, b"{\"type\":\"us"));
        assert!(!is_refused(session, b"{\"type\":\"other\"}\n{\"a\":1}\n"));
        assert!(!is_refused(session, b""));
        assert!(!is_refused("/srv/ann/.claude/projects/-a/1.md", b"# Notes"));
        assert!(!is_refused("/srv/ann/data/1.jsonl", b"{\"type\":\"us"));
        assert!(is_refused("/srv/ann/.openclaw/agents/main/sessions/1.jsonl", b"{\"type\":\"us"));
        assert_eq!(refusal(Path::new(session), b"{\"type\":\"us", true), None);
        let told = |path: &str, bytes: &[u8]| failure_at(Path::new(path), bytes).map(|failure| failure.message);
        assert!(told(session, b" \n").unwrap().ends_with("this file is empty"));
        assert!(told(session, b"{\"type\":\"us").unwrap().contains("is damaged"));
        assert_eq!((told("/srv/ann/data/1.jsonl", b""), told(session, b"{\"a\":1}")), (None, None));
    }
}
