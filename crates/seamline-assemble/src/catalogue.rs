//! What can be wrong with a stream, by code: what findings call it and what people are told.

use seamline_model::{Flaw, Severity, Unreadable};

/// One kind of flaw of a stream.
#[derive(Debug, PartialEq, Eq)]
pub struct FlawKind {
    /// Its code, never used again for another kind.
    pub code: &'static str,
    /// Its name.
    pub name: &'static str,
    /// How bad it is: an error when something of the answer is lost or may not be run.
    pub severity: Severity,
    /// What happened, in one clause.
    pub message: &'static str,
    /// Its documentation, in Markdown.
    pub docs: &'static str,
}

/// Declares a kind of flaw. The doc comment is its documentation wherever it is shown.
macro_rules! declare_flaw {
    ($(#[doc = $doc:literal])+ $code:ident $name:literal, $severity:ident, $message:literal) => {
        $(#[doc = $doc])+
        static $code: FlawKind = FlawKind {
            code: stringify!($code),
            name: $name,
            severity: Severity::$severity,
            message: $message,
            docs: concat!($($doc, "\n"),+),
        };
    };
}

/// Every kind of flaw, by code.
pub const FLAWS: &[&FlawKind] = &[
    &STREAM001, &STREAM002, &STREAM003, &STREAM004, &STREAM005, &STREAM006, &STREAM007, &STREAM008, &STREAM009,
    &STREAM010, &STREAM011, &STREAM012, &STREAM013, &STREAM014, &STREAM015, &STREAM016,
];

impl FlawKind {
    /// The kind of a flaw.
    pub fn of(flaw: &Flaw) -> &'static Self {
        match flaw {
            Flaw::Unreadable(Unreadable::NotJson) => &STREAM001,
            Flaw::Unreadable(Unreadable::Shape) => &STREAM002,
            Flaw::Unreadable(Unreadable::Stray) => &STREAM003,
            Flaw::Unreadable(Unreadable::SecondMessage) => &STREAM004,
            Flaw::TwoInputs { .. } => &STREAM005,
            Flaw::BrokenInput { .. } => &STREAM006,
            Flaw::Nameless { .. } => &STREAM007,
            Flaw::NoId { .. } => &STREAM008,
            Flaw::Repeated { .. } => &STREAM009,
            Flaw::TooLong => &STREAM010,
            Flaw::TwoTexts { .. } => &STREAM011,
            Flaw::Unreadable(Unreadable::Count) => &STREAM012,
            Flaw::Unfinished { .. } => &STREAM013,
            Flaw::Half { .. } => &STREAM014,
            Flaw::UnknownStop => &STREAM015,
            Flaw::Unsigned { .. } => &STREAM016,
        }
    }

    /// The first sentence of its documentation.
    pub fn summary(&self) -> String {
        let said = self.docs.lines().map(str::trim).skip_while(|line| line.is_empty() || line.starts_with('#'));
        let text = said.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        match text.split_once(". ") {
            Some((first, _)) => format!("{first}."),
            None => text,
        }
    }
}

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
    /// Finds calls whose input stood where they began and came in pieces as well, and the two differ.
    ///
    /// # Why is this bad?
    /// A reader that joins the two makes a text that is no JSON, and the call fails for ever. Servers that speak the
    /// dialect of Anthropic, among them Kimi's, send both.
    ///
    /// # Example
    /// ```text
    /// event: message_start
    /// data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}}
    ///
    /// event: content_block_start
    /// data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"shell","input":{"command":"ls"}}}
    ///
    /// event: content_block_delta
    /// data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"command\":\"ls -l\"}"}}
    ///
    /// event: content_block_stop
    /// data: {"type":"content_block_stop","index":0}
    ///
    /// event: message_delta
    /// data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}
    ///
    /// event: message_stop
    /// data: {"type":"message_stop"}
    ///
    /// ```
    ///
    /// # What is made of it
    /// `arg_source` decides: the pieces count (`delta_wins`), a piece that goes on from the start is joined to it
    /// (`merge_heuristic`), or the first of the two that is an object counts (`parsable_wins`).
    STREAM005 "two-inputs", Warning,
    "the input of a call stood at its start and came in pieces that say something else"
}

declare_flaw! {
    /// # What it does
    /// Finds calls whose input is no JSON object.
    ///
    /// # Why is this bad?
    /// The tool cannot be run with it, and a message that holds it is rejected by providers that want an object. It is
    /// what is left of a call that was cut, and what weak models write.
    ///
    /// # Example
    /// ```text
    /// data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\": main.rs}"}}]}}]}
    ///
    /// data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
    ///
    /// data: [DONE]
    ///
    /// ```
    ///
    /// # What is made of it
    /// The call is kept with the text that came, and may not be run.
    STREAM006 "broken-input", Error, "the input of a call is no JSON object, so it may not be run"
}

