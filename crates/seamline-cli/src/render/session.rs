//! The messages, checkpoints, incidents and calls of a session.

mod overview;
pub(crate) mod records;
pub(crate) mod side;
pub(crate) mod writer;

use std::fmt::Write as _;

pub(crate) use overview::Overview;
use seamline::outline::{OutlineKind, OutlineMessage};
use seamline::session::{Truth, Unresolved};
use seamline::store::{Checkpoint, CheckpointState, Entry, Incident, IncidentSeverity, Origin, Raw, SessionId};
use serde::Serialize;

use super::style::{self, Paint};
use super::{conversation, json, table};
use crate::{screen, time};

/// How many blocks of one message are shown.
const BLOCKS_MAX: usize = 4;
const ROLE_COLUMNS: usize = 9;
const SIZE_COLUMNS: usize = 8;

/// The summary of a message.
pub(crate) struct Message<'s> {
    pub(crate) index: usize,
    pub(crate) entry: &'s Entry,
    pub(crate) outline: Option<OutlineMessage>,
}

/// The serialized name of a value, such as `outcome_unknown`.
pub(crate) fn word(value: &impl Serialize) -> String {
    json::text(value).trim_matches('"').to_owned()
}

/// Renders messages, a line for each block.
pub(crate) fn messages(messages: &[Message<'_>], width: usize) -> String {
    let digits = messages.last().map_or(1, |last| last.index.to_string().len());
    let mut out = String::new();
    for message in messages {
        let size = screen::bytes(message.entry.message.as_bytes().len() as u64);
        let role = message.outline.as_ref().map_or("", |outline| outline.role.as_str());
        let start = format!(
            "{}  {} {}  ",
            style::FAINT.paint(&format!("{:>digits$}", message.index)),
            style::STRONG.paint(&format!("{role:<ROLE_COLUMNS$}")),
            style::FAINT.paint(&format!("{size:>SIZE_COLUMNS$}")),
        );
        let columns = digits + 2 + ROLE_COLUMNS + 1 + SIZE_COLUMNS + 2;
        let room = width.saturating_sub(columns);
        for (number, line) in lines(message, room).into_iter().enumerate() {
            let start = if number == 0 { start.clone() } else { " ".repeat(columns) };
            let _ = writeln!(out, "{}", format!("{start}{line}").trim_end());
        }
    }
    out
}

/// The lines of a message.
fn lines(message: &Message<'_>, room: usize) -> Vec<String> {
    let blocks = message.outline.as_ref().map_or(&[][..], |outline| &outline.blocks);
    let mut lines = Vec::new();
    for block in blocks.iter().take(BLOCKS_MAX) {
        let kind = if block.kind == OutlineKind::Text { String::new() } else { format!("{} ", block.kind.as_str()) };
        let said = conversation::said(block, room.saturating_sub(kind.len()).max(1));
        lines.push(format!("{}{said}", style::kind(block.kind.as_str()).paint(&kind)));
    }
    if blocks.len() > BLOCKS_MAX {
        lines.push(style::FAINT.paint(&format!("⋮ {}", screen::count(blocks.len() - BLOCKS_MAX, "more block"))));
    }
    match message.entry.origin {
        Origin::Said => {}
        Origin::Synthetic => lines.push(style::WARNING.paint("synthetic: a repair added it")),
        Origin::Summary => lines.push(style::INFO.paint("summary of messages that were replaced")),
    }
    if lines.is_empty() {
        lines.push(style::FAINT.paint("empty"));
    }
    lines
}

/// A message for programs.
#[derive(Serialize)]
struct Told<'a> {
    index: usize,
    role: Option<&'static str>,
    origin: Origin,
    /// The record that added it.
    seq: u64,
    bytes: usize,
    message: &'a Raw,
}

fn told<'a>(message: &Message<'a>) -> Told<'a> {
    Told {
        index: message.index,
        role: message.outline.as_ref().map(|outline| outline.role.as_str()),
        origin: message.entry.origin,
        seq: message.entry.seq,
        bytes: message.entry.message.as_bytes().len(),
        message: &message.entry.message,
    }
}

/// A part of a session as one object.
pub(crate) fn listing(session: &SessionId, name: &str, list: &impl Serialize) -> String {
    format!("{{\"version\":1,\"session\":{},{}:{}}}\n", json::text(session), json::text(&name), json::text(list))
}

