//! Demands of the Interactions API, each with the error text that breaking it provokes and where that is known
//! from. A demand that no source shows has its most lenient value.

use seamline_model::{
    Arguments, Carrier, Constraints, EmptyText, ErrorText, FirstRole, IdDemand, InputForm, Joint, LastRole, Limits,
    Members, NameDemand, NameStart, OutputForm, PairDemands, ReasoningDemands, SameRole, ToolDemands, Uniqueness,
};

/// The demands of Google's own endpoint.
pub const CONSTRAINTS: Constraints = Constraints {
    // google-genai 3.1, types: a call and its result are steps. How far apart they may be is not known.
    carrier: Carrier::Items,
    // Every call is answered: documented for function calling. The server's text for steps is not known.
    unanswered: ErrorText(""),
    // google-genai 3.1, types: a result names the id of a call. The server's text is not known.
    orphan: ErrorText(""),
    // A second result answers no open call. The server's text is not known.
    duplicate_result: ErrorText(""),
    // google-genai 3.1, types: one step for each result.
    one_result_message: false,
    // Parallel calls are neighbouring steps.
    joint_results: Joint::Adjacent,
    // A result is all there is in its step.
    results_first: None,
    results_alone: None,
    // A step cannot hold what another role says.
    misplaced_call: ErrorText(""),
    misplaced_result: ErrorText(""),
    // Steps of the provider's own tools are kept as they are; no error about them is known.
    unanswered_server: ErrorText(""),
    orphan_server: ErrorText(""),
    pairs: PairDemands::NONE,
    compaction: None,
    // google-genai 3.1, types: an id is demanded, and no form of it. The text is not known.
    call_id: IdDemand { prefix: super::ID_PREFIXES[0], known_prefixes: crate::ID_PREFIXES, ..IdDemand::ANY },
    // google-genai 3.1, types: an id is unique. Ids of other turns may repeat: no source shows that they may not.
    unique_ids: Uniqueness::Cycle(ErrorText("")),
    // GEM-7: the provider's demand on names of functions. No error of this API is recorded.
    tool_name: NameDemand {
        also: ".:",
        start: NameStart::LetterOrUnderscore,
        length_max: 128,
        error: ErrorText(""),
        ..NameDemand::WORD
    },
    // google-genai 3.1, types: an object, which is demanded.
    input: InputForm::Object(ErrorText("")),
    // No source shows that empty text is refused.
    empty_text: EmptyText::Accepted,
    // google-genai 3.1, types: there is an input, unless the provider holds the conversation.
    no_messages: ErrorText(""),
    // google-genai 3.1, types: the content of a step is optional.
    empty_message: None,
    empty_ending: false,
    // google-genai 3.1, types: content is a list; no source shows that a string is refused.
    string_content: None,
    // google-genai 3.1, types: content that is there is a list, and a result has an output.
    null_content: Some(ErrorText("")),
    // There is no list of calls.
    empty_call_list: None,
    // No source shows an order of steps beyond calls before their results. A report of an error for a call that comes
    // first (Freyja, wire notes) does not say whether the steps of the same turn before it count.
    same_role: SameRole::Accepted,
    first_role: FirstRole::Any,
    last_role: LastRole::Any,
    role_gaps: &[],
    // google-genai 3.1, types: a result has an output. Observed text (Freyja, wire notes).
    missing_output: Some(RESULT_FORM),
    // Only calls and results have ids.
    mistyped_result: None,
    item_id: None,
    repeated_item: None,
    dangling_reasoning: None,
    lost_item: None,
    keeps_nothing: false,
    early_trigger: None,
    // Contents have the same types in every step.
    part_type: None,
    // google-genai 3.1, types: results may hold media and lists.
    text_only_results: None,
    listed_results: None,
    // Input is an object and no text.
    arguments: Arguments::Any,
    // Unknown members are refused by name (Freyja, wire notes), but which ones are known is not.
    members: Members::Open,
    role_order: None,
    system_place: None,
    trailing_space: None,
    server_id: None,
    // An unsigned thought is refused (js-genai#1735), and so is a call whose thought was left out (Freyja, wire notes):
    // no repair can make a signature, so neither is a demand here.
    reasoning: ReasoningDemands::NONE,
    call_signature: None,
    tools: ToolDemands::NONE,
    limits: Limits::NONE,
    // google-genai 3.1, types: a string, a list of contents or an object. Observed: a number is refused (Freyja, wire
    // notes).
    output: OutputForm::TextOrList { demanded: true },
    // A failure is a flag, and its output may be empty.
    empty_failure: None,
    // Observed (inspect-robots#380), against the types, where the name is optional.
    result_name: Some(ErrorText("Missing name in content of type function_result")),
    // The parser's own text is not known.
    lone_surrogate: ErrorText(""),
    not_json: ErrorText(""),
};

const RESULT_FORM: ErrorText = ErrorText("'result' must be a Struct, FunctionResultSubcontent[], or string");
