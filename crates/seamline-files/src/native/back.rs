//! Gives a repaired carrier back in the shape of the history.

use std::borrow::Cow;
use std::collections::HashMap;

use super::History;
use super::message::{Message, Role, align};
use super::order::Order;
use super::shape::{Kept, New};
use crate::json::{Object, offset};

/// A message of a repaired carrier.
#[derive(Debug, Clone, Copy)]
pub struct Returned<'c> {
    /// The index of the message in the carrier before the repair; nothing for a new message.
    pub origin: Option<usize>,
    /// The text of the message.
    pub text: &'c str,
}

/// A repaired history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenBack {
    /// The text of the history.
    pub text: String,
    /// The earlier index of each entry, in the stored order; nothing for a new entry.
    pub origins: Vec<Option<usize>>,
    /// For each message of the repaired carrier, the index of its entry, as stored.
    pub landed: Vec<usize>,
}

/// One entry of the new history.
struct Written<'t> {
    text: Cow<'t, str>,
    origin: Option<usize>,
}

/// Messages of the carrier that become one entry.
enum Run {
    /// Parts of an entry: the indices of the messages, with the new form of those that changed.
    Parts {
        entry: usize,
        parts: Vec<(usize, Option<Message>)>,
    },
    New(Message),
}

impl History<'_> {
    /// Writes the history with the messages of a repaired carrier. An entry whose messages did not change keeps its
    /// bytes, and the others keep what the carrier does not show. Returns nothing if a message has a form that this
    /// history cannot hold.
    pub fn give_back(&self, messages: &[Returned<'_>]) -> Option<GivenBack> {
        let (runs, runs_of) = self.runs(messages)?;
        let (mut written, mut places) = self.written(&runs);
        if self.order == Order::NewestFirst {
            written.reverse();
            for place in &mut places {
                *place = written.len() - 1 - *place;
            }
        }
        let origins = written.iter().map(|entry| entry.origin).collect();
        let landed = runs_of.into_iter().map(|run| places[run]).collect();
        Some(GivenBack { text: self.joined(&written), origins, landed })
    }

    /// Groups messages into runs, and returns the run of each message.
    fn runs(&self, messages: &[Returned<'_>]) -> Option<(Vec<Run>, Vec<usize>)> {
        let mut is_used = vec![false; self.shown.len()];
        let mut runs: Vec<Run> = Vec::new();
        let mut runs_of = Vec::with_capacity(messages.len());
        for returned in messages {
            let origin = returned.origin.filter(|origin| is_used.get(*origin) == Some(&false));
            let Some(origin) = origin else {
                runs.push(Run::New(self.named(Message::of_carrier(returned.text)?)));
                runs_of.push(runs.len() - 1);
                continue;
            };
            is_used[origin] = true;
            let shown = &self.shown[origin];
            let after = if returned.text == shown.carried {
                None
            } else {
                let mut after = Message::of_carrier(returned.text)?;
                align(&shown.message.calls, &mut after.calls);
                Some(after)
            };
            let keeps_role = |index: usize, after: &Option<Message>| {
                after.as_ref().is_none_or(|after| after.role == self.shown[index].message.role)
            };
            match runs.last_mut() {
                Some(Run::Parts { entry, parts })
                    if *entry == shown.entry
                        && parts.iter().all(|(index, after)| *index < origin && keeps_role(*index, after))
                        && keeps_role(origin, &after) =>
                {
                    parts.push((origin, after));
                }
                _ => runs.push(Run::Parts { entry: shown.entry, parts: vec![(origin, after)] }),
            }
            runs_of.push(runs.len() - 1);
        }
        Some((runs, runs_of))
    }

    /// A new message with the ids of the program.
    fn named(&self, mut message: Message) -> Message {
        let ids = message.calls.iter_mut().filter_map(|call| call.id.as_mut()).chain(message.call_id.as_mut());
        for id in ids {
            if let Some(own) = self.own_id(id) {
                *id = own.to_owned();
            }
        }
        message
    }

    /// The entries in the order of time. Entries that the carrier does not show stay between those they were between.
    /// Returns also the place of each run.
    fn written(&self, runs: &[Run]) -> (Vec<Written<'_>>, Vec<usize>) {
        let mut hidden = self.hidden().into_iter().peekable();
        let settled = self.settled(runs);
        let (owners, tools) = (owners(runs), self.tools());
        let mut out: Vec<Written<'_>> = Vec::new();
        let mut places = Vec::with_capacity(runs.len());
        for (index, run) in runs.iter().enumerate() {
            match run {
                Run::New(message) => {
                    let beside = out.last().and_then(|entry| Object::of(&entry.text));
                    let id = message.call_id.as_deref().filter(|_| message.role == Role::Tool);
                    let tool = id.and_then(|id| tools.get(id).copied());
                    let text = (self.shape.write)(&New { message, tool, beside: beside.as_ref() });
                    out.push(Written { text: Cow::Owned(text), origin: None });
                }
                Run::Parts { entry, parts } => {
                    while let Some(next) = hidden.next_if(|next| settled[index] && self.time(*next) < self.time(*entry))
                    {
                        out.push(self.kept(next));
                    }
                    let is_owner = parts.first().map(|(first, _)| first) == owners.get(entry);
                    out.push(self.entry_with(*entry, parts, is_owner));
                }
            }
            places.push(out.len() - 1);
        }
        out.extend(hidden.map(|entry| self.kept(entry)));
        (out, places)
    }

    /// The entries that the carrier does not show, in the order of time.
    fn hidden(&self) -> Vec<usize> {
        let mut is_shown = vec![false; self.list.entries.len()];
        self.shown.iter().for_each(|shown| is_shown[shown.entry] = true);
        let mut hidden: Vec<usize> = (0..is_shown.len()).filter(|entry| !is_shown[*entry]).collect();
        hidden.sort_by_key(|entry| self.time(*entry));
        hidden
    }

    /// Whether each run is where it was: no later run is of an earlier entry.
    fn settled(&self, runs: &[Run]) -> Vec<bool> {
        let mut earliest = usize::MAX;
        let mut settled: Vec<bool> = Vec::with_capacity(runs.len());
        for run in runs.iter().rev() {
            let Run::Parts { entry, .. } = run else {
                settled.push(false);
                continue;
            };
            settled.push(self.time(*entry) <= earliest);
            earliest = earliest.min(self.time(*entry));
        }
        settled.reverse();
        settled
    }

    fn kept(&self, entry: usize) -> Written<'_> {
        Written { text: Cow::Borrowed(self.list.entries[entry]), origin: Some(entry) }
    }

    fn entry_with(&self, entry: usize, parts: &[(usize, Option<Message>)], is_owner: bool) -> Written<'_> {
        let is_whole = parts.len() == self.messages_of(entry).len();
        if is_whole && parts.iter().all(|(_, after)| after.is_none()) {
            return self.kept(entry);
        }
        let own = |message: &Message| self.named(message.clone());
        let before: Vec<Message> = parts.iter().map(|(index, _)| own(&self.shown[*index].message)).collect();
        let kept: Vec<Kept<'_>> = parts
            .iter()
            .zip(&before)
            .map(|((index, after), before)| Kept {
                before,
                block: self.shown[*index].block,
                after: after.as_ref().map(own),
                owns_rest: is_owner,
            })
            .collect();
        let text = Object::of(self.list.entries[entry]).map(|object| (self.shape.rewrite)(&object, &kept));
        Written { text: Cow::Owned(text.unwrap_or_default()), origin: is_owner.then_some(entry) }
    }

    /// The names of the tools by the program's ids of their calls.
    fn tools(&self) -> HashMap<&str, &str> {
        let calls = self.shown.iter().flat_map(|shown| &shown.message.calls);
        let named = calls.filter_map(|call| Some((call.id.as_deref()?, call.name.as_deref()?)));
        named.map(|(id, name)| (self.own_id(id).unwrap_or(id), name)).collect()
    }

    /// The text with other entries, separated as before where the neighbours are the same.
    fn joined(&self, written: &[Written<'_>]) -> String {
        let old = &self.list.entries;
        let end = |entry: usize| offset(self.text, old[entry]) + old[entry].len();
        let between =
            |entry: usize| (entry + 1 < old.len()).then(|| &self.text[end(entry)..offset(self.text, old[entry + 1])]);
        let (start, stop) = match (old.first(), old.len().checked_sub(1)) {
            (Some(first), Some(last)) => (offset(self.text, first), end(last)),
            _ => (self.list.inner.start, self.list.inner.end),
        };
        let usual = between(0).unwrap_or(",");
        let mut text = self.text[..start].to_owned();
        for (index, entry) in written.iter().enumerate() {
            text += &entry.text;
            if let Some(next) = written.get(index + 1) {
                let are_neighbours = entry.origin.is_some_and(|origin| next.origin == Some(origin + 1));
                text += entry.origin.filter(|_| are_neighbours).and_then(between).unwrap_or(usual);
            }
        }
        text + &self.text[stop..]
    }
}

/// The first message that is left of each entry. Its run keeps what the carrier does not show.
fn owners(runs: &[Run]) -> HashMap<usize, usize> {
    let mut owners = HashMap::new();
    for run in runs {
        if let Run::Parts { entry, parts } = run {
            let first = parts.first().map_or(usize::MAX, |(first, _)| *first);
            owners.entry(*entry).and_modify(|owner: &mut usize| *owner = first.min(*owner)).or_insert(first);
        }
    }
    owners
}
