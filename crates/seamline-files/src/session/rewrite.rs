//! Gives a repaired conversation back as records.

use std::collections::{HashMap, HashSet};

use super::{CarriedMessage, Reading};
use crate::json::{Object, members, quoted};

/// A message of a repaired carrier.
#[derive(Debug, Clone, Copy)]
pub struct ReturnedMessage<'c> {
    /// The index of the message in the reading; nothing for a new message.
    pub origin: Option<usize>,
    /// The message as JSON.
    pub text: &'c str,
}

/// A repaired conversation that is to be written as records.
pub struct RecordRepair<'r> {
    /// The records of the file, as JSON.
    pub records: &'r [&'r str],
    /// The session that the records hold.
    pub reading: &'r Reading,
    /// The messages of the repaired carrier.
    pub messages: &'r [ReturnedMessage<'r>],
}

/// A record of the repaired file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRecord {
    /// The index of the record before the repair; nothing for a new one.
    pub origin: Option<usize>,
    /// The record as JSON.
    pub text: String,
}

/// How a program whose records hold one message each writes them.
pub(crate) struct Writer {
    /// The members that connect records; nothing for a program whose records have no parents.
    pub(crate) links: Option<Links>,
    /// The member of a message that is its list of blocks.
    pub(crate) blocks: &'static str,
    /// Writes a record with another message; nothing if the record cannot hold it.
    pub(crate) rewrite: fn(record: &str, message: &str) -> Option<String>,
    /// Writes a new record.
    pub(crate) write: fn(&NewMessage<'_>) -> Option<String>,
}

/// The members that connect records.
pub(crate) struct Links {
    pub(crate) id: &'static str,
    pub(crate) parent: &'static str,
    /// Makes the id of a new record from a hash.
    pub(crate) new_id: fn(hash: &str) -> String,
}

/// A message that needs a record.
pub(crate) struct NewMessage<'m> {
    /// The message as JSON.
    pub(crate) message: &'m str,
    /// The record before it in the conversation.
    pub(crate) after: &'m str,
    /// The id of the new record, and that of its parent as JSON. A program without parents ignores them.
    pub(crate) id: &'m str,
    pub(crate) parent: &'m str,
}

/// A UUID of version 8, which is made from a hash.
pub(crate) fn uuid(hash: &str) -> String {
    uuid_of(8, hash)
}

/// A UUID of a version that is made from a hash.
pub(crate) fn uuid_of(version: u8, hash: &str) -> String {
    format!("{}-{}-{version}{}-8{}-{}", &hash[..8], &hash[8..12], &hash[13..16], &hash[17..20], &hash[20..32])
}

impl RecordRepair<'_> {
    /// Writes the records of a program whose records hold one message, or blocks of one message, each.
    pub(crate) fn write(&self, writer: &Writer) -> Option<Vec<NewRecord>> {
        let mut work = Work::of(self, writer.links.as_ref());
        let stays = self.unmoved();
        let returned: HashSet<usize> = self.messages.iter().filter_map(|message| message.origin).collect();
        for (index, carried) in self.reading.messages.iter().enumerate() {
            if !returned.contains(&index) {
                carried.records().into_iter().for_each(|record| work.remove(record));
            }
        }
        for (message, stays) in self.messages.iter().zip(stays) {
            let Some(origin) = message.origin else {
                work.add(writer, message.text)?;
                continue;
            };
            let carried = &self.reading.messages[origin];
            let steps = if message.text == carried.text {
                carried.records().into_iter().map(Step::Keep).collect()
            } else {
                split(carried, message.text, writer.blocks)?
            };
            for step in steps {
                work.take(writer, step, stays)?;
            }
        }
        Some(work.finish())
    }

    /// For each message, whether its place among the others is the same as before: the longest run of messages in their
    /// old order stays, and the others move.
    pub(crate) fn unmoved(&self) -> Vec<bool> {
        let origins: Vec<usize> = self.messages.iter().filter_map(|message| message.origin).collect();
        let kept: HashSet<usize> = longest_rising(&origins).into_iter().collect();
        self.messages.iter().map(|message| message.origin.is_some_and(|origin| kept.contains(&origin))).collect()
    }
}

/// The change to a record of a message.
enum Step {
    /// It stays as it is.
    Keep(usize),
    /// It holds this message now.
    Rewrite(usize, String),
    /// It holds nothing any more.
    Remove(usize),
    /// A new record holds this message.
    Add(String),
}

