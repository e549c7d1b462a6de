//! Flaws in the frames of a stream and at its end.

use seamline_model::Severity;

use super::{FlawKind, declare_flaw};

declare_flaw! {
    /// # What it does
    /// Finds frames of a stream that are not JSON.
    ///
    /// # Why is this bad?
    /// The content of the frame is lost. The cause is a proxy that cuts long lines, two writers on one connection, or a
    /// gateway that inserts text between events.
    ///
    /// # Example
    /// ```text
    /// data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}
    ///
    /// data: {"id":"c1","object":"chat.comple
    ///
    /// data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
    ///
    /// data: [DONE]
    ///
    /// ```
    ///
    /// # How it is handled
    /// The frame is skipped. It never counts as the end of the stream; the other frames decide the ending.
    STREAM001 "frame-not-json", Error, "a frame is not JSON and was skipped"
}

declare_flaw! {
    /// # What it does
    /// Finds frames that are JSON, but whose shape the dialect does not define.
    ///
    /// # Why is this bad?
    /// The content of the frame may be lost. The cause is a server that follows a dialect loosely. New kinds of events
    /// are not a flaw: they are skipped or kept, as the dialect demands of its clients.
    ///
    /// # Example
    /// ```text
    /// event: message_start
    /// data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}}
    ///
    /// event: content_block_start
    /// data: {"type":"content_block_start","index":0,"content_block":"text"}
    ///
    /// event: message_delta
    /// data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}
    ///
    /// event: message_stop
    /// data: {"type":"message_stop"}
    ///
    /// ```
    ///
    /// # How it is handled
    /// The frame is skipped. It never counts as the end of the stream.
    STREAM002 "odd-frame", Warning, "a frame has a shape that the dialect does not define and was skipped"
}

declare_flaw! {
    /// # What it does
    /// Finds additions to a block that has not begun or is closed.
    ///
    /// # Why is this bad?
    /// The block that the addition belongs to is unknown. The cause is events that were lost or arrived out of order.
    ///
    /// # Example
    /// ```text
    /// event: message_start
    /// data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}}
    ///
    /// event: content_block_start
    /// data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hello"}}
    ///
    /// event: content_block_stop
    /// data: {"type":"content_block_stop","index":0}
    ///
    /// event: content_block_delta
    /// data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" there"}}
    ///
    /// event: message_delta
    /// data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}
    ///
    /// event: message_stop
    /// data: {"type":"message_stop"}
    ///
    /// ```
    ///
    /// # How it is handled
    /// The addition is skipped; it is not added to another block.
    STREAM003 "stray-addition", Error,
    "an addition to a block that has not begun or is closed was skipped"
}

declare_flaw! {
    /// # What it does
    /// Finds a second response in the same stream.
    ///
    /// # Why is this bad?
    /// A client that reads on mixes two responses into one. The cause is a gateway that tries again without starting a
    /// new response.
    ///
    /// # Example
    /// ```text
    /// event: message_start
    /// data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}}
    ///
    /// event: content_block_start
    /// data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hello"}}
    ///
    /// event: message_start
    /// data: {"type":"message_start","message":{"id":"msg_2","type":"message","role":"assistant","content":[]}}
    ///
    /// ```
    ///
    /// # How it is handled
    /// The first message counts, with the ending it had when the second one began.
    STREAM004 "second-message", Error, "a second response follows in the same stream and was not read"
}

declare_flaw! {
    /// # What it does
    /// Finds messages that exceed the limit on bytes or blocks.
    ///
    /// # Why is this bad?
    /// A stream that never ends would take all memory. The limits are far above the output of any model.
    ///
    /// # Example
    /// ```text
    /// A stream of more than 256 MB.
    /// ```
    ///
    /// # How it is handled
    /// Everything up to the limit is kept, the ending is `failed`, and no tool call may be run.
    STREAM010 "message-too-long", Error, "the message is longer than the limit, and the rest was not kept"
}

