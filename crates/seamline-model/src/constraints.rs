//! What a provider demands of a transcript, as data.
//!
//! Each dialect fills every field, so a new demand asks its question everywhere; a
//! provider that differs overrides single fields. Each demand carries the error text
//! that breaking it provokes.

use crate::Models;
use crate::demands::{Arguments, Limits, Members, ReasoningDemands, RoleOrder, SystemPlace, ToolDemands};

/// Everything a provider demands of a transcript.
#[derive(Debug, Clone, Copy)]
pub struct Constraints {
    /// How results are carried.
    pub carrier: Carrier,
    /// A call that is not answered right after it.
    pub unanswered: ErrorText,
    /// A result that answers no call before it.
    pub orphan: ErrorText,
    /// A result of another type than its call wants, in dialects where calls have types.
    pub mistyped_result: Option<ErrorText>,
    /// A second result for one call.
    pub duplicate_result: ErrorText,
    /// All results of a cycle must be in one message.
    pub one_answer_message: bool,
    /// Calls of neighbouring assistant messages may be answered together after the last.
    pub joint_answers: bool,
    /// Results must come before anything else in their message.
    pub results_first: Option<ErrorText>,
    /// Anything beside results in their message.
    pub results_alone: Option<ErrorText>,
    /// A call in a message that is not the assistant's.
    pub misplaced_call: ErrorText,
    /// A result in a message that cannot carry it.
    pub misplaced_result: ErrorText,
    /// A call of the provider's own tools without its result.
    pub unanswered_server: ErrorText,
    /// A result of the provider's own tools without its call.
    pub orphan_server: ErrorText,
    /// What a call's id may look like.
    pub call_id: IdDemand,
    /// Where a call's id must be the only one of its kind.
    pub unique_ids: Uniqueness,
    /// What a tool's name may look like.
    pub tool_name: NameDemand,
    /// How a call's input is written.
    pub input: InputForm,
    /// Text with nothing in it.
    pub empty_text: EmptyText,
    /// A conversation with nothing in it.
    pub no_messages: ErrorText,
    /// A message with nothing in it.
    pub empty_message: Option<ErrorText>,
    /// The last message may be empty when it is the assistant's.
    pub empty_ending: bool,
    /// Content that is one string instead of a list of blocks.
    pub string_content: Option<ErrorText>,
    /// A message without content and without calls.
    pub null_content: Option<ErrorText>,
    /// A list of calls with nothing in it.
    pub empty_call_list: Option<ErrorText>,
    /// Two messages of one role in a row.
    pub same_role: SameRole,
    /// Who must speak first.
    pub first_role: FirstRole,
    /// Who must not speak last.
    pub last_role: LastRole,
    /// Roles that some models do not know.
    pub role_gaps: &'static [RoleGap],
    /// A result without content.
    pub missing_output: Option<ErrorText>,
    /// What ids the provider gave its items must look like, in dialects that have items.
    pub item_id: Option<ItemIdDemand>,
    /// The same id on two items.
    pub repeated_item: Option<ErrorText>,
    /// Reasoning under an id whose item does not follow it under an id.
    pub dangling_reasoning: Option<ErrorText>,
    /// An item that is only named, or sealed elsewhere, in a request that keeps nothing.
    pub lost_item: Option<ErrorText>,
    /// Nothing is ever kept, whatever a request says about it.
    pub keeps_nothing: bool,
    /// An item that must be the last and is not.
    pub early_trigger: Option<ErrorText>,
    /// A part of a type that belongs to another role.
    pub part_type: Option<PartDemand>,
    /// Results may hold text only.
    pub text_only_results: Option<ErrorText>,
    /// Results must be one string, not a list of parts.
    pub listed_results: Option<ErrorText>,
    /// What the text of a call's input must hold.
    pub arguments: Arguments,
    /// Members that the dialect itself does not have.
    pub members: Members,
    /// Roles that must not follow each other.
    pub role_order: Option<RoleOrder>,
    /// Where system messages inside the conversation may stand.
    pub system_place: Option<SystemPlace>,
    /// White space at the end of a message of the assistant that is to be continued.
    pub trailing_space: Option<ErrorText>,
    /// An id of a call of the provider's own tools that is not one it gave.
    pub server_id: Option<ErrorText>,
    /// What is wanted of reasoning.
    pub reasoning: ReasoningDemands,
    /// What is wanted of declared tools.
    pub tools: ToolDemands,
    /// How much there may be.
    pub limits: Limits,
    /// How what a result holds is written.
    pub output: OutputForm,
    /// A result that says the tool failed, and nothing else.
    pub empty_failure: Option<ErrorText>,
    /// A result that does not repeat the name of its tool.
    pub result_name: Option<ErrorText>,
    /// The provider's signature on calls.
    pub call_signature: Option<SignatureDemand>,
    /// Half of a surrogate pair in a string.
    pub lone_surrogate: ErrorText,
    /// A body that does not start with JSON.
    pub not_json: ErrorText,
}

