//! What can be wrong with the frames of a stream and with its end.

use seamline_model::Severity;

use super::{FlawKind, declare_flaw};

declare_flaw! {
    /// # What it does
    /// Finds frames of a stream that are no JSON.
    ///
    /// # Why is this bad?
    /// What stood in the frame is lost. A proxy that cuts long lines, two writers on one connection and text that a
    /// gateway puts between events do it.
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
    /// # What is made of it
    /// The frame is passed over. It is never taken for an end, and the answer keeps the ending that the rest says.
    STREAM001 "frame-not-json", Error, "a frame is no JSON and was passed over"
}

declare_flaw! {
    /// # What it does
    /// Finds frames that are JSON and have another shape than the dialect has.
    ///
    /// # Why is this bad?
    /// What stood in the frame may be lost. Servers that speak a dialect loosely do it. Kinds of events that are new
    /// are no flaw: they are passed over or kept, as the dialect asks of its clients.
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
    /// # What is made of it
    /// The frame is passed over. It is never taken for an end.
    STREAM002 "odd-frame", Warning, "a frame has another shape than the dialect has and was passed over"
}

declare_flaw! {
    /// # What it does
    /// Finds additions to a block that has not begun, or is closed.
    ///
    /// # Why is this bad?
    /// Nobody can say what the addition belongs to. It happens when events were lost on the way or came in another
    /// order.
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
    /// # What is made of it
    /// The addition is passed over; it is put into no other block.
    STREAM003 "stray-addition", Error,
    "something was added to a block that had not begun or was closed, and was passed over"
}

declare_flaw! {
    /// # What it does
    /// Finds a further answer that follows in the same stream.
    ///
    /// # Why is this bad?
    /// Whoever reads on mixes two answers into one. A gateway that tries again without starting a new response does it.
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
    /// # What is made of it
    /// The first message counts, and keeps the ending it had when the further one began.
    STREAM004 "second-message", Error, "a further answer follows in the same stream and is not read"
}

declare_flaw! {
    /// # What it does
    /// Finds messages that are longer, or have more blocks, than the limit.
    ///
    /// # Why is this bad?
    /// Something that never ends would take all memory. The limits are far above what any model writes.
    ///
    /// # Example
    /// ```text
    /// A stream of more than 256 MB.
    /// ```
    ///
    /// # What is made of it
    /// What came up to the limit is kept, the ending is `failed`, and no call may be run.
    STREAM010 "message-too-long", Error, "the message is longer than the limit, and the rest was not kept"
}

declare_flaw! {
    /// # What it does
    /// Finds streams whose end lists another number of blocks than came.
    ///
    /// # Why is this bad?
    /// Events were lost on the way, and whoever went by them missed a block: a text, or a call that nobody runs.
    ///
    /// # Example
    /// ```text
    /// data: {"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}
    ///
    /// data: {"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","output":[{"type":"function_call","id":"fc_1","call_id":"call_1","name":"list","arguments":"{}","status":"completed"}]}}
    ///
    /// ```
    ///
    /// # What is made of it
    /// What came is kept, and what the end lists beside it is taken from there.
    STREAM012 "missed-block", Warning, "the end of the stream lists another number of blocks than came"
}

declare_flaw! {
    /// # What it does
    /// Finds half a character whose other half never came.
    ///
    /// # Why is this bad?
    /// Characters such as emoji are two escapes in JSON, and servers cut between them. The two halves are put together
    /// again; where one is missing, a piece of the text is.
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
    /// # What is made of it
    /// U+FFFD stands for the half that came, so that the text can be sent back.
    STREAM014 "half-character", Warning, "half a character came without its other half"
}

declare_flaw! {
    /// # What it does
    /// Finds answers that stopped with a word nobody here knows.
    ///
    /// # Why is this bad?
    /// The word may be new, or a gateway's own; it may also say that the answer was cut or filtered. Whoever takes it for
    /// an ordinary end may run calls that were never meant.
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
    /// # What is made of it
    /// The answer counts as complete if its end came as the dialect demands. The word is in `stop_reason`.
    STREAM015 "unknown-stop", Warning, "the answer stopped with a word that is not known"
}

declare_flaw! {
    /// # What it does
    /// Finds a message that begins again in the same stream and says everything once more.
    ///
    /// # Why is this bad?
    /// A gateway that lost its connection and asks for the answer again sends its start twice. A reader that goes on
    /// has every text twice.
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
    /// # What is made of it
    /// What came before is forgotten, and the message is what came since it began again.
    STREAM018 "begun-again", Warning, "the message began again in the same stream, and what came before was replaced"
}

declare_flaw! {
    /// # What it does
    /// Finds values that are JSON and that many readers of JSON refuse: half a character as an escape, a number that no
    /// float holds, more levels than they follow.
    ///
    /// # Why is this bad?
    /// What stands around a text or a call is copied as it came. One such value in it, and whoever reads the message
    /// with another library gets nothing of it.
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
    /// # What is made of it
    /// U+FFFD stands for the half that came. A number that is too large, and a value that lies too deep, is a string with
    /// its JSON. Texts and the inputs of calls are as they were.
    STREAM019 "rewritten-value", Warning, "a value that many readers of JSON refuse was written otherwise"
}
