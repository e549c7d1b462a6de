//! Ways to write a conversation down badly.

mod calls;
mod content;
mod fields;
pub(crate) mod place;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::Dialect;

/// One way of breaking a body, and where: the place is counted among those that can be broken so, and wraps around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireDamage {
    /// What is done.
    pub breaker: WireBreaker,
    /// Where it is done.
    pub place: usize,
}

/// One way to break a body. Ways that a dialect has no field for do nothing to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WireBreaker {
    /// A call stands in a field of its own, `tool_use`, in a message without a list of calls.
    LegacyCall,
    /// The same, beside an empty list of calls.
    LegacyCallBesideEmptyList,
    /// The same, beside a list of calls.
    LegacyCallBesideCalls,
    /// The same, instead of a list of one call, which is answered.
    LegacyCallInstead,
    /// The same, in a user message that says something.
    LegacyCallOfUser,
    /// A list of calls is a string that holds JSON.
    CallListAsText,
    /// A list of one call is that call.
    CallListAsObject,
    /// A list of calls is a word.
    CallListAsWord,
    /// The id of a call stands under the key of another program.
    ForeignCallKey,
    /// The id that a result names stands under the key of another program.
    ForeignResultKey,
    /// A message's content is null.
    NullContent,
    /// A message's content is a number.
    NumberContent,
    /// A message's content is an object.
    ObjectContent,
    /// A result's content is null.
    NullOutput,
    /// A result's content is a number.
    NumberOutput,
    /// A result's content is an object.
    ObjectOutput,
    /// A result holds a picture beside its text.
    ImageInResult,
    /// A message with a result has a refusal.
    RefusalBesideResult,
    /// A message with a result has a call of the retired kind.
    FunctionCallBesideResult,
    /// A message with a result has reasoning.
    ReasoningBesideResult,
    /// A result names its tool.
    NameBesideResult,
    /// A result has a field nobody knows.
    StrangerBesideResult,
    /// An assistant message has a refusal.
    Refusal,
    /// A message has a field nobody knows.
    Stranger,
    /// An assistant message has reasoning that the provider checks.
    SignedReasoning,
    /// An assistant message has reasoning that nobody signed.
    UnsignedReasoning,
    /// A message has a content that readers ignore before its content.
    RepeatedContent,
    /// A result names its call twice, first wrongly.
    RepeatedResultId,
    /// A message has its role twice.
    RepeatedRole,
    /// The keys of a message are written in escapes.
    EscapedKeys,
    /// A text ends in half a character.
    LoneSurrogate,
    /// The body starts with a byte order mark.
    ByteOrderMark,
    /// What a call is called with stands under the key of another program.
    ForeignInput,
    /// A call is written as one block of a message's content, as another dialect does.
    ForeignPair,
    /// The arguments of a call are no JSON, though nothing was cut off.
    BrokenArguments,
    /// What a message says stands under the key of another program.
    WordsElsewhere,
    /// A text is a number, or does not say that it is a text.
    WordlessText,
    /// A role goes by the name that another program gives it.
    ForeignRole,
    /// A message has many members with nothing in them.
    ManyMembers,
}

impl WireBreaker {
    /// Every way, in a fixed order.
    pub const ALL: [Self; 39] = [
        Self::LegacyCall,
        Self::LegacyCallBesideEmptyList,
        Self::LegacyCallBesideCalls,
        Self::LegacyCallInstead,
        Self::LegacyCallOfUser,
        Self::CallListAsText,
        Self::CallListAsObject,
        Self::CallListAsWord,
        Self::ForeignCallKey,
        Self::ForeignResultKey,
        Self::NullContent,
        Self::NumberContent,
        Self::ObjectContent,
        Self::NullOutput,
        Self::NumberOutput,
        Self::ObjectOutput,
        Self::ImageInResult,
        Self::RefusalBesideResult,
        Self::FunctionCallBesideResult,
        Self::ReasoningBesideResult,
        Self::NameBesideResult,
        Self::StrangerBesideResult,
        Self::Refusal,
        Self::Stranger,
        Self::SignedReasoning,
        Self::UnsignedReasoning,
        Self::RepeatedContent,
        Self::RepeatedResultId,
        Self::RepeatedRole,
        Self::EscapedKeys,
        Self::LoneSurrogate,
        Self::ByteOrderMark,
        Self::ForeignInput,
        Self::ForeignPair,
        Self::BrokenArguments,
        Self::WordsElsewhere,
        Self::WordlessText,
        Self::ForeignRole,
        Self::ManyMembers,
    ];

    /// Breaks `body` at `place`, and gives back what is newly said in it. Without a place to break, nothing happens.
    ///
    /// Some breaks are marks that only [`crate::text::write`] turns into text, and a byte order mark stands before
    /// it: [`super::Mangled::render`] writes them all.
    pub fn apply(self, dialect: Dialect, body: &mut Value, place: usize) -> Vec<String> {
        self.try_apply(dialect, body, place).unwrap_or_default()
    }

    fn try_apply(self, dialect: Dialect, body: &mut Value, place: usize) -> Option<Vec<String>> {
        let broken = match self {
            Self::LegacyCall
            | Self::LegacyCallBesideEmptyList
            | Self::LegacyCallBesideCalls
            | Self::LegacyCallInstead
            | Self::LegacyCallOfUser => calls::legacy(self, dialect, body, place),
            Self::CallListAsText | Self::CallListAsObject | Self::CallListAsWord => calls::odd_list(self, body, place),
            Self::ForeignCallKey => calls::foreign_call_key(dialect, body, place),
            Self::ForeignResultKey => calls::foreign_result_key(dialect, body, place),
            Self::RepeatedContent => fields::repeated_content(dialect, body, place),
            Self::RepeatedResultId => fields::repeated_result_id(dialect, body, place),
            Self::RepeatedRole => fields::repeated_role(body, place),
            Self::EscapedKeys => fields::escaped_keys(body, place),
            Self::NameBesideResult => fields::name_beside_result(dialect, body, place),
            Self::LoneSurrogate => content::lone_surrogate(dialect, body, place),
            Self::ByteOrderMark => Some(()),
            Self::ForeignInput => calls::foreign_input(dialect, body, place),
            Self::ForeignPair => calls::foreign_pair(dialect, body, place),
            Self::WordsElsewhere => content::words_elsewhere(dialect, body, place),
            Self::ForeignRole => fields::foreign_role(dialect, body, place),
            Self::ManyMembers => fields::many_members(body, place),
            _ => return self.try_say(dialect, body, place).map(|said| vec![said]),
        };
        broken.map(|()| Vec::new())
    }

    /// The ways that say something new.
    fn try_say(self, dialect: Dialect, body: &mut Value, place: usize) -> Option<String> {
        match self {
            Self::NullContent | Self::NumberContent | Self::ObjectContent => {
                content::odd_content(self, dialect, body, place)
            }
            Self::NullOutput | Self::NumberOutput | Self::ObjectOutput => {
                content::odd_output(self, dialect, body, place)
            }
            Self::BrokenArguments => calls::broken_arguments(dialect, body, place),
            Self::WordlessText => content::wordless_text(dialect, body, place),
            Self::ImageInResult => content::image_in_result(dialect, body, place),
            Self::SignedReasoning | Self::UnsignedReasoning => content::reasoning(self, dialect, body, place),
            _ => fields::beside(self, dialect, body, place),
        }
    }
}
