//! Writes a repaired conversation as messages of a session.
//!
//! Each part of the conversation knows the message that holds it. A new result goes to the call that it answers, other new
//! parts go beside the part before them, and what finds no place becomes a message of its own.

mod records;

use std::collections::HashSet;

use super::fold::{Active, Entry, Fold, Place};
use super::render::{self, NewPart, result_members};
use super::sent::{self, Part, Sent};
use super::turn::{Role, Source, Turn, turns};
use crate::json::{Object, members};
use crate::session::{KeptTexts, NewRecord, RecordRepair, uuid};
use records::Records;

/// Writes the records of a log.
pub(super) fn write_log(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    let mut fold = Fold::new();
    for (record, text) in repair.records.iter().enumerate() {
        fold.add(record, &Entry::of(text).ok()?, &mut |message| turns(message, KeptTexts::Whole));
    }
    write(repair, fold.finish())
}

/// Writes the messages of a document.
pub(super) fn write_document(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    let active =
        |(record, text): (usize, &&str)| Active::of(Place { record, element: None }, turns(text, KeptTexts::Whole));
    write(repair, repair.records.iter().enumerate().map(active).collect())
}

fn write(repair: &RecordRepair<'_>, mut messages: Vec<Active<Vec<Turn>>>) -> Option<Vec<NewRecord>> {
    let sent = sent::sent(&mut messages);
    let mut records = Records::of(repair.records);
    let texts: Vec<&str> =
        messages.iter().map(|message| records::text_at(repair.records, message.place())).collect::<Option<_>>()?;
    let mut plan = Plan::of(&texts, &sent);
    for (message, stays) in repair.messages.iter().zip(repair.unmoved()) {
        let old = message.origin.and_then(|origin| sent.get(origin));
        plan.take(message.text, old, stays)?;
    }
    for (active, (message, text)) in messages.iter().zip(&texts).enumerate() {
        match plan.outcome(active) {
            Outcome::Same => {}
            Outcome::Removed => message.places.iter().for_each(|place| records.remove(*place)),
            Outcome::Changed(new) => records.replace(message.place(), render::message(text, &new.own, &new.results)?),
        }
    }
    let first = sent.first().and_then(|first| first.parts.first()).map(|part| part.active);
    for (index, new) in plan.added.iter().enumerate() {
        let beside = new.after.or(first)?;
        let text = if let Some(text) = &new.text {
            text.clone()
        } else {
            let seed = format!("{index}\n{}\n{}", texts[beside], new.parts.concat());
            let id = uuid(&blake3::hash(seed.as_bytes()).to_hex());
            let parts: Vec<&str> = new.parts.iter().map(String::as_str).collect();
            render::new_message(kind(new.role), &parts, texts[beside], &id)?
        };
        records.add(messages[beside].places[0], new.after.is_some(), text);
    }
    records.finish()
}

/// The type of a message of a role.
fn kind(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Model => "gemini",
    }
}

/// The new parts of a message.
#[derive(Default)]
struct NewParts {
    own: Vec<NewPart>,
    results: Vec<NewPart>,
}

/// The change to a message.
enum Outcome<'p> {
    Same,
    Changed(&'p NewParts),
    Removed,
}

/// A message that is to be added.
struct Added {
    /// The active message before it.
    after: Option<usize>,
    role: Role,
    parts: Vec<String>,
    /// The text of a message that moves and does not change.
    text: Option<String>,
}

/// A call of the last message of the model that has no result.
struct PendingCall {
    id: Option<String>,
    name: Option<String>,
    active: usize,
    index: usize,
}

/// The changes of a repair, by active message.
struct Plan<'p> {
    texts: &'p [&'p str],
    /// The number of parts of each message before the repair, and the calls that have results.
    counts: Vec<usize>,
    answered: HashSet<(usize, usize)>,
    new: Vec<NewParts>,
    added: Vec<Added>,
    open: Vec<PendingCall>,
    /// The last message that was taken, and its role.
    last: Option<usize>,
    last_role: Option<Role>,
}

