//! Trims a history without separating a tool call from its result.

use seamline_model::{Edit, MessageIndex, Pairing, Role, Scope, Spliced, Transcript};
use seamline_rules::Rewrite as _;

use crate::cuts::{OpenCalls, splits_of};
use crate::repair::Body;
use crate::subject::Subject;
use crate::{Error, Options, log};

/// The bytes of a message for one token, where the caller does not count tokens.
const TOKEN_BYTES: usize = 4;

/// The size that a history may have. Without a limit nothing is trimmed.
///
/// ```
/// use seamline::trim::TrimOptions;
///
/// let limit = TrimOptions { max_messages: Some(40), ..TrimOptions::default() };
/// assert!(limit.max_tokens.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrimOptions {
    /// The most messages.
    pub max_messages: Option<usize>,
    /// The most tokens of all messages together. The other members of the request are not counted.
    pub max_tokens: Option<usize>,
    /// The tokens of each message, from the caller's tokenizer. Without them a token is estimated as four bytes.
    pub sizes: Vec<usize>,
}

/// The outcome of a trim.
///
/// ```
/// use seamline::trim::TrimOptions;
///
/// let body = br#"[{"role":"user","content":"one"},{"role":"assistant","content":"1"},{"role":"user","content":"two"}]"#;
/// let limit = TrimOptions { max_messages: Some(2), ..TrimOptions::default() };
/// let trimmed = seamline::trim(body, &limit, &seamline::Options::default())?;
/// assert_eq!((trimmed.removed.as_slice(), trimmed.messages, trimmed.fits), (&[0, 1][..], 1, true));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trimmed<'b> {
    /// The trimmed body; the original bytes when nothing was removed.
    pub body: Body<'b>,
    /// The dialect that the body is written in.
    pub dialect: &'static str,
    /// The number of messages that are left.
    pub messages: usize,
    /// The tokens of the messages that are left.
    pub tokens: usize,
    /// The indices of the removed messages in the original body.
    pub removed: Vec<usize>,
    /// Whether the messages that are left are within the limits. The last cycle and the user's message before it stay even
    /// where they are too large.
    pub fits: bool,
}

/// Removes the oldest messages of a history until it is within the limits.
///
/// A history is cut only before a message of the user, so that it begins as providers demand, and never between a call and
/// its result. Where the current turn alone is too large, its oldest cycles go, and its user message stays. Instructions
/// (system and developer messages) always stay.
///
/// ```
/// use seamline::trim::TrimOptions;
///
/// let body = br#"{"messages":[
///   {"role":"user","content":"read both files"},
///   {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"a"}}]},
///   {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"A"}]},
///   {"role":"assistant","content":[{"type":"tool_use","id":"toolu_2","name":"read","input":{"path":"b"}}]},
///   {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_2","content":"B"}]}]}"#;
///
/// let limit = TrimOptions { max_messages: Some(4), ..TrimOptions::default() };
/// let trimmed = seamline::trim(body, &limit, &seamline::Options::default())?;
/// assert_eq!(trimmed.removed, [1, 2], "the first cycle as a whole");
/// # Ok::<(), seamline::Error>(())
/// ```
///
/// # Errors
///
/// Fails as [`check`](fn@crate::check) does. The history of a program is not a body of a dialect, and fails, too.
pub fn trim<'b>(body: &'b [u8], limit: &TrimOptions, options: &Options) -> Result<Trimmed<'b>, Error> {
    let _span = log::enter("trim", body);
    let dialect = Subject::dialect(body, options)?;
    let transcript = Subject::transcript(dialect, body, options)?;
    let subject = Subject::of(dialect, &transcript, options)?;
    let pairing = Pairing::of(&transcript, Scope::ALL.under(&subject.provider.constraints));
    let plan = Plan::of(&transcript, &pairing, limit);
    let kept = plan.choose();
    let removed: Vec<usize> = (0..plan.sizes.len()).filter(|&index| !kept.holds(index, &plan)).collect();
    let edits: Vec<Edit> =
        removed.iter().map(|&index| Edit::RemoveMessage { message: MessageIndex(index as u32) }).collect();
    let body = if edits.is_empty() {
        Body::of(body)
    } else {
        let mut spliced = Spliced::new(body);
        spliced.take(subject.write(&transcript, &edits));
        Body::changed(spliced)
    };
    let (messages, tokens) = plan.measure(kept);
    Ok(Trimmed { body, dialect: dialect.name(), messages, tokens, removed, fits: plan.fits(kept) })
}

/// The messages that stay: those from `from` on, the user's message at `opening`, and instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kept {
    opening: usize,
    from: usize,
}

impl Kept {
    fn holds(self, index: usize, plan: &Plan<'_>) -> bool {
        index >= self.from || index == self.opening || plan.is_pinned[index]
    }
}

/// The facts that a trim needs.
struct Plan<'l> {
    limit: &'l TrimOptions,
    /// The tokens of each message.
    sizes: Vec<usize>,
    /// Whether a message is an instruction.
    is_pinned: Vec<bool>,
    /// The user's messages before which the history may be cut.
    openings: Vec<usize>,
    /// The messages behind the results of a cycle, before which the current turn may be cut.
    cycles: Vec<usize>,
}

