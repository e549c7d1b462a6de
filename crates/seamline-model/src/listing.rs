//! A provider's demands, in words.

use crate::{
    Alphabet, Arguments, Carrier, CompactionDemand, Constraints, Echo, EmptyText, ErrorText, FirstRole, IdDemand,
    InputForm, Joint, LastRole, Limits, Members, Models, NameDemand, NameStart, OutputForm, PairDemands,
    ReasoningDemands, SameRole, ToolDemands, Uniqueness,
};

/// One demand of a provider, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// The field of [`Constraints`] that holds it; a part of a field comes after a dot.
    pub field: &'static str,
    /// The demand, in one clause.
    pub says: String,
    /// The error text for breaking it, with `{name}` as placeholders; `None` if unknown.
    pub error: Option<&'static str>,
}

impl Constraints {
    /// All demands, in words. Omits what the provider does not demand.
    pub fn demands(&self) -> Vec<Demand> {
        let mut list = List(Vec::new());
        list.pairing(self);
        list.ids(self);
        list.shape(self);
        list.order(self);
        list.reasoning(&self.reasoning);
        list.tools(&self.tools, &self.limits);
        list.bytes(self);
        list.0
    }
}

/// The demands listed so far.
struct List(Vec<Demand>);

impl List {
    fn add(&mut self, field: &'static str, says: impl Into<String>, error: ErrorText) {
        let error = Some(error.0).filter(|text| !text.is_empty());
        self.0.push(Demand { field, says: says.into(), error });
    }

    fn add_some(&mut self, field: &'static str, says: &str, error: Option<ErrorText>) {
        if let Some(error) = error {
            self.add(field, says, error);
        }
    }

    fn fact(&mut self, field: &'static str, says: &str, holds: bool) {
        if holds {
            self.add(field, says, ErrorText(""));
        }
    }

    fn pairing(&mut self, demands: &Constraints) {
        let carried = match demands.carrier {
            Carrier::UserBlocks => "tool results are blocks of a user message",
            Carrier::ToolMessages => "each tool result is a message with the role `tool`",
            Carrier::Items => "tool calls and tool results are separate items",
        };
        self.fact("carrier", carried, true);
        self.add("unanswered", "every tool call is answered right after it", demands.unanswered);
        self.add("orphan", "every tool result answers an earlier tool call", demands.orphan);
        self.add("duplicate_result", "a tool call has one result", demands.duplicate_result);
        self.add_some("mistyped_result", "a tool result has the type that its call needs", demands.mistyped_result);
        let says = "reasoning with an id is followed by the item it belongs to";
        self.add_some("dangling_reasoning", says, demands.dangling_reasoning);
        if let Some(demand) = demands.call_signature {
            let says = format!("the first tool call of a turn is signed, for models {}", quoted(demand.models.0));
            self.add("call_signature", says, demand.error);
        }
        self.fact(
            "one_result_message",
            "all results of one message's tool calls are in one message",
            demands.one_result_message,
        );
        let says = match demands.joint_results {
            Joint::Merged => {
                "adjacent assistant messages are one: their tool calls are answered after the last of them"
            }
            Joint::Adjacent | Joint::Apart => "tool calls of adjacent messages may be answered together after the last",
        };
        self.fact("joint_results", says, demands.joint_results != Joint::Apart);
        self.add_some(
            "results_first",
            "tool results come before anything else in their message",
            demands.results_first,
        );
        self.add_some("results_alone", "a message with tool results holds nothing else", demands.results_alone);
        self.pairs(demands);
        self.add("misplaced_call", "only assistant messages hold tool calls", demands.misplaced_call);
        if demands.carrier == Carrier::UserBlocks {
            self.add("misplaced_result", "only user messages hold tool results", demands.misplaced_result);
        }
        if !demands.unanswered_server.0.is_empty() {
            let says = "a call of a server tool is answered in the assistant's turn";
            self.add("unanswered_server", says, demands.unanswered_server);
            let says = "a result of a server tool follows its call";
            self.add("orphan_server", says, demands.orphan_server);
        }
    }

