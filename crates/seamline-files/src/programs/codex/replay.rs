//! Replays the items of a rollout, as Codex does when it continues a session.
//!
//! A compaction replaces everything before it: by the history that it holds or, in older rollouts, by the words of the user
//! and its summary. A rollback drops the last turns.

use std::borrow::Cow;
use std::collections::HashSet;

use super::item::{Item, Part};
use crate::json::{Object, elements, members, quoted, string};
use crate::session::{CarriedMessage, KeptTexts, MessageList, TextPlace, Texts};

/// The text that Codex sends for a compaction without a summary.
const NO_SUMMARY: &str = "\"(no summary)\"";

/// The conversation while it is replayed.
#[derive(Default)]
pub(super) struct Replay {
    held: Vec<Held>,
    texts: Option<Texts>,
    /// The number of items in the file, whether they are sent or not.
    items: usize,
    /// The record of the last compaction that holds a history.
    base: Option<usize>,
    /// The ids of the calls in the file, if an earlier part of the conversation is in another file.
    calls: Option<HashSet<String>>,
}

/// An item of the conversation.
struct Held {
    part: Part,
    /// Its record, and its index in a history that a compaction holds.
    place: (usize, usize),
    text: TextPlace,
}

/// The conversation that Codex would send.
pub(super) struct Replayed {
    /// The messages. Those of a long file have no texts of their own.
    pub(super) messages: Vec<CarriedMessage>,
    /// The texts of the messages of a long file.
    pub(super) texts: Option<MessageList>,
    /// The record of the history that it begins with.
    pub(super) base: Option<usize>,
    /// The number of items that are not sent.
    pub(super) inactive: usize,
}

impl Replay {
    /// Notes that the beginning of the conversation is in another file. Results of calls that are there are no orphans.
    pub(super) fn continue_other_file(&mut self) {
        self.calls.get_or_insert_default();
    }

    /// Adds an item.
    pub(super) fn add(&mut self, record: usize, text: &str, content: KeptTexts) {
        self.items += 1;
        self.hold(record, 0, text, content);
    }

