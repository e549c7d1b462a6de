//! The changes of a repair, message by message.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use seamline::Options;
use seamline::outline::{OutlineBlock, OutlineMessage};

use super::align::{self, Step};
use super::diff_rows::{Row, RowHead, Sign, draw};
use super::diff_steps;
use super::fields::{self, FieldChange};
use super::hunks::{Hunk, first_hunks, hunks};
use super::style;
use crate::screen;

/// The most bytes of a block that are compared and shown.
const PREVIEW_BYTES: usize = 2000;
/// The most messages of both bodies that are shown, so that the memory for a diff has a bound.
const MESSAGES_MAX: usize = 2000;

/// The two bodies.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) before: &'a [u8],
    pub(crate) after: &'a [u8],
    pub(crate) options: &'a Options,
}

/// The changed messages of a body and their neighbours.
pub(crate) fn render(sides: Sides<'_>, width: usize) -> Result<String, seamline::Error> {
    let before = seamline::outline::message_spans(sides.before, sides.options)?;
    let after = seamline::outline::message_spans(sides.after, sides.options)?;
    let sources = |body, spans: &[Range<usize>]| -> Vec<&[u8]> { spans.iter().map(|span| slice(body, span)).collect() };
    let hunks = hunks(&sources(sides.before, &before), &sources(sides.after, &after));
    let around = draw(&around_rows(&around(sides.before, &before), &around(sides.after, &after)), width);
    if hunks.is_empty() {
        return Ok(style::FAINT.paint("  no message changes; the text around them does") + "\n" + &around);
    }
    let (hunks, hidden) = first_hunks(hunks, MESSAGES_MAX);
    let shown = Shown::load(sides, &hunks)?;
    let mut out = around;
    let mut last = 0;
    let plans: Vec<_> = hunks.iter().map(|hunk| shown.plan(hunk)).collect();
    let moved = shown.moved(&plans);
    for (hunk, plan) in hunks.iter().zip(&plans) {
        out += &gap(hunk.before.start.saturating_sub(last));
        out += &draw(&shown.rows(plan, &moved), width);
        last = hunk.before.end;
    }
    out += &match hidden {
        0 => gap(before.len().saturating_sub(last)),
        hidden => {
            let what = screen::count(hidden, "more changed message");
            style::FAINT.paint(&format!("  ⋮ {what}; `--output FILE` writes the whole body")) + "\n"
        }
    };
    Ok(out)
}

/// The text around the messages, as JSON: the request without them.
fn around(body: &[u8], messages: &[Range<usize>]) -> Vec<u8> {
    match (messages.first(), messages.last()) {
        (Some(first), Some(last)) => [slice(body, &(0..first.start)), slice(body, &(last.end..body.len()))].concat(),
        _ => body.to_vec(),
    }
}

/// The rows of the members beside the messages that changed.
fn around_rows(before: &[u8], after: &[u8]) -> Vec<Row<'static>> {
    let mut head = RowHead { role: Some("request"), ..RowHead::default() };
    let rows = fields::changes(before, after).into_iter();
    rows.map(|change| field_row(change, std::mem::take(&mut head))).collect()
}

fn field_row(change: FieldChange, place: RowHead) -> Row<'static> {
    Row { sign: change.sign, place, block: None, field: Some(change.text), moved: None }
}

fn slice<'b>(body: &'b [u8], span: &Range<usize>) -> &'b [u8] {
    body.get(span.clone()).unwrap_or_default()
}

fn gap(count: usize) -> String {
    match count {
        0 => String::new(),
        count => {
            let what = format!("  ⋮ {} unchanged", screen::count(count, "message"));
            style::FAINT.paint(&what) + "\n"
        }
    }
}

/// The messages of both bodies that are shown.
struct Shown<'a> {
    sides: Sides<'a>,
    before: BTreeMap<usize, OutlineMessage>,
    after: BTreeMap<usize, OutlineMessage>,
}

/// The head of a message or one of its blocks.
enum Item<'o> {
    Head(&'o OutlineMessage),
    Block(&'o OutlineMessage, &'o OutlineBlock),
}

/// Draws one hunk step by step.
struct Plan<'o> {
    before: Vec<Item<'o>>,
    after: Vec<Item<'o>>,
    steps: Vec<Step>,
    /// The new blocks that are rewritten ones, with the old block of each.
    rewritten: HashMap<usize, usize>,
}

/// Blocks that moved: their bytes and the message they moved from or to.
#[derive(Default)]
struct Moved<'a> {
    from: HashMap<&'a [u8], usize>,
    to: HashMap<&'a [u8], usize>,
}

