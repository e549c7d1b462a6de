//! The part of a conversation that is shown with a finding.

use std::collections::{BTreeMap, BTreeSet};

use seamline::Finding;
use seamline::outline::{OutlineBlock, OutlineMessage};

use super::Examined;
use crate::screen;

/// The most other places that a finding shows.
const RELATED_MAX: usize = 6;
/// The most blocks of a neighbouring message.
const AROUND_MAX: usize = 2;
/// The most bytes of a block that are shown.
const PREVIEW_BYTES: usize = 600;

/// The messages that the findings of one body show, read in one pass.
pub(crate) struct Excerpts {
    messages: BTreeMap<usize, Message>,
}

/// A message with an index of its blocks by pointer, so that many findings in a long message do not each read all of
/// it.
struct Message {
    outline: OutlineMessage,
    /// The positions of its blocks, sorted by pointer.
    by_pointer: Vec<usize>,
}

/// One line of an excerpt.
pub(crate) enum Row<'o> {
    /// A block, with the index and role of its message if it is the first one shown.
    Block { head: Option<Head>, block: &'o OutlineBlock, mark: Mark },
    /// A message without blocks.
    Empty { head: Head, mark: Mark },
    /// Blocks or messages are left out here.
    Gap { head: Option<Head>, what: String },
    /// A call or a result is missing here.
    Missing { kind: &'static str, text: String },
}

#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) index: usize,
    pub(crate) role: &'static str,
}

/// The relation of a line to the finding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The line is a neighbour.
    None,
    /// The line is another place of the finding.
    Related,
    /// The line is the place of the finding.
    Primary,
}

impl Excerpts {
    pub(crate) fn load(examined: &Examined<'_>, findings: &[Finding]) -> Self {
        let indices: BTreeSet<usize> = findings.iter().flat_map(needed).collect();
        // The body was read before. Without an excerpt a finding is still complete.
        let messages =
            seamline::outline::outline_at(examined.body, examined.options, indices.iter().copied(), PREVIEW_BYTES)
                .unwrap_or_default();
        Self { messages: messages.into_iter().map(|message| (message.index, Message::of(message))).collect() }
    }

    /// Returns the lines around a finding, in the order of the conversation.
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

impl Message {
    fn of(outline: OutlineMessage) -> Self {
        let mut by_pointer: Vec<_> = (0..outline.blocks.len()).collect();
        by_pointer.sort_by(|&one, &other| outline.blocks[one].pointer.cmp(&outline.blocks[other].pointer));
        Self { outline, by_pointer }
    }

    /// The positions of the blocks of a finding.
    fn marks(&self, finding: &Finding) -> BTreeMap<usize, Mark> {
        let mut marks = BTreeMap::new();
        for related in finding.related.iter().take(RELATED_MAX) {
            marks.extend(self.positions(&related.pointer).map(|position| (position, Mark::Related)));
        }
        marks.extend(self.positions(&finding.pointer).map(|position| (position, Mark::Primary)));
        marks
    }

    fn positions(&self, pointer: &str) -> impl Iterator<Item = usize> {
        let pointer_of = |position: usize| self.outline.blocks[position].pointer.as_str();
        let start = self.by_pointer.partition_point(|&position| pointer_of(position) < pointer);
        self.by_pointer[start..].iter().copied().take_while(move |&position| pointer_of(position) == pointer)
    }
}

/// The messages that a finding shows: its own and both neighbours, those of its other places, and the message after the
/// first of them.
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

fn add_message<'o>(rows: &mut Vec<Row<'o>>, finding: &Finding, message: &'o Message) {
    let outline = &message.outline;
    let is_own = finding.message_index == Some(outline.index);
    let mut marks = message.marks(finding);
    // A finding about a whole message marks its first line.
    let on_head = is_own && marks.values().all(|mark| *mark != Mark::Primary);
    if is_own && finding.name == "orphan-result" {
        rows.push(missing("call", "no call", finding));
    }
    if outline.blocks.is_empty() {
        let mark = if on_head { Mark::Primary } else { Mark::None };
        rows.push(Row::Empty { head: Head { index: outline.index, role: outline.role.as_str() }, mark });
    } else {
        if on_head {
            marks.insert(0, Mark::Primary);
        }
        add_blocks(rows, outline, &marks);
    }
    if is_own && finding.name == "unanswered-call" {
        rows.push(missing("result", "no result", finding));
    }
}

fn add_blocks<'o>(rows: &mut Vec<Row<'o>>, message: &'o OutlineMessage, marks: &BTreeMap<usize, Mark>) {
    let mut head = Some(Head { index: message.index, role: message.role.as_str() });
    let mut next = 0;
    for position in shown(marks, message.blocks.len()) {
        if position > next {
            rows.push(gap(head.take(), screen::count(position - next, "block")));
        }
        let mark = marks.get(&position).copied().unwrap_or(Mark::None);
        rows.push(Row::Block { head: head.take(), block: &message.blocks[position], mark });
        next = position + 1;
    }
    let rest = message.blocks.len() - next;
    if rest > 0 {
        rows.push(gap(head, screen::count(rest, "more block")));
    }
}

/// The blocks of a message to show: the marked ones with their neighbours, else the first ones.
fn shown(marks: &BTreeMap<usize, Mark>, count: usize) -> BTreeSet<usize> {
    if marks.is_empty() {
        return (0..AROUND_MAX.min(count)).collect();
    }
    let marked = marks.keys().take(RELATED_MAX);
    let around = marked.flat_map(|&position| position.saturating_sub(1)..=position + 1);
    around.filter(|&position| position < count).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_by_pointer_and_shown_with_their_neighbours() {
        let calls: Vec<_> = (0..20)
            .map(|index| format!(r#"{{"type":"tool_use","id":"toolu_{index}","name":"read","input":{{}}}}"#))
            .collect();
        let body = format!(r#"{{"messages":[{{"role":"assistant","content":[{}]}}]}}"#, calls.join(","));
        let outline = seamline::outline(body.as_bytes(), &seamline::Options::default(), 0..1).unwrap().remove(0);
        let message = Message::of(outline);
        for position in [0, 2, 10, 19] {
            let found: Vec<_> = message.positions(&format!("/messages/0/content/{position}")).collect();
            assert_eq!(found, [position]);
        }
        assert_eq!(message.positions("/messages/0/content/20").count(), 0);
        let marks = BTreeMap::from([(0, Mark::Primary), (10, Mark::Related)]);
        let mut rows = Vec::new();
        add_blocks(&mut rows, &message.outline, &marks);
        let drawn: Vec<_> = rows
            .iter()
            .map(|row| match row {
                Row::Block { block, .. } => block.id.clone().unwrap(),
                Row::Gap { what, .. } => what.clone(),
                _ => String::new(),
            })
            .collect();
        assert_eq!(drawn, ["toolu_0", "toolu_1", "7 blocks", "toolu_9", "toolu_10", "toolu_11", "8 more blocks"]);
    }
}