    fn pairs(&mut self, demands: &Constraints) {
        let PairDemands { adjacent, unaddressed, program_results_alone, documents_apart, container } = demands.pairs;
        self.add_some("pairs.adjacent", "nothing comes between tool calls and their results", adjacent);
        self.fact("pairs.unaddressed", "a tool result may name a tool instead of a tool call", unaddressed);
        let says = "a message with the results of calls that a server tool made holds nothing else";
        self.add_some("pairs.program_results_alone", says, program_results_alone);
        let says = "a message with tool results holds no document of another format than `pdf`";
        self.add_some("pairs.documents_apart", says, documents_apart);
        let says = "a request with open calls of a server tool names its container";
        self.add_some("pairs.container", says, container);
        if let Some(CompactionDemand { misplaced, ambiguous }) = demands.compaction {
            let says = "a signed summary of earlier messages is the first block of the conversation";
            self.add("compaction.misplaced", says, misplaced);
            self.add("compaction.ambiguous", "there is one signed summary of earlier messages", ambiguous);
        }
    }

    fn ids(&mut self, demands: &Constraints) {
        let IdDemand { alphabet, alphabet_error, length_max, length_error, demanded, prefix: _, known_prefixes: _ } =
            demands.call_id;
        let says = match alphabet {
            Alphabet::Any if !demanded => "a tool call may have an id".to_owned(),
            Alphabet::Any => "a tool call has an id".to_owned(),
            Alphabet::NotNull => "a tool call has an id that is not `null`".to_owned(),
            Alphabet::Dotted => "tool call ids are letters, digits, `_`, `-`, `.` and `:`".to_owned(),
            Alphabet::Word => "tool call ids are letters, digits, `_` and `-`".to_owned(),
            Alphabet::Exactly(length) => format!("tool call ids are exactly {length} letters and digits"),
        };
        self.add("call_id.alphabet_error", says, alphabet_error);
        if length_max != usize::MAX && !matches!(alphabet, Alphabet::Exactly(_)) {
            let says = format!("tool call ids have at most {length_max} characters");
            self.add("call_id.length_error", says, length_error);
        }
        match demands.unique_ids {
            Uniqueness::Cycle(error) => self.add("unique_ids", "tool calls of one message have different ids", error),
            Uniqueness::Request(error) => {
                self.add("unique_ids", "all tool calls of a request have different ids", error);
            }
            Uniqueness::Nowhere => {}
        }
        let NameDemand { also, start, length_max, error, in_results } = demands.tool_name;
        let also = if also.is_empty() { String::new() } else { format!(", or one of `{also}`") };
        let first = started(start).map(|first| format!(", starting with {first}")).unwrap_or_default();
        let whose = if in_results { "tool calls and tool results" } else { "tool calls" };
        let says = format!("tool names in {whose} are 1 to {length_max} letters, digits, `_` and `-`{also}{first}");
        self.add("tool_name", says, error);
        if let Some(demand) = demands.item_id {
            self.add("item_id.prefix_error", "item ids have the prefix of their type", demand.prefix_error);
            self.add("item_id.alphabet_error", "item ids are letters, digits, `_` and `-`", demand.alphabet_error);
            let says = format!("item ids have at most {} characters", demand.length_max);
            self.add("item_id.length_error", says, demand.length_error);
            self.add_some("item_id.ending_error", "item ids do not end in `_`", demand.ending_error);
        }
        self.add_some("repeated_item", "item ids do not repeat", demands.repeated_item);
        self.add_some("lost_item", "items are sent in full if the provider does not store them", demands.lost_item);
        self.fact("keeps_nothing", "the provider stores nothing", demands.keeps_nothing);
        self.add_some("server_id", "ids of server tool calls are those that the provider gave", demands.server_id);
    }

