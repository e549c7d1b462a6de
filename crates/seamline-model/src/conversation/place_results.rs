//! Puts every result right after its call.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::{Conversation, Fate, LiftedBlock, LiftedMessage, LiftedResult, Lost, Says, Speaker};

impl Conversation {
    /// Puts the results of each message with calls right after it, in one user message: dialects that pair only by id
    /// allow results anywhere. A call without a result gets one with the text `missing`, if there is such a text. A
    /// result without a call becomes text.
    pub fn place_results(&mut self, missing: Option<&str>) {
        let messages = join_calling(split_by_speaker(std::mem::take(&mut self.messages)));
        let mut pool = Pool::of(&messages);
        let assigned = pool.assign(&messages);
        let mut settled = Vec::with_capacity(messages.len());
        for (message, assigned) in messages.into_iter().zip(assigned) {
            let mut results: Vec<LiftedBlock> = assigned.iter().map(|&at| pool.results[at].clone()).collect();
            if let Some(missing) = missing {
                for call in open_calls(&message, &assigned, &pool.results) {
                    results.extend(self.synthetic_result(call, missing));
                }
            }
            let rest = self.without_results(message, &pool);
            settled.extend(Some(rest).filter(|rest| !rest.blocks.is_empty()));
            if !results.is_empty() {
                settled.push(LiftedMessage { speaker: Speaker::User, blocks: results });
            }
        }
        self.messages = settled;
    }

    /// A synthetic result for a call that has none.
    fn synthetic_result(&mut self, block: &LiftedBlock, missing: &str) -> Option<LiftedBlock> {
        let Says::Call(call) = &block.says else { return None };
        let note = "no result was recorded; a synthetic result was added after it".to_owned();
        self.note_lost(format!("result of call `{}`", call.id), &block.pointer, Fate::Added, note);
        let text = LiftedBlock::new(Says::Text(missing.to_owned()), &block.pointer);
        let result =
            LiftedResult { id: call.id.clone(), name: Some(call.name.clone()), blocks: vec![text], failed: true };
        Some(LiftedBlock::new(Says::Result(Box::new(result)), &block.pointer))
    }

    /// A message without the results that were moved to their calls; its other results become text.
    fn without_results(&mut self, message: LiftedMessage, pool: &Pool) -> LiftedMessage {
        let mut blocks = Vec::with_capacity(message.blocks.len());
        for block in message.blocks {
            match block.says {
                Says::Result(_) if pool.assigned.contains(&block.pointer) => {}
                Says::Result(result) => {
                    let note = "the conversation does not contain its call".to_owned();
                    self.note_lost(format!("result `{}`", result.id), &block.pointer, Fate::Text, note);
                    blocks.extend(result.blocks);
                }
                says => blocks.push(LiftedBlock { says, pointer: block.pointer }),
            }
        }
        LiftedMessage { speaker: message.speaker, blocks }
    }

    fn note_lost(&mut self, what: String, pointer: &str, fate: Fate, note: String) {
        self.left.push(Lost { what, pointer: pointer.to_owned(), fate, note });
    }
}

/// Splits messages so that each block has its own speaker: calls and reasoning belong to the assistant, results to the
/// user.
fn split_by_speaker(messages: Vec<LiftedMessage>) -> Vec<LiftedMessage> {
    let mut out: Vec<LiftedMessage> = Vec::with_capacity(messages.len());
    for message in messages {
        let speaker_of = |block: &LiftedBlock| match block.says {
            Says::Call(_) | Says::Reasoning(_) => Speaker::Assistant,
            Says::Result(_) => Speaker::User,
            _ => message.speaker,
        };
        if message.blocks.iter().all(|block| speaker_of(block) == message.speaker) {
            out.extend(Some(message).filter(|message| !message.blocks.is_empty()));
            continue;
        }
        let mut first = true;
        for block in message.blocks {
            let speaker = speaker_of(&block);
            match out.last_mut() {
                Some(last) if !first && last.speaker == speaker => last.blocks.push(block),
                _ => out.push(LiftedMessage { speaker, blocks: vec![block] }),
            }
            first = false;
        }
    }
    out
}

/// Joins assistant messages that directly follow one with calls: their calls are answered together.
fn join_calling(messages: Vec<LiftedMessage>) -> Vec<LiftedMessage> {
    let mut out: Vec<LiftedMessage> = Vec::with_capacity(messages.len());
    let mut is_calling = false;
    for message in messages {
        match out.last_mut() {
            Some(last) if is_calling && message.speaker == Speaker::Assistant => last.blocks.extend(message.blocks),
            _ => {
                is_calling = message.speaker == Speaker::Assistant && has_calls(&message);
                out.push(message);
            }
        }
    }
    out
}

fn has_calls(message: &LiftedMessage) -> bool {
    message.blocks.iter().any(|block| matches!(block.says, Says::Call(_)))
}

/// The results of a conversation, and which of them are not yet assigned to a call.
struct Pool {
    results: Vec<LiftedBlock>,
    assigned: HashSet<String>,
    /// The index of the first result in each message, then the number of results.
    starts: Vec<usize>,
    open: HashMap<String, BTreeSet<usize>>,
}

impl Pool {
    fn of(messages: &[LiftedMessage]) -> Self {
        let (mut results, mut starts) = (Vec::new(), Vec::with_capacity(messages.len() + 1));
        let mut open: HashMap<String, BTreeSet<usize>> = HashMap::new();
        for message in messages {
            starts.push(results.len());
            for block in &message.blocks {
                if let Says::Result(result) = &block.says {
                    open.entry(result.id.clone()).or_default().insert(results.len());
                    results.push(block.clone());
                }
            }
        }
        starts.push(results.len());
        Self { results, assigned: HashSet::new(), starts, open }
    }

