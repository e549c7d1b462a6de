//! Detection of the dialect of a request body.

use std::ops::ControlFlow;

use crate::json::{Document, Kind, ListVisitor, Value};
use crate::reader::unreadable;
use crate::{ALL, Dialect, Error, Provider, providers};

/// The number of messages that are looked at.
const MESSAGES_MAX: usize = 256;

/// The score for the name of the list of messages. It outweighs the look of any message.
pub(crate) const NAMED: i32 = 1000;

/// The score for a member or value that only one dialect has.
const DECISIVE: i32 = 10;

/// The score for a model whose provider is known: less than what only one dialect has, more than what several have.
const CLAIMED: i32 = 8;

/// The signs by which one dialect recognises a request body.
pub(crate) struct BodySigns {
    /// The place among dialects with the same score; the lowest wins. More widely used dialects come first.
    pub(crate) precedence: u8,
    /// Scores the name of the list of messages.
    pub(crate) list: fn(&mut Score, &str),
    /// Scores a member of the body beside the messages.
    pub(crate) envelope: fn(&mut Score, &str, Value<'_, '_>),
    /// Scores a member of a message.
    pub(crate) message: fn(&mut Score, &str, Value<'_, '_>),
    /// Scores a block in the `content` of a message, given with its type.
    pub(crate) block: fn(&mut Score, Option<&str>, Value<'_, '_>),
}

/// The evidence for one dialect.
#[derive(Clone, Copy, Default)]
pub(crate) struct Score {
    sum: i32,
    /// The strongest of the signs that count once, however often they occur.
    hint: i32,
    /// Whether the conversation holds something that no other dialect has.
    is_certain: bool,
    /// Whether the list of messages has the name that it has in this dialect, and in few others.
    is_listed: bool,
}

impl Score {
    /// Adds a sign that counts each time it occurs.
    pub(crate) fn add(&mut self, score: i32) {
        self.sum += score;
    }

    /// Adds a sign that is enough to decide.
    pub(crate) fn decide(&mut self) {
        self.add(DECISIVE);
    }

    /// Adds something that no other dialect has.
    pub(crate) fn prove(&mut self) {
        self.prove_by(DECISIVE);
    }

    /// Adds something that no other dialect has, with this score.
    pub(crate) fn prove_by(&mut self, score: i32) {
        self.add(score);
        self.is_certain = true;
    }

    /// Adds the name of the list, which outweighs the look of any message.
    pub(crate) fn list(&mut self) {
        self.add(NAMED);
        self.is_listed = true;
    }

    /// Adds a weak sign, which counts once.
    pub(crate) fn hint(&mut self, score: i32) {
        self.hint = score.max(self.hint);
    }
}

/// Finds the dialect of a body by its members; the first decisive one counts. A conversation of plain text alone is
/// taken for the most widely used dialect.
///
/// # Errors
///
/// When the part of the body that was looked at is not JSON.
pub fn detect(body: &[u8]) -> Result<&'static Dialect, Error> {
    let mut signs = Signs::default();
    let envelope = Document::read_list(body, &mut signs).map_err(|syntax| unreadable(body, syntax))?;
    if !signs.is_decisive() {
        for (key, value) in envelope.root().members() {
            signs.look_at_envelope(&key.name(), value);
        }
    }
    Ok(signs.best())
}

/// Finds the dialect that a body is certainly written in, if that is not the given one: its tool calls, tool results
/// or list of messages belong to another dialect, and none belong to the given one. Returns nothing when the body
/// has no such signs or cannot be read.
pub fn contradiction(body: &[u8], dialect: &str) -> Option<&'static Dialect> {
    let mut signs = Signs { thorough: true, ..Signs::default() };
    Document::read_list(body, &mut signs).ok()?;
    let by = |certain: fn(&Signs, &Dialect, &Score) -> bool| {
        signs.ranked().filter(|(dialect, score)| certain(&signs, dialect, score)).map(|(dialect, _)| dialect).collect()
    };
    // Two dialects may share the name of the list; then the messages tell them apart.
    let mut certain: Vec<&'static Dialect> = by(Signs::is_certain);
    if certain.is_empty() {
        certain = by(|_, _, score| score.is_listed);
    }
    if certain.iter().any(|found| found.name() == dialect) { None } else { certain.first().copied() }
}

/// The evidence for each dialect.
#[derive(Default)]
struct Signs {
    scores: [Score; ALL.len()],
    /// The name of the list of messages.
    list: Option<&'static str>,
    /// Whether one decisive sign is not enough.
    thorough: bool,
    /// The number of messages seen so far.
    seen: usize,
}