/// How results are carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// As blocks of a user message.
    UserBlocks,
    /// Each as a message of its own.
    ToolMessages,
    /// Each as an item of its own, anywhere after the item that is its call.
    Items,
}

/// A provider's error text, with `{name}` where values go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorText(pub &'static str);

/// The values that go into an [`ErrorText`].
#[derive(Debug, Clone, Default)]
pub struct Values<'v> {
    /// `{message}`: the message's index; `{next}`: that of the one after it.
    pub message: usize,
    /// `{block}`: the block's index in its message.
    pub block: usize,
    /// `{id}`: the id, or several of them.
    pub id: &'v str,
    /// `{length}`: how long something is.
    pub length: usize,
    /// `{kind}`: the block's type on the wire, or a role.
    pub kind: &'v str,
}

impl ErrorText {
    /// The text with its values put in.
    pub fn render(self, values: &Values<'_>) -> String {
        let mut out = String::with_capacity(self.0.len() + values.id.len());
        let mut rest = self.0;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let Some((name, tail)) = after.split_once('}') else {
                // Not a place: part of the provider's own text.
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
                // Not a place either, such as a pattern's `{1,64}`.
                other => out.push_str(&["{", other, "}"].concat()),
            }
            rest = tail;
        }
        out.push_str(rest);
        out
    }
}

/// What a call's id may look like.
#[derive(Debug, Clone, Copy)]
pub struct IdDemand {
    /// Whether a call must have one. Where it need not, its tool's name stands for it.
    pub demanded: bool,
    /// Which characters.
    pub alphabet: Alphabet,
    /// A character outside the alphabet, or no character at all.
    pub alphabet_error: ErrorText,
    /// How many characters at most.
    pub length_max: usize,
    /// More characters than that.
    pub length_error: ErrorText,
    /// How an id made by a repair starts.
    pub prefix: &'static str,
}

/// What the id of an item must look like: letters, digits, `_` and `-` after the start
/// that belongs to the item's type.
#[derive(Debug, Clone, Copy)]
pub struct ItemIdDemand {
    /// Another start; `{kind}` is the one that is wanted.
    pub prefix_error: ErrorText,
    /// Other characters, or none at all.
    pub alphabet_error: ErrorText,
    /// How many characters at most.
    pub length_max: usize,
    /// More characters than that.
    pub length_error: ErrorText,
    /// An id that ends in `_`.
    pub ending_error: Option<ErrorText>,
}

/// Types of parts that belong to a role; `{kind}` is the one that was found.
#[derive(Debug, Clone, Copy)]
pub struct PartDemand {
    /// A part of others where the assistant speaks.
    pub assistant: ErrorText,
    /// A part of the assistant's anywhere else.
    pub others: ErrorText,
}

/// Which characters an id may be made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alphabet {
    /// Any, as long as there is one.
    Any,
    /// Any, but not the word `null`.
    NotNull,
    /// Letters, digits, `_` and `-`.
    Word,
    /// The same, `.` and `:`.
    Dotted,
    /// So many letters and digits, no more and no fewer.
    Exactly(u8),
}