    /// Adds a message of another agent, which is not written as an item.
    pub(super) fn add_message(&mut self, record: usize, payload: &str, content: KeptTexts) {
        let names = ["author", "recipient", "content", "encrypted_content"];
        let Ok([Some(author), Some(recipient), text, sealed]) = members(payload, &names) else { return };
        let block = match (sealed, text) {
            (Some(sealed), _) => format!(r#"{{"type":"encrypted_content","encrypted_content":{sealed}}}"#),
            (None, Some(text)) => format!(r#"{{"type":"input_text","text":{text}}}"#),
            (None, None) => return,
        };
        let item =
            format!(r#"{{"type":"agent_message","author":{author},"recipient":{recipient},"content":[{block}]}}"#);
        self.add(record, &item, content);
    }

    fn hold(&mut self, record: usize, part: usize, text: &str, content: KeptTexts) {
        let text = content.keep(text);
        let Some(item) = Item::of(&text) else { return };
        if let (Some(calls), Some(id)) = (&mut self.calls, item.call) {
            if item.is_result && !calls.contains(&id) {
                return;
            }
            calls.insert(id);
        }
        let shown = if item.is_reasoning { without_id(&text) } else { Cow::Borrowed(&*text) };
        self.push(item.part, (record, part), &shown, content);
    }

    fn push(&mut self, part: Part, place: (usize, usize), text: &str, content: KeptTexts) {
        let texts = self.texts.get_or_insert_with(|| {
            self.held.reserve_exact(content.records());
            Texts::new(content)
        });
        self.held.extend(texts.add(&[text]).map(|text| Held { part, place, text }));
    }

    /// Replaces everything before a compaction.
    pub(super) fn compact(&mut self, record: usize, payload: &str, content: KeptTexts) {
        let Ok([history, summary]) = members(payload, &["replacement_history", "message"]) else { return };
        if let Some(list) = history.and_then(elements) {
            self.held.clear();
            self.texts.iter_mut().for_each(Texts::clear);
            self.base = Some(record);
            for (part, item) in list.iter().enumerate() {
                self.hold(record, part, item, content);
            }
            return;
        }
        self.held.retain(|held| held.part == Part::User);
        let summary = summary.filter(|text| *text != "\"\"").unwrap_or(NO_SUMMARY);
        let item =
            format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":{summary}}}]}}"#);
        // Codex does not take the summary of an older compaction into the next one.
        self.push(Part::Context, (record, 0), &content.keep(&item), content);
    }

    /// Drops the last turns, and the context before the first of them.
    pub(super) fn roll_back(&mut self, turns: usize) {
        let begins: Vec<usize> =
            self.held.iter().enumerate().filter(|(_, held)| held.part.begins_turn()).map(|(at, _)| at).collect();
        let (Some(first), true) = (begins.first().copied(), turns > 0) else { return };
        let mut end = begins[begins.len().saturating_sub(turns)];
        while end > first && self.held[end - 1].part == Part::Context {
            end -= 1;
        }
        if let (Some(first), Some(texts)) = (self.held.get(end), &mut self.texts) {
            texts.remove_from(first.text);
        }
        self.held.truncate(end);
    }

    /// The conversation that Codex would send.
    pub(super) fn finish(self, content: KeptTexts) -> Replayed {
        let mut list = self.texts.unwrap_or_default().into_list();
        let mut messages = Vec::with_capacity(self.held.len());
        for (index, held) in self.held.iter().enumerate() {
            let mut text = list.take(held.text);
            if content == KeptTexts::Abridged {
                let untaken = |at: usize| self.held.get(at).map(|held| (at > index).then_some(held.text));
                list.push(&std::mem::take(&mut text), untaken);
            }
            let (record, part) = held.place;
            messages.push(CarriedMessage { record, part, owners: Vec::new(), text });
        }
        let sent = messages.iter().filter(|message| self.base != Some(message.record)).count();
        let texts = (content == KeptTexts::Abridged).then_some(list);
        Replayed { messages, texts, base: self.base, inactive: self.items.saturating_sub(sent) }
    }
}

/// Reasoning without its id. In a turn that the user interrupts, reasoning may be the last item. Codex sends it, and the
/// provider accepts it: with `store` off it looks for no item that belongs to the id.
pub(super) fn without_id(reasoning: &str) -> Cow<'_, str> {
    match Object::of(reasoning).filter(|object| object.get("id").is_some()) {
        Some(object) => Cow::Owned(object.with(&[("id", None)])),
        None => Cow::Borrowed(reasoning),
    }
}

/// The number of turns that a rollback drops, if an event is one.
pub(super) fn rolled_back(event: &str) -> Option<usize> {
    // Few events are, and the others can be long.
    if !event.contains("thread_rolled_back") {
        return None;
    }
    let [kind, turns] = members(event, &["type", "num_turns"]).ok()?;
    let is_rollback = kind.and_then(string).as_deref() == Some("thread_rolled_back");
    turns.filter(|_| is_rollback).and_then(|turns| turns.parse().ok())
}

/// The summary of a compaction that holds no history, as its record has to keep it.
pub(super) fn summary(message: &str) -> Option<String> {
    let [content] = members(message, &["content"]).ok()?;
    let text = |block: &str| members(block, &["text"]).ok().and_then(|[text]| text).and_then(string);
    let texts: Option<Vec<String>> = elements(content?)?.into_iter().map(text).collect();
    Some(quoted(&texts?.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> String {
        format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#)
    }

    fn said(text: &str) -> String {
        format!(r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{text}"}}]}}"#)
    }

    /// A replay of items, one per record.
    fn replay(items: &[String]) -> Replay {
        let mut replay = Replay::default();
        for (record, item) in items.iter().enumerate() {
            replay.add(record, item, KeptTexts::Whole);
        }
        replay
    }

    fn places(replay: Replay) -> Vec<(usize, usize)> {
        replay.finish(KeptTexts::Whole).messages.iter().map(|carried| (carried.record, carried.part)).collect()
    }

    #[test]
    fn a_rollback_drops_turns_and_the_context_before_them() {
        let context = user("<environment_context>x");
        let items =
            [context.clone(), user("one"), said("1"), user("two"), said("2"), context, user("three"), said("3")];
        let rolled = |turns: usize| {
            let mut replay = replay(&items);
            replay.roll_back(turns);
            places(replay).len()
        };
        assert_eq!([rolled(0), rolled(1), rolled(2), rolled(3), rolled(9)], [8, 5, 3, 1, 1]);
        let mut none = replay(&[said("1")]);
        none.roll_back(1);
        assert_eq!(places(none).len(), 1);
    }

    #[test]
    fn a_compaction_replaces_what_is_before_it() {
        let mut replay = replay(&[user("one"), said("1")]);
        let ghost = r#"{"type":"ghost_snapshot"}"#;
        let payload = format!(r#"{{"message":"s","replacement_history":[{},{ghost},{}]}}"#, user("one"), user("sum"));
        replay.compact(2, &payload, KeptTexts::Whole);
        replay.add(3, &user("two"), KeptTexts::Whole);
        let Replayed { messages, base, inactive, .. } = replay.finish(KeptTexts::Whole);
        let places: Vec<_> = messages.iter().map(|carried| (carried.record, carried.part)).collect();
        assert_eq!((places, base, inactive), (vec![(2, 0), (2, 2), (3, 0)], Some(2), 2));
    }

    #[test]
    fn an_older_compaction_keeps_the_words_of_the_user() {
        let mut replay = replay(&[user("<user_instructions>x"), user("one"), said("1")]);
        replay.compact(3, r#"{"message":"first"}"#, KeptTexts::Whole);
        replay.add(4, &user("two"), KeptTexts::Whole);
        replay.compact(5, r#"{"message":""}"#, KeptTexts::Whole);
        let Replayed { messages, base, .. } = replay.finish(KeptTexts::Whole);
        let records: Vec<_> = messages.iter().map(|carried| carried.record).collect();
        assert_eq!((records, base), (vec![1, 4, 5], None));
        assert!(messages[2].text.contains("no summary"));
        assert_eq!(summary(&messages[2].text).as_deref(), Some(NO_SUMMARY));
    }

    #[test]
    fn results_of_calls_in_another_file_are_not_orphans() {
        let result = r#"{"type":"function_call_output","call_id":"c1","output":"ok"}"#;
        let mut replay = Replay::default();
        replay.add(0, result, KeptTexts::Whole);
        replay.continue_other_file();
        replay.add(1, result, KeptTexts::Whole);
        assert_eq!(places(replay), [(0, 0)]);
    }
}