impl Signs {
    /// Lets each dialect score something.
    fn score(&mut self, mut look: impl FnMut(&'static BodySigns, &mut Score)) {
        for (dialect, score) in ALL.iter().zip(&mut self.scores) {
            look(dialect.body_signs, score);
        }
    }

    /// The dialects with their scores, in the order of precedence.
    fn ranked(&self) -> impl Iterator<Item = (&'static Dialect, Score)> + use<> {
        let mut ranked: Vec<_> = ALL.iter().copied().zip(self.scores).collect();
        ranked.sort_by_key(|(dialect, _)| dialect.body_signs.precedence);
        ranked.into_iter()
    }

    /// Whether the conversation holds something that only this dialect has, in a list that it may have.
    fn is_certain(&self, dialect: &Dialect, score: &Score) -> bool {
        score.is_certain && self.list.is_none_or(|list| list == dialect.form.list)
    }

    fn is_decisive(&self) -> bool {
        self.scores.iter().any(|score| score.sum >= DECISIVE)
    }

    fn best(&self) -> &'static Dialect {
        let total = |score: Score| score.sum + score.hint;
        let better = |one: (_, Score), other: (_, Score)| if total(other.1) > total(one.1) { other } else { one };
        self.ranked().reduce(better).map_or(ALL[0], |(dialect, _)| dialect)
    }

    fn look_at_envelope(&mut self, key: &str, value: Value<'_, '_>) {
        if key == "model" {
            self.look_at_model(value.raw_str());
        }
        self.score(|signs, score| (signs.envelope)(score, key, value));
    }

    fn look_at_model(&mut self, model: &str) {
        let claims = |provider: &&&Provider| provider.models.iter().any(|start| model.starts_with(start));
        for (dialect, score) in ALL.iter().zip(&mut self.scores) {
            if providers::ALL.iter().filter(claims).any(|provider| provider.dialect == dialect.name()) {
                score.add(CLAIMED);
            }
        }
    }

    fn look_at_member(&mut self, key: &str, value: Value<'_, '_>) {
        self.score(|signs, score| (signs.message)(score, key, value));
        if key == "content" && value.is(Kind::Array) {
            for block in value.elements() {
                let kind = block.object().and_then(|block| block.get("type")).map(Value::raw_str);
                self.score(|signs, score| (signs.block)(score, kind, block));
            }
        }
    }
}

/// Whether the first block of a list is a text without a type.
pub(crate) fn starts_typeless(list: Value<'_, '_>) -> bool {
    let is_typeless = |block: Value<'_, '_>| {
        block.object().is_some_and(|block| block.get("type").is_none() && block.get("text").is_some())
    };
    list.elements().next().is_some_and(is_typeless)
}

/// Whether the first tool of a list has this member.
pub(crate) fn first_tool_has(tools: Value<'_, '_>, key: &str) -> bool {
    tools.elements().next().and_then(Value::object).is_some_and(|tool| tool.get(key).is_some())
}

impl<'a> ListVisitor<'a> for &mut Signs {
    fn enter(&mut self, key: Option<&str>) -> bool {
        let Some(key) = key else { return true };
        let Some(dialect) = ALL.iter().find(|dialect| dialect.form.list == key) else { return false };
        self.list = Some(dialect.form.list);
        self.score(|signs, score| (signs.list)(score, key));
        true
    }

    fn element(&mut self, value: Value<'_, 'a>) -> ControlFlow<()> {
        self.seen += 1;
        if self.seen <= MESSAGES_MAX {
            for (key, member) in value.members() {
                self.look_at_member(&key.name(), member);
            }
        }
        let enough = if self.thorough { self.seen >= MESSAGES_MAX } else { self.is_decisive() };
        if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_provider_of_the_model_outweighs_blocks_that_several_dialects_have() {
        let name = |model: &str, block: &str| {
            let body = format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":[{block},{block}]}}]}}"#);
            detect(body.as_bytes()).unwrap().name()
        };
        let thinking = r#"{"type":"thinking","thinking":"hm"}"#;
        assert_eq!(name("magistral-medium", thinking), "openai_chat");
        assert_eq!(name("claude-sonnet-4-5", thinking), "anthropic_messages");
        assert_eq!(name("unknown-model", thinking), "anthropic_messages");
        assert_eq!(name("gpt-4o", r#"{"type":"image"}"#), "openai_chat");
        assert_eq!(name("gpt-4o", r#"{"type":"tool_result"}"#), "anthropic_messages");
    }

    #[test]
    fn parts_among_messages_make_no_gemini() {
        let body = br#"{"messages":[{"role":"user","parts":[{"text":"hi"}]}]}"#;
        assert_eq!(detect(body).unwrap().name(), "openai_chat");
    }

    #[test]
    fn no_two_dialects_have_the_same_precedence() {
        let mut precedences: Vec<_> = ALL.iter().map(|dialect| dialect.body_signs.precedence).collect();
        precedences.sort_unstable();
        precedences.dedup();
        assert_eq!(precedences.len(), ALL.len());
    }
}
