//! The demands of a provider on a transcript, as data.
//!
//! Each dialect fills every field, so a new demand must be decided for every dialect. A provider that differs from its
//! dialect overrides single fields. Each demand carries the error text that the provider gives when it is broken.

use crate::Models;
use crate::demands::{
    Arguments, CompactionDemand, Limits, Members, PairDemands, ReasoningDemands, RoleOrder, SystemPlace, ToolDemands,
};

/// Everything a provider demands of a transcript. A field of type [`ErrorText`] holds the error for the case it
/// describes; where such a field is optional, `None` means that the provider accepts the case.
#[derive(Debug, Clone, Copy)]
pub struct Constraints {
    /// How results are carried.
    pub carrier: Carrier,
    /// Error for a call that is not answered right after it.
    pub unanswered: ErrorText,
    /// Error for a result that answers no call before it.
    pub orphan: ErrorText,
    /// Error for a result of another type than its call needs, in dialects where calls have types.
    pub mistyped_result: Option<ErrorText>,
    /// Error for a second result of one call.
    pub duplicate_result: ErrorText,
    /// Whether all results of a cycle must be in one message.
    pub one_result_message: bool,
    /// Which messages with calls may be answered together after the last one.
    pub joint_results: Joint,
    /// Error for other blocks before the results of a message.
    pub results_first: Option<ErrorText>,
    /// Error for other blocks in a message with results.
    pub results_alone: Option<ErrorText>,
    /// Error for a call in a message of another role than assistant.
    pub misplaced_call: ErrorText,
    /// Error for a result in a message that cannot carry it.
    pub misplaced_result: ErrorText,
    /// Error for a call of the provider's own tools without its result.
    pub unanswered_server: ErrorText,
    /// Error for a result of the provider's own tools without its call.
    pub orphan_server: ErrorText,
    /// Further demands on calls and results.
    pub pairs: PairDemands,
    /// Where a signed summary of earlier messages is allowed.
    pub compaction: Option<CompactionDemand>,
    /// Which call ids are legal.
    pub call_id: IdDemand,
    /// Within which range call ids must be unique.
    pub unique_ids: Uniqueness,
    /// Which tool names are legal.
    pub tool_name: NameDemand,
    /// How a call's input is written.
    pub input: InputForm,
    /// How empty text is treated.
    pub empty_text: EmptyText,
    /// Error for a request without messages.
    pub no_messages: ErrorText,
    /// Error for a message without content.
    pub empty_message: Option<ErrorText>,
    /// Whether the last message may be empty if it is the assistant's.
    pub empty_ending: bool,
    /// Error for content that is a string instead of a list of blocks.
    pub string_content: Option<ErrorText>,
    /// Error for a message without content and without calls.
    pub null_content: Option<ErrorText>,
    /// Error for an empty list of calls.
    pub empty_call_list: Option<ErrorText>,
    /// How two adjacent messages of one role are treated.
    pub same_role: SameRole,
    /// Which role must come first.
    pub first_role: FirstRole,
    /// Which role must not come last.
    pub last_role: LastRole,
    /// Roles that some models do not support.
    pub role_gaps: &'static [RoleGap],
    /// Error for a result without content.
    pub missing_output: Option<ErrorText>,
    /// Which item ids are legal, in dialects that have items.
    pub item_id: Option<ItemIdDemand>,
    /// Error for two items with the same id.
    pub repeated_item: Option<ErrorText>,
    /// Error for a reasoning item whose next item is missing or has no id.
    pub dangling_reasoning: Option<ErrorText>,
    /// Error for an item that is only referenced, or encrypted elsewhere, in a request for which the provider stores
    /// nothing.
    pub lost_item: Option<ErrorText>,
    /// Whether the provider stores nothing, even if the request asks for it.
    pub keeps_nothing: bool,
    /// Error for an item that must be the last one and is not.
    pub early_trigger: Option<ErrorText>,
    /// Errors for a part whose type belongs to another role.
    pub part_type: Option<PartDemand>,
    /// Error for anything but text in a result.
    pub text_only_results: Option<ErrorText>,
    /// Error for a result that is a list of parts instead of a string.
    pub listed_results: Option<ErrorText>,
    /// The required form of the text of a call's input.
    pub arguments: Arguments,
    /// How members that the dialect does not define are treated.
    pub members: Members,
    /// Roles that must not follow each other.
    pub role_order: Option<RoleOrder>,
    /// Where system messages inside the conversation are allowed.
    pub system_place: Option<SystemPlace>,
    /// Error for white space at the end of an assistant message that the model is to continue.
    pub trailing_space: Option<ErrorText>,
    /// Error for a call id of the provider's own tools that the provider did not give.
    pub server_id: Option<ErrorText>,
    /// The provider's demands on reasoning.
    pub reasoning: ReasoningDemands,
    /// The provider's demands on declared tools.
    pub tools: ToolDemands,
    /// The provider's limits on counts.
    pub limits: Limits,
    /// How the output of a result is written.
    pub output: OutputForm,
    /// Error for a result that reports a failure and has no content.
    pub empty_failure: Option<ErrorText>,
    /// Error for a result that does not repeat its tool's name.
    pub result_name: Option<ErrorText>,
    /// The provider's demand on the signature of calls.
    pub call_signature: Option<SignatureDemand>,
    /// Error for half of a surrogate pair in a string.
    pub lone_surrogate: ErrorText,
    /// Error for a body that does not start with JSON.
    pub not_json: ErrorText,
}

