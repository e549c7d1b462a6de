//! Ways to break the body of a conversation.

mod calls;
mod content;
mod fields;
pub(crate) mod place;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::Dialect;

/// One break of a body and its place. Places are counted among those that fit, and wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireDamage {
    /// The kind of the break.
    pub breaker: WireBreaker,
    /// The place of the break.
    pub place: usize,
}

/// One way to break a body. A break for a field that the dialect does not have does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WireBreaker {
    /// A message without a list of calls has a call in the field `tool_use`.
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
    /// A list of calls is a plain string.
    CallListAsWord,
    /// The id of a call has the key of another program.
    ForeignCallKey,
    /// The id of a result has the key of another program.
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
    /// A result has an unknown field.
    StrangerBesideResult,
    /// An assistant message has a refusal.
    Refusal,
    /// A message has an unknown field.
    Stranger,
    /// An assistant message has reasoning that the provider checks.
    SignedReasoning,
    /// An assistant message has reasoning without a signature.
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
    /// The input of a call has the key of another program.
    ForeignInput,
    /// A call is written as one block of a message's content, as another dialect does.
    ForeignPair,
    /// The arguments of a call are complete but not JSON.
    BrokenArguments,
    /// The text of a message has the key of another program.
    WordsElsewhere,
    /// A text is a number, or lacks its type.
    WordlessText,
    /// A role has the name that another program uses.
    ForeignRole,
    /// A message has many empty members.
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

    /// Breaks `body` at `place` and returns the texts that it adds. Without a fitting place it does nothing.
    ///
    /// Some breaks are marks that only [`crate::text::write`] turns into text, and a byte order mark comes before
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

    /// Applies the breaks that add a text.
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
