//! Errors about tool calls, tool results and their ids.

use super::{Kind, REPAIR, corruption};

pub(crate) const UNANSWERED_CALL: Kind = corruption(
    "unanswered-call",
    &["PAIR001", "PAIR004", "PAIR007", "ORDER001", "PAIR005", "ORDER006"],
    "a tool call has no tool result in the place that the provider requires",
    REPAIR,
);

pub(crate) const UNPAIRED_CALLS: Kind = corruption(
    "unpaired-calls",
    &["PAIR001", "PAIR004", "PAIR007", "IDENT003", "PAIR002", "PAIR003"],
    "the tool calls and tool results of the conversation do not match",
    REPAIR,
);

pub(crate) const ORPHAN_RESULT: Kind = corruption(
    "orphan-result",
    &["PAIR002", "PAIR004", "PAIR005", "PAIR003", "PAIR006"],
    "a tool result has no matching tool call before it",
    REPAIR,
);

pub(crate) const DUPLICATE_RESULT: Kind =
    corruption("duplicate-result", &["PAIR003", "PAIR006"], "a tool call has more than one tool result", REPAIR);

pub(crate) const UNEQUAL_RESULTS: Kind = corruption(
    "unequal-results",
    &["PAIR001", "PAIR002", "PAIR003", "PAIR007", "PAIR004", "PAIR005", "PAIR006", "SHAPE004"],
    "the number of tool results differs from the number of tool calls",
    REPAIR,
);

pub(crate) const PARTED_RESULTS: Kind = corruption(
    "parted-results",
    &["PAIR001", "PAIR002", "PAIR003", "PAIR007", "PAIR004", "PAIR005", "PAIR006", "ORDER001", "ORDER006"],
    "a tool result does not directly follow its tool call, or shares its message with other content",
    REPAIR,
);

pub(crate) const SURPLUS_RESULTS: Kind = corruption(
    "surplus-results",
    &["PAIR002", "PAIR003", "PAIR006", "PAIR004", "PAIR005"],
    "there are more tool results than tool calls before them",
    REPAIR,
);

pub(crate) const CALL_OUT_OF_ORDER: Kind = corruption(
    "call-out-of-order",
    &["SHAPE003", "SHAPE004", "PAIR004", "PAIR010"],
    "a message with tool calls is in a place where the provider does not allow it",
    REPAIR,
);

pub(crate) const WRONG_ROLE_BLOCK: Kind = corruption(
    "wrong-role-block",
    &["PAIR010"],
    "a tool call is outside an assistant message, or a tool result is in a message of the wrong role",
    REPAIR,
);

pub(crate) const UNANSWERED_SERVER_CALL: Kind = corruption(
    "unanswered-server-call",
    &["PAIR008"],
    "a call of a tool that the provider runs itself has no result in its message",
    REPAIR,
);

pub(crate) const ORPHAN_SERVER_RESULT: Kind = corruption(
    "orphan-server-result",
    &["PAIR009"],
    "a result of a tool that the provider runs itself has no call before it",
    REPAIR,
);

pub(crate) const REPEATED_CALL_ID: Kind =
    corruption("repeated-call-id", &["IDENT003"], "two tool calls have the same id", REPAIR);

pub(crate) const ILLEGAL_CALL_ID: Kind = corruption(
    "illegal-call-id",
    &["IDENT001", "IDENT004", "IDENT006", "IDENT007"],
    "the id of a tool call has characters or a form that the provider does not accept",
    REPAIR,
);

pub(crate) const MISSING_CALL_ID: Kind =
    corruption("missing-call-id", &["IDENT004", "WIRE004"], "a tool call has no id", REPAIR);

pub(crate) const UNADDRESSED_RESULT: Kind = corruption(
    "unaddressed-result",
    &["PAIR005", "WIRE004", "PAIR002", "IDENT004"],
    "a tool result does not name its tool call",
    REPAIR,
);

pub(crate) const LONG_CALL_ID: Kind =
    corruption("long-call-id", &["IDENT002"], "the id of a tool call is longer than the provider allows", REPAIR);

pub(crate) const ILLEGAL_TOOL_NAME: Kind = corruption(
    "illegal-tool-name",
    &["IDENT005"],
    "the tool name of a tool call has a form that the provider does not accept",
    REPAIR,
);

pub(crate) const CALL_INPUT: Kind = corruption(
    "call-input",
    &["WIRE006", "WIRE012"],
    "the arguments of a tool call are not the JSON that the provider expects, often because a stream was cut off",
    REPAIR,
);

pub(crate) const RESULT_NAME: Kind = corruption(
    "result-name",
    &["IDENT010", "IDENT005"],
    "a tool call or a tool result does not name its tool",
    "give the tool result the tool name of its tool call, and send the conversation again",
);

pub(crate) const UNDECLARED_TOOLS: Kind = corruption(
    "undeclared-tools",
    &["LIMIT002"],
    "the conversation uses tools, but the request declares none",
    "declare the tools that the conversation uses; set the tool choice to none to keep the model from calling them",
);

pub(crate) const UNEXPECTED_PAIR: Kind = corruption(
    "unexpected-pair",
    &["LIMIT002", "PAIR010"],
    "the model does not accept a tool call or tool result here; the request may declare no tools",
    "declare the tools that the conversation uses; if it declares them, the model may not support tools",
);

pub(crate) const DOCUMENT_BESIDE_RESULTS: Kind = corruption(
    "document-beside-results",
    &["ORDER006", "WIRE009"],
    "a document shares its message with tool results, or its source has no type",
    "move the document into a user message of its own after the tool results",
);

pub(crate) const EMPTY_TOOL_LIST: Kind = corruption(
    "empty-tool-list",
    &["LIMIT003"],
    "the list of declared tools is empty",
    "declare a tool, or remove the list",
);

pub(crate) const UNDECLARED_TOOL: Kind = corruption(
    "undeclared-tool",
    &[],
    "the conversation uses a tool that the request does not declare",
    "declare the same tools as in the request before, or remove the calls of this tool from the conversation",
);

pub(crate) const UNRESOLVED_TOOL: Kind = corruption(
    "unresolved-tool",
    &["LIMIT008"],
    "a message refers to a tool that the request does not declare",
    "declare the tool, or leave the reference out",
);

pub(crate) const LOST_CONTAINER: Kind = corruption(
    "lost-container",
    &["LIMIT009"],
    "tool calls wait for results in a container that the request does not name",
    "send the container's id from the earlier response; if it is lost, remove the open tool calls",
);