/// How results are carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// Results are blocks of a user message.
    UserBlocks,
    /// Each result is a message of its own.
    ToolMessages,
    /// Each result is an item of its own, anywhere after the item of its call.
    Items,
}

/// Which messages with calls may be answered together, in the message after the last of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joint {
    /// No messages: the results of each follow it directly.
    Apart,
    /// Assistant messages with calls, one right after the other.
    Adjacent,
    /// All assistant messages of one run, also if messages between them hold no calls: the provider merges the run
    /// into one message.
    Merged,
}

/// A provider's error text, with `{name}` as placeholders for values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorText(pub &'static str);

/// The values for the placeholders of an [`ErrorText`].
#[derive(Debug, Clone, Default)]
pub struct Values<'v> {
    /// `{message}`: the index of the message; `{next}`: the index of the next message.
    pub message: usize,
    /// `{block}`: the index of the block in its message.
    pub block: usize,
    /// `{id}`: one id or several ids.
    pub id: &'v str,
    /// `{length}`: a length or a count.
    pub length: usize,
    /// `{kind}`: the block's type on the wire, or a role.
    pub kind: &'v str,
}

impl ErrorText {
    /// The text with its placeholders filled.
    pub fn render(self, values: &Values<'_>) -> String {
        let mut out = String::with_capacity(self.0.len() + values.id.len());
        let mut rest = self.0;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let Some((name, tail)) = after.split_once('}') else {
                // Not a placeholder: part of the provider's own text.
                out.push('{');
                rest = after;
                break;
            };
            match name {
                "message" => out.push_str(&values.message.to_string()),
                "next" => out.push_str(&(values.message + 1).to_string()),
                "block" => out.push_str(&values.block.to_string()),
                "id" => out.push_str(values.id),
                "length" => out.push_str(&values.length.to_string()),
                "kind" => out.push_str(values.kind),
                // Not a placeholder either, such as a pattern's `{1,64}`.
                other => out.push_str(&["{", other, "}"].concat()),
            }
            rest = tail;
        }
        out.push_str(rest);
        out
    }
}