    fn shape(&mut self, demands: &Constraints) {
        match demands.input {
            InputForm::Object(error) => self.add("input", "a tool call's input is an object", error),
            InputForm::ObjectOrNothing(error) => self.add("input", "a tool call's input is an object or absent", error),
            InputForm::Text(error) => self.add("input", "a tool call's arguments are a string", error),
        }
        let nothing = |empty: bool| if empty { " or empty" } else { "" };
        match demands.arguments {
            Arguments::Any => {}
            Arguments::Json { empty, error } => {
                self.add("arguments", format!("a tool call's arguments are JSON{}", nothing(empty)), error);
            }
            Arguments::Object { empty, error } => {
                let says = format!("a tool call's arguments are a JSON object{}", nothing(empty));
                self.add("arguments", says, error);
            }
        }
        match demands.empty_text {
            EmptyText::Accepted => {}
            EmptyText::Rejected(error) => self.add("empty_text", "texts are not empty", error),
            EmptyText::RejectedInMessages(error) => {
                self.add("empty_text", "texts are not empty, except in tool results", error);
            }
        }
        self.add("no_messages", "there is at least one message", demands.no_messages);
        self.add_some("empty_message", "messages are not empty", demands.empty_message);
        self.add_some("null_content", "a message without tool calls has content", demands.null_content);
        self.fact("empty_ending", "a last assistant message may be empty", demands.empty_ending);
        self.add_some("string_content", "content is a list of blocks, not a string", demands.string_content);
        match demands.output {
            OutputForm::TextOrList { demanded } => self.fact("output", "a tool result has content", demanded),
            OutputForm::List(error) => self.add("output", "the content of a tool result is a list of parts", error),
            OutputForm::Object(error) => self.add("output", "the content of a tool result is an object", error),
        }
        self.add_some("missing_output", "a tool result has an output", demands.missing_output);
        self.add_some("empty_failure", "a tool result that reports a failure has content", demands.empty_failure);
        self.add_some("result_name", "a tool result repeats the name of its tool", demands.result_name);
        self.add_some(
            "part_type.assistant",
            "assistant messages hold only the part types of the assistant",
            demands.part_type.map(|demand| demand.assistant),
        );
        self.add_some(
            "part_type.others",
            "other messages hold no part types of the assistant",
            demands.part_type.map(|demand| demand.others),
        );
        self.add_some("early_trigger", "a compaction trigger is the last item", demands.early_trigger);
        self.add_some("empty_call_list", "a list of tool calls is not empty", demands.empty_call_list);
        self.add_some("text_only_results", "tool results hold only text", demands.text_only_results);
        self.add_some("listed_results", "a tool result is one string, not a list of parts", demands.listed_results);
        if let Members::Closed { known, error, in_block } = demands.members {
            let also = if known.is_empty() { String::new() } else { format!(", or one of `{}`", known.join("`, `")) };
            self.add("members", format!("messages have only members that the dialect defines{also}"), error);
            if !in_block.0.is_empty() {
                self.add("members", "blocks have only members that their type defines", in_block);
            }
        }
    }

    fn order(&mut self, demands: &Constraints) {
        if let SameRole::Rejected(error) = demands.same_role {
            self.add("same_role", "roles alternate", error);
        }
        match demands.first_role {
            FirstRole::User(error) => self.add("first_role", "the first message is a user message", error),
            FirstRole::AnyBeforeCalls(error) => self.add("first_role", "the first message makes no tool calls", error),
            FirstRole::Any | FirstRole::UserBeforeCalls(_) => {}
        }
        match demands.last_role {
            LastRole::Any => {}
            LastRole::NotAssistant { models, error } => {
                let says = format!("the last message is not an assistant message (models with {})", quoted(models.0));
                self.add("last_role", says, error);
            }
            LastRole::NotAssistantUnlessContinued(error) => {
                self.add("last_role", "the last message is not an assistant message, unless it has `prefix`", error);
            }
        }
        if let Some(order) = demands.role_order {
            for (before, after) in order.never {
                let says = format!("`{}` does not come right after `{}`", after.as_str(), before.as_str());
                self.add("role_order", says, order.error);
            }
        }
        if let Some(place) = demands.system_place {
            let says = format!(
                "a system message follows a user message, and is last or before an assistant message (models with {})",
                quoted(place.models.0)
            );
            self.add("system_place", says, place.error);
        }
        for gap in demands.role_gaps {
            let whom = if gap.models == Models::ALL { "any model".to_owned() } else { quoted(gap.models.0) };
            let says = format!("the role `{}` is not supported by {whom}", gap.role.as_str());
            self.add("role_gaps", says, gap.error);
        }
        self.add_some("trailing_space", "a last assistant message does not end in white space", demands.trailing_space);
    }

