//! Flaws in the blocks of a response.

use seamline_model::Severity;

use super::{FlawKind, declare_flaw};

declare_flaw! {
    /// # What it does
    /// Finds tool calls whose input arrived more than once (at the start, in deltas or repeated at the end) with
    /// different content.
    ///
    /// # Why is this bad?
    /// A client that joins the two gets invalid JSON, and the tool call always fails. Some servers of the Anthropic
    /// dialect, such as Kimi's, send both.
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
    /// # How it is handled
    /// `arg_source` decides: the deltas count (`delta_wins`), a delta that continues the start value is joined to it
    /// (`merge_heuristic`), or the first of the two that is an object counts (`parsable_wins`). The provider's
    /// repetition at the end overrides both, if it is JSON.
    STREAM005 "two-inputs", Warning,
    "the input of a tool call arrived twice with different content"
}

declare_flaw! {
    /// # What it does
    /// Finds tool calls whose input is not a JSON object.
    ///
    /// # Why is this bad?
    /// The tool cannot be run with it, and providers that demand an object reject the message. The cause is a tool call
    /// that was cut off, or a weak model.
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
    /// # How it is handled
    /// The tool call keeps the text that arrived, and must not be run.
    STREAM006 "broken-input", Error, "the input of a tool call is not a JSON object, so it must not be run"
}

declare_flaw! {
    /// # What it does
    /// Finds tool calls without a tool name.
    ///
    /// # Why is this bad?
    /// Such a tool call cannot be run, and providers reject the message that holds it.
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
    /// # How it is handled
    /// The tool call is left out of the message.
    STREAM007 "nameless-call", Error, "a tool call has no tool name and was left out"
}

declare_flaw! {
    /// # What it does
    /// Finds tool calls without an id, where the dialect demands one.
    ///
    /// # Why is this bad?
    /// The tool result cannot name its call, and the provider rejects the next request. Servers of local models, such
    /// as Ollama, send no ids and accept requests without them; most providers demand them.
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
    /// # How it is handled
    /// The tool call gets an id, in the message and in the list of calls, made from its place, its tool and its input:
    /// the same stream always gives the same id. Older servers that make a single call in `function_call` need none.
    STREAM008 "call-without-id", Info, "a tool call has no id and was given one"
}

declare_flaw! {
    /// # What it does
    /// Finds a second id, name or start of a block that already has one.
    ///
    /// # Why is this bad?
    /// A client that takes the last one, or joins them, calls a tool that does not exist or answers an unknown id.
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
    /// # How it is handled
    /// The first one counts, unless the provider repeats the whole block at its end: then the repetition counts. The
    /// same id or name again is not a flaw. A tool call with the id of another one is left out if both are identical;
    /// otherwise it must not be run, because only one of them can be answered.
    STREAM009 "repeated-start", Warning,
    "a block got a second id, name or start; the first counts unless the whole block was repeated"
}

declare_flaw! {
    /// # What it does
    /// Finds texts whose deltas differ from the text that the provider repeats at the end.
    ///
    /// # Why is this bad?
    /// A delta was lost or arrived twice. A client that displayed the deltas displayed something that the model did not
    /// write.
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
    /// # How it is handled
    /// The provider's repetition at the end counts.
    STREAM011 "two-texts", Warning,
    "the deltas of a text differ from the text that the provider repeated at the end, which counts"
}

declare_flaw! {
    /// # What it does
    /// Finds incomplete tool calls in a complete response.
    ///
    /// # Why is this bad?
    /// The input of such a tool call can look complete and lack something: the provider marked the call as incomplete,
    /// or an unreadable frame arrived in the middle of the call. A call with only a name is also incomplete if nothing
    /// closed it, or if the response holds input that belongs to no call.
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
    /// # How it is handled
    /// The tool call is kept as far as it arrived, and must not be run.
    STREAM013 "unfinished-call", Error, "a tool call is incomplete, so it must not be run"
}

declare_flaw! {
    /// # What it does
    /// Finds reasoning that was cut before its signature, where the provider accepts it only with a signature.
    ///
    /// # Why is this bad?
    /// Anthropic rejects a request with unsigned thinking, and every later request contains it.
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
    /// # How it is handled
    /// The block is left out of `message`, but is still in the list of blocks. In a complete response it stays, because
    /// servers that do not sign accept it.
    STREAM016 "unsigned-reasoning", Warning, "reasoning has no signature and was left out of the message"
}

declare_flaw! {
    /// # What it does
    /// Finds texts and inputs that arrive as growing snapshots instead of deltas.
    ///
    /// # Why is this bad?
    /// Most servers send only the new part. A client that joins snapshots gets everything many times.
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
    /// # How it is handled
    /// It is taken once. Text counts as snapshots only if several pieces repeat words from its start; an input only if
    /// the last snapshot is an object. Snapshots are never assumed in signed text or free-text input.
    STREAM017 "snapshots", Warning, "a text or an input arrived as growing snapshots, and was taken once"
}

declare_flaw! {
    /// # What it does
    /// Finds blocks of an Anthropic stream that no `content_block_start` began.
    ///
    /// # Why is this bad?
    /// The event was lost, or the server does not send it. The members that it has, such as citations, are unknown, and
    /// other events may be lost with it.
    ///
    /// # Example
    /// ```text
    /// event: message_start
    /// data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}}
    ///
    /// event: content_block_delta
    /// data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}
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
    /// The type of the first delta gives the type of the block, and its content is kept.
    STREAM020 "unbegun-block", Warning, "a block received content, but no event began it"
}
