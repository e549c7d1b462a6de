//! Results that come after their calls were given up.

use std::ops::Range;

use seamline_store::{Cut, Insert, OpenedCommit, Origin, Raw, Record, Rejected, Repair};

use super::opening::read_on;
use super::order::is_move;
use super::wire::Answered;
use super::{Session, SessionError, ToolOutput};
use crate::{OutlineBlock, OutlineMessage};

/// A call by its id and tool, both as [`ToolCall`](super::ToolCall) has them: so calls are found, too, that have no id of
/// their own, and those that share one.
///
/// ```
/// let call = seamline::session::ToolCallRef { id: "toolu_1", name: "read" };
/// assert_eq!(call.id, "toolu_1");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ToolCallRef<'a> {
    /// Its id.
    pub id: &'a str,
    /// The tool.
    pub name: &'a str,
}

/// Where a late result goes: the messages of its turn, which of the turn's calls it answers, and what stands there.
struct Place {
    turn: Range<usize>,
    call: usize,
    stands: Stands,
}

/// What stands where a late result goes.
enum Stands {
    /// A result that was made up.
    MadeUp {
        message: usize,
        /// The bytes of the message that it is.
        span: Range<usize>,
        /// Whether nothing else is in that message.
        is_alone: bool,
    },
    /// Nothing: it is made up anew for every request.
    Nothing {
        /// Calls before it that share what their results would name, and have none either. Their order tells them apart,
        /// so theirs are made up.
        before: Vec<usize>,
        /// The last message right behind the turn that holds results, and where in it the last one ends.
        results: Option<(usize, usize)>,
    },
}

/// The results of a turn as its dialect writes them.
struct Written {
    messages: Vec<Raw>,
    /// Each result, by its message and its bytes there.
    results: Vec<(usize, Range<usize>)>,
    /// Whether each is a message of its own.
    is_each: bool,
}

impl Written {
    fn result(&self, number: usize) -> Option<&[u8]> {
        let (message, span) = self.results.get(number)?;
        self.messages.get(*message)?.as_bytes().get(span.clone())
    }

    /// Some of the results, as they stand in one list.
    fn list(&self, numbers: &[usize]) -> Option<Vec<u8>> {
        let results: Option<Vec<&[u8]>> = numbers.iter().map(|number| self.result(*number)).collect();
        Some(results?.join(&b','))
    }

    /// A message that holds some of the results and no others.
    fn message_of(&self, numbers: &[usize]) -> Option<Vec<u8>> {
        let (message, first) = self.results.first()?;
        let (_, last) = self.results.last().filter(|(other, _)| other == message)?;
        let whole = self.messages.get(*message)?.as_bytes();
        Some([&whole[..first.start], &self.list(numbers)?, &whole[last.end..]].concat())
    }
}

impl Session {
    /// Takes in the result of a call that was given up before: it replaces what was made up for it, or is put behind its
    /// call where nothing was. Whether it was needed is said; a result that a tool gave stays. Of several such calls, as
    /// there may be where calls have no ids of their own, the last one is meant. [`Session::undo_repair`] takes it back.
    ///
    /// # Errors
    /// When tools are running, the conversation cannot be read, or the store could not be read or could not keep it.
    pub async fn late_result(&mut self, call: &ToolCallRef<'_>, output: &ToolOutput) -> Result<bool, SessionError> {
        self.settle().await?;
        if !self.state.cycles.is_empty() {
            return Err(Rejected::InFlight.into());
        }
        let Some(place) = self.place_of(call).await? else { return Ok(false) };
        let cut = match &place.stands {
            Stands::MadeUp { message, span, is_alone } => {
                self.replacing(&place, (*message, span), *is_alone, output)?
            }
            Stands::Nothing { before, results } => self.adding(&place, before, *results, output)?,
        };
        let Some(cut) = cut else { return Ok(false) };
        self.write_repair(vec![cut], &[]).await?;
        Ok(true)
    }

