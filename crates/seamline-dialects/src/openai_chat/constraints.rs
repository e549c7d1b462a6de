//! Demands of Chat Completions, each with the error text that breaking it provokes
//! and where that is known from.

use seamline_model::{
    Alphabet, Arguments, Carrier, Constraints, Echo, EmptyText, ErrorText, FirstRole, IdDemand, InputForm, Joint,
    LastRole, Limits, Members, Models, NameDemand, NameStart, OutputForm, PairDemands, ReasoningDemands, Role, RoleGap,
    SameRole, ToolDemands, Uniqueness,
};

/// The demands of OpenAI's own endpoint.
pub const CONSTRAINTS: Constraints = Constraints {
    // OAC-1: each result is a message with the role `tool`.
    carrier: Carrier::ToolMessages,
    // OAC-2, observed (litellm#10083).
    unanswered: ErrorText(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. \
         The following tool_call_ids did not have response messages: {id}",
    ),
    // OAC-3, observed, with the server's own spelling (morphic#136).
    orphan: ErrorText(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    ),
    // Calls have no types here.
    mistyped_result: None,
    // OAC-3: a second result answers no open call. The server's own text is not known.
    duplicate_result: ErrorText(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    ),
    // OAC-2: one message per result.
    one_result_message: false,
    // OAC-2: tool messages follow the very message that makes the calls.
    joint_results: Joint::Apart,
    // A tool message holds nothing but its result.
    results_first: None,
    // No such demand is known.
    results_alone: None,
    // OAC-1: only the assistant has `tool_calls`. The text is the schema's.
    misplaced_call: ErrorText("Invalid parameter: only messages with role 'assistant' can have 'tool_calls'."),
    // A result is a message of its own here.
    misplaced_result: ErrorText(""),
    // This dialect has no calls that the provider runs itself.
    unanswered_server: ErrorText(""),
    orphan_server: ErrorText(""),
    // No further demands are known.
    pairs: PairDemands::NONE,
    compaction: None,
    // OAC-5, observed (opencode#12653): 40 is the safe bound; no alphabet is enforced.
    call_id: IdDemand {
        demanded: true,
        alphabet: Alphabet::Any,
        alphabet_error: ErrorText("Missing required parameter: 'messages[{message}].tool_calls[{block}].id'."),
        length_max: 40,
        length_error: ErrorText(
            "Invalid 'messages[{message}].tool_calls[{block}].id': string too long. Expected a string with maximum length 40, but got \
             a string with length {length} instead.",
        ),
        prefix: super::ID_PREFIXES[0],
        known_prefixes: crate::ID_PREFIXES,
    },
    // Seen with compatible servers as "duplicate tool_call_id"; ids repeat across turns in recorded chats.
    unique_ids: Uniqueness::Cycle(ErrorText(
        "Invalid parameter: duplicate tool_call_id '{id}' in 'messages[{message}].tool_calls'.",
    )),
    // OAC-9: the SDK's own statement of the pattern.
    tool_name: NameDemand {
        length_max: 64,
        error: ErrorText(
            "Invalid 'messages[{message}].tool_calls[{block}].function.name': string does not match pattern. Expected \
             a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
        ),
        ..NameDemand::WORD
    },
    // OAC-1: arguments are a string.
    input: InputForm::Text(ErrorText(
        "Invalid type for 'messages[{message}].tool_calls[{block}].function.arguments': expected a string.",
    )),
    // Empty strings were recorded as accepted.
    empty_text: EmptyText::Accepted,
    // The schema's demand; the text has the form of OAC-7.
    no_messages: ErrorText(
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    ),
    // OAC-10: no demand is known beyond OAC-8.
    empty_message: None,
    // OAC-10: no message is refused for being empty.
    empty_ending: true,
    // OAC-1: a string is the usual form.
    string_content: None,
    // OAC-8: null only beside calls.
    null_content: Some(ErrorText("Invalid value for 'content': expected a string, got null.")),
    // OAC-7, observed (openai-node#1341).
    empty_call_list: Some(ErrorText(
        "Invalid 'messages[{message}].tool_calls': empty array. Expected an array with minimum length 1, but got an \
         empty array instead.",
    )),
    // OAC-10: no alternation.
    same_role: SameRole::Accepted,
    first_role: FirstRole::Any,
    last_role: LastRole::Any,
    // Recorded and rejected: `developer` to o1-mini. OAC-22: `system` in the same words.
    role_gaps: &[
        RoleGap {
            role: Role::Developer,
            instead: Role::User,
            models: Models(&["o1-mini", "o1-preview"]),
            error: ErrorText(
                "Unsupported value: 'messages[{message}].role' does not support 'developer' with this model.",
            ),
        },
        RoleGap {
            role: Role::System,
            instead: Role::User,
            models: Models(&["o1-mini", "o1-preview"]),
            error: ErrorText(
                "Unsupported value: 'messages[{message}].role' does not support 'system' with this model.",
            ),
        },
    ],
    // OAC-1: content is required.
    missing_output: Some(ErrorText("Invalid value for 'content': expected a string, got null.")),
    // This dialect has no items.
    item_id: None,
    repeated_item: None,
    dangling_reasoning: None,
    keeps_nothing: false,
    lost_item: None,
    early_trigger: None,
    part_type: None,
    // OAC-1: text parts only.
    text_only_results: Some(ErrorText(
        "Invalid 'messages[{message}].content': messages with role 'tool' can only contain text content.",
    )),
    // OAC-1: a string or a list of text parts.
    listed_results: None,
    // OpenAI itself takes any string.
    arguments: Arguments::Any,
    // OAC-11, inferred: no text is known with which OpenAI refuses members.
    members: Members::Open,
    // OAC-10: no order of roles beyond calls and their results.
    role_order: None,
    system_place: None,
    trailing_space: None,
    // This dialect has no calls that the provider runs itself.
    server_id: None,
    // OAC-11: the dialect does not define reasoning. These members belong to other programs; others were not seen to be
    // refused. The words are those for members that OpenAI does not know.
    reasoning: ReasoningDemands {
        echo: Echo::Refused {
            fields: &["thinking", "thinkingSignature"],
            partly: &[],
            instead: None,
            error: ErrorText("Unknown parameter: 'messages[{message}].{kind}'."),
        },
        ..ReasoningDemands::NONE
    },
    tools: ToolDemands {
        // Recorded and accepted: calls in the conversation, no tools in the request.
        none_declared: None,
        declared_by_name: false,
        // OAC-7, for `tools` as for `tool_calls`.
        empty_list: Some(ErrorText(
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        )),
        repeated: None,
        cache_mark: None,
        unknown_choice: None,
        unknown_reference: None,
        // OAC-9.
        name: Some(ErrorText(
            "Invalid 'tools[{block}].function.name': string does not match pattern. Expected a string that matches the \
             pattern '^[a-zA-Z0-9_-]+$'.",
        )),
        start: NameStart::Any,
        never: "",
    },
    limits: Limits::NONE,
    // OAC-1: a tool message has content.
    output: OutputForm::TextOrList { demanded: true },
    // Results have no sign for failure here.
    empty_failure: None,
    // OAC-1: the name is optional.
    result_name: None,
    // This dialect has no signatures.
    call_signature: None,
    // OAC-21, recalled.
    lone_surrogate: ErrorText("We could not parse the JSON body of your request."),
    // OAC-21, recalled.
    not_json: ErrorText("We could not parse the JSON body of your request."),
};