/// Which call ids are legal.
#[derive(Debug, Clone, Copy)]
pub struct IdDemand {
    /// Whether a call must have an id. Where it need not, the tool's name identifies the call.
    pub demanded: bool,
    /// Which characters are allowed.
    pub alphabet: Alphabet,
    /// Error for a character outside the alphabet, or an empty id.
    pub alphabet_error: ErrorText,
    /// The highest number of characters.
    pub length_max: usize,
    /// Error for an id that is too long.
    pub length_error: ErrorText,
    /// The prefix of ids that a repair makes.
    pub prefix: &'static str,
    /// The prefixes of ids that providers give, one list for each dialect. A repair may replace them by its own.
    pub known_prefixes: &'static [&'static [&'static str]],
}

impl IdDemand {
    /// Any text that is not empty.
    pub const ANY: Self = Self {
        demanded: true,
        alphabet: Alphabet::Any,
        alphabet_error: ErrorText(""),
        length_max: usize::MAX,
        length_error: ErrorText(""),
        prefix: "",
        known_prefixes: &[],
    };
}

/// Which item ids are legal: letters, digits, `_` and `-` after the prefix of the item's type.
#[derive(Debug, Clone, Copy)]
pub struct ItemIdDemand {
    /// Error for another prefix; `{kind}` is the expected prefix.
    pub prefix_error: ErrorText,
    /// Error for other characters, or an empty id.
    pub alphabet_error: ErrorText,
    /// The highest number of characters.
    pub length_max: usize,
    /// Error for an id that is too long.
    pub length_error: ErrorText,
    /// Error for an id that ends in `_`.
    pub ending_error: Option<ErrorText>,
}

/// Errors for part types of another role; `{kind}` is the type that was found.
#[derive(Debug, Clone, Copy)]
pub struct PartDemand {
    /// Error for another role's part in an assistant message.
    pub assistant: ErrorText,
    /// Error for an assistant's part in another role's message.
    pub others: ErrorText,
}

/// Which characters an id may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alphabet {
    /// Any characters, but at least one.
    Any,
    /// Any characters, but not the word `null`.
    NotNull,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Letters, digits, `_`, `-`, `.` and `:`.
    Dotted,
    /// Exactly this many letters and digits.
    Exactly(u8),
}

impl Alphabet {
    /// Whether a call's id is in the alphabet. In most cases the stored form of the id is enough to decide.
    pub fn takes(self, call: &crate::Call) -> bool {
        let id = || call.id.as_deref().unwrap_or("");
        match self {
            Self::Any => true,
            Self::Word => call.id_form.is_word(),
            Self::Dotted => call.id_form.is_word() || self.holds(id()),
            Self::NotNull | Self::Exactly(_) => self.holds(id()),
        }
    }

    /// Whether every character of `id` is in the alphabet.
    pub fn holds(self, id: &str) -> bool {
        match self {
            Self::Any => true,
            Self::NotNull => id != "null",
            Self::Word => crate::transcript::is_word(id),
            Self::Exactly(length) => {
                id.len() == usize::from(length) && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
            }
            Self::Dotted => id.split(['.', ':']).all(crate::transcript::is_word),
        }
    }
}

/// Within which range a call's id must be unique.
#[derive(Debug, Clone, Copy)]
pub enum Uniqueness {
    /// Among the calls of one message, or of adjacent messages that are answered together.
    Cycle(ErrorText),
    /// Among all calls of the request.
    Request(ErrorText),
    /// Ids may repeat: calls with the same id are answered in their order.
    Nowhere,
}

impl Uniqueness {
    /// The error text for a repeated id.
    pub fn error(self) -> ErrorText {
        match self {
            Self::Cycle(text) | Self::Request(text) => text,
            Self::Nowhere => ErrorText(""),
        }
    }
}

/// Which tool names are legal: letters, digits, `_`, `-` and the provider's additional characters.
#[derive(Debug, Clone, Copy)]
pub struct NameDemand {
    /// Additional characters that are allowed.
    pub also: &'static str,
    /// Which first character is allowed.
    pub start: NameStart,
    /// The highest number of characters.
    pub length_max: usize,
    /// Error for any other name.
    pub error: ErrorText,
    /// Whether the demand also applies to names in results.
    pub in_results: bool,
}