/// Divides a changed message between the records that hold it. A block that did not change stays in its record, a changed
/// block replaces the one at its place, and a new block gets a record of its own.
fn split(carried: &CarriedMessage, message: &str, member: &str) -> Option<Vec<Step>> {
    if carried.owners.is_empty() {
        return Some(vec![Step::Rewrite(carried.record, message.to_owned())]);
    }
    let (before, after) = (Object::of(&carried.text)?, Object::of(message)?);
    let (old, new) = (before.list(member), after.list(member));
    let mut blocks: Vec<(Option<usize>, &str)> = Vec::with_capacity(new.len());
    let mut rest = old.iter().zip(&carried.owners).peekable();
    for (index, block) in new.iter().enumerate() {
        let is_kept = |text: &str| new[index + 1..].contains(&text);
        if rest.clone().any(|(text, _)| text == block) {
            // The old blocks before it are gone.
            while rest.next_if(|(text, _)| *text != block).is_some() {}
            blocks.push((rest.next().map(|(_, owner)| *owner), block));
        } else if rest.peek().is_some_and(|(text, _)| !is_kept(text)) {
            blocks.push((rest.next().map(|(_, owner)| *owner), block));
        } else {
            blocks.push((None, block));
        }
    }
    let one = |blocks: &[&str]| after.with(&[(member, Some(format!("[{}]", blocks.join(","))))]);
    let mut steps = Vec::new();
    let mut written = HashSet::new();
    for (owner, block) in &blocks {
        match owner {
            None => steps.push(Step::Add(one(&[block]))),
            Some(owner) if !written.insert(*owner) => {}
            Some(owner) => {
                let own: Vec<&str> =
                    blocks.iter().filter(|(of, _)| of == &Some(*owner)).map(|(_, text)| *text).collect();
                let had: Vec<&str> =
                    old.iter().zip(&carried.owners).filter(|(_, of)| *of == owner).map(|(text, _)| *text).collect();
                steps.push(if own == had { Step::Keep(*owner) } else { Step::Rewrite(*owner, one(&own)) });
            }
        }
    }
    let gone = carried.records().into_iter().filter(|record| !written.contains(record));
    steps.extend(gone.map(Step::Remove));
    Some(steps)
}

/// The longest rising subsequence of different numbers.
pub(crate) fn longest_rising(numbers: &[usize]) -> Vec<usize> {
    // `ends[n]` is the place of the smallest number that ends a rising sequence of length n + 1.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(numbers.len());
    for (place, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|end| numbers[*end] < *number);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(place);
        } else {
            ends[length] = place;
        }
    }
    let mut rising = Vec::with_capacity(ends.len());
    let mut place = ends.last().copied();
    while let Some(at) = place {
        rising.push(numbers[at]);
        place = before[at];
    }
    rising
}

/// The records while they are written.
struct Work<'w> {
    links: Option<&'w Links>,
    /// The texts of the records; new ones are at the end.
    texts: Vec<String>,
    /// The ids of the records and of their parents, as JSON.
    ids: Vec<Option<String>>,
    parents: Vec<Option<String>>,
    /// The records by the id of their parent.
    children: HashMap<String, Vec<usize>>,
    is_relinked: Vec<bool>,
    is_removed: Vec<bool>,
    /// The order of the records in the file.
    file: Order,
    /// The order of the records from the first to the last one of the conversation.
    chain: Order,
    /// The place of each original record on the chain.
    places: HashMap<usize, usize>,
    /// The farthest place that a written message has.
    farthest: Option<usize>,
    /// The record behind which the next new message goes.
    last: Option<usize>,
    originals: usize,
}

