//! Demands of the Responses API, each with the error text that breaking it provokes
//! and where that is known from. Where no source has the text, none is predicted.

use seamline_model::{
    Alphabet, Arguments, Carrier, Constraints, EmptyText, ErrorText, FirstRole, IdDemand, InputForm, ItemIdDemand,
    Joint, LastRole, Limits, Members, NameDemand, OutputForm, PairDemands, PartDemand, ReasoningDemands, SameRole,
    ToolDemands, Uniqueness,
};

/// The demands of OpenAI's own endpoint.
pub const CONSTRAINTS: Constraints = Constraints {
    // OAR-2: calls and results are items; the result is somewhere after its call.
    carrier: Carrier::Items,
    // OAR-2, observed in part (gai#49).
    unanswered: ErrorText("No tool output found for {kind} {id}."),
    // OAR-3, observed (continue#10092).
    orphan: ErrorText("No tool call found for {kind} output with call_id {id}."),
    // OAR-5, from the SDK and Codex; the server's error text is unknown.
    mistyped_result: Some(ErrorText("")),
    // OAR-3: a second result answers no open call. The server's own text is not known.
    duplicate_result: ErrorText("No tool call found for {kind} output with call_id {id}."),
    // OAR-2: one item per result.
    one_result_message: false,
    // Parallel calls are neighbouring items.
    joint_results: Joint::Adjacent,
    // A result is all there is in its item.
    results_first: None,
    // No such demand is known.
    results_alone: None,
    // An item cannot hold what another role says.
    misplaced_call: ErrorText(""),
    // An item cannot hold what another role says.
    misplaced_result: ErrorText(""),
    // Calls of the provider's own tools carry their results.
    unanswered_server: ErrorText(""),
    orphan_server: ErrorText(""),
    pairs: PairDemands {
        // OAR-2: anywhere after its call.
        adjacent: None,
        // OAR-26, from the SDK's types; Codex sends such results (codex#42088).
        unaddressed: true,
        ..PairDemands::NONE
    },
    // Summaries are items of their own here.
    compaction: None,
    // OAR-13, observed (fastllm#45); a live probe found no alphabet (ungate#41).
    call_id: IdDemand {
        alphabet: Alphabet::Any,
        alphabet_error: ErrorText(""),
        length_max: 64,
        length_error: ErrorText(
            "Invalid 'input[{message}].call_id': string too long. Expected a string with maximum length 64, but got a \
             string with length {length} instead.",
        ),
        prefix: super::ID_PREFIXES[0],
        known_prefixes: crate::ID_PREFIXES,
        demanded: true,
    },
    // Two open calls of one id cannot be told apart; ids of other turns were recorded again in chats.
    unique_ids: Uniqueness::Cycle(ErrorText("")),
    // OAC-9 says the pattern; names with a namespace keep it in a member of its own.
    tool_name: NameDemand::WORD,
    // OAR-1: arguments, and the input of custom tools, are strings.
    input: InputForm::Text(ErrorText("")),
    // Empty strings were recorded as accepted in the same server's other dialect.
    empty_text: EmptyText::Accepted,
    // OAR-1: the schema's demand. The text is not known.
    no_messages: ErrorText(""),
    empty_message: None,
    // OAR-1: a message has content.
    null_content: Some(ErrorText("")),
    // There is no list of calls.
    empty_call_list: None,
    // Recorded and accepted: neighbours of one role, the assistant first.
    same_role: SameRole::Accepted,
    first_role: FirstRole::Any,
    last_role: LastRole::Any,
    role_gaps: &[],
    // OAR-1: a result has an output.
    missing_output: Some(ErrorText("")),
    // OAR-14 (codex#33176) knows the start and the length, OAR-15 (langchainjs#11044) the letters; both observed.
    item_id: Some(ITEM_ID),
    // OAR-10, recalled.
    repeated_item: Some(ErrorText(
        "Duplicate item found with id {id}. Remove duplicate items from your input and try again.",
    )),
    // OAR-6, observed (continue#8933); an item that follows without an id was recorded as rejected too.
    dangling_reasoning: Some(ErrorText(
        "Item '{id}' of type 'reasoning' was provided without its required following item.",
    )),
    // OAR-8, observed (CLIProxyAPI#2381), with the server's own quotes.
    lost_item: Some(ErrorText(
        "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` \
         set to true, or remove this item from your input.",
    )),
    // A request says whether the provider keeps items.
    keeps_nothing: false,
    // OAR-17, from the types of the SDK.
    early_trigger: Some(ErrorText("")),
    // OAR-16, recalled.
    part_type: Some(PartDemand {
        assistant: ErrorText("Invalid value: '{kind}'. Supported values are: 'output_text' and 'refusal'."),
        others: ErrorText(
            "Invalid value: '{kind}'. Supported values are: 'input_text', 'input_image', and 'input_file'.",
        ),
    }),
    // OAR-1: images and files are welcome in results.
    text_only_results: None,
    // OAC-21, recalled.
    lone_surrogate: ErrorText("We could not parse the JSON body of your request."),
    // OAC-21, recalled.
    not_json: ErrorText("We could not parse the JSON body of your request."),
    // OAR-1: an output is a string or a list of parts.
    listed_results: None,
    // OpenAI itself takes any string.
    arguments: Arguments::Any,
    // No recorded request shows which members are refused.
    members: Members::Open,
    // OAR-1: items of any role may follow each other.
    role_order: None,
    system_place: None,
    trailing_space: None,
    // Calls of the provider's own tools carry item ids.
    server_id: None,
    // Reasoning is an item here; the item that it belongs to is defined above.
    reasoning: ReasoningDemands::NONE,
    tools: ToolDemands::NONE,
    limits: Limits::NONE,
    // OAR-1: a string or a list of parts.
    output: OutputForm::TextOrList { demanded: true },
    // Results have no sign for failure here.
    empty_failure: None,
    result_name: None,
    // This dialect has no signatures on calls.
    call_signature: None,
    empty_ending: false,
    string_content: None,
};

/// The required form of the ids of items.
pub(crate) const ITEM_ID: ItemIdDemand = ItemIdDemand {
    // OAR-14, observed (codex#33176).
    prefix_error: ErrorText("Invalid 'input[{message}].id': '{id}'. Expected an ID that begins with '{kind}'."),
    // OAR-15, observed (langchainjs#11044).
    alphabet_error: ErrorText(
        "Invalid 'input[{message}].id': '{id}'. Expected an ID that contains letters, numbers, underscores, or \
         dashes, but this value contained additional characters.",
    ),
    // OAR-14 knows the length, not the text.
    length_max: 64,
    length_error: ErrorText(""),
    ending_error: None,
};
