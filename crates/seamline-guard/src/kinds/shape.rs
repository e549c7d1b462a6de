//! Errors about messages, roles, fields and bytes.

use super::{Kind, REPAIR, corruption};

pub(crate) const EMPTY_TEXT: Kind =
    corruption("empty-text", &["SHAPE001"], "a text block is empty or contains only white space", REPAIR);

pub(crate) const EMPTY_RESULT: Kind = corruption(
    "empty-result",
    &["SHAPE013", "SHAPE001", "SHAPE007"],
    "a tool result that reports an error has no text",
    "add a text to the tool result that says what is known, and send the conversation again",
);

pub(crate) const EMPTY_MESSAGE: Kind =
    corruption("empty-message", &["SHAPE002", "SHAPE007", "SHAPE001"], "a message has no content", REPAIR);

pub(crate) const MISSING_CONTENT: Kind = corruption(
    "missing-content",
    &["SHAPE007", "SHAPE002"],
    "the content of a message is missing or has the wrong type",
    REPAIR,
);

pub(crate) const CONTENT_FORM: Kind = corruption(
    "content-form",
    &["MEDIA001", "SHAPE007", "WIRE014"],
    "the content of a message has a form that its role does not allow here",
    "write the content in the form that the provider names, often text alone as one string",
);

pub(crate) const MEDIA_IN_RESULT: Kind =
    corruption("media-in-result", &["MEDIA001"], "a tool result contains something other than text", REPAIR);

pub(crate) const EMPTY_CALL_LIST: Kind =
    corruption("empty-call-list", &["SHAPE006"], "a message has an empty list of tool calls", REPAIR);

pub(crate) const NO_MESSAGES: Kind = corruption(
    "no-messages",
    &["SHAPE009"],
    "the conversation has no message",
    "send at least one message; find out what removed the others",
);

pub(crate) const CONSECUTIVE_ROLES: Kind = corruption(
    "consecutive-roles",
    &["SHAPE003", "SHAPE004"],
    "two consecutive messages have the same role, and the provider requires alternating roles",
    REPAIR,
);

pub(crate) const LEADING_ROLE: Kind =
    corruption("leading-role", &["SHAPE004"], "the conversation does not start with a user message", REPAIR);

pub(crate) const TRAILING_ASSISTANT: Kind = corruption(
    "trailing-assistant",
    &["SHAPE005"],
    "the conversation ends with an assistant message, and this model does not continue its own messages",
    "end with a user message; you decide its text, so the fix needs your consent",
);

pub(crate) const EARLY_PREFIX: Kind =
    corruption("early-prefix", &["ORDER005"], "a message that is not the last one is marked for continuation", REPAIR);

pub(crate) const TRAILING_WHITESPACE: Kind = corruption(
    "trailing-whitespace",
    &["SHAPE010"],
    "the last message is an assistant message that ends with white space",
    "remove the white space at the end of the last message",
);

pub(crate) const UNEXPECTED_ROLE: Kind = corruption(
    "unexpected-role",
    &["ORDER003", "SHAPE003", "PAIR004", "SHAPE008"],
    "a message has a role that must not follow the role before it",
    REPAIR,
);

pub(crate) const UNSUPPORTED_ROLE: Kind = corruption(
    "unsupported-role",
    &["SHAPE008", "WIRE008"],
    "a message has a role that this model does not support",
    REPAIR,
);

pub(crate) const MISPLACED_SYSTEM: Kind = corruption(
    "misplaced-system",
    &["ORDER004", "SHAPE008"],
    "a system message is not at the beginning of the conversation",
    "send one system message, before all others; put later instructions into user messages",
);

pub(crate) const NO_USER_MESSAGE: Kind = corruption(
    "no-user-message",
    &["SHAPE004", "SHAPE009"],
    "the conversation has no user message, and the model's template requires one",
    "send the user's request with the conversation; find out what removed it",
);

pub(crate) const MIXED_BLOCKS: Kind = corruption(
    "mixed-blocks",
    &["ORDER001"],
    "a message mixes text with tool calls or tool results, which this model does not accept",
    "put the text into its own message",
);

pub(crate) const UNKNOWN_FIELD: Kind = corruption(
    "unknown-field",
    &["WIRE013", "WIRE004", "WIRE007"],
    "the request has a field that this provider does not know, often one from another provider's response",
    "remove the field that the error names",
);

pub(crate) const MISSING_MEMBER: Kind = corruption(
    "missing-member",
    &["SHAPE007", "IDENT004", "WIRE004", "WIRE008", "SHAPE014"],
    "a message lacks a field that the provider requires",
    "add the field that the error names; the same bytes get the same error",
);

pub(crate) const WRONG_MEMBER: Kind = corruption(
    "wrong-member",
    &["WIRE014", "WIRE015", "WIRE009", "SHAPE007", "SHAPE014", "WIRE011", "WIRE005"],
    "a field of a message has a value of the wrong type or form",
    "write the field that the error names in the form that the provider expects",
);

pub(crate) const NOT_JSON: Kind = corruption(
    "not-json",
    &["WIRE001", "WIRE002"],
    "the body is not valid JSON, often because a text was cut in the middle of a character",
    REPAIR,
);

pub(crate) const REJECTED_BODY: Kind = corruption(
    "rejected-body",
    &[],
    "the provider rejected the body for a reason that is not known to Seamline",
    "read the provider's reason, if it gives one, and check the body; the same bytes get the same error",
);

pub(crate) const ITEM_ID: Kind = corruption(
    "item-id",
    &["IDENT008"],
    "the provider did not create the id of an item",
    "remove the field `id` of such items, and keep `call_id`",
);

pub(crate) const LOST_ITEM: Kind = corruption(
    "lost-item",
    &["REASON006"],
    "the request refers to an item or a response that the provider did not store",
    "send the whole conversation without references and without the ids of items",
);

pub(crate) const DUPLICATE_ITEM: Kind = corruption(
    "duplicate-item",
    &["IDENT009"],
    "the request has an item that the provider already has",
    "send each item once; leave out the items of the earlier response",
);

pub(crate) const MISPLACED_COMPACTION: Kind = corruption(
    "misplaced-compaction",
    &["ORDER007"],
    "a compaction block was moved or changed after the provider made it",
    "send only one compaction block, unchanged and as the first block",
);

pub(crate) const LOST_THREAD: Kind = corruption(
    "lost-thread",
    &[],
    "the thread cannot be continued from this message",
    "send the whole conversation as a new thread",
);

pub(crate) const CACHE_MARK: Kind = corruption(
    "cache-mark",
    &["LIMIT001", "LIMIT007"],
    "a cache marker is in a forbidden place, or there are too many",
    "keep the last few cache markers, on blocks with content, and remove the others",
);

pub(crate) const UNUSABLE_IMAGE: Kind = corruption(
    "unusable-image",
    &[],
    "an image is too large or cannot be read",
    "make the image smaller or replace it with a text, also in earlier messages",
);
