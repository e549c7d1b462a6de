//! Messages of several dialects: where they can be cut, and which of them belong together.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use seamline_model::conversation::Says;
use seamline_store::{Entry, EntrySource, Raw};

use super::Wire;
use crate::Error;
use crate::cuts::{self, OpenCalls};
use crate::outline::{OutlineBlock, OutlineKind};
use crate::session::SessionError;

/// Messages of one dialect in a row.
pub(super) fn runs<'r, 'e>(entries: &'r [&'e Entry]) -> impl Iterator<Item = &'r [&'e Entry]> {
    entries.chunk_by(|one, next| one.dialect == next.dialect)
}

/// The messages of calls that have no result yet, by the key of the call.
type Unanswered = HashMap<String, Vec<usize>>;

impl Wire {
    /// Says for each message, and for the end, whether a cut before it would separate a call from its result. Each
    /// message is read in its own dialect.
    pub(in crate::session) fn splits(&self, entries: &[&Entry]) -> Result<Vec<bool>, SessionError> {
        self.splits_with(entries, OpenCalls::Wait)
    }

    fn splits_with(&self, entries: &[&Entry], open: OpenCalls) -> Result<Vec<bool>, SessionError> {
        let mut splits = vec![false; entries.len() + 1];
        let (mut start, mut count) = (0, 0);
        for run in runs(entries) {
            let wire = self.for_dialect(run[0].dialect.as_ref())?;
            let body = wire.body("{}", run.iter().map(|entry| &entry.message))?;
            let found = cuts::splits(&body, &wire.options, open)?;
            // An open call at the end of a run may still get its result only where the run is the last one.
            let is_last = start + run.len() == entries.len();
            let inside = found.into_iter().take(run.len() + usize::from(is_last));
            splits[start..].iter_mut().zip(inside).for_each(|(split, found)| *split |= found);
            for pair in wire.pairs_without_ids(run, &body)? {
                splits[start + pair.start + 1..=start + pair.end].fill(true);
            }
            start += run.len();
            count += 1;
        }
        if count > 1 {
            for crossing in self.crossings(entries)? {
                splits[crossing.start + 1..=crossing.end].fill(true);
            }
        }
        Ok(splits)
    }

    /// The pairs of a call and a result from before calls had ids, by the indices of their messages.
    fn pairs_without_ids(&self, run: &[&Entry], body: &[u8]) -> Result<Vec<Range<usize>>, SessionError> {
        let Some(unlisted) = self.functions.unlisted_calls() else { return Ok(Vec::new()) };
        if !run.iter().any(|entry| unlisted.may_be_in(entry.message.as_str())) {
            return Ok(Vec::new());
        }
        let conversation = self.functions.lift(body).map_err(Error::from)?;
        let mut open: HashMap<&str, usize> = HashMap::new();
        let mut pairs = Vec::new();
        for block in conversation.messages.iter().flat_map(|message| &message.blocks) {
            let at = block.pointer.split('/').nth(2).and_then(|at| at.parse::<usize>().ok());
            let Some(at) = at.filter(|at| *at < run.len()) else { continue };
            match &block.says {
                Says::Call(call) if unlisted.has(call) => drop(open.insert(&call.id, at)),
                Says::Result(result) => pairs.extend(open.remove(result.id.as_str()).map(|call| call..at)),
                Says::Call(_)
                | Says::Text(_)
                | Says::Reasoning(_)
                | Says::Media(_)
                | Says::Refusal(_)
                | Says::Opaque(_) => {}
            }
        }
        Ok(pairs)
    }

    /// The pairs of a call and a result that are in different runs, by the indices of their messages.
    fn crossings(&self, entries: &[&Entry]) -> Result<Vec<Range<usize>>, SessionError> {
        let (mut pairs, _) = self.pairs(entries)?;
        let is_one_run =
            |pair: &Range<usize>| entries[pair.start..=pair.end].windows(2).all(|two| two[0].dialect == two[1].dialect);
        pairs.retain(|pair| !is_one_run(pair));
        Ok(pairs)
    }

