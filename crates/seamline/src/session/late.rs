//! Results that come after their calls were given up.

use std::ops::Range;

use seamline_store::{Cut, Insert, Origin, Raw, Rejected};

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

/// A result that was made up: the messages of its turn, which of the turn's calls it answers, and where it stands.
struct MadeUp {
    turn: Range<usize>,
    call: usize,
    message: usize,
    /// The bytes of the message that it is.
    span: Range<usize>,
    /// Whether nothing else is in that message.
    is_alone: bool,
}

impl Session {
    /// Takes in the result of a call that was given up before: it replaces what was made up for it. Whether it was
    /// needed is said. Of several such calls, as there may be where calls have no ids of their own, the last one is
    /// meant.
    ///
    /// # Errors
    /// When tools are running, or the store could not keep it.
    pub async fn late_result(&mut self, call: &ToolCallRef<'_>, output: &ToolOutput) -> Result<bool, SessionError> {
        self.settle().await?;
        if !self.state.cycles.is_empty() {
            return Err(Rejected::InFlight.into());
        }
        let Some(found) = self.made_up(call)? else { return Ok(false) };
        let Some(message) = self.with_result(&found, output)? else { return Ok(false) };
        // Another result of the same message may still be made up.
        let texts = self.wire.result_texts(&message)?;
        let synthetic = texts.iter().flatten().any(|text| self.wire.is_made_up(text));
        let origin = if synthetic { Origin::Synthetic } else { Origin::Said };
        let cut = Cut { at: found.message as u64, removed: 1, inserted: vec![Insert { message, origin }] };
        self.write_repair(vec![cut], &[]).await?;
        Ok(true)
    }

    /// The last result that was made up for such a call.
    fn made_up(&self, call: &ToolCallRef<'_>) -> Result<Option<MadeUp>, SessionError> {
        let body = self.wire.body("{}", self.entries().iter().map(|entry| &entry.message))?;
        let outline = crate::outline(&body, &self.wire.options, 0..self.entries().len())?;
        let mut end = outline.len();
        while end > 0 {
            let turn = self.turn_before(&outline, end);
            end = turn.start;
            if let Some(found) = self.made_up_in(&outline, turn, call)? {
                return Ok(Some(found));
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

    fn made_up_in(
        &self,
        outline: &[OutlineMessage],
        turn: Range<usize>,
        call: &ToolCallRef<'_>,
    ) -> Result<Option<MadeUp>, SessionError> {
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
        let before = keys[..at].iter().filter(|other| **other == keys[at]).count();
        let Some((message, block)) = nth_result(&outline[turn.end..], keys[at], before) else { return Ok(None) };
        // Only what was made up is replaced. The text tells: one message may hold results of both kinds.
        let number = message.blocks[..block].iter().filter(|block| block.kind == "result").count();
        let said = self.wire.result_texts(&self.entries()[message.index].message)?.into_iter().nth(number).flatten();
        if !said.is_some_and(|text| self.wire.is_made_up(&text)) {
            return Ok(None);
        }
        let span = &message.blocks[block].span;
        Ok(Some(MadeUp {
            turn,
            call: at,
            message: message.index,
            span: span.start - message.span.start..span.end - message.span.start,
            is_alone: message.blocks.len() == 1,
        }))
    }

    /// The message with a result that was made up, and in its place what the tool said. Nothing else of it changes.
    fn with_result(&self, found: &MadeUp, output: &ToolOutput) -> Result<Option<Raw>, SessionError> {
        let turn = self.messages_at(found.turn.clone());
        let (calls, ids) = (self.wire.calls(&turn)?, self.wire.call_ids(&turn)?);
        let answers = calls.into_iter().zip(ids).map(|(call, id)| {
            let (name, output, failed) = (call.name, output.output.clone(), output.is_error);
            Answered { id, name, output, failed }
        });
        let answers: Vec<Answered> = answers.collect();
        let written = self.wire.results(&turn, &answers)?;
        if written.len() == answers.len() && found.is_alone {
            return Ok(written.into_iter().nth(found.call));
        }
        let body = self.wire.body("{}", written.iter())?;
        let outline = crate::outline(&body, &self.wire.options, 0..written.len())?;
        let mut blocks = outline.iter().flat_map(|message| &message.blocks).filter(|block| block.kind == "result");
        let Some(block) = blocks.nth(found.call) else { return Ok(None) };
        let old = self.entries()[found.message].message.as_bytes();
        let new = [&old[..found.span.start], &body[block.span.clone()], &old[found.span.end..]].concat();
        Ok(Some(Raw::parse(String::from_utf8_lossy(&new))?))
    }

    fn messages_at(&self, range: Range<usize>) -> Vec<Raw> {
        self.entries()[range].iter().map(|entry| entry.message.clone()).collect()
    }
}

/// What a result names its call by: the id, or where the call has none the tool.
fn key<'a>(id: Option<&'a str>, tool: Option<&'a str>) -> Option<&'a str> {
    id.filter(|id| !id.is_empty()).or(tool)
}

/// Of the results that name a call, the one after so many others, before the same is called again.
fn nth_result<'o>(
    outline: &'o [OutlineMessage],
    call: Option<&str>,
    nth: usize,
) -> Option<(&'o OutlineMessage, usize)> {
    let names_it = |block: &OutlineBlock| key(block.id.as_deref(), block.name.as_deref()) == call;
    let again = |block: &OutlineBlock| block.kind == "call" && names_it(block);
    let messages = outline.iter().take_while(|message| !message.blocks.iter().any(again));
    let blocks =
        messages.flat_map(|message| message.blocks.iter().enumerate().map(move |(at, block)| (message, at, block)));
    let mut results = blocks.filter(|(_, _, block)| block.kind == "result" && names_it(block));
    results.nth(nth).map(|(message, at, _)| (message, at))
}
