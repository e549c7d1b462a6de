//! Messages, roles, fields and bytes.

use super::{Kind, REPAIR, corruption};

pub(crate) const EMPTY_TEXT: Kind =
    corruption("empty-text", &["SHAPE001"], "a text has nothing but white space in it", REPAIR);

pub(crate) const EMPTY_RESULT: Kind = corruption(
    "empty-result",
    &["SHAPE013", "SHAPE001", "SHAPE007"],
    "a result that reports an error says nothing",
    "put a text into the result that says what is known, and send the conversation once more",
);

pub(crate) const EMPTY_MESSAGE: Kind =
    corruption("empty-message", &["SHAPE002", "SHAPE007", "SHAPE001"], "a message has nothing in it", REPAIR);

pub(crate) const MISSING_CONTENT: Kind = corruption(
    "missing-content",
    &["SHAPE007", "SHAPE002"],
    "the content of a message is absent or of the wrong form",
    REPAIR,
);

pub(crate) const CONTENT_FORM: Kind = corruption(
    "content-form",
    &["MEDIA001", "SHAPE007", "WIRE014"],
    "a message holds content of a form that its role does not take here",
    "write the content in the form that the provider names: often text alone, as one string",
);

pub(crate) const MEDIA_IN_RESULT: Kind =
    corruption("media-in-result", &["MEDIA001"], "a result holds something else than text", REPAIR);

pub(crate) const EMPTY_CALL_LIST: Kind =
    corruption("empty-call-list", &["SHAPE006"], "a message has a list of calls with nothing in it", REPAIR);

pub(crate) const NO_MESSAGES: Kind = corruption(
    "no-messages",
    &["SHAPE009"],
    "the conversation has no message",
    "send at least one message; look for what removed them all",
);

pub(crate) const CONSECUTIVE_ROLES: Kind = corruption(
    "consecutive-roles",
    &["SHAPE003", "SHAPE004"],
    "two messages of one role follow each other, where the provider wants roles to take turns",
    REPAIR,
);

pub(crate) const LEADING_ROLE: Kind =
    corruption("leading-role", &["SHAPE004"], "the conversation does not start with the user", REPAIR);

pub(crate) const TRAILING_ASSISTANT: Kind = corruption(
    "trailing-assistant",
    &["SHAPE005"],
    "the conversation ends with the assistant, and this model does not continue its own messages",
    "end with a message of the user; what to write there is a decision, so the fix asks for consent",
);

pub(crate) const EARLY_PREFIX: Kind =
    corruption("early-prefix", &["ORDER005"], "a message that is not the last says that it is to be continued", REPAIR);

pub(crate) const TRAILING_WHITESPACE: Kind = corruption(
    "trailing-whitespace",
    &["SHAPE010"],
    "the last message is the assistant's and ends with white space",
    "take the white space off the end of the last message",
);

pub(crate) const UNEXPECTED_ROLE: Kind = corruption(
    "unexpected-role",
    &["ORDER003", "SHAPE003", "PAIR004", "SHAPE008"],
    "a message has a role that may not follow the one before it",
    REPAIR,
);

pub(crate) const UNSUPPORTED_ROLE: Kind = corruption(
    "unsupported-role",
    &["SHAPE008", "WIRE008"],
    "a message has a role that this model does not know",
    REPAIR,
);

pub(crate) const MIXED_BLOCKS: Kind = corruption(
    "mixed-blocks",
    &["ORDER001"],
    "text stands in one message with calls or results, which this model does not take",
    "put the text into a message of its own",
);

pub(crate) const UNKNOWN_FIELD: Kind = corruption(
    "unknown-field",
    &["WIRE013", "WIRE004", "WIRE007"],
    "the request has a field that this provider does not know, often one that another provider answered with",
    "take the field out that the error names, in every message",
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
    "the provider rejected the body and does not say more",
    "check the body; what is wrong with it is not in the error",
);

pub(crate) const ITEM_ID: Kind = corruption(
    "item-id",
    &["IDENT008"],
    "the id of an item is not one that the provider gave",
    "leave the field `id` of such items out, and keep `call_id`",
);

pub(crate) const LOST_ITEM: Kind = corruption(
    "lost-item",
    &["REASON006"],
    "the request refers to an item or an answer that the provider has not kept",
    "send the whole conversation without references and without the ids of items",
);

pub(crate) const DUPLICATE_ITEM: Kind = corruption(
    "duplicate-item",
    &["IDENT009"],
    "an item is sent that the provider has already",
    "send each item once; leave out what the earlier answer brought along",
);

pub(crate) const MISPLACED_COMPACTION: Kind = corruption(
    "misplaced-compaction",
    &[],
    "a compaction block is not where or what it was when the provider made it",
    "send the compaction block back unchanged, as the first block, and only one of them",
);

pub(crate) const LOST_THREAD: Kind = corruption(
    "lost-thread",
    &[],
    "the thread cannot be continued from this message",
    "send the whole conversation and start a new thread with it",
);

pub(crate) const CACHE_MARK: Kind = corruption(
    "cache-mark",
    &["LIMIT001", "LIMIT007"],
    "a cache marker stands where none may stand, or there are too many",
    "keep the last few cache markers, on blocks with something in them, and take the others out",
);

pub(crate) const UNUSABLE_IMAGE: Kind = corruption(
    "unusable-image",
    &[],
    "an image is too large or cannot be read",
    "make the image smaller, or put a text in its place, also where it stands in earlier messages",
);
