//! A history of a program, read as the messages of a carrier.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::message::{Message, Role};
use super::order::Order;
use super::shape::Shape;
use super::weigh::List;
use crate::json::{Object, offset};

/// The start of ids that a program uses inside its own history. It gives them another start when it sends them.
const INTERNAL: &str = "hist_tool_";
/// The start of ids that a program sends.
const SENT: &str = "call_";

/// The error of a history that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text has no list of messages.
    #[error("this is not a history of {program}: it has no list of messages")]
    NoList {
        /// The name of the program.
        program: &'static str,
    },
    /// The order of the messages is not clear.
    #[error("cannot tell whether this history of {program} is stored oldest first or newest first")]
    NoOrder {
        /// The name of the program.
        program: &'static str,
    },
}

/// A history of a program: its entries, and the messages of the carrier that show them in the order of time.
///
/// The carrier is a body in the Chat Completions dialect. It shows what pairing needs: who speaks, the text, the calls
/// and the results. Everything else stays in the entries.
pub struct History<'t> {
    pub(super) shape: &'static Shape,
    pub(super) order: Order,
    pub(super) text: &'t str,
    pub(super) list: List<'t>,
    /// The messages, in the order of time.
    pub(super) shown: Vec<Shown>,
    /// The ids of the program by the ids of the carrier.
    own_ids: HashMap<String, String>,
}

/// One message of the carrier.
pub(super) struct Shown {
    /// The index of its entry, as stored.
    pub(super) entry: usize,
    /// The index of the block that it is, if it is not the whole entry.
    pub(super) block: Option<usize>,
    pub(super) message: Message,
    pub(super) carried: String,
}

/// A place in the text of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryPlace {
    /// The JSON pointer.
    pub pointer: String,
    /// The index of the entry, as stored.
    pub entry: usize,
    /// The index of the block in its list.
    pub block: Option<usize>,
    /// The bytes of the place.
    pub span: Range<usize>,
}

impl<'t> History<'t> {
    /// Reads a history. The order is found where it is not given.
    ///
    /// ```
    /// use seamline_files::native::{self, History, Order};
    ///
    /// let text = r#"[{"role":"tool_result","call_id":"c1","content":"ok"},
    ///   {"role":"assistant","content":"","tool_calls":[{"call_id":"c1","name":"read","arguments":{}}]}]"#;
    /// let history = History::read(text, native::by_name("opal").unwrap(), None)?;
    /// assert_eq!(history.order(), Order::NewestFirst);
    /// assert!(history.carrier().contains(r#""tool_call_id":"c1""#));
    /// # Ok::<(), native::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails when the text has no list of messages, or when the order is not given and not clear.
    pub fn read(text: &'t str, shape: &'static Shape, order: Option<Order>) -> Result<Self, Error> {
        let list = List::of(text).ok_or(Error::NoList { program: shape.program })?;
        let mut shown = Vec::new();
        for (entry, raw) in list.entries.iter().enumerate() {
            let parts = Object::of(raw).map(|object| (shape.show)(&object)).unwrap_or_default();
            shown.extend(parts.into_iter().map(|part| Shown {
                entry,
                block: part.block,
                message: part.message,
                carried: String::new(),
            }));
        }
        let order = match order {
            Some(order) => order,
            None if !shape.newest_first => Order::OldestFirst,
            None => {
                let messages: Vec<&Message> = shown.iter().map(|shown| &shown.message).collect();
                Order::of(&messages).ok_or(Error::NoOrder { program: shape.program })?
            }
        };
        if order == Order::NewestFirst {
            // A stable sort: the parts of one entry stay in their order.
            shown.sort_by_key(|shown| std::cmp::Reverse(shown.entry));
        }
        let own_ids = rename(&mut shown);
        for shown in &mut shown {
            shown.carried = shown.message.carried();
        }
        Ok(Self { shape, order, text, list, shown, own_ids })
    }