impl<'a> Shown<'a> {
    fn load(sides: Sides<'a>, hunks: &[Hunk]) -> Result<Self, seamline::Error> {
        let load = |body, indices: Vec<usize>| {
            let messages = seamline::outline::outline_at(body, sides.options, indices, PREVIEW_BYTES)?;
            Ok::<BTreeMap<_, _>, seamline::Error>(
                messages.into_iter().map(|message| (message.index, message)).collect(),
            )
        };
        Ok(Self {
            sides,
            before: load(sides.before, hunks.iter().flat_map(|hunk| hunk.before.clone()).collect())?,
            after: load(sides.after, hunks.iter().flat_map(|hunk| hunk.after.clone()).collect())?,
        })
    }

    fn plan(&self, hunk: &Hunk) -> Plan<'_> {
        let before = items(&self.before, &hunk.before);
        let after = items(&self.after, &hunk.after);
        let steps = align::steps(&before, &after, |one, other| self.weight(one, other));
        let steps = diff_steps::ordered(&steps, |step| match *step {
            Step::Both(..) => false,
            Step::Before(index) => matches!(before[index], Item::Head(_)),
            Step::After(index) => matches!(after[index], Item::Head(_)),
        });
        let rewritten = diff_steps::pairs(&steps, |one, other| is_rewritten(&before[one], &after[other]));
        Plan { before, after, steps, rewritten }
    }

    fn moved(&self, plans: &[Plan<'_>]) -> Moved<'a> {
        let mut moved = Moved::default();
        for plan in plans {
            for step in &plan.steps {
                let (list, index, body, map) = match *step {
                    Step::Both(..) => continue,
                    Step::Before(index) => (&plan.before, index, self.sides.before, &mut moved.from),
                    Step::After(index) => (&plan.after, index, self.sides.after, &mut moved.to),
                };
                if let Item::Block(message, block) = list[index] {
                    map.insert(slice(body, &block.span), message.index);
                }
            }
        }
        moved
    }

    fn rows<'o>(&self, plan: &Plan<'o>, moved: &Moved<'_>) -> Vec<Row<'o>> {
        let mut rows = Vec::new();
        let mut heads = Heads::None;
        let replaced: HashSet<usize> = plan.rewritten.values().copied().collect();
        for step in &plan.steps {
            match *step {
                Step::Both(one, other) => match (&plan.before[one], &plan.after[other]) {
                    (Item::Head(one), Item::Head(other)) => {
                        heads.open(&mut rows, Heads::Kept(one, other));
                        let changes = self.message_changes(one, other);
                        rows.extend(changes.into_iter().map(|change| heads.field_row(change)));
                    }
                    (Item::Block(_, one), Item::Block(_, block)) => {
                        rows.push(heads.row(Sign::Same, Some(block), None));
                        let (one, other) = (slice(self.sides.before, &one.span), slice(self.sides.after, &block.span));
                        let changes = fields::changes(one, other);
                        rows.extend(changes.into_iter().map(|change| heads.field_row(change)));
                    }
                    _ => {}
                },
                Step::Before(one) => match plan.before[one] {
                    Item::Head(message) => heads.open(&mut rows, Heads::Before(message)),
                    Item::Block(_, block) => {
                        let to = moved.to.get(slice(self.sides.before, &block.span));
                        rows.push(heads.row(Sign::Before, Some(block), to.copied()));
                        if to.is_none() && !replaced.contains(&one) {
                            let members = self.hidden_members(Sign::Before, block);
                            rows.extend(members.into_iter().map(|member| heads.field_row(member)));
                        }
                    }
                },
                Step::After(other) => match plan.after[other] {
                    Item::Head(message) => heads.open(&mut rows, Heads::After(message)),
                    Item::Block(_, block) => {
                        let from = moved.from.get(slice(self.sides.after, &block.span));
                        rows.push(heads.row(Sign::After, Some(block), from.copied()));
                        let hidden = match plan.rewritten.get(&other).map(|at| &plan.before[*at]) {
                            Some(Item::Block(_, old)) => self.hidden_changes(old, block),
                            _ if from.is_some() => Vec::new(),
                            _ => self.hidden_members(Sign::After, block),
                        };
                        rows.extend(hidden.into_iter().map(|change| heads.field_row(change)));
                    }
                },
            }
        }
        heads.open(&mut rows, Heads::None);
        rows
    }

    /// The changes of a rewritten block that its row does not show.
    fn hidden_changes(&self, old: &OutlineBlock, new: &OutlineBlock) -> Vec<FieldChange> {
        let mut changes = fields::changes(slice(self.sides.before, &old.span), slice(self.sides.after, &new.span));
        let shown = Some(new.preview.as_str()).filter(|preview| *preview != old.preview);
        changes.retain(|change| !fields::is_shown(&change.text, shown));
        changes
    }

    /// The members of a block of one body that its row does not show.
    fn hidden_members(&self, sign: Sign, block: &OutlineBlock) -> Vec<FieldChange> {
        let body = if sign == Sign::Before { self.sides.before } else { self.sides.after };
        fields::hidden_members(sign, slice(body, &block.span), &block.preview)
    }

    /// The changes of a message beside its blocks. A message that is one block has none.
    fn message_changes(&self, one: &OutlineMessage, other: &OutlineMessage) -> Vec<FieldChange> {
        let is_block = |message: &OutlineMessage| message.blocks.iter().any(|block| block.span == message.span);
        if is_block(one) || is_block(other) {
            return Vec::new();
        }
        fields::message_changes(slice(self.sides.before, &one.span), slice(self.sides.after, &other.span))
    }

    /// Blocks weigh more than the roles of their messages.
    fn weight(&self, one: &Item<'_>, other: &Item<'_>) -> u32 {
        match (one, other) {
            (Item::Head(one), Item::Head(other)) if one.role == other.role => {
                let is_same = |one: Option<_>, other: Option<_>| {
                    one.zip(other).is_some_and(|(one, other)| self.is_same(one, other))
                };
                // The heads of messages that share a block belong together.
                let shares = is_same(one.blocks.first(), other.blocks.first())
                    || is_same(one.blocks.last(), other.blocks.last());
                1 + u32::from(shares)
            }
            (Item::Block(of, one), Item::Block(of_other, other)) => {
                // The same block under another role counts as different.
                3 * u32::from(of.role == of_other.role && self.is_same(one, other))
            }
            _ => 0,
        }
    }

    /// Whether two blocks have the same content, in whatever spelling.
    fn is_same(&self, one: &OutlineBlock, other: &OutlineBlock) -> bool {
        slice(self.sides.before, &one.span) == slice(self.sides.after, &other.span)
            || (one.kind, &one.id, &one.name, &one.preview) == (other.kind, &other.id, &other.name, &other.preview)
    }
}

/// Whether one block is the other one with another id, name or content.
fn is_rewritten(old: &Item<'_>, new: &Item<'_>) -> bool {
    let (Item::Block(of, old), Item::Block(of_new, new)) = (old, new) else { return false };
    let is_named = |name: &Option<String>, other: &Option<String>| name.is_some() && name == other;
    let is_alike = is_named(&old.name, &new.name) || is_named(&old.id, &new.id) || old.preview == new.preview;
    (of.role, old.kind) == (of_new.role, new.kind) && is_alike
}

fn items<'o>(messages: &'o BTreeMap<usize, OutlineMessage>, range: &Range<usize>) -> Vec<Item<'o>> {
    let mut items = Vec::new();
    for (_, message) in messages.range(range.clone()) {
        items.push(Item::Head(message));
        items.extend(message.blocks.iter().map(|block| Item::Block(message, block)));
    }
    items
}

