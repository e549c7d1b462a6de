//! Errors about content: it was filtered, refused or too long.

use super::{Class, Kind};

pub(crate) const CONTENT_FILTERED: Kind = Kind {
    name: "content-filtered",
    class: Class::Filter,
    meaning: "the provider's content filter blocked the request",
    advice: "do not send the same request again: remove or reword the blocked content; it may be an earlier tool result",
    ..Kind::PLAIN
};

pub(crate) const RESPONSE_FILTERED: Kind = Kind {
    name: "response-filtered",
    class: Class::Filter,
    meaning: "a content filter stopped the response",
    advice: "drop the unfinished response from the conversation, then reword the request or use another model",
    ..Kind::PLAIN
};

pub(crate) const EITHER_FILTERED: Kind = Kind {
    name: "filtered",
    class: Class::Filter,
    meaning: "a content filter blocked the request or the response, and does not say which",
    advice: "do not send the same request again: drop the unfinished response, then remove or reword the content that \
             may be blocked; it may be an earlier tool result",
    ..Kind::PLAIN
};

pub(crate) const REFUSED: Kind = Kind {
    name: "refused",
    class: Class::Filter,
    meaning: "the model refused the request",
    advice: "drop the unfinished response from the conversation, then reword the request or use another model",
    ..Kind::PLAIN
};

pub(crate) const CONTEXT_OVERFLOW: Kind = Kind {
    name: "context-overflow",
    class: Class::Overflow,
    meaning: "the conversation is longer than the model's context window",
    advice: "shorten it: summarise or drop the oldest complete tool cycles, or use a model with a larger context window",
    ..Kind::PLAIN
};

pub(crate) const BODY_TOO_LARGE: Kind = Kind {
    name: "body-too-large",
    class: Class::Overflow,
    meaning: "the request is larger than the provider accepts",
    advice: "make it smaller: images and long tool results first, then the oldest complete tool cycles",
    ..Kind::PLAIN
};
