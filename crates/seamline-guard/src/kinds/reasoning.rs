//! Thinking that must come back as it was, or not at all.

use super::{Kind, REPAIR, corruption};

pub(crate) const ALTERED_THINKING: Kind = corruption(
    "altered-thinking",
    &[],
    "thinking in the last assistant message is not as the model wrote it",
    "put the stored blocks back byte for byte; when they are lost, take all thinking out of the whole conversation",
);

pub(crate) const FOREIGN_SIGNATURE: Kind = corruption(
    "foreign-signature",
    &[],
    "the signature of a thinking block is damaged, made up, or from another model or account",
    "take all thinking out of the conversation, send it once more, and keep it out; signatures cannot be made",
);

pub(crate) const UNSIGNED_THINKING: Kind =
    corruption("unsigned-thinking", &["REASON001"], "a thinking block has no signature", REPAIR);

pub(crate) const BOUND_THINKING: Kind = corruption(
    "bound-thinking",
    &[],
    "something before a thinking block was changed after the model wrote it",
    "take out the thinking that follows the first change, or ask the provider to drop it",
);

pub(crate) const MISSING_THINKING: Kind = corruption(
    "missing-thinking",
    &["REASON002"],
    "thinking is switched on, but the last assistant message with calls has none",
    "send this request with thinking switched off, or let the assistant finish before it is switched on",
);

pub(crate) const MISSING_REASONING: Kind = corruption(
    "missing-reasoning",
    &["REASON003"],
    "an assistant message with calls came without the reasoning that this provider wants back",
    "send the stored reasoning back with every message that makes calls; when it is lost, a short text in its place",
);

pub(crate) const MISSING_SIGNATURE: Kind = corruption(
    "missing-signature",
    &["REASON007"],
    "a call came without the signature that the provider gave it",
    "send the stored signature back with the call it came with",
);

pub(crate) const SPLIT_REASONING: Kind = corruption(
    "split-reasoning",
    &["REASON005"],
    "a reasoning item and the item it led to are not sent together",
    "send both, or neither; or leave the ids of both out",
);

pub(crate) const SEALED_REASONING: Kind = corruption(
    "sealed-reasoning",
    &[],
    "sealed reasoning came from another account, deployment or model",
    "take the reasoning items out, and the ids of the items that depended on them",
);

pub(crate) const THINKING_WHILE_OFF: Kind = corruption(
    "thinking-while-off",
    &["REASON009"],
    "the message that is to be continued holds thinking, and thinking is switched off",
    "take the thinking out of the last message, or switch thinking on",
);

pub(crate) const UNWANTED_REASONING: Kind = corruption(
    "unwanted-reasoning",
    &["REASON004", "REASON008", "WIRE013"],
    "a message brings reasoning along that this model does not take back",
    "take the field out that the error names, in every message",
);
