//! What was said: refused, or too much of it.

use super::{Class, Kind};

pub(crate) const CONTENT_FILTERED: Kind = Kind {
    name: "content-filtered",
    class: Class::Filter,
    rules: &[],
    meaning: "the provider's content filter refused what was said",
    advice: "do not send the same again: take out or reword what was refused, also when it is an earlier result",
};

pub(crate) const ANSWER_FILTERED: Kind = Kind {
    name: "answer-filtered",
    class: Class::Filter,
    rules: &[],
    meaning: "the answer was stopped by a content filter",
    advice: "drop the unfinished answer from the conversation, then reword the request or ask another model",
};

pub(crate) const EITHER_FILTERED: Kind = Kind {
    name: "filtered",
    class: Class::Filter,
    rules: &[],
    meaning: "a content filter refused what was asked or what was answered, and does not say which",
    advice: "do not send the same again: drop the unfinished answer, then take out or reword what may have been \
             refused, also when it is an earlier result",
};

pub(crate) const REFUSED: Kind = Kind {
    name: "refused",
    class: Class::Filter,
    rules: &[],
    meaning: "the model refused to answer",
    advice: "drop the unfinished answer from the conversation, then reword the request or ask another model",
};

pub(crate) const CONTEXT_OVERFLOW: Kind = Kind {
    name: "context-overflow",
    class: Class::Overflow,
    rules: &[],
    meaning: "the conversation is longer than the model's context",
    advice: "shorten it: summarise or drop the oldest whole cycles, or ask a model with more context",
};

pub(crate) const BODY_TOO_LARGE: Kind = Kind {
    name: "body-too-large",
    class: Class::Overflow,
    rules: &[],
    meaning: "the request is larger than the provider takes",
    advice: "make it smaller: images and long tool results first, then the oldest whole cycles",
};
