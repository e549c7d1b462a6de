//! Plans where a late result belongs: a result that comes after its call was given up.
//!
//! `place_of` finds the call and what is there for it; `replace` and `add` plan the change.

use std::ops::Range;

use seamline_model::Role;
use seamline_store::{CallId, CallOutcome, Cut, DialectName, EntrySource, Insert, Origin, Raw, RepairKind};

use crate::outline::{OutlineBlock, OutlineKind, OutlineMessage};
use crate::session::facts::{Batch, Facts};
use crate::session::wire::{CallResult, ToolTurn, TurnCall, holds_only_results, key, key_of};
use crate::session::{SessionError, ToolCall, ToolOutput};

/// A call by its id and tool, both as [`ToolCall`](crate::session::ToolCall) has them. So calls without an id of their
/// own, and calls that share an id, are found, too.
#[derive(Debug, Clone)]
pub struct ToolCallRef<'a> {
    /// The id of the call.
    pub id: CallId,
    /// The name of the tool.
    pub name: &'a str,
}

/// The place of a late result.
struct Place {
    /// The indices of the messages of its turn.
    range: Range<usize>,
    /// The turn itself.
    turn: ToolTurn,
    /// The index of the call among those of the turn.
    call: usize,
    /// The dialect of the result: that of the synthetic one, or that of the turn.
    dialect: Option<DialectName>,
    found: Found,
}

/// The place that a turn has for a late result.
enum Asked {
    /// The turn makes no such call.
    Elsewhere,
    /// The call has a real result.
    Answered,
    /// The call has no id of its own, and it was answered while its tool ran. An earlier turn may make the same call.
    AnsweredWithoutId,
    /// The call has no real result.
    Open(Box<Place>),
}

/// The content at the place of a late result.
enum Found {
    /// A synthetic result.
    Synthetic {
        /// The index of its message.
        message: usize,
        /// Its bytes in that message.
        span: Range<usize>,
        /// Whether the message has nothing else.
        is_alone: bool,
    },
    /// No result: every request makes one up.
    Nothing {
        /// Earlier calls that their results would name in the same way, and that have no result either. Only the order
        /// tells them apart, so they get synthetic results.
        before: Vec<usize>,
        /// The last message right behind the turn that has results, and the end of the last one in it.
        results: Option<(usize, usize)>,
    },
}

/// The results of a turn, as its dialect writes them.
struct Written {
    messages: Vec<Raw>,
    /// Each result, by the index of its message and its bytes there.
    results: Vec<(usize, Range<usize>)>,
    /// Whether each result is a message of its own.
    is_each: bool,
}

impl Written {
    fn result(&self, number: usize) -> Option<&[u8]> {
        let (message, span) = self.results.get(number)?;
        self.messages.get(*message)?.as_bytes().get(span.clone())
    }

    /// Some of the results, as the elements of a list.
    fn list(&self, numbers: &[usize]) -> Option<Vec<u8>> {
        let results: Option<Vec<&[u8]>> = numbers.iter().map(|number| self.result(*number)).collect();
        Some(results?.join(&b','))
    }

    /// A message with some of the results and no others.
    fn message_of(&self, numbers: &[usize]) -> Option<Vec<u8>> {
        let (message, first) = self.results.first()?;
        let (_, last) = self.results.last().filter(|(other, _)| other == message)?;
        let whole = self.messages.get(*message)?.as_bytes();
        Some([&whole[..first.start], &self.list(numbers)?, &whole[last.end..]].concat())
    }
}