    /// Where the result of a call goes, if it has none: that of the last such call.
    async fn place_of(&self, call: &ToolCallRef<'_>) -> Result<Option<Place>, SessionError> {
        let body = self.wire.body("{}", self.entries().iter().map(|entry| &entry.message))?;
        let outline = crate::outline(&body, &self.wire.options, 0..self.entries().len())?;
        let mut end = outline.len();
        while end > 0 {
            let turn = self.turn_before(&outline, end);
            end = turn.start;
            if let Some(place) = self.place_in(&outline, turn, call).await? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// The last messages before one that the model made together: one record brought them.
    fn turn_before(&self, outline: &[OutlineMessage], end: usize) -> Range<usize> {
        let is_made = |at: &usize| outline[*at].role == "assistant";
        let seq = self.entries()[end - 1].seq;
        let together = (0..end).rev().take_while(|at| is_made(at) && self.entries()[*at].seq == seq).count();
        end - together.max(1)..end
    }

    async fn place_in(
        &self,
        outline: &[OutlineMessage],
        turn: Range<usize>,
        call: &ToolCallRef<'_>,
    ) -> Result<Option<Place>, SessionError> {
        let mut blocks = outline[turn.clone()].iter().flat_map(|message| &message.blocks);
        if !blocks.any(|block| block.kind == "call") {
            return Ok(None);
        }
        let raws = self.messages_at(turn.clone());
        let (calls, ids) = (self.wire.calls(&raws)?, self.wire.own_ids(&raws)?);
        let asked = calls.iter().position(|made| made.id == call.id && made.name == call.name);
        let Some(at) = asked else { return Ok(None) };
        let names = calls.iter().map(|call| Some(call.name.as_str()));
        let keys: Vec<Option<&str>> = ids.iter().zip(names).map(|(id, name)| key(id.as_deref(), name)).collect();
        let same: Vec<usize> = (0..at).filter(|other| keys[*other] == keys[at]).collect();
        let results: Vec<_> = results_of(&outline[turn.end..], keys[at]).take(same.len() + 1).collect();
        let stands = match results.get(same.len()) {
            Some((message, block)) if self.is_made_up(message, *block, call).await? => {
                let span = &message.blocks[*block].span;
                Stands::MadeUp {
                    message: message.index,
                    span: span.start - message.span.start..span.end - message.span.start,
                    is_alone: message.blocks.len() == 1,
                }
            }
            None if !stands_before(&outline[..turn.start], keys[at]) => {
                let before = same[results.len()..].to_vec();
                Stands::Nothing { before, results: last_result(&outline[turn.end..]) }
            }
            _ => return Ok(None),
        };
        Ok(Some(Place { turn, call: at, stands }))
    }

    /// Whether a result was made up. The record that brought its message tells, where it knows: that of a cycle does, and
    /// so does that of a late result. Of what a host brought, or a repair put together, the text tells; it does, too,
    /// where one message holds results of both kinds.
    async fn is_made_up(
        &self,
        message: &OutlineMessage,
        block: usize,
        call: &ToolCallRef<'_>,
    ) -> Result<bool, SessionError> {
        let entry = &self.entries()[message.index];
        let is_result = |block: &&OutlineBlock| block.kind == "result";
        let number = message.blocks[..block].iter().filter(is_result).count();
        let text = self.wire.result_texts(&entry.message)?.into_iter().nth(number).flatten();
        let reads_so = text.as_deref().is_some_and(|text| self.wire.is_made_up(text));
        if !reads_so && entry.origin == Origin::Said {
            return Ok(false);
        }
        let count = message.blocks.iter().filter(is_result).count();
        let is_said = entry.origin == Origin::Said;
        let record = self.record(entry.seq).await?;
        Ok(match (record.as_ref().map(knows), is_said) {
            (Some(Knows::Cycle), _) if is_said || count == 1 => !is_said,
            (Some(Knows::Cycle), _) => text.is_some_and(|text| self.wire.is_made_up_for(&text, call)),
            (Some(Knows::Late), true) if count == message.blocks.len() => false,
            _ => reads_so,
        })
    }

    /// The record of a number, as the store has it.
    async fn record(&self, seq: u64) -> Result<Option<Record>, SessionError> {
        // A commit is found by its first record, which is not far before any other one of it.
        let (mut back, mut found) = (1, None);
        while found.is_none() && back / 2 < seq {
            let from = seq.saturating_sub(back);
            read_on(self.store.as_ref(), &self.id, from..seq, |page| {
                found = page.into_iter().rfind(|commit| commit.seq <= seq).or(found.take());
            })
            .await?;
            back *= 2;
        }
        let commit = found.and_then(|commit| OpenedCommit::open(&commit.bytes).ok());
        Ok(commit.and_then(|commit| {
            let at = usize::try_from(seq.checked_sub(commit.seq)?).ok()?;
            commit.records.into_iter().nth(at)
        }))
    }

    /// What puts a result in the place of one that was made up. Nothing else of its message changes.
    fn replacing(
        &self,
        place: &Place,
        (at, span): (usize, &Range<usize>),
        is_alone: bool,
        output: &ToolOutput,
    ) -> Result<Option<Cut>, SessionError> {
        let written = self.written(place, output)?;
        let message = if written.is_each && is_alone {
            written.messages.into_iter().nth(place.call)
        } else {
            let old = self.entries()[at].message.as_bytes();
            let new = written.result(place.call).map(|new| [&old[..span.start], new, &old[span.end..]].concat());
            new.map(|bytes| parsed(&bytes)).transpose()?
        };
        let Some(message) = message else { return Ok(None) };
        let old = &self.entries()[at].message;
        let body = self.wire.body("{}", std::iter::once(old))?;
        let outline = crate::outline(&body, &self.wire.options, 0..1)?;
        let blocks = outline.iter().flat_map(|message| &message.blocks);
        let only_results = blocks.clone().all(|block| block.kind == "result");
        let start = outline.first().map_or(0, |message| message.span.start);
        let number = blocks.filter(|block| block.kind == "result" && block.span.start < start + span.start).count();
        // Another result of the same message may still be made up. What somebody said beside them was said all the same.
        let mut others = self.wire.result_texts(&message)?;
        others.drain(number..(number + 1).min(others.len()));
        let calls = self.wire.calls(&self.messages_at(place.turn.clone()))?;
        let is_known = self.entries()[at].origin == Origin::Synthetic;
        let is_made_up = |text: &String| {
            let mut calls = calls.iter().map(|call| ToolCallRef { id: &call.id, name: &call.name });
            if is_known { calls.any(|call| self.wire.is_made_up_for(text, &call)) } else { self.wire.is_made_up(text) }
        };
        let is_mixed = others.iter().flatten().any(is_made_up);
        let origin = if is_mixed && only_results { Origin::Synthetic } else { Origin::Said };
        Ok(Some(Cut { at: at as u64, removed: 1, inserted: vec![Insert { message, origin }] }))
    }

    /// What puts a result behind its call, together with those of the same turn.
    fn adding(
        &self,
        place: &Place,
        before: &[usize],
        results: Option<(usize, usize)>,
        output: &ToolOutput,
    ) -> Result<Option<Cut>, SessionError> {
        let written = self.written(place, output)?;
        let origin = |made_up: bool| if made_up { Origin::Synthetic } else { Origin::Said };
        let numbers: Vec<usize> = before.iter().copied().chain([place.call]).collect();
        if written.is_each && written.messages.len() > 1 {
            let at = results.map_or(place.turn.end, |(message, _)| message + 1);
            let message = |number: &usize| {
                let message = written.messages.get(*number)?.clone();
                Some(Insert { message, origin: origin(*number != place.call) })
            };
            let inserted = numbers.iter().map(message).collect::<Option<_>>();
            return Ok(inserted.map(|inserted| Cut { at: at as u64, removed: 0, inserted }));
        }
        let joined = results.filter(|_| !written.is_each);
        let (at, bytes, origin) = match joined {
            Some((at, end)) => {
                let entry = &self.entries()[at];
                let (front, back) = entry.message.as_bytes().split_at(end);
                let list = written.list(&numbers);
                (at, list.map(|list| [front, b",", &list, back].concat()), entry.origin)
            }
            None => (place.turn.end, written.message_of(&numbers), origin(!before.is_empty())),
        };
        let Some(message) = bytes.map(|bytes| parsed(&bytes)).transpose()? else { return Ok(None) };
        let removed = u64::from(joined.is_some());
        Ok(Some(Cut { at: at as u64, removed, inserted: vec![Insert { message, origin }] }))
    }

    /// The results of a turn, of which one is what its tool said and the others say that there is none.
    fn written(&self, place: &Place, output: &ToolOutput) -> Result<Written, SessionError> {
        let turn = self.messages_at(place.turn.clone());
        let (calls, ids) = (self.wire.calls(&turn)?, self.wire.call_ids(&turn)?);
        let missing = &self.wire.options.policy.repair.synthetic_text.missing;
        let answers = calls.into_iter().zip(ids).enumerate().map(|(at, (call, id))| {
            let (name, is_it) = (call.name, at == place.call);
            let text = if is_it { &output.output } else { missing };
            Answered { id, name, output: text.clone(), failed: !is_it || output.is_error }
        });
        let answers: Vec<Answered> = answers.collect();
        let messages = self.wire.results(&turn, &answers)?;
        let body = self.wire.body("{}", messages.iter())?;
        let outline = crate::outline(&body, &self.wire.options, 0..messages.len())?;
        let results = outline.iter().flat_map(|message| {
            let blocks = message.blocks.iter().filter(|block| block.kind == "result");
            let start = message.span.start;
            blocks.map(move |block| (message.index, block.span.start - start..block.span.end - start))
        });
        let results = results.collect();
        Ok(Written { is_each: messages.len() == answers.len(), messages, results })
    }

    fn messages_at(&self, range: Range<usize>) -> Vec<Raw> {
        self.entries()[range].iter().map(|entry| entry.message.clone()).collect()
    }
}

/// What a result names its call by: the id, or where the call has none the tool.
fn key<'a>(id: Option<&'a str>, tool: Option<&'a str>) -> Option<&'a str> {
    id.filter(|id| !id.is_empty()).or(tool)
}

fn names(block: &OutlineBlock, call: Option<&str>) -> bool {
    key(block.id.as_deref(), block.name.as_deref()) == call
}

/// The results that name a call, before the same is called again: their messages and their places there.
fn results_of<'o>(
    outline: &'o [OutlineMessage],
    call: Option<&'o str>,
) -> impl Iterator<Item = (&'o OutlineMessage, usize)> {
    let again = move |block: &OutlineBlock| block.kind == "call" && names(block, call);
    let messages = outline.iter().take_while(move |message| !message.blocks.iter().any(again));
    let blocks =
        messages.flat_map(|message| message.blocks.iter().enumerate().map(move |(at, block)| (message, at, block)));
    let results = blocks.filter(move |(_, _, block)| block.kind == "result" && names(block, call));
    results.map(|(message, at, _)| (message, at))
}

/// Whether a result stands before its call, where repairs find it.
fn stands_before(outline: &[OutlineMessage], call: Option<&str>) -> bool {
    let named = outline.iter().flat_map(|message| &message.blocks).filter(|block| names(block, call));
    let (calls, results): (Vec<_>, Vec<_>) =
        named.filter(|block| ["call", "result"].contains(&block.kind)).partition(|block| block.kind == "call");
    results.len() > calls.len()
}

/// Of the messages at the front that hold results, the last one, and where in it the last result ends.
fn last_result(outline: &[OutlineMessage]) -> Option<(usize, usize)> {
    let last = |message: &OutlineMessage| {
        let block = message.blocks.iter().rfind(|block| block.kind == "result")?;
        Some((message.index, block.span.end - message.span.start))
    };
    outline.iter().map_while(last).last()
}

/// What a record knows of where the results come from that it brought.
pub(super) enum Knows {
    /// Which of its messages hold something that was made up.
    Cycle,
    /// That what it brought as said is a result that a tool gave, where nothing else is in the message.
    Late,
    /// Nothing.
    Nothing,
}

/// What a record knows of the results that it brought. A repair that moved a cycle knows what that knew.
pub(super) fn knows(record: &Record) -> Knows {
    match record {
        Record::Cycle(_) => Knows::Cycle,
        Record::Repair(repair) if is_move(repair) => Knows::Cycle,
        Record::Repair(repair) if is_late(repair) => Knows::Late,
        _ => Knows::Nothing,
    }
}

/// Whether a repair took a late result in: then nothing else was done.
fn is_late(repair: &Repair) -> bool {
    repair.report.as_ref().is_some_and(|report| report.as_str() == "[]")
}

fn parsed(bytes: &[u8]) -> Result<Raw, SessionError> {
    Ok(Raw::parse(String::from_utf8_lossy(bytes))?)
}