/// The heads of the next rows.
enum Heads<'o> {
    /// None: the next row continues the message of the row before.
    None,
    /// A message that is in both bodies.
    Kept(&'o OutlineMessage, &'o OutlineMessage),
    Before(&'o OutlineMessage),
    After(&'o OutlineMessage),
}

impl<'o> Heads<'o> {
    /// Continues with another message. A message without a row so far is empty.
    fn open(&mut self, rows: &mut Vec<Row<'o>>, next: Self) {
        let sign = match self {
            Self::None => None,
            Self::Kept(..) => Some(Sign::Same),
            Self::Before(_) => Some(Sign::Before),
            Self::After(_) => Some(Sign::After),
        };
        rows.extend(sign.map(|sign| self.row(sign, None, None)));
        *self = next;
    }

    fn field_row(&mut self, change: FieldChange) -> Row<'o> {
        Row { field: Some(change.text), ..self.row(change.sign, None, None) }
    }

    fn row(&mut self, sign: Sign, block: Option<&'o OutlineBlock>, moved: Option<usize>) -> Row<'o> {
        let place = match std::mem::replace(self, Self::None) {
            Self::None => RowHead::default(),
            Self::Kept(one, other) => {
                RowHead { before: Some(one.index), after: Some(other.index), role: Some(other.role.as_str()) }
            }
            Self::Before(one) => RowHead { before: Some(one.index), after: None, role: Some(one.role.as_str()) },
            Self::After(other) => RowHead { before: None, after: Some(other.index), role: Some(other.role.as_str()) },
        };
        Row { sign, place, block, field: None, moved }
    }
}