impl Facts<'_> {
    /// Plans a late result; nothing where it is not needed.
    pub(in crate::session) fn plan_late_result(
        &self,
        call: &ToolCallRef<'_>,
        output: &ToolOutput,
    ) -> Result<Option<Batch>, SessionError> {
        self.require_no_open_cycle()?;
        let Some(place) = self.place_of(call)? else { return Ok(None) };
        let cut = match &place.found {
            Found::Synthetic { message, span, is_alone } => {
                self.replace(&place, (*message, span), *is_alone, output)?
            }
            Found::Nothing { before, results } => self.add(&place, before, *results, output)?,
        };
        let Some(cut) = cut else { return Ok(None) };
        let (batch, _) = self.plan_repair_record(RepairKind::LateResult, vec![cut], Vec::new(), &[])?;
        Ok(Some(batch))
    }

    /// Finds the place of the result of a call without one. Only the last call of this id is meant: a result that is
    /// delivered twice must not land on an older one. Calls without ids of their own have the same id in every turn, so
    /// there the last call counts that was not answered while its tool ran.
    fn place_of(&self, call: &ToolCallRef<'_>) -> Result<Option<Place>, SessionError> {
        let outline = self.wire.outline_each(&self.entries().iter().collect::<Vec<_>>())?;
        let mut end = outline.len();
        while end > 0 {
            let turn = self.turn_before(&outline, end);
            end = turn.start;
            match self.place_in(&outline, turn, call)? {
                Asked::Open(place) => return Ok(Some(*place)),
                Asked::Answered => return Ok(None),
                Asked::AnsweredWithoutId | Asked::Elsewhere => {}
            }
        }
        Ok(None)
    }

    /// The last messages before an index that the model wrote together: one record brought them.
    fn turn_before(&self, outline: &[OutlineMessage], end: usize) -> Range<usize> {
        let is_response = |at: &usize| outline[*at].role == Role::Assistant;
        let seq = self.entries()[end - 1].seq;
        let together = (0..end).rev().take_while(|at| is_response(at) && self.entries()[*at].seq == seq).count();
        end - together.max(1)..end
    }

    /// The end of the messages from an index on that are of the same dialect as the message before it.
    fn end_of_run(&self, from: usize) -> usize {
        let dialect = &self.entries()[from - 1].dialect;
        from + self.entries()[from..].iter().take_while(|entry| entry.dialect == *dialect).count()
    }

    fn place_in(
        &self,
        outline: &[OutlineMessage],
        range: Range<usize>,
        call: &ToolCallRef<'_>,
    ) -> Result<Asked, SessionError> {
        let mut blocks = outline[range.clone()].iter().flat_map(|message| &message.blocks);
        if !blocks.any(|block| block.kind == OutlineKind::Call) {
            return Ok(Asked::Elsewhere);
        }
        let messages = self.entries()[range.clone()].iter().map(|entry| entry.message.clone()).collect();
        let turn = self.wire.for_dialect(self.entries()[range.start].dialect.as_ref())?.read_turn(messages)?;
        let ids = self.ids_of(call.id.as_str());
        let is_asked = |made: &TurnCall, id: &str| made.call.id == *id && made.call.name == call.name;
        let asked = ids.iter().find_map(|id| turn.calls.iter().position(|made| is_asked(made, id)));
        let Some(at) = asked else { return Ok(Asked::Elsewhere) };
        let keys: Vec<Option<&str>> =
            turn.calls.iter().map(|made| key(made.own_id(), Some(made.call.name.as_str()))).collect();
        let same: Vec<usize> = (0..at).filter(|other| keys[*other] == keys[at]).collect();
        let results: Vec<_> = results_of(&outline[range.end..], keys[at]).take(same.len() + 1).collect();
        let found = match results.get(same.len()) {
            Some((message, block)) if self.is_synthetic(message, *block, call)? => {
                let span = &message.blocks[*block].span;
                Found::Synthetic {
                    message: message.index,
                    span: span.start - message.span.start..span.end - message.span.start,
                    is_alone: message.blocks.len() == 1,
                }
            }
            None if !precedes_call(&outline[..range.start], keys[at]) => {
                let before = same[results.len()..].to_vec();
                Found::Nothing { before, results: last_result(&outline[range.end..self.end_of_run(range.end)]) }
            }
            Some((message, _)) if turn.calls[at].own_id().is_none() && !self.came_late(message) => {
                return Ok(Asked::AnsweredWithoutId);
            }
            Some(_) | None => return Ok(Asked::Answered),
        };
        let dialect = match &found {
            Found::Synthetic { message, .. } => self.entries()[*message].dialect.clone(),
            Found::Nothing { .. } => turn.dialect.clone(),
        };
        Ok(Asked::Open(Box::new(Place { range, turn, call: at, dialect, found })))
    }

    /// The ids that a call may have in the view: the one that the host knows, and those that repairs gave it.
    fn ids_of<'i>(&'i self, known: &'i str) -> Vec<&'i str> {
        let mut ids = vec![known];
        for renamed in &self.state.renamed {
            if ids.contains(&renamed.from.as_str()) && !ids.contains(&renamed.to.as_str()) {
                ids.push(renamed.to.as_str());
            }
        }
        ids
    }

    /// The ids that the call of the view had before repairs, and its own.
    fn earlier_ids<'i>(&'i self, own: &'i str) -> Vec<&'i str> {
        let mut ids = vec![own];
        for renamed in self.state.renamed.iter().rev() {
            if ids.contains(&renamed.to.as_str()) && !ids.contains(&renamed.from.as_str()) {
                ids.push(renamed.from.as_str());
            }
        }
        ids
    }

    /// Whether a late result brought a message.
    fn came_late(&self, message: &OutlineMessage) -> bool {
        self.entries()[message.index].source == EntrySource::LateResult
    }

    /// Whether a result is synthetic. The source of its message tells, where it knows: a cycle does, and so does a late
    /// result. The text tells where a host appended the message or a repair composed it, and where one message has results
    /// of both origins.
    fn is_synthetic(
        &self,
        message: &OutlineMessage,
        block: usize,
        call: &ToolCallRef<'_>,
    ) -> Result<bool, SessionError> {
        let entry = &self.entries()[message.index];
        let is_result = |block: &&OutlineBlock| block.kind == OutlineKind::Result;
        let number = message.blocks[..block].iter().filter(is_result).count();
        if !entry.synthetic_results.is_empty() {
            return Ok(entry.synthetic_results.contains(&(number as u32)));
        }
        let wire = self.wire.for_dialect(entry.dialect.as_ref())?;
        let text = wire.result_texts(&entry.message)?.into_iter().nth(number).flatten();
        let reads_so = text.as_deref().is_some_and(|text| self.wire.is_synthetic(text));
        let is_said = entry.origin == Origin::Said;
        if !reads_so && is_said {
            return Ok(false);
        }
        let count = message.blocks.iter().filter(is_result).count();
        Ok(match entry.source {
            EntrySource::Cycle if is_said || count == 1 => !is_said,
            EntrySource::Cycle => {
                text.is_some_and(|text| self.wire.is_synthetic_for(&text, call.name, &self.ids_of(call.id.as_str())))
            }
            EntrySource::LateResult if is_said && count == message.blocks.len() => false,
            EntrySource::LateResult | EntrySource::Message | EntrySource::Fix | EntrySource::Compaction => reads_so,
        })
    }

    /// Plans a result in the place of a synthetic one. Nothing else of its message changes.
    fn replace(
        &self,
        place: &Place,
        (at, span): (usize, &Range<usize>),
        is_alone: bool,
        output: &ToolOutput,
    ) -> Result<Option<Cut>, SessionError> {
        let written = self.write_with_late(place, output)?;
        let old = &self.entries()[at].message;
        let message = if written.is_each && is_alone {
            written.messages.into_iter().nth(place.call)
        } else {
            let bytes = old.as_bytes();
            let new = written.result(place.call).map(|new| [&bytes[..span.start], new, &bytes[span.end..]].concat());
            new.map(|bytes| parse(&bytes)).transpose()?
        };
        let Some(message) = message else { return Ok(None) };
        let (origin, synthetic_results) = self.origin_beside(place, at, span, &message)?;
        let inserted = vec![Insert { message, origin, dialect: place.dialect.clone(), synthetic_results }];
        Ok(Some(Cut { at: at as u64, removed: 1, inserted }))
    }

    /// The origin of a message after one of its results was replaced, and its synthetic results where they are recorded:
    /// another result may still be synthetic. A message with text of the user beside its results keeps the user's origin.
    fn origin_beside(
        &self,
        place: &Place,
        at: usize,
        span: &Range<usize>,
        message: &Raw,
    ) -> Result<(Origin, Vec<u32>), SessionError> {
        let wire = self.wire.for_dialect(place.dialect.as_ref())?;
        let outline = wire.outline(&[&self.entries()[at].message])?;
        let Some(old) = outline.first() else { return Ok((Origin::Said, Vec::new())) };
        let is_before =
            |block: &&OutlineBlock| block.kind == OutlineKind::Result && block.span.start < old.span.start + span.start;
        let number = old.blocks.iter().filter(is_before).count();
        let origin = |is_mixed: bool| {
            if is_mixed && holds_only_results(old) { Origin::Synthetic } else { Origin::Said }
        };
        let recorded = &self.entries()[at].synthetic_results;
        if !recorded.is_empty() {
            let left: Vec<u32> = recorded.iter().copied().filter(|other| *other != number as u32).collect();
            return Ok((origin(!left.is_empty()), left));
        }
        let mut others = wire.result_texts(message)?;
        others.drain(number..(number + 1).min(others.len()));
        let is_known = self.entries()[at].origin == Origin::Synthetic;
        let is_synthetic = |text: &String| {
            let calls = place.turn.calls.iter().map(|made| &made.call);
            let is_about =
                |call: &ToolCall| self.wire.is_synthetic_for(text, &call.name, &self.earlier_ids(call.id.as_str()));
            if is_known { calls.into_iter().any(is_about) } else { self.wire.is_synthetic(text) }
        };
        Ok((origin(others.iter().flatten().any(is_synthetic)), Vec::new()))
    }

    /// Plans a result behind its call, together with the others of the same turn.
    fn add(
        &self,
        place: &Place,
        before: &[usize],
        results: Option<(usize, usize)>,
        output: &ToolOutput,
    ) -> Result<Option<Cut>, SessionError> {
        let written = self.write_with_late(place, output)?;
        let origin = |is_synthetic: bool| if is_synthetic { Origin::Synthetic } else { Origin::Said };
        let numbers: Vec<usize> = before.iter().copied().chain([place.call]).collect();
        if written.is_each && written.messages.len() > 1 {
            let at = results.map_or(place.range.end, |(message, _)| message + 1);
            let message = |number: &usize| {
                let message = written.messages.get(*number)?.clone();
                let (origin, dialect) = (origin(*number != place.call), place.dialect.clone());
                Some(Insert::new(message, origin, dialect))
            };
            let inserted = numbers.iter().map(message).collect::<Option<_>>();
            return Ok(inserted.map(|inserted| Cut { at: at as u64, removed: 0, inserted }));
        }
        let joined = results.filter(|_| !written.is_each);
        // The results for earlier calls come first, and the real one after them.
        let made_up = |from: usize| from as u32..(from + before.len()) as u32;
        let (at, bytes, origin, synthetic_results) = match joined {
            Some((at, end)) => {
                let entry = &self.entries()[at];
                let (front, back) = entry.message.as_bytes().split_at(end);
                let list = written.list(&numbers);
                let is_recorded = entry.origin == Origin::Said || !entry.synthetic_results.is_empty();
                let new = if is_recorded { made_up(self.count_results(place, at)?) } else { 0..0 };
                let synthetic = entry.synthetic_results.iter().copied().chain(new).collect();
                (at, list.map(|list| [front, b",", &list, back].concat()), entry.origin, synthetic)
            }
            None => (place.range.end, written.message_of(&numbers), origin(!before.is_empty()), made_up(0).collect()),
        };
        let Some(message) = bytes.map(|bytes| parse(&bytes)).transpose()? else { return Ok(None) };
        let (removed, dialect) = (u64::from(joined.is_some()), place.dialect.clone());
        Ok(Some(Cut { at: at as u64, removed, inserted: vec![Insert { message, origin, dialect, synthetic_results }] }))
    }

    /// The number of results in a message of the view.
    fn count_results(&self, place: &Place, at: usize) -> Result<usize, SessionError> {
        let wire = self.wire.for_dialect(place.dialect.as_ref())?;
        let outline = wire.outline(&[&self.entries()[at].message])?;
        let blocks = outline.iter().flat_map(|message| &message.blocks);
        Ok(blocks.filter(|block| block.kind == OutlineKind::Result).count())
    }

    /// Writes the results of a turn: the late one, and for the other calls that there is none.
    fn write_with_late(&self, place: &Place, output: &ToolOutput) -> Result<Written, SessionError> {
        let repairs = self.wire.repairs();
        let missing = repairs.synthetic_text.missing.as_str();
        let all = place.turn.calls.iter().enumerate().map(|(at, made)| {
            let is_late = at == place.call;
            let text = if is_late { output.output.as_str() } else { missing };
            CallResult {
                id: made.given_id.clone(),
                name: made.call.name.clone(),
                output: text.to_owned(),
                failed: !is_late || output.is_error,
                outcome: is_late.then_some(CallOutcome::Returned),
            }
        });
        let all: Vec<CallResult> = all.collect();
        let wire = self.wire.for_dialect(place.dialect.as_ref())?;
        let messages = wire.write_own_results(&place.turn, &all)?;
        let outline = wire.outline(&messages.iter().collect::<Vec<_>>())?;
        let results = outline.iter().flat_map(|message| {
            let blocks = message.blocks.iter().filter(|block| block.kind == OutlineKind::Result);
            let start = message.span.start;
            blocks.map(move |block| (message.index, block.span.start - start..block.span.end - start))
        });
        let results = results.collect();
        Ok(Written { is_each: messages.len() == all.len(), messages, results })
    }
}