    /// Assigns results to messages with calls: first those before the next assistant message, then any others.
    fn assign(&mut self, messages: &[LiftedMessage]) -> Vec<Vec<usize>> {
        let mut assigned: Vec<Vec<usize>> = vec![Vec::new(); messages.len()];
        let ends = ends(messages);
        for (index, message) in messages.iter().enumerate() {
            let span = self.starts[index]..self.starts[ends[index]];
            self.assign_within(message, &span, &mut assigned[index]);
        }
        for (message, assigned) in messages.iter().zip(&mut assigned) {
            let everywhere = 0..self.results.len();
            self.assign_within(message, &everywhere, assigned);
        }
        assigned
    }

    /// Assigns results in `span` to the open calls of a message.
    fn assign_within(&mut self, message: &LiftedMessage, span: &Range<usize>, assigned: &mut Vec<usize>) {
        for block in open_calls(message, assigned, &self.results) {
            let Says::Call(call) = &block.says else { continue };
            let Some(open) = self.open.get_mut(&call.id) else { continue };
            if let Some(at) = open.range(span.clone()).next().copied() {
                open.remove(&at);
                self.assigned.insert(self.results[at].pointer.clone());
                assigned.push(at);
            }
        }
        assigned.sort_unstable();
    }
}

/// For each message, the index of the next assistant message.
fn ends(messages: &[LiftedMessage]) -> Vec<usize> {
    let mut ends = vec![messages.len(); messages.len()];
    let mut end = messages.len();
    for (index, message) in messages.iter().enumerate().rev() {
        ends[index] = end;
        if message.speaker == Speaker::Assistant {
            end = index;
        }
    }
    ends
}

/// The calls of a message without a result among those assigned to it.
fn open_calls<'m>(message: &'m LiftedMessage, assigned: &[usize], results: &[LiftedBlock]) -> Vec<&'m LiftedBlock> {
    let mut answered: HashMap<&str, usize> = HashMap::new();
    for &at in assigned {
        if let Says::Result(result) = &results[at].says {
            *answered.entry(&result.id).or_default() += 1;
        }
    }
    let is_open = |block: &&LiftedBlock| match &block.says {
        Says::Call(call) => match answered.get_mut(call.id.as_str()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        },
        _ => false,
    };
    message.blocks.iter().filter(is_open).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::LiftedCall;

    fn call(id: &str, pointer: &str) -> LiftedBlock {
        let call = LiftedCall::new(id.to_owned(), "read".to_owned(), "{}".to_owned());
        LiftedBlock::new(Says::Call(Box::new(call)), pointer)
    }

    fn result(id: &str, pointer: &str) -> LiftedBlock {
        LiftedBlock::new(
            Says::Result(Box::new(LiftedResult { id: id.to_owned(), name: None, blocks: Vec::new(), failed: false })),
            pointer,
        )
    }

    fn text(pointer: &str) -> LiftedBlock {
        LiftedBlock::new(Says::Text("words".to_owned()), pointer)
    }

    fn message(speaker: Speaker, blocks: Vec<LiftedBlock>) -> LiftedMessage {
        LiftedMessage { speaker, blocks }
    }

    /// The JSON pointers of each message's blocks, and the reported fates.
    fn settled(messages: Vec<LiftedMessage>) -> (Vec<Vec<String>>, Vec<Fate>) {
        let mut conversation = Conversation { messages, ..Conversation::default() };
        conversation.place_results(Some("[synthetic] none"));
        let pointers = |message: &LiftedMessage| message.blocks.iter().map(|block| block.pointer.clone()).collect();
        let fates = conversation.left.iter().map(|lost| lost.fate).collect();
        (conversation.messages.iter().map(pointers).collect(), fates)
    }

    #[test]
    fn displaced_results_move_right_after_their_calls() {
        use Speaker::{Assistant, System, User};
        let (messages, fates) = settled(vec![
            message(Assistant, vec![call("a", "c1")]),
            message(Assistant, vec![text("t1"), call("b", "c2")]),
            message(System, vec![text("note")]),
            message(User, vec![text("t2"), result("b", "r2")]),
            message(Assistant, vec![text("t3")]),
            message(User, vec![result("a", "r1")]),
        ]);
        let expected: [&[&str]; 5] = [&["c1", "t1", "c2"], &["r2", "r1"], &["note"], &["t2"], &["t3"]];
        assert_eq!(messages, expected);
        assert_eq!(fates, []);
    }

    #[test]
    fn a_result_answers_the_call_of_its_own_cycle_when_ids_repeat() {
        use Speaker::{Assistant, User};
        let (messages, fates) = settled(vec![
            message(Assistant, vec![call("a", "c1")]),
            message(User, vec![text("t1")]),
            message(Assistant, vec![call("a", "c2")]),
            message(User, vec![result("a", "r2")]),
        ]);
        let expected: [&[&str]; 5] = [&["c1"], &["c1"], &["t1"], &["c2"], &["r2"]];
        assert_eq!((messages.len(), fates), (expected.len(), vec![Fate::Added]));
        assert_eq!(messages, expected);
    }

    #[test]
    fn messages_are_split_by_role_and_orphans_become_text() {
        use Speaker::Assistant;
        let mut orphan = result("x", "r9");
        if let Says::Result(result) = &mut orphan.says {
            result.blocks.push(text("words of r9"));
        }
        let (messages, fates) = settled(vec![message(Assistant, vec![call("a", "c1"), result("a", "r1"), orphan])]);
        let expected: [&[&str]; 3] = [&["c1"], &["r1"], &["words of r9"]];
        assert_eq!(messages, expected);
        assert_eq!(fates, [Fate::Text]);
    }
}