/// Messages as one object.
pub(crate) fn message_list(session: &SessionId, messages: &[Message<'_>]) -> String {
    listing(session, "messages", &messages.iter().map(told).collect::<Vec<_>>())
}

/// Messages, one object per line.
pub(crate) fn message_lines(session: &SessionId, messages: &[Message<'_>]) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        version: u32,
        session: &'a SessionId,
        #[serde(flatten)]
        told: Told<'a>,
    }
    let line = |message| json::text(&Line { version: 1, session, told: told(message) });
    messages.iter().map(|message| one_line(&line(message)) + "\n").collect()
}

/// Writes JSON on one line; line breaks occur only between its values.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// Checkpoints, one line each.
pub(crate) fn checkpoints(checkpoints: &[Checkpoint]) -> String {
    let rows: Vec<_> = checkpoints
        .iter()
        .map(|checkpoint| {
            [
                checkpoint.id.to_string(),
                state(checkpoint.state).to_owned(),
                checkpoint.operation.as_str().to_owned(),
                screen::count(checkpoint.messages, "message"),
                time::of_ms(checkpoint.at),
            ]
        })
        .collect();
    let paints = [style::STRONG, style::PLAIN, style::PLAIN, style::PLAIN, style::FAINT];
    table::render(&rows, paints, usize::MAX)
}

fn state(state: CheckpointState) -> &'static str {
    match state {
        CheckpointState::Open => "open",
        CheckpointState::Committed => "committed",
        CheckpointState::RolledBack => "rolled back",
        CheckpointState::Expired => "expired",
    }
}

/// Incidents, one line each.
pub(crate) fn incidents<'i>(incidents: impl Iterator<Item = &'i Incident>, width: usize) -> String {
    let mut out = String::new();
    for incident in incidents {
        let severity = word(&incident.severity);
        let about = incident.checkpoint.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        let what = format!("{}: {}{about}", word(&incident.kind), incident.detail);
        let row = [[time::of_ms(incident.at), format!("{severity:<8}"), screen::printable(&what).into_owned()]];
        let paints = [style::FAINT, severity_paint(incident.severity), style::PLAIN];
        out += &table::render(&row, paints, width);
    }
    out
}

fn severity_paint(severity: IncidentSeverity) -> Paint {
    match severity {
        IncidentSeverity::Info => style::INFO,
        IncidentSeverity::Warning => style::WARNING,
        IncidentSeverity::Error | IncidentSeverity::Critical => style::ERROR,
    }
}

/// A tool call of an open cycle, for programs.
#[derive(Serialize)]
pub(crate) struct UnresolvedCall<'a> {
    cycle: &'a str,
    call: &'a str,
    tool: &'a str,
    effect: &'static str,
    known: &'static str,
}

impl<'a> UnresolvedCall<'a> {
    pub(crate) fn of(call: &'a Unresolved) -> Self {
        let Unresolved { cycle, call: id, tool, effect, truth } = call;
        let known = match truth {
            Truth::NeverStarted => "never_started",
            Truth::Harmless => "harmless",
            Truth::OutcomeUnknown => "outcome_unknown",
            Truth::Finished => "finished",
        };
        Self { cycle: cycle.as_str(), call: id.as_str(), tool, effect: effect.as_str(), known }
    }
}

/// The tool calls of open cycles, one line each.
pub(crate) fn calls(calls: &[Unresolved], width: usize) -> String {
    let rows: Vec<_> = calls
        .iter()
        .map(|call| {
            let known = match call.truth {
                Truth::NeverStarted => "never started",
                Truth::Harmless => "may have run; it only reads",
                Truth::OutcomeUnknown => "started; its outcome is unknown",
                Truth::Finished => "finished; its result is stored",
            };
            let plain = |text: &str| screen::printable(text).into_owned();
            [
                plain(call.cycle.as_str()),
                plain(&call.tool),
                plain(call.call.as_str()),
                call.effect.as_str().to_owned(),
                known.to_owned(),
            ]
        })
        .collect();
    let paints = [style::FAINT, style::CALL, style::FAINT, style::PLAIN, style::STRONG];
    table::render(&rows, paints, width)
}