impl NameDemand {
    /// Letters, digits, `_` and `-`, up to the length that most providers accept.
    pub const WORD: Self =
        Self { also: "", start: NameStart::Any, length_max: 64, error: ErrorText(""), in_results: false };
}

/// Which first character of a name is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameStart {
    /// Any allowed character.
    Any,
    /// A letter or `_`.
    LetterOrUnderscore,
    /// A letter only.
    Letter,
}

impl NameStart {
    /// Whether the first character of a name is allowed.
    pub fn takes(self, name: &str) -> bool {
        let letter = name.starts_with(|first: char| first.is_ascii_alphabetic());
        match self {
            Self::Any => true,
            Self::LetterOrUnderscore => letter || name.starts_with('_'),
            Self::Letter => letter,
        }
    }
}

/// How a call's input is written.
#[derive(Debug, Clone, Copy)]
pub enum InputForm {
    /// A JSON object.
    Object(ErrorText),
    /// A JSON object; it may be absent if there are no arguments.
    ObjectOrNothing(ErrorText),
    /// A string that holds JSON.
    Text(ErrorText),
}

/// How empty text is treated.
#[derive(Debug, Clone, Copy)]
pub enum EmptyText {
    /// The provider accepts it.
    Accepted,
    /// The provider rejects empty text and text of white space only.
    Rejected(ErrorText),
    /// As [`Rejected`](Self::Rejected), except inside a result.
    RejectedInMessages(ErrorText),
}

/// How the output of a result is written.
#[derive(Debug, Clone, Copy)]
pub enum OutputForm {
    /// A string or a list of parts.
    TextOrList {
        /// Whether it must be present.
        demanded: bool,
    },
    /// Always a list of parts.
    List(ErrorText),
    /// A JSON object.
    Object(ErrorText),
}

/// The provider's signature on calls: in the current turn, the first call of each message must have it.
#[derive(Debug, Clone, Copy)]
pub struct SignatureDemand {
    /// The models that demand it.
    pub models: Models,
    /// Error for a call without it.
    pub error: ErrorText,
    /// The documented text in place of a signature that was lost.
    pub stand_in: &'static str,
}

/// How two adjacent messages of one role are treated.
#[derive(Debug, Clone, Copy)]
pub enum SameRole {
    /// The provider accepts or joins them.
    Accepted,
    /// The provider rejects them.
    Rejected(ErrorText),
}

/// Which role must come first, not counting system messages.
#[derive(Debug, Clone, Copy)]
pub enum FirstRole {
    /// Any role may come first.
    Any,
    /// The user must come first.
    User(ErrorText),
    /// The user must come before the first call.
    UserBeforeCalls(ErrorText),
    /// Any role may come first, also system, but the first message must not make a call.
    AnyBeforeCalls(ErrorText),
}

/// Which role must not come last.
#[derive(Debug, Clone, Copy)]
pub enum LastRole {
    /// Any role may come last.
    Any,
    /// The assistant must not come last, for these models.
    NotAssistant {
        /// The models that demand it.
        models: Models,
        /// The provider's error text.
        error: ErrorText,
    },
    /// The assistant must not come last for any model, unless the message is marked for continuation.
    NotAssistantUnlessContinued(ErrorText),
}

/// A role that some models do not support.
#[derive(Debug, Clone, Copy)]
pub struct RoleGap {
    /// The unsupported role.
    pub role: crate::Role,
    /// The role to use instead.
    pub instead: crate::Role,
    /// The models without it.
    pub models: Models,
    /// The provider's error text.
    pub error: ErrorText,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_patterns_stay() {
        let text = ErrorText("messages.{message}.content.{block}: `{id}` is not '^[a-z]{1,64}$'");
        let values = Values { message: 3, block: 1, id: "a.b", ..Values::default() };
        assert_eq!(text.render(&values), "messages.3.content.1: `a.b` is not '^[a-z]{1,64}$'");
    }

    #[test]
    fn a_text_without_placeholders_stays_as_it_is() {
        assert_eq!(ErrorText("no places { here").render(&Values::default()), "no places { here");
    }
}