impl<'w> Work<'w> {
    fn of(repair: &RecordRepair<'_>, links: Option<&'w Links>) -> Self {
        let texts: Vec<String> = repair.records.iter().map(|record| (*record).to_owned()).collect();
        let linked = |text: &String| match links.map(|links| members(text, &[links.id, links.parent])) {
            Some(Ok([id, parent])) => (id.map(str::to_owned), parent.map(str::to_owned)),
            Some(Err(_)) | None => (None, None),
        };
        let (ids, parents): (Vec<_>, Vec<_>) = texts.iter().map(linked).unzip();
        let mut children: HashMap<String, Vec<usize>> = HashMap::new();
        for (record, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children.entry(parent.clone()).or_default().push(record);
            }
        }
        let count = texts.len();
        let chain = match &repair.reading.chain {
            chain if links.is_some() || !chain.is_empty() => chain.clone(),
            _ => (0..count).collect(),
        };
        Self {
            links,
            ids,
            parents,
            children,
            is_relinked: vec![false; count],
            is_removed: vec![false; count],
            file: Order::of(&(0..count).collect::<Vec<_>>(), count),
            places: chain.iter().enumerate().map(|(place, record)| (*record, place)).collect(),
            chain: Order::of(&chain, count),
            farthest: None,
            last: None,
            originals: count,
            texts,
        }
    }

    /// Writes a record of a message.
    fn take(&mut self, writer: &Writer, step: Step, stays: bool) -> Option<()> {
        let record = match step {
            Step::Remove(record) => {
                self.remove(record);
                return Some(());
            }
            Step::Add(message) => return self.add(writer, &message),
            Step::Keep(record) => record,
            Step::Rewrite(record, message) => {
                self.texts[record] = (writer.rewrite)(&self.texts[record], &message)?;
                record
            }
        };
        if stays {
            self.pass(record);
        } else {
            self.relocate(record);
        }
        Some(())
    }

    /// A message that stays where it was is written. New messages go behind the one that is farthest on the chain.
    fn pass(&mut self, record: usize) {
        let place = self.places.get(&record).copied();
        if place.is_some() && place > self.farthest {
            (self.farthest, self.last) = (place, Some(record));
        }
    }

    /// Takes a record out of the file. Its children get its parent.
    fn remove(&mut self, record: usize) {
        self.is_removed[record] = true;
        self.unlink(record);
    }

    fn unlink(&mut self, record: usize) {
        self.chain.remove(record);
        self.places.remove(&record);
        let (Some(id), parent) = (self.ids[record].clone(), self.parents[record].clone()) else { return };
        for child in self.children.remove(&id).unwrap_or_default() {
            self.set_parent(child, parent.clone());
        }
    }

    fn set_parent(&mut self, record: usize, parent: Option<String>) {
        if let Some(siblings) = self.parents[record].as_ref().and_then(|old| self.children.get_mut(old)) {
            siblings.retain(|sibling| *sibling != record);
        }
        if let Some(parent) = &parent {
            self.children.entry(parent.clone()).or_default().push(record);
        }
        self.parents[record] = parent;
        self.is_relinked[record] = true;
    }

    /// Moves a record behind the last message that was written.
    fn relocate(&mut self, record: usize) {
        self.unlink(record);
        self.file.remove(record);
        self.link(record);
    }

    /// Puts a record behind the last message that was written: in the file, and on the chain.
    fn link(&mut self, record: usize) {
        let next = match self.last {
            Some(last) => self.chain.next(last),
            None => self.chain.first,
        };
        let parent = match (self.last, next) {
            (Some(last), _) => self.ids[last].clone(),
            (None, Some(next)) => self.parents[next].clone(),
            (None, None) => None,
        };
        match (self.last, next) {
            (Some(last), _) => self.file.insert_after(Some(last), record),
            // A file begins with records without messages.
            (None, Some(next)) => self.file.insert_after(self.file.before(next), record),
            (None, None) => self.file.insert_after(self.file.last(), record),
        }
        self.chain.insert_after(self.last, record);
        if self.links.is_some() {
            if let Some(next) = next {
                self.set_parent(next, self.ids[record].clone());
            }
            self.set_parent(record, parent);
        }
        self.last = Some(record);
    }

    /// Adds a record with a new message behind the last message that was written.
    fn add(&mut self, writer: &Writer, message: &str) -> Option<()> {
        let after = self.last.or(self.chain.first).or(self.file.last())?;
        let seed = format!("{}\n{message}", self.texts[after]);
        let hash = blake3::hash(seed.as_bytes()).to_hex().to_string();
        let id = self.links.map_or_else(String::new, |links| self.free_id(links, &hash));
        let parent = self.last.and_then(|last| self.ids[last].clone()).unwrap_or_else(|| "null".to_owned());
        let new = NewMessage { message, after: &self.texts[after], id: &id, parent: &parent };
        let text = (writer.write)(&new)?;
        self.texts.push(text);
        self.ids.push(self.links.map(|_| quoted(&id)));
        self.parents.push(None);
        self.is_relinked.push(false);
        self.is_removed.push(false);
        self.link(self.texts.len() - 1);
        Some(())
    }

    /// An id that no record has.
    fn free_id(&self, links: &Links, hash: &str) -> String {
        let mut hash = hash.to_owned();
        loop {
            let id = (links.new_id)(&hash);
            let json = quoted(&id);
            if !self.ids.iter().flatten().any(|taken| *taken == json) {
                return id;
            }
            hash = blake3::hash(hash.as_bytes()).to_hex().to_string();
        }
    }

    fn finish(mut self) -> Vec<NewRecord> {
        if let Some(links) = self.links {
            for record in (0..self.texts.len()).filter(|record| self.is_relinked[*record]) {
                let parent = self.parents[record].clone().unwrap_or_else(|| "null".to_owned());
                let text = Object::of(&self.texts[record]).map(|object| object.with(&[(links.parent, Some(parent))]));
                self.texts[record] = text.unwrap_or_default();
            }
        }
        let mut out = Vec::with_capacity(self.texts.len());
        let mut record = self.file.first;
        while let Some(at) = record {
            if !self.is_removed[at] {
                let origin = (at < self.originals).then_some(at);
                out.push(NewRecord { origin, text: std::mem::take(&mut self.texts[at]) });
            }
            record = self.file.next(at);
        }
        out
    }
}

