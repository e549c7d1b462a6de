//! Calls, results and their ids.

use super::{Kind, REPAIR, corruption};

pub(crate) const UNANSWERED_CALL: Kind = corruption(
    "unanswered-call",
    &["PAIR001", "PAIR004", "PAIR007", "ORDER001", "PAIR005"],
    "a tool call has no result where the provider looks for it",
    REPAIR,
);

pub(crate) const ORPHAN_RESULT: Kind = corruption(
    "orphan-result",
    &["PAIR002", "PAIR004", "PAIR005", "PAIR003", "PAIR006"],
    "a tool result answers no call that stands before it",
    REPAIR,
);

pub(crate) const DUPLICATE_RESULT: Kind =
    corruption("duplicate-result", &["PAIR003", "PAIR006"], "a tool call has more than one result", REPAIR);

pub(crate) const UNEQUAL_RESULTS: Kind = corruption(
    "unequal-results",
    &["PAIR001", "PAIR002", "PAIR003", "PAIR007", "PAIR004", "PAIR005", "PAIR006", "SHAPE004"],
    "there are more calls than results, or more results than calls",
    REPAIR,
);

pub(crate) const PARTED_RESULTS: Kind = corruption(
    "parted-results",
    &["PAIR001", "PAIR002", "PAIR003", "PAIR007", "PAIR004", "PAIR005", "PAIR006", "ORDER001", "ORDER006"],
    "a result does not stand right after its call, or not alone in its message",
    REPAIR,
);

pub(crate) const SURPLUS_RESULTS: Kind = corruption(
    "surplus-results",
    &["PAIR002", "PAIR003", "PAIR006", "PAIR004", "PAIR005"],
    "there are more results than calls before them",
    REPAIR,
);

pub(crate) const CALL_OUT_OF_ORDER: Kind = corruption(
    "call-out-of-order",
    &["SHAPE003", "SHAPE004", "PAIR004", "PAIR010"],
    "a message with calls stands where the provider takes none",
    REPAIR,
);

pub(crate) const WRONG_ROLE_BLOCK: Kind = corruption(
    "wrong-role-block",
    &["PAIR010"],
    "a call stands outside the assistant's messages, or a result where none can stand",
    REPAIR,
);

pub(crate) const UNANSWERED_SERVER_CALL: Kind = corruption(
    "unanswered-server-call",
    &["PAIR008"],
    "a call of one of the provider's own tools has no result in its message",
    REPAIR,
);

pub(crate) const ORPHAN_SERVER_RESULT: Kind = corruption(
    "orphan-server-result",
    &["PAIR009"],
    "a result of one of the provider's own tools has no call before it",
    REPAIR,
);

pub(crate) const REPEATED_CALL_ID: Kind =
    corruption("repeated-call-id", &["IDENT003"], "two calls have the same id", REPAIR);

pub(crate) const ILLEGAL_CALL_ID: Kind = corruption(
    "illegal-call-id",
    &["IDENT001", "IDENT004", "IDENT006", "IDENT007"],
    "the id of a call has characters or a form that the provider does not take",
    REPAIR,
);

pub(crate) const MISSING_CALL_ID: Kind =
    corruption("missing-call-id", &["IDENT004", "WIRE004"], "a call has no id", REPAIR);

pub(crate) const LONG_CALL_ID: Kind =
    corruption("long-call-id", &["IDENT002"], "the id of a call is longer than the provider takes", REPAIR);

pub(crate) const ILLEGAL_TOOL_NAME: Kind = corruption(
    "illegal-tool-name",
    &["IDENT005"],
    "a call names its tool in a way that the provider does not take",
    REPAIR,
);

pub(crate) const CALL_INPUT: Kind = corruption(
    "call-input",
    &["WIRE006", "WIRE012"],
    "the input of a call is not the JSON that the provider wants, often because a stream was cut",
    REPAIR,
);

pub(crate) const RESULT_NAME: Kind = corruption(
    "result-name",
    &["IDENT010", "IDENT005"],
    "a call or a result does not name its tool",
    "give the result the name of the tool that its call names, and send the conversation once more",
);

pub(crate) const UNDECLARED_TOOLS: Kind = corruption(
    "undeclared-tools",
    &["LIMIT002"],
    "the conversation uses tools, but the request declares none",
    "declare the tools that the conversation names; to keep the model from calling them, set the tool choice to none",
);

pub(crate) const EMPTY_TOOL_LIST: Kind = corruption(
    "empty-tool-list",
    &["LIMIT003"],
    "the list of declared tools is there but empty",
    "declare a tool, or leave the list out",
);

pub(crate) const UNDECLARED_TOOL: Kind = corruption(
    "undeclared-tool",
    &[],
    "the conversation uses a tool that the request does not declare",
    "send the same tools as with the request before, or take the calls of this tool out of the conversation",
);

pub(crate) const LOST_CONTAINER: Kind = corruption(
    "lost-container",
    &[],
    "calls wait for results inside a container that the request does not name",
    "send the container's id from the earlier answer; when it is lost, take the open calls out",
);