fn names(block: &OutlineBlock, call: Option<&str>) -> bool {
    key_of(block) == call
}

/// The results that name a call, before the next call of that key: their messages and their places there.
fn results_of<'o>(
    outline: &'o [OutlineMessage],
    call: Option<&'o str>,
) -> impl Iterator<Item = (&'o OutlineMessage, usize)> {
    let again = move |block: &OutlineBlock| block.kind == OutlineKind::Call && names(block, call);
    let messages = outline.iter().take_while(move |message| !message.blocks.iter().any(again));
    let blocks =
        messages.flat_map(|message| message.blocks.iter().enumerate().map(move |(at, block)| (message, at, block)));
    let results = blocks.filter(move |(_, _, block)| block.kind == OutlineKind::Result && names(block, call));
    results.map(|(message, at, _)| (message, at))
}

/// Whether a result precedes its call, where a repair finds it.
fn precedes_call(outline: &[OutlineMessage], call: Option<&str>) -> bool {
    let named = outline.iter().flat_map(|message| &message.blocks).filter(|block| names(block, call));
    let (calls, results): (Vec<_>, Vec<_>) = named
        .filter(|block| matches!(block.kind, OutlineKind::Call | OutlineKind::Result))
        .partition(|block| block.kind == OutlineKind::Call);
    results.len() > calls.len()
}

/// The last of the first messages that all have results, and the end of its last result.
fn last_result(outline: &[OutlineMessage]) -> Option<(usize, usize)> {
    let last = |message: &OutlineMessage| {
        let block = message.blocks.iter().rfind(|block| block.kind == OutlineKind::Result)?;
        Some((message.index, block.span.end - message.span.start))
    };
    outline.iter().map_while(last).last()
}

fn parse(bytes: &[u8]) -> Result<Raw, SessionError> {
    Ok(Raw::parse(String::from_utf8_lossy(bytes))?)
}