    /// The pairs of a call and a result, and the open calls; each by the indices of their messages.
    fn pairs(&self, entries: &[&Entry]) -> Result<(Vec<Range<usize>>, Unanswered), SessionError> {
        let mut open = Unanswered::new();
        let mut pairs = Vec::new();
        for message in self.outline_each(entries)? {
            for block in &message.blocks {
                let Some(key) = key_of(block) else { continue };
                match block.kind {
                    OutlineKind::Call => open.entry(key.to_owned()).or_default().push(message.index),
                    OutlineKind::Result => {
                        // Where ids repeat, the last open call is meant.
                        let call = open.get_mut(key).and_then(Vec::pop);
                        pairs.extend(call.map(|call| call..message.index));
                    }
                    OutlineKind::Text
                    | OutlineKind::ServerCall
                    | OutlineKind::ServerResult
                    | OutlineKind::Reasoning
                    | OutlineKind::Media
                    | OutlineKind::Opaque => {}
                }
            }
        }
        Ok((pairs, open))
    }

    /// Counts the results that name no stored call before them.
    pub(in crate::session) fn count_orphans(&self, entries: &[Entry]) -> Result<usize, SessionError> {
        let entries: Vec<&Entry> = entries.iter().collect();
        let outline = self.outline_each(&entries)?;
        let blocks = outline.iter().flat_map(|message| &message.blocks);
        let results = blocks.filter(|block| block.kind == OutlineKind::Result).count();
        Ok(results.saturating_sub(self.pairs(&entries)?.0.len()))
    }

    /// The keys of calls without a result that are of another dialect or before a message of one: a result that comes
    /// later is rendered together with all of these messages.
    pub(in crate::session) fn open_foreign_calls(&self, entries: &[Entry]) -> Result<HashSet<String>, SessionError> {
        let (_, open) = self.pairs(&entries.iter().collect::<Vec<_>>())?;
        let last = entries.iter().rposition(|entry| !self.is_own(entry));
        let is_before = |at: &usize| last.is_some_and(|last| *at <= last);
        Ok(open.into_iter().filter(|(_, calls)| calls.iter().any(is_before)).map(|(key, _)| key).collect())
    }

    /// Whether messages have a result for a call of these keys.
    pub(in crate::session) fn answers_any(
        &self,
        entries: &[Entry],
        keys: &HashSet<String>,
    ) -> Result<bool, SessionError> {
        if keys.is_empty() {
            return Ok(false);
        }
        let messages: Vec<&Raw> = entries.iter().map(|entry| &entry.message).collect();
        let outline = self.outline(&messages)?;
        let mut results = outline.iter().flat_map(|message| &message.blocks);
        Ok(results
            .any(|block| block.kind == OutlineKind::Result && key_of(block).is_some_and(|key| keys.contains(key))))
    }

    /// Cuts messages into the smallest pieces that separate no call from its result, and no messages of one cycle. A later
    /// message changes no earlier piece, unless it answers a call.
    pub(super) fn pieces<'e>(&self, entries: &'e [Entry]) -> Result<Vec<&'e [Entry]>, SessionError> {
        let splits = self.splits_with(&entries.iter().collect::<Vec<_>>(), OpenCalls::Stay)?;
        // Other records with several messages, such as a repair, hold messages of many cycles.
        let is_one_cycle = |one: &Entry, next: &Entry| {
            one.seq == next.seq && (one.source, next.source) == (EntrySource::Cycle, EntrySource::Cycle)
        };
        let mut pieces = Vec::new();
        let mut start = 0;
        for end in 1..=entries.len() {
            let is_joined = entries.get(end).is_some_and(|next| splits[end] || is_one_cycle(&entries[end - 1], next));
            if !is_joined {
                pieces.push(&entries[start..end]);
                start = end;
            }
        }
        Ok(pieces)
    }
}

/// The key by which a result names its call: the id, or the tool where the call has none.
pub(in crate::session) fn key<'a>(id: Option<&'a str>, tool: Option<&'a str>) -> Option<&'a str> {
    id.filter(|id| !id.is_empty()).or(tool)
}

/// The key of a call or a result.
pub(in crate::session) fn key_of(block: &OutlineBlock) -> Option<&str> {
    key(block.id.as_deref(), block.name.as_deref())
}
