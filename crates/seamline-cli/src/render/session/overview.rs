//! A session at a glance.

use std::fmt::Write as _;

use seamline::Policy;
use seamline::session::{Health, Unresolved};
use seamline::store::{Checkpoint, Incident, IncidentSeverity, SessionInfo, State};
use serde::Serialize;

use super::{Message, OpenCall, Told, calls, checkpoints, incidents, messages, told, word, writer};
use crate::render::{json, style};
use crate::screen;

/// Columns of the labels.
const LABEL_COLUMNS: usize = 10;
/// How many of the last incidents are shown.
const INCIDENTS_MAX: usize = 5;
const INDENT: &str = "  ";

/// What is shown of a session.
pub(crate) struct Overview<'a> {
    pub(crate) state: &'a State,
    pub(crate) health: &'a Health,
    pub(crate) info: &'a SessionInfo,
    /// The last of its messages.
    pub(crate) messages: &'a [Message<'a>],
    /// The calls of cycles that are not whole.
    pub(crate) calls: &'a [Unresolved],
    pub(crate) inbox: usize,
    pub(crate) quarantined: usize,
    /// The command that lists all incidents.
    pub(crate) incidents: &'a str,
}

impl Overview<'_> {
    /// For people.
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
        let SessionInfo { session, head, commits, bytes, holder } = self.info;
        let begin = self.state.begin.as_ref();
        let mut out = style::STRONG.paint(session.as_str());
        if let Some(title) = begin.and_then(|begin| begin.title.as_deref()) {
            let _ = write!(out, "  {}", screen::printable(title));
        }
        out.push('\n');
        if let Some(begin) = begin {
            let provider = begin.provider.as_deref().map(|name| format!(" for {name}")).unwrap_or_default();
            row(&mut out, "dialect", &screen::printable(&format!("{}{provider}", begin.dialect)));
            if let Some(parent) = &begin.parent {
                let call = parent.call.as_ref().map(|call| format!(", for call {call}")).unwrap_or_default();
                row(
                    &mut out,
                    "from",
                    &screen::printable(&format!("{} at record {}{call}", parent.session, parent.seq)),
                );
            }
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

    /// How many incidents there are, and how bad; of those that are at hand.
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
                let what = "degraded: what could be read is here, nothing altered is taken for what was said";
                row(out, "health", &style::ERROR.paint(what));
                for damage in damages {
                    row(out, "", &screen::printable(&damage.to_string()));
                }
            }
        }
        if self.quarantined > 0 {
            row(out, "aside", &format!("{} of damaged bytes", screen::count(self.quarantined, "piece")));
        }
        let unread = self.state.unknown + self.state.passed_over;
        if unread > 0 {
            row(out, "passed over", &screen::count(unread as usize, "record"));
        }
    }

    /// For programs.
    pub(crate) fn json(&self) -> String {
        let begin = self.state.begin.as_ref();
        let damages = match self.health {
            Health::Whole => Vec::new(),
            Health::Degraded(damages) => damages.iter().map(ToString::to_string).collect(),
        };
        let document = Document {
            version: 1,
            info: self.info,
            writer: self.info.holder.as_ref().map(writer::word),
            dialect: begin.map(|begin| begin.dialect.as_str()),
            provider: begin.and_then(|begin| begin.provider.as_deref()),
            title: begin.and_then(|begin| begin.title.as_deref()),
            parent: begin.and_then(|begin| begin.parent.as_ref()),
            policy: self.state.policy.as_ref(),
            health: if self.health.is_whole() { "whole" } else { "degraded" },
            damages,
            resets: self.state.generation,
            inbox: self.inbox,
            quarantined: self.quarantined,
            messages: self.messages.iter().map(told).collect(),
            calls: self.calls.iter().map(OpenCall::of).collect(),
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
    info: &'a SessionInfo,
    writer: Option<&'static str>,
    dialect: Option<&'a str>,
    provider: Option<&'a str>,
    title: Option<&'a str>,
    parent: Option<&'a P>,
    policy: Option<&'a seamline::store::Raw>,
    health: &'static str,
    damages: Vec<String>,
    resets: u32,
    inbox: usize,
    quarantined: usize,
    messages: Vec<Told<'a>>,
    calls: Vec<OpenCall<'a>>,
    checkpoints: &'a [Checkpoint],
    incidents: Vec<&'a Incident>,
}

fn row(out: &mut String, label: &str, text: &str) {
    let _ = writeln!(out, "{INDENT}{} {text}", style::FAINT.paint(&format!("{label:<LABEL_COLUMNS$}")));
}

/// A part with its heading; nothing where there is nothing to show.
fn section(out: &mut String, heading: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", style::STRONG.paint(heading));
    for line in text.lines() {
        let _ = writeln!(out, "{INDENT}{line}");
    }
}