    /// The shape of the history.
    pub fn shape(&self) -> &'static Shape {
        self.shape
    }

    /// The order in which the history is stored.
    pub fn order(&self) -> Order {
        self.order
    }

    /// The number of entries.
    pub fn entries(&self) -> usize {
        self.list.entries.len()
    }

    /// The body that shows the history in the carrier's dialect, in the order of time.
    pub fn carrier(&self) -> String {
        let messages: Vec<&str> = self.shown.iter().map(|shown| shown.carried.as_str()).collect();
        format!("{{\"messages\":[{}]}}", messages.join(","))
    }

    /// The messages of the carrier that an entry has.
    pub fn messages_of(&self, entry: usize) -> Range<usize> {
        let time = self.time(entry);
        let first = self.shown.partition_point(|shown| self.time(shown.entry) < time);
        let after = self.shown.partition_point(|shown| self.time(shown.entry) <= time);
        first..after
    }

    /// The place of an entry in time.
    pub(super) fn time(&self, entry: usize) -> usize {
        match self.order {
            Order::OldestFirst => entry,
            Order::NewestFirst => self.list.entries.len().saturating_sub(entry + 1),
        }
    }

    /// The place of an entry.
    pub fn entry(&self, entry: usize) -> Option<HistoryPlace> {
        let raw = self.list.entries.get(entry)?;
        let pointer = format!("{}/{entry}", self.list.pointer);
        Some(HistoryPlace { pointer, entry, block: None, span: self.span(raw) })
    }

    /// The place of a message of the carrier, or of one of its calls.
    pub fn place(&self, message: usize, call: Option<usize>) -> Option<HistoryPlace> {
        let shown = self.shown.get(message)?;
        let place = self.entry(shown.entry)?;
        let index = call.and_then(|call| shown.message.calls.get(call)).and_then(|call| call.index).or(shown.block);
        let Some(index) = index else { return Some(place) };
        let list = Object::of(self.list.entries[shown.entry])?.list(self.shape.calls_in);
        let raw = list.get(index)?;
        let pointer = format!("{}/{}/{index}", place.pointer, self.shape.calls_in);
        Some(HistoryPlace { pointer, block: Some(index), span: self.span(raw), ..place })
    }

    /// The text of an entry.
    pub fn entry_text(&self, entry: usize) -> &'t str {
        self.list.entries.get(entry).copied().unwrap_or_default()
    }

    /// The text of a message of the carrier.
    pub fn carried(&self, message: usize) -> &str {
        self.shown.get(message).map_or("", |shown| &shown.carried)
    }

    /// The number of messages of the carrier.
    pub fn messages(&self) -> usize {
        self.shown.len()
    }

    /// The id that the program has for an id of the carrier.
    pub fn own_id(&self, id: &str) -> Option<&str> {
        self.own_ids.get(id).map(String::as_str)
    }

    fn span(&self, raw: &str) -> Range<usize> {
        let start = offset(self.text, raw);
        start..start + raw.len()
    }
}

/// Gives ids that the program uses inside the form in which it sends them, and returns its own ids. Two calls never share
/// an id that they did not share before.
fn rename(shown: &mut [Shown]) -> HashMap<String, String> {
    let calls = || shown.iter().flat_map(|shown| &shown.message.calls).filter_map(|call| call.id.clone());
    let called: HashSet<String> = calls().collect();
    let mut sent: HashMap<String, String> = HashMap::new();
    for id in calls().chain(shown.iter().filter_map(|shown| shown.message.call_id.clone())) {
        if let Some(rest) = id.strip_prefix(INTERNAL) {
            let short = format!("{SENT}{rest}");
            let is_free = !called.contains(&short) && !rest.is_empty();
            sent.insert(id.clone(), if is_free { short } else { format!("{SENT}{id}") });
        }
    }
    for message in shown.iter_mut().map(|shown| &mut shown.message) {
        let ids = message.calls.iter_mut().filter_map(|call| call.id.as_mut()).chain(message.call_id.as_mut());
        for id in ids {
            if let Some(new) = sent.get(id.as_str()) {
                id.clone_from(new);
            }
        }
    }
    debug_assert!(shown.iter().all(|shown| shown.message.role == Role::Tool || shown.message.call_id.is_none()));
    sent.into_iter().map(|(own, sent)| (sent, own)).collect()
}