impl<'l> Plan<'l> {
    fn of(transcript: &Transcript<'_>, pairing: &Pairing, limit: &'l TrimOptions) -> Self {
        let splits = splits_of(transcript, pairing, OpenCalls::Wait);
        let has_results = |index| transcript.has_results(MessageIndex(index as u32));
        let count = transcript.messages.len();
        let is_opening =
            |&index: &usize| transcript.messages[index].role == Role::User && !has_results(index) && !splits[index];
        let is_cycle = |&index: &usize| index > 0 && has_results(index - 1) && !has_results(index) && !splits[index];
        let estimate = |index: usize| transcript.messages[index].span.range().len().div_ceil(TOKEN_BYTES);
        Self {
            limit,
            sizes: (0..count).map(|at| limit.sizes.get(at).copied().unwrap_or_else(|| estimate(at))).collect(),
            is_pinned: transcript
                .messages
                .iter()
                .map(|message| matches!(message.role, Role::System | Role::Developer))
                .collect(),
            openings: (0..count).filter(is_opening).collect(),
            cycles: (0..count).filter(is_cycle).collect(),
        }
    }

    /// The most messages that fit; the fewest where none fit.
    fn choose(&self) -> Kept {
        let whole = Kept { opening: 0, from: 0 };
        let Some(&last) = self.openings.last() else { return whole };
        let turns = self.openings.iter().map(|&from| Kept { opening: from, from });
        let cycles = self.cycles.iter().filter(|&&from| from > last).map(|&from| Kept { opening: last, from });
        let all: Vec<Kept> = std::iter::once(whole).chain(turns).chain(cycles).collect();
        let fitting = all.iter().copied().find(|&kept| self.fits(kept));
        fitting.or(all.last().copied()).unwrap_or(whole)
    }

    fn fits(&self, kept: Kept) -> bool {
        let (messages, tokens) = self.measure(kept);
        let within = |most: Option<usize>, size| most.is_none_or(|most| size <= most);
        within(self.limit.max_messages, messages) && within(self.limit.max_tokens, tokens)
    }

    fn measure(&self, kept: Kept) -> (usize, usize) {
        let held = (0..self.sizes.len()).filter(|&index| kept.holds(index, self));
        held.fold((0, 0), |(messages, tokens), index| (messages + 1, tokens.saturating_add(self.sizes[index])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(body: &str, messages: usize) -> (Vec<usize>, bool) {
        let limit = TrimOptions { max_messages: Some(messages), ..TrimOptions::default() };
        let trimmed = trim(body.as_bytes(), &limit, &Options::default()).unwrap();
        (trimmed.removed, trimmed.fits)
    }

    const CHAT: &str = r#"[{"role":"system","content":"be brief"},
        {"role":"user","content":"one"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"n","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"a","content":"A"},
        {"role":"assistant","content":"done"},
        {"role":"user","content":"two"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"n","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"b","content":"B"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c","content":"C"}]"#;

    #[test]
    fn whole_turns_go_first_and_then_whole_cycles_of_the_current_turn() {
        assert_eq!(removed(CHAT, 10), (vec![], true));
        assert_eq!(removed(CHAT, 9), (vec![1, 2, 3, 4], true));
        assert_eq!(removed(CHAT, 6), (vec![1, 2, 3, 4], true));
        assert_eq!(removed(CHAT, 5), (vec![1, 2, 3, 4, 6, 7], true));
        assert_eq!(removed(CHAT, 4), (vec![1, 2, 3, 4, 6, 7], true));
        assert_eq!(removed(CHAT, 1), (vec![1, 2, 3, 4, 6, 7], false), "the last cycle stays");
    }

    #[test]
    fn a_message_that_is_not_removed_keeps_its_bytes() {
        let limit = TrimOptions { max_messages: Some(4), ..TrimOptions::default() };
        let trimmed = trim(CHAT.as_bytes(), &limit, &Options::default()).unwrap();
        let spans = crate::outline::message_spans(CHAT.as_bytes(), &Options::default()).unwrap();
        let text = String::from_utf8(trimmed.body.to_vec()).unwrap();
        for index in [0, 5, 8, 9] {
            assert!(text.contains(&CHAT[spans[index].clone()]), "{index}: {text}");
        }
        assert_eq!(trimmed.messages, 4);
    }

    #[test]
    fn tokens_are_those_of_the_caller_or_estimated() {
        let sizes = vec![1, 10, 10, 10, 10, 1, 1, 1, 1, 1];
        let limit = |max_tokens, sizes| TrimOptions { max_tokens: Some(max_tokens), sizes, ..TrimOptions::default() };
        let trimmed = trim(CHAT.as_bytes(), &limit(6, sizes.clone()), &Options::default()).unwrap();
        assert_eq!((trimmed.removed.as_slice(), trimmed.tokens), (&[1, 2, 3, 4][..], 6));
        let estimated = trim(CHAT.as_bytes(), &limit(usize::MAX, Vec::new()), &Options::default()).unwrap();
        assert!(estimated.removed.is_empty() && estimated.tokens > CHAT.len() / 5, "{}", estimated.tokens);
        assert!(!estimated.body.is_changed());
    }

    #[test]
    fn a_result_that_comes_late_stays_with_its_call() {
        let late = r#"[{"role":"user","content":"one"},
            {"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"n","arguments":"{}"}}]},
            {"role":"user","content":"two"},
            {"role":"tool","tool_call_id":"a","content":"A"},
            {"role":"user","content":"three"}]"#;
        assert_eq!(removed(late, 4), (vec![0, 1, 2, 3], true));
        assert_eq!(removed(late, 1), (vec![0, 1, 2, 3], true));
        let open =
            late.replace(r#"{"role":"user","content":"three"}"#, r#"{"role":"user","content":"two and a half"}"#);
        assert_eq!(removed(&open, 1).0, [0, 1, 2, 3]);
    }

    #[test]
    fn a_history_without_a_message_of_the_user_is_left_alone() {
        let body = r#"[{"role":"assistant","content":"hello"},{"role":"assistant","content":"still there?"}]"#;
        assert_eq!(removed(body, 1), (vec![], false));
    }
}
