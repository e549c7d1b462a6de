//! Errors about the provider, the network, the account and the request's settings.

use super::{Class, Kind, fatal, transient};

pub(crate) const RATE_LIMITED: Kind = transient(
    "rate-limited",
    "the account sent too many requests or tokens in too short a time",
    "wait, then send the same request again",
);

pub(crate) const OVERLOADED: Kind =
    transient("overloaded", "the provider is overloaded", "send the same request again, waiting longer each time");

pub(crate) const SERVER_FAILED: Kind =
    transient("server-failed", "the provider's server failed", "send the same request again, waiting longer each time");

pub(crate) const NETWORK_FAILED: Kind = transient(
    "network-failed",
    "the connection failed",
    "send the same request again; keep the incomplete response out of the conversation",
);

pub(crate) const TIMED_OUT: Kind = transient(
    "timed-out",
    "the provider or the connection took too long",
    "send the same request again; keep the incomplete response out of the conversation",
);

pub(crate) const CUT_STREAM: Kind = transient(
    "cut-stream",
    "the response ended before it was complete",
    "drop the incomplete response and send the same request again",
);

pub(crate) const MALFORMED_CALL: Kind = transient(
    "malformed-call",
    "the model wrote a tool call that cannot be parsed",
    "send the same request again and keep the failed response out of the conversation; if the error repeats, check the \
     names and schemas of the tools",
);

pub(crate) const CONVERSATION_BUSY: Kind = transient(
    "conversation-busy",
    "another request uses the same conversation",
    "send the same request again in a few seconds",
);

pub(crate) const UNKNOWN: Kind = fatal(
    "unknown-error",
    "this error is not known",
    "read the provider's message and check the body; the same request is likely to fail again",
);

pub(crate) const OUT_OF_QUOTA: Kind = fatal(
    "out-of-quota",
    "the account's quota, credit or spending limit is used up",
    "raise the limit or add credit; a retry does not help",
);

pub(crate) const NOT_ALLOWED: Kind = fatal(
    "not-allowed",
    "the API key is not valid or lacks the permission",
    "check the API key, its permissions and the account",
);

pub(crate) const NOT_FOUND: Kind = fatal(
    "not-found",
    "the model, deployment or address does not exist for this account",
    "check the name of the model and the address of the endpoint",
);

pub(crate) const UNSUPPORTED_SETTING: Kind = fatal(
    "unsupported-setting",
    "the request has a setting that this model does not support",
    "change the setting that the error names; the conversation is not at fault",
);

pub(crate) const WRONG_SETTING: Kind = fatal(
    "wrong-setting",
    "a field of the request has a value of the wrong type",
    "change the field that the error names; the conversation is not at fault",
);

pub(crate) const TEMPLATE_FAILED: Kind = fatal(
    "template-failed",
    "the model's chat template cannot render this conversation; the error says what the template expects",
    "change what the template complains about, or use another template; the same request fails again",
);

pub(crate) const UNSUPPORTED_FEATURE: Kind = fatal(
    "unsupported-feature",
    "the model does not support a feature of the request, such as tool calls",
    "use a model that supports it, or remove the feature from the request",
);

pub(crate) const TOOL_DECLARATION: Kind = Kind {
    name: "tool-declaration",
    class: Class::Fatal,
    rules: &["LIMIT006", "IDENT005", "IDENT011"],
    meaning: "a tool declaration has a name or a schema that the provider does not accept",
    advice: "change the tool declaration; use the new name in the tool calls of the conversation too",
    ..Kind::PLAIN
};

pub(crate) const UNKNOWN_TOOL: Kind = Kind {
    name: "unknown-tool",
    class: Class::Fatal,
    rules: &["LIMIT005"],
    meaning: "the request names a tool that it does not declare",
    advice: "declare the tool, or choose another one",
    ..Kind::PLAIN
};

pub(crate) const REPEATED_TOOL: Kind = Kind {
    name: "repeated-tool",
    class: Class::Fatal,
    rules: &["LIMIT004"],
    meaning: "two tools are declared with the same name",
    advice: "declare each tool once, with its own name",
    ..Kind::PLAIN
};
