//! Demands of the Converse API, each with the error text that breaking it provokes and
//! where that is known from.

use seamline_model::{
    Alphabet, Arguments, Carrier, Constraints, EmptyText, ErrorText, FirstRole, IdDemand, InputForm, Joint, LastRole,
    Limits, Members, NameDemand, OutputForm, PairDemands, ReasoningDemands, SameRole, ToolDemands, Uniqueness,
};

/// The demands of Converse on every model.
pub const CONSTRAINTS: Constraints = Constraints {
    // BED-1: results are blocks of a user message.
    carrier: Carrier::UserBlocks,
    // BED-4, observed (agno#6694).
    unanswered: ErrorText("Expected toolResult blocks at messages.{next}.content for the following Ids: {id}"),
    // BED-5, observed in part (pydantic-ai#2327).
    orphan: SURPLUS,
    // BED-5: a second result is one too many.
    duplicate_result: SURPLUS,
    // BED-4: all in the single next user message.
    one_result_message: true,
    // BED-7: roles alternate, so there are no neighbours to be answered together.
    joint_results: Joint::Apart,
    // Converse itself shows no order.
    results_first: None,
    // No such demand is known.
    results_alone: None,
    // ANT-10 as Converse passes it on, recalled.
    misplaced_call: ErrorText(
        "The model returned the following errors: messages.{message}: `tool_use` blocks can only be in `assistant` \
         messages",
    ),
    // ANT-10 as Converse passes it on, recalled.
    misplaced_result: ErrorText(
        "The model returned the following errors: messages.{message}: `tool_result` blocks can only be in `user` \
         messages",
    ),
    // BED-1: a model's own tools pair inside its message; no error about them is known.
    unanswered_server: ErrorText(""),
    orphan_server: ErrorText(""),
    // No further demands are known.
    pairs: PairDemands::NONE,
    compaction: None,
    // BED-2: the service model's alphabet; `functions.get_temperature:0` was recorded as accepted.
    call_id: IdDemand {
        demanded: true,
        alphabet: Alphabet::Dotted,
        alphabet_error: ErrorText(
            "1 validation error detected: Value '{id}' at 'messages.{message}.member.content.{block}.member.toolUse.\
             toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: \
             [a-zA-Z0-9_.:-]+",
        ),
        length_max: 64,
        length_error: ErrorText(
            "1 validation error detected: Value '{id}' at 'messages.{message}.member.content.{block}.member.toolUse.\
             toolUseId' failed to satisfy constraint: Member must have length less than or equal to 64",
        ),
        prefix: super::ID_PREFIXES[0],
        known_prefixes: crate::ID_PREFIXES,
    },
    // BED-5: counted per turn; two calls with one id cannot both be answered.
    unique_ids: Uniqueness::Cycle(ErrorText(
        "The model returned the following errors: messages.{message}.content.{block}: tool_use ids must be unique",
    )),
    // BED-3: the service model.
    tool_name: NameDemand {
        length_max: 64,
        error: ErrorText(
            "1 validation error detected: Value at 'messages.{message}.member.content.{block}.member.toolUse.name' \
             failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
        ),
        ..NameDemand::WORD
    },
    // BED-10, observed (aichat#1550).
    input: InputForm::Object(ErrorText(
        "The format of the value at messages.{message}.content.{block}.toolUse.input is invalid. Provide a json \
         object for the field and try again.",
    )),
    // BED-8, observed (hermes-agent#55092): blank text is fine in results.
    empty_text: EmptyText::RejectedInMessages(ErrorText(
        "The text field in the ContentBlock object at messages.{message}.content.{block} is blank. Add text to the \
         text field, and try again.",
    )),
    // The schema's demand; its text is not known.
    no_messages: ErrorText(""),
    // BED-8, the text in part.
    empty_message: Some(EMPTY_MESSAGE),
    // BED-8: no exception is known.
    empty_ending: false,
    // BED-1: content is a list. The text is the one of an empty list, as no other is known.
    string_content: Some(EMPTY_MESSAGE),
    // BED-8.
    null_content: Some(EMPTY_MESSAGE),
    // This dialect has no list of calls.
    empty_call_list: None,
    // BED-7, from the code of other clients.
    same_role: SameRole::Rejected(ErrorText(
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates \
         between user and assistant roles and try again.",
    )),
    // BED-7 against a recorded request: Claude took an assistant first.
    first_role: FirstRole::Any,
    // Converse itself shows no demand.
    last_role: LastRole::Any,
    // BED-1: which models refuse system messages is not known.
    role_gaps: &[],
    // BED-1: images, documents and videos are welcome in results.
    text_only_results: None,
    // BED-1, BED-10, observed (ai#19023).
    output: OutputForm::List(ErrorText(
        "The format of the value at messages.{message}.content.{block}.toolResult.content.0.json is invalid. Provide \
         a json object for the field and try again.",
    )),
    // BED-9, observed in part.
    empty_failure: Some(ErrorText(
        "The content field at messages.{message}.content.{block}.toolResult cannot be empty when status value is error.",
    )),
    // BED-1: results do not name their tool.
    result_name: None,
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
        // BED-6, observed (dify#17545).
        none_declared: Some(ErrorText(
            "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        )),
        // BED-1: a name and a schema are all that is needed.
        declared_by_name: true,
        ..ToolDemands::NONE
    },
    limits: Limits::NONE,
    // Reasoning has signatures here, and calls have none.
    call_signature: None,
    // The gateway parses JSON before anything else; its text is not known.
    lone_surrogate: ErrorText(""),
    // The parser's own text is not known.
    not_json: ErrorText(""),
};

const SURPLUS: ErrorText = ErrorText(
    "The number of toolResult blocks at messages.{message}.content exceeds the number of toolUse blocks of previous \
     turn.",
);

const EMPTY_MESSAGE: ErrorText = ErrorText(
    "The content field in the Message object at messages.{message} is empty. Add a ContentBlock object to the content \
     field and try again.",
);