declare_flaw! {
    /// # What it does
    /// Finds calls without the name of a tool.
    ///
    /// # Why is this bad?
    /// Nobody can run such a call, and providers reject the message that holds it.
    ///
    /// # Example
    /// ```text
    /// data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"","arguments":"{}"}}]}}]}
    ///
    /// data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
    ///
    /// data: [DONE]
    ///
    /// ```
    ///
    /// # What is made of it
    /// The call is left out of the message.
    STREAM007 "nameless-call", Error, "a call has no name and was left out"
}

declare_flaw! {
    /// # What it does
    /// Finds calls without an id, where the dialect demands one.
    ///
    /// # Why is this bad?
    /// The result of the call cannot say what it answers, and the next request is rejected. Servers of local models,
    /// Ollama among them, never send ids and expect none; most others do.
    ///
    /// # Example
    /// ```text
    /// data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"type":"function","function":{"name":"list","arguments":"{}"}}]}}]}
    ///
    /// data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
    ///
    /// data: [DONE]
    ///
    /// ```
    ///
    /// # What is made of it
    /// The call gets an id, in the message and in the list of calls, that is made of its place, its tool and its input:
    /// the same stream always gives the same one. Older servers that make a single call in `function_call` need none.
    STREAM008 "call-without-id", Info, "a call came without an id and was given one"
}

declare_flaw! {
    /// # What it does
    /// Finds a second id, name or start where a block had one.
    ///
    /// # Why is this bad?
    /// A reader that takes the last one, or joins them, calls a tool that is not there or answers an id that nobody
    /// gave.
    ///
    /// # Example
    /// ```text
    /// event: message_start
    /// data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}}
    ///
    /// event: content_block_start
    /// data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"list","input":{}}}
    ///
    /// event: content_block_start
    /// data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"list_all","input":{}}}
    ///
    /// event: message_delta
    /// data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}
    ///
    /// event: message_stop
    /// data: {"type":"message_stop"}
    ///
    /// ```
    ///
    /// # What is made of it
    /// The first one counts, unless the provider repeats the whole block at its end: then what stands there does. The
    /// same id or name again says nothing and is no flaw.
    STREAM009 "repeated-start", Warning,
    "a second id, name or start came where a block had one; the first counts unless the whole block was repeated"
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
    /// Finds texts that came in pieces and were repeated by the provider at the end, and the two differ.
    ///
    /// # Why is this bad?
    /// A piece was lost on the way, or came twice. Whoever showed the pieces showed something that the model did not
    /// say.
    ///
    /// # Example
    /// ```text
    /// data: {"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}
    ///
    /// data: {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"It is here."}
    ///
    /// data: {"type":"response.output_text.done","item_id":"msg_1","output_index":0,"content_index":0,"text":"It is not here."}
    ///
    /// data: {"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","output":[]}}
    ///
    /// ```
    ///
    /// # What is made of it
    /// What the provider repeated at the end counts.
    STREAM011 "two-texts", Warning,
    "a text that came in pieces is not the one that the provider repeated at the end, which counts"
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
    /// Finds calls of a complete answer that are not complete themselves.
    ///
    /// # Why is this bad?
    /// The input of such a call can look whole and lack something: the provider left the call unfinished, or a frame
    /// that could not be read came while the call was coming and may have been a piece of it.
    ///
    /// # Example
    /// ```text
    /// data: {"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}
    ///
    /// data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"remove","arguments":"","status":"in_progress"}}
    ///
    /// data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"remove","arguments":"{\"path\":\"/\"}","status":"incomplete"}}
    ///
    /// data: {"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","output":[{"type":"function_call","id":"fc_1","call_id":"call_1","name":"remove","arguments":"{\"path\":\"/\"}","status":"incomplete"}]}}
    ///
    /// ```
    ///
    /// # What is made of it
    /// The call is kept as far as it came, and may not be run.
    STREAM013 "unfinished-call", Error, "not all of a call came, so it may not be run"
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
    /// Finds reasoning that was cut before it was signed, where it can be sent back only with its signature.
    ///
    /// # Why is this bad?
    /// Anthropic refuses a request whose thinking has no signature, and every request that follows has it.
    ///
    /// # Example
    /// ```text
    /// event: message_start
    /// data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}}
    ///
    /// event: content_block_start
    /// data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
    ///
    /// event: content_block_delta
    /// data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me see"}}
    ///
    /// ```
    ///
    /// # What is made of it
    /// The block is left out of `message`; what it said is still among the blocks that are shown. In an answer that is
    /// complete it stays: servers that sign nothing take it back as it is.
    STREAM016 "unsigned-reasoning", Warning, "reasoning came without its signature and was left out of the message"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_every_kind_says_what_it_is() {
        for (index, kind) in FLAWS.iter().enumerate() {
            assert_eq!(kind.code, format!("STREAM{:03}", index + 1));
            assert!(kind.docs.starts_with(" # What it does\n"), "{}", kind.code);
            assert!(kind.summary().ends_with('.'), "{}", kind.summary());
            assert!(!kind.message.ends_with('.'), "{}", kind.message);
        }
    }
}
