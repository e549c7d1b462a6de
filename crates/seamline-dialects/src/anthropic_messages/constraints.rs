//! What the Messages API demands, each with the error text that breaking it provokes
//! and where that is known from.

use seamline_model::{
    Alphabet, Arguments, Carrier, Constraints, Echo, EmptyText, ErrorText, FirstRole, IdDemand, InputForm, LastRole,
    Limit, Limits, Members, Models, NameDemand, NameStart, OutputForm, ReasoningDemands, SameRole, SystemPlace,
    ToolDemands, Uniqueness,
};

/// What Anthropic's own endpoint demands.
pub const CONSTRAINTS: Constraints = Constraints {
    // ANT-2: there is no tool role; results are blocks of a user message.
    carrier: Carrier::UserBlocks,
    // ANT-5, observed (claude-code#2697).
    unanswered: ErrorText(
        "messages.{message}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each \
         `tool_use` block must have a corresponding `tool_result` block in the next message.",
    ),
    // ANT-6, observed (claude-code#13460).
    orphan: ErrorText(
        "messages.{message}.content.{block}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
         `tool_result` block must have a corresponding `tool_use` block in the previous message.",
    ),
    // Calls have no types here.
    mistyped_result: None,
    // ANT-7, observed in part.
    duplicate_result: ErrorText(
        "messages.{message}.content.{block}: each tool_use must have a single result. Found multiple `tool_result` \
         blocks with id: {id}",
    ),
    // ANT-5: in the immediately next message. Vertex and Bedrock were seen to reject a split.
    one_answer_message: true,
    // Recorded and accepted: two assistant messages with calls, answered together.
    joint_answers: true,
    // ANT-9, documented: the error is the one of an unanswered call.
    results_first: Some(ErrorText(
        "messages.{message}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each \
         `tool_use` block must have a corresponding `tool_result` block in the next message.",
    )),
    // No such demand is known.
    results_alone: None,
    // ANT-10, recalled.
    misplaced_call: ErrorText("messages.{message}: `tool_use` blocks can only be in `assistant` messages"),
    // ANT-10, recalled.
    misplaced_result: ErrorText("messages.{message}: `tool_result` blocks can only be in `user` messages"),
    // ANT-35, documented.
    unanswered_server: ErrorText(
        "messages.{message}: `{kind}` tool use with id `{id}` was found without a corresponding `{kind}_tool_result` \
         block",
    ),
    // ANT-36, observed (claude-code#64383).
    orphan_server: ErrorText(
        "messages.{message}.content.{block}: unexpected `tool_use_id` found in `{kind}` blocks: {id}. Each `{kind}` \
         block must have a corresponding `server_tool_use` block before it.",
    ),
    // ANT-20, observed (command-code#323). No length is known; longer ones than 64 are not safe elsewhere.
    call_id: IdDemand {
        demanded: true,
        alphabet: Alphabet::Word,
        alphabet_error: ErrorText(
            "messages.{message}.content.{block}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
        length_max: usize::MAX,
        length_error: ErrorText(""),
        prefix: super::ID_PREFIXES[0],
        known_prefixes: crate::ID_PREFIXES,
    },
    // ANT-8: rejected inside one message (claude-code#20700); recorded as accepted across turns.
    unique_ids: Uniqueness::Cycle(ErrorText("messages.{message}.content.{block}: tool_use ids must be unique")),
    // ANT-21, observed.
    tool_name: NameDemand {
        length_max: 128,
        error: ErrorText(
            "messages.{message}.content.{block}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        ),
        ..NameDemand::WORD
    },
    // ANT-3: an object, always.
    input: InputForm::Object(ErrorText(
        "messages.{message}.content.{block}.tool_use.input: Input should be a valid dictionary",
    )),
    // ANT-16, observed (litellm#22979).
    empty_text: EmptyText::Rejected(ErrorText("messages: text content blocks must be non-empty")),
    // The text is the API's for an empty list, recalled.
    no_messages: ErrorText("messages: at least one message is required"),
    // ANT-18, recalled: the final assistant message may be empty.
    empty_message: Some(ErrorText(
        "messages.{message}: all messages must have non-empty content except for the optional final assistant message",
    )),
    // ANT-18.
    empty_ending: true,
    // ANT-1: a string is fine.
    string_content: None,
    // ANT-1: content is a string or a list.
    null_content: Some(ErrorText("messages.{message}.content: Input should be a valid list")),
    // This dialect has no list of calls.
    empty_call_list: None,
    // ANT-11, documented: joined by the server.
    same_role: SameRole::Accepted,
    // Recorded and accepted: assistant first.
    first_role: FirstRole::Any,
    // ANT-13, documented: Claude 4.6 and later.
    last_role: LastRole::NotAssistant {
        models: NO_PREFILL,
        error: ErrorText(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ),
    },
    // ANT-15: system messages are known to newer models; which refuse them is not.
    role_gaps: &[],
    // Recorded and accepted: results without content.
    missing_output: None,
    // This dialect has no items.
    item_id: None,
    repeated_item: None,
    dangling_reasoning: None,
    keeps_nothing: false,
    lost_item: None,
    early_trigger: None,
    part_type: None,
    // ANT-2: images and documents are welcome in results.
    text_only_results: None,
    listed_results: None,
    // ANT-3: input is an object and no text.
    arguments: Arguments::Any,
    // ANT-4, documented: every object is closed.
    members: Members::Closed {
        known: &[],
        error: ErrorText("messages.{message}.{id}: Extra inputs are not permitted"),
        in_block: ErrorText("messages.{message}.content.{block}.{kind}.{id}: Extra inputs are not permitted"),
    },
    role_order: None,
    // ANT-15, documented for these models, and recorded. The text is not known.
    system_place: Some(SystemPlace {
        models: Models(&["opus-4-8", "opus-5", "fable", "mythos"]),
        error: ErrorText(""),
    }),
    // ANT-14, in the SDK's code.
    trailing_space: Some(ErrorText("messages: final assistant content cannot end with trailing whitespace")),
    // ANT-22, observed.
    server_id: Some(ErrorText(
        "messages.{message}.content.{block}.server_tool_use.id: String should match pattern \
         '^srvtoolu_[a-zA-Z0-9_]+$'",
    )),
    reasoning: ReasoningDemands {
        echo: Echo::Free,
        // ANT-23, ANT-25: a thinking block has its signature; the text was seen in other clients' reports.
        unsigned: Some(ErrorText("messages.{message}.content.{block}.thinking.signature: Field required")),
        // ANT-26, observed (opencode#3077), with the server's own spelling.
        leading: Some(ErrorText(
            "messages.{message}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{kind}`. When \
             `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the \
             lastmost set of `tool_use` and `tool_result` blocks).",
        )),
        // Signatures are its own.
        signed: None,
        // Case 49, observed (forgecode#1853).
        ending: Some(ErrorText(
            "When thinking is disabled, an `assistant` message in the final position cannot contain \
             `thinking`.",
        )),
    },
    tools: ToolDemands {
        // ANT-44: the API itself was seen to be tolerant.
        none_declared: None,
        declared_by_name: false,
        empty_list: None,
        // ANT-21: names are unique. The text is recalled.
        repeated: Some(ErrorText("tools: Tool names must be unique.")),
        cache_mark: None,
        unknown_choice: None,
        // ANT-21, observed.
        name: Some(ErrorText("tools.{block}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")),
        start: NameStart::Any,
        never: "",
    },
    limits: Limits {
        // ANT-67, recalled.
        cache_marks: Some(Limit {
            max: 4,
            error: ErrorText("A maximum of 4 blocks with cache_control may be provided. Found {length}."),
        }),
    },
    // ANT-2: a result may have no content.
    output: OutputForm::TextOrList { demanded: false },
    // No such demand is known.
    empty_failure: None,
    // Results do not name their tool here.
    result_name: None,
    // Signatures stand on thinking here, not on calls.
    call_signature: None,
    // ANT-19, observed (claude-code#60394).
    lone_surrogate: ErrorText("The request body is not valid JSON: no low surrogate in string"),
    // ANT-19.
    not_json: ErrorText("The request body is not valid JSON"),
};

/// The models that do not continue a message of the assistant.
pub(crate) const NO_PREFILL: Models = Models(&[
    "opus-4-6",
    "sonnet-4-6",
    "opus-4-7",
    "sonnet-4-7",
    "opus-4-8",
    "opus-5",
    "sonnet-5",
    "haiku-5",
    "fable",
    "mythos",
]);
