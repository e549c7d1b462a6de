//! What a repair did, for people.

use std::fmt::Write as _;

use seamline::{Policy, RepairAction, Repaired};

use super::findings::{self, Extent};
use super::text::{counted, needs_unsafe};
use super::{Counts, Examined, style, table};
use crate::screen;

/// Actions shown of one body; `--report` lists every one.
const SHOWN_MAX: usize = 50;
/// By how much they are set in.
const INDENT: &str = "  ";

/// What was done to a body, one line each, and what that costs.
pub(crate) fn actions(repaired: &Repaired<'_>) -> String {
    let width = screen::width();
    let shown = &repaired.actions[..SHOWN_MAX.min(repaired.actions.len())];
    let rows: Vec<_> = shown.iter().map(row).collect();
    let paints = [style::HINT, style::FAINT, style::PLAIN];
    let table = table::render(&rows, paints, width.saturating_sub(INDENT.len()));
    let mut out = String::new();
    for line in table.lines() {
        let _ = writeln!(out, "{INDENT}{line}");
    }
    let hidden = repaired.actions.len() - shown.len();
    if hidden > 0 {
        let more = screen::grouped(hidden);
        let _ = writeln!(out, "{INDENT}… and {more} more; `--report FILE` lists every one");
    }
    for line in screen::wrap(&cost(repaired), width.saturating_sub(INDENT.len())) {
        let _ = writeln!(out, "{INDENT}{}", style::FAINT.paint(&line));
    }
    out
}

fn row(action: &RepairAction) -> [String; 3] {
    let name = seamline::rule(action.code).map_or("", |rule| rule.name);
    let place = action.pointer.as_deref().map(message_of).unwrap_or_default();
    let mut what = match &action.call_id {
        Some(id) => format!("{id}: {}", done(action.action)),
        None => done(action.action),
    };
    if action.synthetic && !what.contains("synthetic") {
        what += ", marked synthetic";
    }
    [format!("{} {name}", action.code), place, screen::printable(&what).into_owned()]
}

/// The message a pointer leads into.
fn message_of(pointer: &str) -> String {
    let index = pointer.split('/').find(|part| part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty());
    index.map(|index| format!("message {index}")).unwrap_or_default()
}

/// An action's word as what was done.
fn done(action: &str) -> String {
    let known = match action {
        "demote" => "kept as text",
        "fill" => "filled in",
        "insert" => "message inserted",
        "join" => "joined with the message before",
        "patch" => "spelling put right",
        "readdress" => "addressed to its call",
        "reconstruct_call" => "call rebuilt",
        "reform" => "put into its proper form",
        "regroup" => "results put together",
        "relocate" => "moved to its call",
        "remove" => "taken out",
        "rename_call" => "call renamed",
        "rename_tool" => "tool renamed",
        "reorder" => "results put first",
        "set_role" => "given its proper role",
        "synthesize" => "answered with a synthetic result",
        other => return other.replace('_', " "),
    };
    known.to_owned()
}

/// What the change costs.
fn cost(repaired: &Repaired<'_>) -> String {
    let kept = match repaired.dropped.len() {
        0 => "nothing anyone said is lost".to_owned(),
        count => format!("{} taken out for good", screen::count(count, "piece")),
    };
    let Some(first) = repaired.prefix.first_changed_message else {
        return kept;
    };
    let mut out = format!("{kept}; first change: message {first}");
    for what in &repaired.prefix.invalidates {
        out += match *what {
            "prompt_cache" => ", so the provider's prompt cache is lost from there on",
            "thinking" => ", and signed thinking after it may no longer fit",
            _ => continue,
        };
    }
    out
}

/// What is still wrong.
pub(crate) fn remaining(examined: &Examined<'_>, policy: &Policy) -> String {
    if examined.findings.is_empty() {
        return String::new();
    }
    let found = findings::render(examined, Extent::First, screen::width());
    let helped = examined.findings.iter().filter(|finding| needs_unsafe(policy, finding)).count();
    let counts = counted(Counts::of(examined.findings));
    let mut out = format!("{}\n\n{found}", style::STRONG.paint(&format!("still wrong: {counts}")));
    if helped > 0 {
        let _ = writeln!(out, "`--unsafe` would put {} of them right, as `fix:` says above", screen::grouped(helped));
    }
    out
}