/// The demands of a server that speaks Chat Completions and is not OpenAI's, as far as nothing
/// else is known of it. The words of OpenAI are not its own, so none are predicted.
pub const COMPATIBLE: Constraints = Constraints {
    // OAC-2: what the dialect means; in which words others refuse it is not known.
    unanswered: ErrorText(""),
    // OAC-3: what the dialect means; in which words others refuse it is not known.
    orphan: ErrorText(""),
    // OAC-3: what the dialect means; in which words others refuse it is not known.
    duplicate_result: ErrorText(""),
    // OAC-1: only the assistant has `tool_calls`.
    misplaced_call: ErrorText(""),
    // OAC-5 was seen with OpenAI and Azure alone: a call has an id, of any length.
    call_id: IdDemand {
        alphabet_error: ErrorText(""),
        length_max: usize::MAX,
        length_error: ErrorText(""),
        ..CONSTRAINTS.call_id
    },
    // Seen with compatible servers as "duplicate tool_call_id"; ids repeat across turns in recorded chats.
    unique_ids: Uniqueness::Cycle(ErrorText("")),
    // OAC-9: the SDK's own statement of the pattern.
    tool_name: NameDemand::WORD,
    // OAC-1: arguments are a string.
    input: InputForm::Text(ErrorText("")),
    // OAC-1: the schema's demand.
    no_messages: ErrorText(""),
    // OAC-8: null only beside calls.
    null_content: Some(ErrorText("")),
    // OAC-7 was seen with OpenAI and Azure alone.
    empty_call_list: None,
    // Only some models of OpenAI reject a role.
    role_gaps: &[],
    // OAC-1: content is required.
    missing_output: Some(ErrorText("")),
    // OAC-1: text parts only.
    text_only_results: Some(ErrorText("")),
    // Some servers read members that OpenAI does not define.
    reasoning: ReasoningDemands::NONE,
    // OAC-7 was seen with OpenAI and Azure alone, and for `tools` recorded as accepted elsewhere.
    tools: ToolDemands::NONE,
    // OAC-21: half of a pair is not a character; the words of the error differ.
    lone_surrogate: ErrorText(""),
    // OAC-21: the body is JSON.
    not_json: ErrorText(""),
    ..CONSTRAINTS
};