impl Alphabet {
    /// Whether the id of a call is in the alphabet; mostly its form says it.
    pub fn takes(self, call: &crate::Call) -> bool {
        let id = || call.id.as_deref().unwrap_or("");
        match self {
            Self::Any => true,
            Self::Word => call.id_form != crate::IdForm::Other,
            Self::Dotted => call.id_form != crate::IdForm::Other || self.holds(id()),
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

/// Where a call's id must be the only one of its kind.
#[derive(Debug, Clone, Copy)]
pub enum Uniqueness {
    /// Among the calls of one message, or of neighbouring messages answered together.
    Cycle(ErrorText),
    /// Among all calls of the request.
    Request(ErrorText),
    /// Nowhere: calls with one id are answered in their order.
    Nowhere,
}

impl Uniqueness {
    /// The error text of a repeated id.
    pub fn error(self) -> ErrorText {
        match self {
            Self::Cycle(text) | Self::Request(text) => text,
            Self::Nowhere => ErrorText(""),
        }
    }
}

/// What a tool's name may look like: letters, digits, `_`, `-` and what a provider takes besides.
#[derive(Debug, Clone, Copy)]
pub struct NameDemand {
    /// Further characters.
    pub also: &'static str,
    /// Which character may be the first.
    pub start: NameStart,
    /// How many characters at most.
    pub length_max: usize,
    /// Any other name.
    pub error: ErrorText,
    /// A name that a result repeats is looked at as well.
    pub in_results: bool,
}

impl NameDemand {
    /// Letters, digits, `_` and `-`, up to the length that most take.
    pub const WORD: Self =
        Self { also: "", start: NameStart::Any, length_max: 64, error: ErrorText(""), in_results: false };
}

/// Which character a name may start with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameStart {
    /// Any that may stand in it.
    Any,
    /// A letter or `_`.
    LetterOrUnderscore,
    /// A letter.
    Letter,
}

impl NameStart {
    /// Whether a name starts so.
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
    /// As an object.
    Object(ErrorText),
    /// As an object, or not at all when there is nothing to say.
    ObjectOrNothing(ErrorText),
    /// As a string that holds JSON.
    Text(ErrorText),
}

/// Text with nothing in it.
#[derive(Debug, Clone, Copy)]
pub enum EmptyText {
    /// Is fine.
    Accepted,
    /// Is rejected, and so is white space alone.
    Rejected(ErrorText),
    /// Is rejected likewise, but not inside a result.
    RejectedInMessages(ErrorText),
}

/// How what a result holds is written.
#[derive(Debug, Clone, Copy)]
pub enum OutputForm {
    /// As a string or a list of parts.
    TextOrList {
        /// Whether it must be there.
        demanded: bool,
    },
    /// As a list of parts, always.
    List(ErrorText),
    /// As an object.
    Object(ErrorText),
}

/// The provider's signature on calls: the first call of each message must have it, as
/// long as the turn goes on.
#[derive(Debug, Clone, Copy)]
pub struct SignatureDemand {
    /// The models that demand it.
    pub models: Models,
    /// A call without it.
    pub error: ErrorText,
}

/// Two messages of one role in a row.
#[derive(Debug, Clone, Copy)]
pub enum SameRole {
    /// Are fine, or joined by the provider.
    Accepted,
    /// Are rejected.
    Rejected(ErrorText),
}

/// Who must speak first, system messages aside.
#[derive(Debug, Clone, Copy)]
pub enum FirstRole {
    /// Anybody.
    Any,
    /// The user.
    User(ErrorText),
    /// The user, before the first call is made.
    UserBeforeCalls(ErrorText),
    /// Anybody, system messages too, but a call is not made in the very first message.
    AnyBeforeCalls(ErrorText),
}

/// Who must not speak last.
#[derive(Debug, Clone, Copy)]
pub enum LastRole {
    /// Anybody may.
    Any,
    /// Not the assistant, for these models.
    NotAssistant {
        /// The models.
        models: Models,
        /// The error text.
        error: ErrorText,
    },
    /// Not the assistant, whatever the model, unless the message says that it is to be
    /// continued.
    NotAssistantUnlessContinued(ErrorText),
}

/// A role that some models do not know.
#[derive(Debug, Clone, Copy)]
pub struct RoleGap {
    /// The role.
    pub role: crate::Role,
    /// The role that says the same there.
    pub instead: crate::Role,
    /// The models.
    pub models: Models,
    /// The error text.
    pub error: ErrorText,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_where_their_names_stand_and_patterns_stay() {
        let text = ErrorText("messages.{message}.content.{block}: `{id}` is not '^[a-z]{1,64}$'");
        let values = Values { message: 3, block: 1, id: "a.b", ..Values::default() };
        assert_eq!(text.render(&values), "messages.3.content.1: `a.b` is not '^[a-z]{1,64}$'");
    }

    #[test]
    fn a_text_without_places_is_rendered_as_it_is() {
        assert_eq!(ErrorText("no places { here").render(&Values::default()), "no places { here");
    }
}
