//! The provider, the network, the account, the request's settings.

use super::{Class, Kind, fatal, transient};

pub(crate) const RATE_LIMITED: Kind = transient(
    "rate-limited",
    "too many requests or tokens in too short a time",
    "wait, then send the same request again",
);

pub(crate) const OVERLOADED: Kind = transient(
    "overloaded",
    "the provider has more to do than it can",
    "send the same request again, waiting longer each time",
);

pub(crate) const SERVER_FAILED: Kind = transient(
    "server-failed",
    "something failed on the provider's side",
    "send the same request again, waiting longer each time",
);

pub(crate) const NETWORK_FAILED: Kind = transient(
    "network-failed",
    "the connection failed or took too long",
    "send the same request again; a half-received answer does not belong in the conversation",
);

pub(crate) const CUT_STREAM: Kind = transient(
    "cut-stream",
    "the answer ended before it was finished",
    "drop the unfinished answer and send the same request again",
);

pub(crate) const MALFORMED_CALL: Kind = transient(
    "malformed-call",
    "the model wrote a tool call that cannot be read",
    "send the same request again and keep the failed answer out of the conversation; if it comes back, look at the \
     names and schemas of the tools",
);

pub(crate) const CONVERSATION_BUSY: Kind = transient(
    "conversation-busy",
    "another request works on the same conversation",
    "send the same request again in a few seconds",
);

pub(crate) const OUT_OF_QUOTA: Kind = fatal(
    "out-of-quota",
    "the account's quota, credit or spending limit is used up",
    "raise the limit or add credit; trying again does not help",
);

pub(crate) const NOT_ALLOWED: Kind =
    fatal("not-allowed", "the key is not valid or may not do this", "check the key, its permissions and the account");

pub(crate) const NOT_FOUND: Kind = fatal(
    "not-found",
    "the model, deployment or address does not exist for this account",
    "check the name of the model and the address of the endpoint",
);

pub(crate) const UNSUPPORTED_SETTING: Kind = fatal(
    "unsupported-setting",
    "the request has a setting that this model does not take",
    "change the setting that the error names; the conversation is not at fault",
);

pub(crate) const UNSUPPORTED_FEATURE: Kind = fatal(
    "unsupported-feature",
    "this model cannot do what the request asks for, such as calling tools",
    "ask a model that can, or leave the feature out of the request",
);

pub(crate) const TOOL_DECLARATION: Kind = Kind {
    name: "tool-declaration",
    class: Class::Fatal,
    rules: &["LIMIT006", "IDENT005", "IDENT011"],
    meaning: "a tool is declared with a name or a schema that the provider does not take",
    advice: "change the declaration of the tool; where the conversation calls it, the new name goes there too",
};

pub(crate) const UNKNOWN_TOOL: Kind = Kind {
    name: "unknown-tool",
    class: Class::Fatal,
    rules: &["LIMIT005"],
    meaning: "the request names a tool that it does not declare",
    advice: "declare the tool, or choose another one",
};

pub(crate) const REPEATED_TOOL: Kind = Kind {
    name: "repeated-tool",
    class: Class::Fatal,
    rules: &["LIMIT004"],
    meaning: "two tools are declared under one name",
    advice: "declare each tool once, under a name of its own",
};
