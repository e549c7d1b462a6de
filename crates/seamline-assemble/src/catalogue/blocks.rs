//! What can be wrong with the blocks of an answer.

use seamline_model::Severity;

use super::{FlawKind, declare_flaw};

declare_flaw! {
    /// # What it does
    /// Finds calls whose input came twice, where they began, in pieces or repeated at the end, and not as the same.
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
    /// (`merge_heuristic`), or the first of the two that is an object counts (`parsable_wins`). What the provider repeats
    /// at the end counts before both, if it is JSON.
    STREAM005 "two-inputs", Warning,
    "the input of a call came twice, and not as the same"
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
    /// The first one counts, unless the provider repeats the whole block at its end: then what stands there does. The
    /// same id or name again says nothing and is no flaw. A call that has the id of another one is left out if it is the
    /// same call once more, and else may not be run: only one of them can be answered.
    STREAM009 "repeated-start", Warning,
    "a second id, name or start came where a block had one; the first counts unless the whole block was repeated"
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
    /// Finds calls of a complete answer that are not complete themselves.
    ///
    /// # Why is this bad?
    /// The input of such a call can look whole and lack something: the provider left the call unfinished, or a frame
    /// that could not be read came while the call was coming and may have been a piece of it. A call that nothing came
    /// of but its name is not whole either where nothing closed it, or where the same answer has input of no call.
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

declare_flaw! {
    /// # What it does
    /// Finds texts and inputs that came again and again, each time with more.
    ///
    /// # Why is this bad?
    /// Most servers send what is new. A reader that joins what this one sends has everything many times over; one that
    /// takes it once has guessed.
    ///
    /// # Example
    /// ```text
    /// data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"I will"}}]}
    ///
    /// data: {"id":"c1","choices":[{"index":0,"delta":{"content":"I will look"}}]}
    ///
    /// data: {"id":"c1","choices":[{"index":0,"delta":{"content":"I will look at it"}}]}
    ///
    /// data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
    ///
    /// data: [DONE]
    ///
    /// ```
    ///
    /// # What is made of it
    /// It is taken once. Text is taken so only where several pieces repeat words from its start, an input where it is
    /// an object so. Text that is signed and input that is no JSON are never guessed about.
    STREAM017 "snapshots", Warning, "a text or an input came again and again with more, and was taken once"
}
