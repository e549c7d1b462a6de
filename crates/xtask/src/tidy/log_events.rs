//! One file of each crate makes its log events, and one page lists all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Complaint, Subject};
use crate::source;

/// The only file of a crate that logs.
const FILE: &str = "/src/log.rs";
/// The page with a row for each event.
const PAGE: &str = "docs/logging.md";
/// The macros that make an event; each is the level of the event, too.
const LEVELS: [&str; 5] = ["error", "warn", "info", "debug", "trace"];
/// The other macros that log.
const OTHERS: [&str; 7] = ["event", "span", "error_span", "warn_span", "info_span", "debug_span", "trace_span"];

/// A level and the text of an event.
type Event = (String, String);

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut made: BTreeMap<Event, (&str, usize)> = BTreeMap::new();
    for (path, text) in subject.tree.rust().filter(|(path, _)| is_source(path)) {
        if path.ends_with(FILE) {
            for (event, line) in events(text) {
                match event {
                    Some(event) => drop(made.insert(event, (path, line))),
                    None => complaints.push(Complaint::at(path, line, "a log event ends with its name, a fixed text")),
                }
            }
        } else {
            complaints.extend(calls(text).map(|(line, name)| {
                Complaint::at(path, line, format!("`{name}!`: only `{}` of the crate logs", &FILE[1..]))
            }));
        }
    }
    let listed = listed(subject.tree.text(PAGE).unwrap_or_default());
    for ((level, name), (path, line)) in &made {
        if !listed.contains_key(&(level.clone(), name.clone())) {
            complaints.push(Complaint::at(path, *line, format!("the event `{name}` has no row in {PAGE}")));
        }
    }
    let made: BTreeSet<&Event> = made.keys().collect();
    let stale = listed.iter().filter(|(event, _)| !made.contains(event));
    complaints.extend(stale.map(|((level, name), line)| {
        Complaint::at(PAGE, *line, format!("`{name}`: no crate logs this event at the level `{level}`"))
    }));
    complaints
}

fn is_source(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && !source::is_test_file(path)
}

/// The line and the name of each logging macro that the code calls.
fn calls(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    let found = |line: &str| {
        let mut names = LEVELS.into_iter().chain(OTHERS);
        names.find(|name| source::contains_name(line, &format!("{name}!(")))
    };
    source::code(text).into_iter().filter_map(move |(number, line)| Some((number, found(line)?)))
}

/// The events that a file makes, each with its line; `None` where an event has no fixed text.
fn events(text: &str) -> Vec<(Option<Event>, usize)> {
    let code = source::code(text);
    let mut events = Vec::new();
    for (index, (number, line)) in code.iter().enumerate() {
        let Some(level) = LEVELS.iter().find(|level| source::contains_name(line, &format!("{level}!("))) else {
            continue;
        };
        let rest: Vec<&str> = code[index..].iter().map(|(_, line)| line.trim()).collect();
        let name = last_text(rest.join(" ").split_once(&format!("{level}!(")).map_or("", |(_, inner)| inner));
        events.push((name.map(|name| ((*level).to_owned(), name)), *number));
    }
    events
}

/// The text that ends the parameters of a macro, whose bracket is open at the beginning of `code`.
fn last_text(code: &str) -> Option<String> {
    let (mut depth, mut opened, mut last) = (1, None, None);
    for (at, byte) in code.bytes().enumerate() {
        match (byte, opened) {
            (b'"', Some(start)) => (opened, last) = (None, Some(code.get(start..at)?)),
            (b'"', None) => opened = Some(at + 1),
            (b'(', None) => depth += 1,
            (b')', None) => depth -= 1,
            (_, Some(_)) | (b' ' | b',', None) => {}
            (_, None) => last = None,
        }
        if depth == 0 {
            return last.map(str::to_owned);
        }
    }
    None
}

/// The events that the page lists, each with its line.
fn listed(page: &str) -> BTreeMap<Event, usize> {
    let rows = page.lines().enumerate().filter_map(|(index, line)| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let mut cell = || Some(cells.next()?.strip_prefix('`')?.strip_suffix('`')?.to_owned());
        let event = (cell()?, cell()?);
        LEVELS.contains(&event.0.as_str()).then_some((event, index + 1))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(file: &str, text: &str, page: &str) -> Vec<String> {
        Subject::complaints(&[(file, text), (PAGE, page)], check)
    }

    #[test]
    fn an_event_outside_its_file_is_found() {
        let text = "fn a() {\n    tracing::warn!(a, \"it failed\");\n    debug_assert!(b);\n}\n// info!(a)\n";
        assert_eq!(
            complaints("crates/a/src/b.rs", text, ""),
            ["error: crates/a/src/b.rs:2: `warn!`: only `src/log.rs` of the crate logs"]
        );
        let span = "fn a() {\n    info_span!(\"file\");\n}\n";
        assert_eq!(complaints("crates/a/src/b.rs", span, "").len(), 1);
        assert_eq!(complaints("crates/a/tests/b.rs", text, ""), Vec::<String>::new());
    }

    #[test]
    fn every_event_has_a_row_of_its_level() {
        let text = "fn a() {\n    warn!(\n        a = b.c(\"x\"),\n        \"it (nearly) failed\"\n    );\n}\n";
        let page = "| Level | Event | Fields |\n|---|---|---|\n| `warn` | `it (nearly) failed` | `a` |\n";
        assert_eq!(complaints("crates/a/src/log.rs", text, page), Vec::<String>::new());
        assert_eq!(
            complaints("crates/a/src/log.rs", text, &page.replace("warn", "info")),
            [
                "error: crates/a/src/log.rs:2: the event `it (nearly) failed` has no row in docs/logging.md",
                "error: docs/logging.md:3: `it (nearly) failed`: no crate logs this event at the level `info`"
            ]
        );
    }

    #[test]
    fn an_event_without_a_fixed_text_is_found() {
        let text = "fn a() {\n    warn!(\"x\", name);\n}\n";
        assert_eq!(
            complaints("crates/a/src/log.rs", text, ""),
            ["error: crates/a/src/log.rs:2: a log event ends with its name, a fixed text"]
        );
    }
}
