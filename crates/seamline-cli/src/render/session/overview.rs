//! The overview of a session.

use std::fmt::Write as _;

use seamline::Policy;
use seamline::session::{Health, Unresolved};
use seamline::store::{Checkpoint, Incident, IncidentSeverity, SessionInfo, State};
use serde::Serialize;

use super::side::{Side, Sides};
use super::{Message, Told, UnresolvedCall, calls, checkpoints, incidents, messages, told, word, writer};
use crate::render::{json, style};
use crate::screen;

/// The columns of the labels.
const LABEL_COLUMNS: usize = 10;
/// The most incidents shown.
const INCIDENTS_MAX: usize = 5;
const INDENT: &str = "  ";

/// The data of an overview.
pub(crate) struct Overview<'a> {
    pub(crate) state: &'a State,
    pub(crate) health: &'a Health,
    pub(crate) info: &'a SessionInfo,
    /// The last of its messages.
    pub(crate) messages: &'a [Message<'a>],
    /// The tool calls of open cycles.
    pub(crate) calls: &'a [Unresolved],
    pub(crate) inbox: usize,
    pub(crate) quarantined: usize,
    /// The command that lists all incidents.
    pub(crate) incidents: &'a str,
}

impl Overview<'_> {
    /// The overview for people.
    pub(crate) fn text(&self) -> String {
        let mut out = self.heading();
        let count = self.state.view.len();
        let hidden = count - self.messages.len();
        let width = screen::width().saturating_sub(INDENT.len());
        let mut said = messages(self.messages, width);
        if hidden > 0 {
            let more = format!("⋮ {} before these; `--messages` shows all", screen::count(hidden, "message"));
            said = format!("{}\n{said}", style::FAINT.paint(&more));
        }
        section(&mut out, "messages", &said);
        section(&mut out, "open cycles", &calls(self.calls, width));
        section(&mut out, "checkpoints", &checkpoints(&self.state.checkpoints));
        let earlier = self.state.incidents.len().saturating_sub(INCIDENTS_MAX);
        let mut happened = incidents(self.state.incidents.iter().skip(earlier), width);
        if earlier > 0 {
            let more = format!("⋮ {} before these; {} lists all", screen::grouped(earlier), self.incidents);
            happened = format!("{}\n{happened}", style::FAINT.paint(&more));
        }
        section(&mut out, "incidents", &happened);
        out
    }

    fn heading(&self) -> String {
        let SessionInfo { session, head, commits, bytes, holder, dialect: _ } = self.info;
        let begin = self.state.begin.as_ref();
        let mut out = style::STRONG.paint(session.as_str());
        if let Some(title) = begin.and_then(|begin| begin.title.as_deref()) {
            let _ = write!(out, "  {}", screen::printable(title));
        }
        out.push('\n');
        let sides = self.sides();
        if let Some(current) = &sides.current {
            row(&mut out, "dialect", &screen::printable(&current.text()));
        }
        if let Some(original) = &sides.original {
            row(&mut out, "", &screen::printable(&format!("switched from {}", original.text())));
        }
        if let Some(parent) = begin.and_then(|begin| begin.parent.as_ref()) {
            let call = parent.call.as_ref().map(|call| format!(", for call {call}")).unwrap_or_default();
            row(&mut out, "from", &screen::printable(&format!("{} at record {}{call}", parent.session, parent.seq)));
        }
        row(&mut out, "policy", &screen::printable(&self.policy()));
        let count = |count: u64, what| screen::count(count as usize, what);
        let kept = format!("{}, {}, {}", count(head.seq, "record"), count(*commits, "commit"), screen::bytes(*bytes));
        row(&mut out, "kept", &kept);
        if let Some(holder) = holder {
            row(&mut out, "writer", &screen::printable(&writer::line(holder)));
        }
        if self.state.generation > 0 {
            row(&mut out, "resets", &self.state.generation.to_string());
        }
        if self.inbox > 0 {
            row(&mut out, "inbox", &format!("{} waiting", screen::count(self.inbox, "message")));
        }
        if !self.state.incidents.is_empty() {
            row(&mut out, "incidents", &self.incident_counts());
        }
        self.health_rows(&mut out);
        out
    }

    fn sides(&self) -> Sides {
        Sides::of(self.state.begin.as_ref(), self.state.switch.as_ref())
    }

    /// The preset of the stored policy, and how many knobs differ from it.
    fn policy(&self) -> String {
        let Some(stored) = &self.state.policy else { return format!("{}, not stored", Policy::default().preset) };
        let Ok(policy) = serde_json::from_str::<Policy>(stored.as_str()) else {
            return format!("not readable by this version; {} is used", Policy::default().preset);
        };
        let preset = Policy::preset(&policy.preset).unwrap_or_default();
        let differing =
            policy.knobs().iter().zip(preset.knobs()).filter(|(one, other)| one.value != other.value).count();
        match differing {
            0 if policy == preset => policy.preset,
            0 => format!("{}, with other texts or providers", policy.preset),
            count => format!("{}, {} changed", policy.preset, screen::count(count, "knob")),
        }
    }

    /// Counts the last incidents by severity.
    fn incident_counts(&self) -> String {
        let all = &self.state.incidents;
        let of = |severity| all.iter().filter(|incident| incident.severity == severity).count();
        let counted =
            [IncidentSeverity::Critical, IncidentSeverity::Error, IncidentSeverity::Warning, IncidentSeverity::Info];
        let counted =
            counted.into_iter().map(|severity| (word(&severity), of(severity))).filter(|(_, count)| *count > 0);
        let counted: Vec<String> = counted.map(|(name, count)| format!("{} {name}", screen::grouped(count))).collect();
        match counted.as_slice() {
            [one] => one.clone(),
            several => format!("{}: {}", screen::grouped(all.len()), several.join(", ")),
        }
    }

    fn health_rows(&self, out: &mut String) {
        match self.health {
            Health::Whole => row(out, "health", &style::GOOD.paint("whole")),
            Health::Degraded(damages) => {
                let what = "degraded: only messages of readable commits are shown";
                row(out, "health", &style::ERROR.paint(what));
                for damage in damages {
                    row(out, "", &screen::printable(&damage.to_string()));
                }
            }
        }
        if self.quarantined > 0 {
            row(out, "quarantine", &format!("{} of damaged bytes", screen::count(self.quarantined, "piece")));
        }
        let unread = self.state.unknown + self.state.skipped;
        if unread > 0 {
            row(out, "skipped", &screen::count(unread as usize, "record"));
        }
    }

    /// The overview for programs.
    pub(crate) fn json(&self) -> String {
        let (begin, Sides { current, original }) = (self.state.begin.as_ref(), self.sides());
        let damages = match self.health {
            Health::Whole => Vec::new(),
            Health::Degraded(damages) => damages.iter().map(ToString::to_string).collect(),
        };
        let dialect = current.as_ref().map(|side| side.dialect.as_str().into()).or_else(|| self.info.dialect.clone());
        let document = Document {
            version: 1,
            info: SessionInfo { dialect, ..self.info.clone() },
            writer: self.info.holder.as_ref().map(writer::word),
            provider: current.as_ref().and_then(|side| side.provider.as_deref()),
            switched_from: original.as_ref(),
            title: begin.and_then(|begin| begin.title.as_deref()),
            parent: begin.and_then(|begin| begin.parent.as_ref()),
            policy: self.state.policy.as_ref(),
            health: if self.health.is_whole() { "whole" } else { "degraded" },
            damages,
            resets: self.state.generation,
            inbox: self.inbox,
            quarantined: self.quarantined,
            messages: self.messages.iter().map(told).collect(),
            calls: self.calls.iter().map(UnresolvedCall::of).collect(),
            checkpoints: &self.state.checkpoints,
            incidents: self.state.incidents.iter().collect(),
        };
        json::text(&document) + "\n"
    }
}

#[derive(Serialize)]
struct Document<'a, P> {
    version: u32,
    #[serde(flatten)]
    info: SessionInfo,
    writer: Option<&'static str>,
    provider: Option<&'a str>,
    switched_from: Option<&'a Side>,
    title: Option<&'a str>,
    parent: Option<&'a P>,
    policy: Option<&'a seamline::store::Raw>,
    health: &'static str,
    damages: Vec<String>,
    resets: u32,
    inbox: usize,
    quarantined: usize,
    messages: Vec<Told<'a>>,
    calls: Vec<UnresolvedCall<'a>>,
    checkpoints: &'a [Checkpoint],
    incidents: Vec<&'a Incident>,
}

fn row(out: &mut String, label: &str, text: &str) {
    let _ = writeln!(out, "{INDENT}{} {text}", style::FAINT.paint(&format!("{label:<LABEL_COLUMNS$}")));
}

/// A part with its heading; nothing if it is empty.
fn section(out: &mut String, heading: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", style::STRONG.paint(heading));
    for line in text.lines() {
        let _ = writeln!(out, "{INDENT}{line}");
    }
}
