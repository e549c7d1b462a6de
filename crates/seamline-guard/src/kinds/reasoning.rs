//! Errors about thinking and reasoning blocks.

use super::{Kind, REPAIR, corruption};

pub(crate) const ALTERED_THINKING: Kind = corruption(
    "altered-thinking",
    &[],
    "the thinking in the last assistant message differs from what the model wrote",
    "send the stored blocks byte for byte; if they are lost, remove all thinking from the whole conversation",
)
.rejecting_reasoning();

pub(crate) const FOREIGN_SIGNATURE: Kind = corruption(
    "foreign-signature",
    &[],
    "the signature of a thinking block is damaged, invented, or from another model or account",
    "remove all thinking from the conversation, send it again, and keep it out; signatures cannot be recreated",
)
.rejecting_reasoning();

pub(crate) const UNSIGNED_THINKING: Kind =
    corruption("unsigned-thinking", &["REASON001"], "a thinking block has no signature", REPAIR);

pub(crate) const BOUND_THINKING: Kind = corruption(
    "bound-thinking",
    &[],
    "content before a thinking block changed after the model wrote the block",
    "remove the thinking after the first change, or ask the provider to drop it",
)
.rejecting_reasoning();

pub(crate) const MISSING_THINKING: Kind = corruption(
    "missing-thinking",
    &["REASON002"],
    "thinking is enabled, but the last assistant message with tool calls has none",
    "disable thinking for this request, or let the assistant finish before you enable it",
)
.proving();

pub(crate) const MISSING_REASONING: Kind = corruption(
    "missing-reasoning",
    &["REASON003"],
    "an assistant message with tool calls lacks the reasoning that this provider requires back",
    "send the stored reasoning back with every message that has tool calls; if it is lost, send a short text instead",
)
.proving();

pub(crate) const MISSING_SIGNATURE: Kind = corruption(
    "missing-signature",
    &["REASON007"],
    "a tool call lacks the signature that the provider gave it",
    "send the stored signature back with its tool call",
)
.proving();

pub(crate) const SPLIT_REASONING: Kind = corruption(
    "split-reasoning",
    &["REASON005"],
    "the request has a reasoning item without the item that followed it, or the other way round",
    "send both or neither, or remove the ids of both",
);

pub(crate) const SEALED_REASONING: Kind = corruption(
    "sealed-reasoning",
    &[],
    "encrypted reasoning is from another account, deployment or model",
    "remove the reasoning items and the ids of the items that depend on them",
)
.rejecting_reasoning();

pub(crate) const THINKING_WHILE_OFF: Kind = corruption(
    "thinking-while-off",
    &["REASON009"],
    "the last message contains thinking, and thinking is disabled",
    "remove the thinking from the last message, or enable thinking",
);

pub(crate) const UNWANTED_REASONING: Kind = corruption(
    "unwanted-reasoning",
    &["REASON004", "REASON008", "WIRE013"],
    "a message contains reasoning that this model does not accept back",
    "remove the field that the error names from every message",
);