/// An order of records in which each can be put elsewhere.
struct Order {
    first: Option<usize>,
    last: Option<usize>,
    /// The neighbours of each record: the one before and the one behind.
    neighbours: Vec<(Option<usize>, Option<usize>)>,
}

impl Order {
    fn of(records: &[usize], count: usize) -> Self {
        let mut order = Self { first: None, last: None, neighbours: vec![(None, None); count] };
        for record in records {
            order.insert_after(order.last, *record);
        }
        order
    }

    fn last(&self) -> Option<usize> {
        self.last
    }

    fn next(&self, record: usize) -> Option<usize> {
        self.neighbours.get(record)?.1
    }

    fn before(&self, record: usize) -> Option<usize> {
        self.neighbours.get(record)?.0
    }

    /// Puts a record behind another one, or to the front.
    fn insert_after(&mut self, before: Option<usize>, record: usize) {
        if self.neighbours.len() <= record {
            self.neighbours.resize(record + 1, (None, None));
        }
        let next = before.map_or(self.first, |before| self.neighbours[before].1);
        self.neighbours[record] = (before, next);
        match before {
            Some(before) => self.neighbours[before].1 = Some(record),
            None => self.first = Some(record),
        }
        match next {
            Some(next) => self.neighbours[next].0 = Some(record),
            None => self.last = Some(record),
        }
    }

    /// Takes a record out, if it is in the order.
    fn remove(&mut self, record: usize) {
        let Some(&(before, next)) = self.neighbours.get(record) else { return };
        if before.is_none() && self.first != Some(record) {
            return;
        }
        match before {
            Some(before) => self.neighbours[before].1 = next,
            None => self.first = next,
        }
        match next {
            Some(next) => self.neighbours[next].0 = before,
            None => self.last = before,
        }
        self.neighbours[record] = (None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_of_a_message_stay_with_their_records() {
        let text = r#"{"role":"user","content":[{"a":1},{"b":2},{"c":3}]}"#.to_owned();
        let carried = CarriedMessage { record: 4, part: 0, owners: vec![4, 6, 7], text };
        let steps = |message: &str| {
            let steps = split(&carried, message, "content").unwrap();
            let shown = steps.into_iter().map(|step| match step {
                Step::Keep(record) => format!("keep {record}"),
                Step::Rewrite(record, message) => format!("write {record} {message}"),
                Step::Remove(record) => format!("remove {record}"),
                Step::Add(message) => format!("add {message}"),
            });
            shown.collect::<Vec<_>>()
        };
        let added = steps(r#"{"role":"user","content":[{"a":1},{"n":0},{"b":2},{"c":3}]}"#);
        assert_eq!(added, ["keep 4", r#"add {"role":"user","content":[{"n":0}]}"#, "keep 6", "keep 7"]);
        let changed = steps(r#"{"role":"user","content":[{"a":1},{"b":9}]}"#);
        assert_eq!(changed, ["keep 4", r#"write 6 {"role":"user","content":[{"b":9}]}"#, "remove 7"]);
    }

    #[test]
    fn the_longest_rising_run_stays() {
        let mut stays = longest_rising(&[0, 4, 1, 2, 5, 3]);
        stays.reverse();
        assert_eq!(stays, [0, 1, 2, 3]);
        assert_eq!(longest_rising(&[]), Vec::<usize>::new());
    }
}