impl<'p> Plan<'p> {
    fn of(texts: &'p [&'p str], sent: &'p [Sent]) -> Self {
        let mut counts = vec![0; texts.len()];
        let mut answered = HashSet::new();
        for part in sent.iter().flat_map(|sent| &sent.parts) {
            counts[part.active] += 1;
            if let Source::Result(call, _) = part.source {
                answered.insert((part.active, call));
            }
        }
        let new = texts.iter().map(|_| NewParts::default()).collect();
        Self { texts, counts, answered, new, added: Vec::new(), open: Vec::new(), last: None, last_role: None }
    }

    /// Takes a message of the repaired conversation. `old` is the message before the repair.
    fn take(&mut self, message: &str, old: Option<&'p Sent>, stays: bool) -> Option<()> {
        let object = Object::of(message)?;
        let role = if object.says("role", &["model"]) { Role::Model } else { Role::User };
        let parts = object.list("parts");
        let here: &[Part] = old.filter(|old| stays && old.role == role).map_or(&[], |old| &old.parts);
        let aligned = align(here, &parts);
        if role == Role::Model && self.last_role != Some(Role::Model) {
            self.open.clear();
        }
        self.last_role = Some(role);
        let mut home: Option<(usize, Option<Source>)> = None;
        let mut homeless: Vec<String> = Vec::new();
        for (text, at) in parts.iter().zip(&aligned) {
            let part = |source| NewPart { source, text: (*text).to_owned(), is_same: false };
            if let Some(old) = at.map(|at| &here[at]) {
                // New parts before the first known part go with it.
                let before = std::mem::take(&mut homeless);
                for text in before {
                    self.put(old.active, Some(old.source), NewPart { source: None, text, is_same: false });
                }
                let new = NewPart { is_same: old.text == *text, ..part(Some(old.source)) };
                self.put(old.active, Some(old.source), new);
                home = Some((old.active, Some(old.source)));
                self.last = self.last.max(Some(old.active));
            } else if let Some(call) = self.take_answered(role, text) {
                let source = Some(Source::Result(call.index, usize::MAX));
                self.put(call.active, source, part(source));
                self.last = self.last.max(Some(call.active));
            } else if let Some((active, source)) = home {
                self.put(active, source, part(None));
            } else {
                homeless.push((*text).to_owned());
            }
        }
        if role == Role::Model {
            self.open_calls(here);
        }
        if !homeless.is_empty() {
            let text = old.and_then(|old| self.moved(old, &homeless));
            self.added.push(Added { after: self.last, role, parts: homeless, text });
        }
        Some(())
    }

    /// Adds a part to a message, where the source says.
    fn put(&mut self, active: usize, source: Option<Source>, part: NewPart) {
        let new = &mut self.new[active];
        match source {
            Some(Source::Result(..)) => new.results.push(part),
            _ => new.own.push(part),
        }
    }

    /// Notes the calls of a message of the model that have no results.
    fn open_calls(&mut self, parts: &[Part]) {
        let mut actives: Vec<usize> = parts.iter().map(|part| part.active).collect();
        actives.dedup();
        for active in actives {
            let calls = Object::of(self.texts[active]).map(|message| message.list("toolCalls")).unwrap_or_default();
            for (index, call) in calls.into_iter().enumerate() {
                let Ok([id, name]) = members(call, &["id", "name"]) else { continue };
                if !self.answered.contains(&(active, index)) {
                    let (id, name) = (id.map(str::to_owned), name.map(str::to_owned));
                    self.open.push(PendingCall { id, name, active, index });
                }
            }
        }
    }

    /// Takes the open call that a new part answers.
    fn take_answered(&mut self, role: Role, part: &str) -> Option<PendingCall> {
        let [id, name] = result_members(part).filter(|_| role == Role::User)?;
        let fits = |call: &PendingCall| match (id, call.id.as_deref()) {
            (Some(id), Some(known)) => id == known,
            _ => call.name.as_deref() == name,
        };
        let at = self.open.iter().position(fits)?;
        Some(self.open.remove(at))
    }

    /// The text of a message that moves as it is: all its parts are of one message and did not change.
    fn moved(&self, old: &Sent, parts: &[String]) -> Option<String> {
        let active = old.parts.first()?.active;
        let is_whole = old
            .parts
            .iter()
            .all(|part| part.active == active && matches!(part.source, Source::Whole | Source::KeptTexts(_)));
        let is_same = old.parts.len() == parts.len() && old.parts.iter().zip(parts).all(|(old, new)| old.text == *new);
        (is_whole && is_same && self.counts[active] == parts.len()).then(|| self.texts[active].to_owned())
    }

    fn outcome(&self, active: usize) -> Outcome<'_> {
        let new = &self.new[active];
        let count = new.own.len() + new.results.len();
        let is_same = new.own.iter().chain(&new.results).all(|part| part.is_same);
        match self.counts[active] {
            before if before == count && is_same => Outcome::Same,
            _ if count == 0 => Outcome::Removed,
            _ => Outcome::Changed(new),
        }
    }
}

/// For each new part, the old part that it is or replaces. A part that did not change stays, a changed part replaces the one
/// at its place.
fn align(old: &[Part], new: &[&str]) -> Vec<Option<usize>> {
    let mut rest = (0..old.len()).peekable();
    let mut aligned = Vec::with_capacity(new.len());
    for (index, part) in new.iter().enumerate() {
        let is_kept = |at: usize| new[index + 1..].contains(&old[at].text.as_str());
        if rest.clone().any(|at| old[at].text == *part) {
            while rest.next_if(|at| old[*at].text != *part).is_some() {}
            aligned.push(rest.next());
        } else {
            aligned.push(rest.next_if(|at| !is_kept(*at)));
        }
    }
    aligned
}
