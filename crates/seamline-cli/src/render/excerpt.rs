//! Which part of a conversation is shown with a finding.

use std::collections::{BTreeMap, BTreeSet};

use seamline::{Finding, OutlineBlock, OutlineMessage};

use super::Examined;
use crate::screen;

/// Places beside its own that a finding shows.
const RELATED_MAX: usize = 6;
/// Blocks shown of a message that only surrounds a finding.
const AROUND_MAX: usize = 2;
/// Bytes of a block that can reach the screen.
const PREVIEW_BYTES: usize = 600;

/// The messages that the findings of one body need, read in one go.
pub(crate) struct Excerpts {
    messages: BTreeMap<usize, OutlineMessage>,
}

/// One line of an excerpt.
pub(crate) enum Row<'o> {
    /// A block, with its message's index and role when it is the first one shown.
    Block { head: Option<Head>, block: &'o OutlineBlock, mark: Mark },
    /// A message with nothing in it.
    Empty { head: Head, mark: Mark },
    /// Something is left out here.
    Gap { head: Option<Head>, what: String },
    /// Something is missing here.
    Missing { kind: &'static str, text: String },
}

#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) index: usize,
    pub(crate) role: &'static str,
}

/// What a line has to do with the finding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It surrounds it.
    None,
    /// It takes part.
    Related,
    /// It is what the finding is about.
    Primary,
}

impl Excerpts {
    pub(crate) fn load(examined: &Examined<'_>, findings: &[Finding]) -> Self {
        let indices: BTreeSet<usize> = findings.iter().flat_map(needed).collect();
        // The body has been read before; without an excerpt a finding still says everything.
        let messages = seamline::outline_at(examined.body, examined.options, indices.iter().copied(), PREVIEW_BYTES)
            .unwrap_or_default();
        Self { messages: messages.into_iter().map(|message| (message.index, message)).collect() }
    }

    /// The lines around a finding, in the order of the conversation.
    pub(crate) fn rows(&self, finding: &Finding) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        let mut last = None;
        for index in needed(finding) {
            let Some(message) = self.messages.get(&index) else {
                continue;
            };
            if let Some(last) = last
                && index > last + 1
            {
                let skipped = screen::count(index - last - 1, "message");
                rows.push(gap(None, skipped));
            }
            last = Some(index);
            add_message(&mut rows, finding, message);
        }
        rows
    }
}

/// The messages a finding shows: its own and both neighbours, those that take part, and
/// what comes right after the first of them.
fn needed(finding: &Finding) -> BTreeSet<usize> {
    let mut indices = BTreeSet::new();
    let Some(own) = finding.message_index else {
        return indices;
    };
    indices.extend(own.saturating_sub(1)..=own + 1);
    for related in finding.related.iter().take(RELATED_MAX) {
        indices.insert(related.message_index);
    }
    if let Some(first) = finding.related.first() {
        indices.insert(first.message_index + 1);
    }
    indices
}

fn add_message<'o>(rows: &mut Vec<Row<'o>>, finding: &Finding, message: &'o OutlineMessage) {
    let is_own = finding.message_index == Some(message.index);
    let head = Head { index: message.index, role: message.role };
    let marks: Vec<Mark> = message.blocks.iter().map(|block| mark_of(finding, block)).collect();
    // A finding about a message as a whole points at its first line.
    let on_head = is_own && !marks.contains(&Mark::Primary);
    if is_own && finding.name == "orphan-result" {
        rows.push(missing("call", "no call", finding));
    }
    if message.blocks.is_empty() {
        let mark = if on_head { Mark::Primary } else { Mark::None };
        rows.push(Row::Empty { head, mark });
    } else {
        add_blocks(rows, message, marks, on_head);
    }
    if is_own && finding.name == "unanswered-call" {
        rows.push(missing("result", "no result", finding));
    }
}

fn add_blocks<'o>(rows: &mut Vec<Row<'o>>, message: &'o OutlineMessage, mut marks: Vec<Mark>, on_head: bool) {
    if on_head {
        marks[0] = Mark::Primary;
    }
    let shown = shown(&marks);
    let mut head = Some(Head { index: message.index, role: message.role });
    let mut skipped = 0;
    for (position, block) in message.blocks.iter().enumerate() {
        if !shown.contains(&position) {
            skipped += 1;
            continue;
        }
        if skipped > 0 {
            rows.push(gap(head.take(), screen::count(skipped, "block")));
            skipped = 0;
        }
        let mark = marks[position];
        let head = head.take();
        rows.push(Row::Block { head, block, mark });
    }
    if skipped > 0 {
        rows.push(gap(head, screen::count(skipped, "more block")));
    }
}

/// Which blocks of a message are shown: those that are marked with their neighbours, else
/// the first ones.
fn shown(marks: &[Mark]) -> BTreeSet<usize> {
    let marked = || {
        let all = marks.iter().enumerate();
        all.filter(|(_, mark)| **mark != Mark::None).map(|(position, _)| position).take(RELATED_MAX)
    };
    if marked().next().is_none() {
        return (0..AROUND_MAX.min(marks.len())).collect();
    }
    marked().flat_map(|position| position.saturating_sub(1)..=position + 1).collect()
}

fn mark_of(finding: &Finding, block: &OutlineBlock) -> Mark {
    let is_related = || finding.related.iter().take(RELATED_MAX).any(|related| related.pointer == block.pointer);
    if finding.pointer == block.pointer {
        Mark::Primary
    } else if is_related() {
        Mark::Related
    } else {
        Mark::None
    }
}

fn gap<'o>(head: Option<Head>, what: String) -> Row<'o> {
    Row::Gap { head, what }
}

fn missing<'o>(kind: &'static str, what: &str, finding: &Finding) -> Row<'o> {
    let text = match &finding.call_id {
        Some(id) => format!("{what} for {id}"),
        None => what.to_owned(),
    };
    Row::Missing { kind, text }
}