    fn reasoning(&mut self, demands: &ReasoningDemands) {
        match demands.echo {
            Echo::Free => {}
            Echo::Required { field, models, error } => {
                let who =
                    if models.0.is_empty() { String::new() } else { format!(" (always with {})", quoted(models.0)) };
                let says = format!("while thinking is on, messages with tool calls include `{field}`{who}");
                self.add("reasoning.echo", says, error);
            }
            Echo::Refused { fields, partly, instead, error } => {
                for (field, models) in partly {
                    let says = format!("reasoning is not sent back in `{field}` to {}", quoted(models.0));
                    self.add("reasoning.echo", says, error);
                }
                let also = instead.map(|instead| format!(", but in `{instead}`")).unwrap_or_default();
                self.add("reasoning.echo", format!("reasoning is not sent back in {}{also}", quoted(fields)), error);
            }
        }
        self.add_some("reasoning.unsigned", "thinking is sent back with its signature", demands.unsigned);
        let says = "while thinking is on, a turn whose tool calls are being answered starts with thinking";
        self.add_some("reasoning.leading", says, demands.leading);
        self.add_some("reasoning.signed", "reasoning is sent back without a signature", demands.signed);
        let says = "while thinking is off, a last assistant message holds no thinking";
        self.add_some("reasoning.ending", says, demands.ending);
    }

    fn tools(&mut self, demands: &ToolDemands, limits: &Limits) {
        self.add_some(
            "tools.none_declared",
            "a request with tool calls or tool results declares tools",
            demands.none_declared,
        );
        self.fact("tools.declared_by_name", "a tool can be declared by its name alone", demands.declared_by_name);
        self.add_some("tools.empty_list", "a list of tools is not empty", demands.empty_list);
        self.add_some("tools.repeated", "declared tools have different names", demands.repeated);
        self.add_some("tools.cache_mark", "the list of tools has no cache mark", demands.cache_mark);
        self.add_some("tools.unknown_choice", "a forced tool is declared", demands.unknown_choice);
        let says = "a message adds or removes only declared tools";
        self.add_some("tools.unknown_reference", says, demands.unknown_reference);
        self.add_some("tools.name", "declared tool names follow the demand on names in tool calls", demands.name);
        if let Some(first) = started(demands.start) {
            self.add("tools.start", format!("declared tool names start with {first}"), ErrorText(""));
        }
        if !demands.never.is_empty() {
            self.add("tools.never", format!("declared tool names contain none of `{}`", demands.never), ErrorText(""));
        }
        if let Some(limit) = limits.cache_marks {
            self.add("limits.cache_marks", format!("there are at most {} cache marks", limit.max), limit.error);
        }
    }

    fn bytes(&mut self, demands: &Constraints) {
        self.add("lone_surrogate", "strings contain no half of a surrogate pair", demands.lone_surrogate);
        self.add("not_json", "the body is JSON", demands.not_json);
    }
}

fn quoted(words: &[&str]) -> String {
    format!("`{}`", words.join("`, `"))
}

fn started(start: NameStart) -> Option<&'static str> {
    match start {
        NameStart::Any => None,
        NameStart::LetterOrUnderscore => Some("a letter or `_`"),
        NameStart::Letter => Some("a letter"),
    }
}
