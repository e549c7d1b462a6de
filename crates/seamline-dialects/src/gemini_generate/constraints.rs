//! Demands of generateContent, each with the error text that breaking it provokes and
//! where that is known from.

use seamline_model::{
    Alphabet, Arguments, Carrier, Constraints, EmptyText, ErrorText, FirstRole, IdDemand, InputForm, Joint, LastRole,
    Limits, Members, Models, NameDemand, NameStart, OutputForm, PairDemands, ReasoningDemands, SameRole,
    SignatureDemand, ToolDemands, Uniqueness,
};

use crate::signing::NO_SIGNATURE;

/// The demands of Google's own endpoint.
pub const CONSTRAINTS: Constraints = Constraints {
    // GEM-1: results are parts of a user content.
    carrier: Carrier::UserBlocks,
    // GEM-2, observed (gemini-cli#3814).
    unanswered: UNEQUAL,
    // GEM-4, recalled.
    orphan: ErrorText("Please ensure that function response turn comes immediately after a function call turn."),
    // GEM-2.
    duplicate_result: UNEQUAL,
    // GEM-2: all in one content.
    one_result_message: true,
    // Recorded and accepted: two contents of the model with calls, answered together.
    joint_results: Joint::Adjacent,
    // No order of parts is demanded.
    results_first: None,
    // No such demand is known.
    results_alone: None,
    // GEM-1: only the model makes calls; the text is the one of GEM-3.
    misplaced_call: OUT_OF_ORDER,
    // Its text is not known.
    misplaced_result: ErrorText(""),
    // Code that the model ran is carried along as it is; no error about it is known.
    unanswered_server: ErrorText(""),
    orphan_server: ErrorText(""),
    // No further demands are known.
    pairs: PairDemands::NONE,
    compaction: None,
    // GEM-8: optional, of any form. Google's SDK answers calls with ids without naming them, and no rejection is known.
    call_id: IdDemand {
        demanded: false,
        alphabet: Alphabet::Any,
        alphabet_error: ErrorText(""),
        length_max: usize::MAX,
        length_error: ErrorText(""),
        prefix: super::ID_PREFIXES[0],
        known_prefixes: crate::ID_PREFIXES,
    },
    // GEM-8: calls of one name are told apart by their order.
    unique_ids: Uniqueness::Nowhere,
    // GEM-7, from the SDK; the text is the one of declarations.
    tool_name: NameDemand {
        also: ".:",
        start: NameStart::LetterOrUnderscore,
        length_max: 128,
        error: ErrorText(
            "* GenerateContentRequest.contents[{message}].parts[{block}].function_call.name: Invalid function name. \
             Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots \
             (.), colons (:), or dashes (-), with a maximum length of 128.",
        ),
        ..NameDemand::WORD
    },
    // GEM-1: an object, optional in the SDK. The text is the JSON parser's form.
    input: InputForm::ObjectOrNothing(ErrorText(
        "Invalid value at 'contents[{message}].parts[{block}].function_call.args' \
         (type.googleapis.com/google.protobuf.Struct)",
    )),
    // Recorded and accepted: a part whose text is empty.
    empty_text: EmptyText::Accepted,
    // The schema's demand, recalled.
    no_messages: ErrorText("* GenerateContentRequest.contents: contents is not specified"),
    // GEM-5, observed (ai#3775).
    empty_message: Some(NO_PARTS),
    // GEM-5: no exception is known.
    empty_ending: false,
    // GEM-1: parts are a list. The text is the JSON parser's form.
    string_content: Some(ErrorText(
        "Invalid value at 'contents[{message}].parts' (type.googleapis.com/google.ai.generativelanguage.v1beta.Part)",
    )),
    // GEM-5.
    null_content: Some(NO_PARTS),
    // This dialect has no list of calls.
    empty_call_list: None,
    // Recorded and accepted: contents of one role are joined.
    same_role: SameRole::Accepted,
    // GEM-3, observed (gemini-cli#26486).
    first_role: FirstRole::UserBeforeCalls(OUT_OF_ORDER),
    last_role: LastRole::Any,
    // GEM-6: there are only two roles.
    role_gaps: &[],
    // GEM-1: media are beside the response.
    text_only_results: None,
    // GEM-1: an object. The text is the JSON parser's form.
    output: OutputForm::Object(ErrorText(
        "Invalid value at 'contents[{message}].parts[{block}].function_response.response' \
         (type.googleapis.com/google.protobuf.Struct)",
    )),
    // No such demand is known.
    empty_failure: None,
    // GEM-7, from the code of other clients.
    result_name: Some(ErrorText(
        "* GenerateContentRequest.contents[{message}].parts[{block}].function_response.name: Name cannot be empty.",
    )),
    // No list of results or extra members was seen to be refused.
    listed_results: None,
    // Input is an object and no text.
    arguments: Arguments::Any,
    members: Members::Open,
    role_order: None,
    system_place: None,
    trailing_space: None,
    server_id: None,
    reasoning: ReasoningDemands::NONE,
    // This dialect has no items.
    mistyped_result: None,
    missing_output: None,
    item_id: None,
    repeated_item: None,
    dangling_reasoning: None,
    keeps_nothing: false,
    lost_item: None,
    early_trigger: None,
    part_type: None,
    tools: ToolDemands {
        // GEM-7, from the SDK. Which list of declarations the text would name is not known.
        name: Some(ErrorText("")),
        ..ToolDemands::NONE
    },
    limits: Limits::NONE,
    // GEM-9, documented.
    call_signature: Some(SignatureDemand {
        models: Models(&["gemini-3", "gemini-4"]),
        // ai.google.dev/gemini-api/docs/thought-signatures
        error: ErrorText(
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to work \
             correctly, and missing thought_signature may lead to degraded model performance. Additional data, \
             function call `default_api:{id}` , position {next}.",
        ),
        stand_in: NO_SIGNATURE,
    }),
    // The parser's own text is not known.
    lone_surrogate: ErrorText(""),
    // The parser's own text is not known.
    not_json: ErrorText(""),
};

const UNEQUAL: ErrorText = ErrorText(
    "Please ensure that the number of function response parts is equal to the number of function call parts of the \
     function call turn.",
);

const OUT_OF_ORDER: ErrorText = ErrorText(
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
);

const NO_PARTS: ErrorText =
    ErrorText("* GenerateContentRequest.contents[{message}].parts: contents.parts must not be empty.");