declare_flaw! {
    /// # What it does
    /// Finds streams whose end lists a different number of blocks than arrived.
    ///
    /// # Why is this bad?
    /// Events were lost, and a client that reads only the events misses a block: a text, or a tool call that is never
    /// run.
    ///
    /// # Example
    /// ```text
    /// data: {"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}
    ///
    /// data: {"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","output":[{"type":"function_call","id":"fc_1","call_id":"call_1","name":"list","arguments":"{}","status":"completed"}]}}
    ///
    /// ```
    ///
    /// # How it is handled
    /// Everything that arrived is kept, and missing blocks are taken from the list at the end.
    STREAM012 "missed-block", Warning, "the end of the stream lists a different number of blocks than arrived"
}

declare_flaw! {
    /// # What it does
    /// Finds half of a surrogate pair whose other half never arrived.
    ///
    /// # Why is this bad?
    /// Characters such as emoji are two escapes in JSON, and servers cut between them. Seamline joins the halves; if
    /// one is missing, part of the text is lost.
    ///
    /// # Example
    /// ```text
    /// data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"Done \ud83d"}}]}
    ///
    /// data: {"id":"c1","choices":[{"index":0,"delta":{"content":"!"}}]}
    ///
    /// data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
    ///
    /// data: [DONE]
    ///
    /// ```
    ///
    /// # How it is handled
    /// U+FFFD replaces the half that arrived, so that the text can be sent back.
    STREAM014 "half-character", Warning, "half of a surrogate pair arrived without its other half"
}

declare_flaw! {
    /// # What it does
    /// Finds responses with an unknown stop reason.
    ///
    /// # Why is this bad?
    /// The stop reason may be new or a gateway's own; it may also mean that the response was cut or filtered. A client
    /// that treats it as a normal end may run tool calls that were not meant.
    ///
    /// # Example
    /// ```text
    /// data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"}}]}
    ///
    /// data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"exhausted"}]}
    ///
    /// data: [DONE]
    ///
    /// ```
    ///
    /// # How it is handled
    /// The response counts as complete if the dialect's final event arrived. The word is in `stop_reason`.
    STREAM015 "unknown-stop", Warning, "the response stopped with an unknown reason"
}

declare_flaw! {
    /// # What it does
    /// Finds a message that begins again in the same stream and repeats everything.
    ///
    /// # Why is this bad?
    /// A gateway that lost its connection and sends the request again sends the start twice. A client that reads on
    /// gets every text twice.
    ///
    /// # Example
    /// ```text
    /// event: message_start
    /// data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}}
    ///
    /// event: content_block_start
    /// data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hel"}}
    ///
    /// event: message_start
    /// data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}}
    ///
    /// event: content_block_start
    /// data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hello"}}
    ///
    /// event: content_block_stop
    /// data: {"type":"content_block_stop","index":0}
    ///
    /// event: message_delta
    /// data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}
    ///
    /// event: message_stop
    /// data: {"type":"message_stop"}
    ///
    /// ```
    ///
    /// # How it is handled
    /// The first attempt is discarded; the message is what arrived after the new start.
    STREAM018 "begun-again", Warning, "the message began again in the same stream and replaced the first attempt"
}

declare_flaw! {
    /// # What it does
    /// Finds JSON values that many parsers reject: half of a surrogate pair as an escape, a number that does not fit a
    /// float, or too many levels of nesting.
    ///
    /// # Why is this bad?
    /// Values around texts and tool calls are copied unchanged. With one such value, another JSON parser rejects the
    /// whole message.
    ///
    /// # Example
    /// ```text
    /// data: {"id":"c1","system_fingerprint":"fp \ud83d","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"}}]}
    ///
    /// data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
    ///
    /// data: [DONE]
    ///
    /// ```
    ///
    /// # How it is handled
    /// U+FFFD replaces half of a surrogate pair. A number that is too large, or a value that is nested too deeply,
    /// becomes a string with its JSON. Texts and the inputs of tool calls are not changed.
    STREAM019 "rewritten-value", Warning, "a value that many JSON parsers reject was rewritten"
}
