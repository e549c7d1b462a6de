//! What a provider demands, in words.

use crate::{
    Alphabet, Arguments, Carrier, Constraints, Echo, EmptyText, ErrorText, FirstRole, IdDemand, InputForm, LastRole,
    Limits, Members, Models, NameDemand, NameStart, OutputForm, ReasoningDemands, SameRole, ToolDemands, Uniqueness,
};

/// One thing a provider demands, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// The field of [`Constraints`] it stands in; a part of one after a dot.
    pub field: &'static str,
    /// What is demanded, in one clause.
    pub says: String,
    /// The error text that breaking it provokes, with `{name}` where values go; nothing when
    /// it is not known.
    pub error: Option<&'static str>,
}

impl Constraints {
    /// Everything that is demanded, in words. What a provider does not demand is left out.
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
            Carrier::UserBlocks => "results are blocks of a message of the user",
            Carrier::ToolMessages => "each result is a message with the role `tool`",
            Carrier::Items => "calls and results are items of their own",
        };
        self.fact("carrier", carried, true);
        self.add("unanswered", "every call is answered right after it", demands.unanswered);
        self.add("orphan", "every result answers a call before it", demands.orphan);
        self.add("duplicate_result", "a call has one result", demands.duplicate_result);
        self.add_some("mistyped_result", "a result is of the type its call wants", demands.mistyped_result);
        let says = "reasoning under an id is followed by what it led to";
        self.add_some("dangling_reasoning", says, demands.dangling_reasoning);
        if let Some(demand) = demands.call_signature {
            let says = format!("the first call of a turn is signed, for models {}", quoted(demand.models.0));
            self.add("call_signature", says, demand.error);
        }
        self.fact(
            "one_answer_message",
            "all results of one message's calls are in one message",
            demands.one_answer_message,
        );
        self.fact(
            "joint_answers",
            "calls of neighbouring messages may be answered together after the last",
            demands.joint_answers,
        );
        self.add_some("results_first", "results come before anything else in their message", demands.results_first);
        self.add_some("results_alone", "nothing stands beside results in their message", demands.results_alone);
        self.add("misplaced_call", "only the assistant makes calls", demands.misplaced_call);
        if demands.carrier == Carrier::UserBlocks {
            self.add("misplaced_result", "only messages of the user hold results", demands.misplaced_result);
        }
        if !demands.unanswered_server.0.is_empty() {
            let says = "a call of the provider's own tools is answered in the assistant's turn";
            self.add("unanswered_server", says, demands.unanswered_server);
            let says = "a result of the provider's own tools follows its call";
            self.add("orphan_server", says, demands.orphan_server);
        }
    }

    fn ids(&mut self, demands: &Constraints) {
        let IdDemand { alphabet, alphabet_error, length_max, length_error, demanded, prefix: _ } = demands.call_id;
        let says = match alphabet {
            Alphabet::Any if !demanded => "a call may have an id".to_owned(),
            Alphabet::Any => "a call has an id".to_owned(),
            Alphabet::NotNull => "a call has an id, which is not `null`".to_owned(),
            Alphabet::Dotted => "ids of calls are letters, digits, `_`, `-`, `.` and `:`".to_owned(),
            Alphabet::Word => "ids of calls are letters, digits, `_` and `-`".to_owned(),
            Alphabet::Exactly(length) => format!("ids of calls are exactly {length} letters and digits"),
        };
        self.add("call_id.alphabet_error", says, alphabet_error);
        if length_max != usize::MAX && !matches!(alphabet, Alphabet::Exactly(_)) {
            let says = format!("ids of calls have at most {length_max} characters");
            self.add("call_id.length_error", says, length_error);
        }
        match demands.unique_ids {
            Uniqueness::Cycle(error) => self.add("unique_ids", "calls of one message have different ids", error),
            Uniqueness::Request(error) => self.add("unique_ids", "all calls of a request have different ids", error),
            Uniqueness::Nowhere => {}
        }
        let NameDemand { also, start, length_max, error, in_results } = demands.tool_name;
        let also = if also.is_empty() { String::new() } else { format!(", or one of `{also}`") };
        let first = started(start).map(|first| format!(", {first} first")).unwrap_or_default();
        let whose = if in_results { "calls and results" } else { "calls" };
        let says = format!("tool names in {whose} are 1 to {length_max} letters, digits, `_` and `-`{also}{first}");
        self.add("tool_name", says, error);
        if let Some(demand) = demands.item_id {
            self.add("item_id.prefix_error", "ids of items start as those of their type", demand.prefix_error);
            self.add("item_id.alphabet_error", "ids of items are letters, digits, `_` and `-`", demand.alphabet_error);
            let says = format!("ids of items have at most {} characters", demand.length_max);
            self.add("item_id.length_error", says, demand.length_error);
            self.add_some("item_id.ending_error", "ids of items do not end in `_`", demand.ending_error);
        }
        self.add_some("repeated_item", "an item is there once", demands.repeated_item);
        self.add_some("lost_item", "where nothing is kept, items are sent whole", demands.lost_item);
        self.fact("keeps_nothing", "nothing is ever kept", demands.keeps_nothing);
        self.add_some("server_id", "ids of the provider's own calls are as it gave them", demands.server_id);
    }

    fn shape(&mut self, demands: &Constraints) {
        match demands.input {
            InputForm::Object(error) => self.add("input", "a call's input is an object", error),
            InputForm::ObjectOrNothing(error) => self.add("input", "a call's input is an object, or not there", error),
            InputForm::Text(error) => self.add("input", "a call's arguments are a string", error),
        }
        let nothing = |empty: bool| if empty { " or nothing" } else { "" };
        match demands.arguments {
            Arguments::Any => {}
            Arguments::Json { empty, error } => {
                self.add("arguments", format!("the arguments of a call are JSON{}", nothing(empty)), error);
            }
            Arguments::Object { empty, error } => {
                let says = format!("the arguments of a call are a JSON object{}", nothing(empty));
                self.add("arguments", says, error);
            }
        }
        match demands.empty_text {
            EmptyText::Accepted => {}
            EmptyText::Rejected(error) => self.add("empty_text", "texts are not empty", error),
            EmptyText::RejectedInMessages(error) => {
                self.add("empty_text", "texts are not empty, except in results", error);
            }
        }
        self.add("no_messages", "there is a message", demands.no_messages);
        self.add_some("empty_message", "messages are not empty", demands.empty_message);
        self.add_some("null_content", "content is there, unless calls are", demands.null_content);
        self.fact("empty_ending", "a message of the assistant at the end may be empty", demands.empty_ending);
        self.add_some("string_content", "content is a list of blocks, not a string", demands.string_content);
        match demands.output {
            OutputForm::TextOrList { demanded } => self.fact("output", "a result holds something", demanded),
            OutputForm::List(error) => self.add("output", "what a result holds is a list of parts", error),
            OutputForm::Object(error) => self.add("output", "what a result holds is an object", error),
        }
        self.add_some("missing_output", "a result has an output", demands.missing_output);
        self.add_some("empty_failure", "a result that says the tool failed says why", demands.empty_failure);
        self.add_some("result_name", "a result repeats the name of its tool", demands.result_name);
        self.add_some(
            "part_type.assistant",
            "parts of the assistant have types of its own",
            demands.part_type.map(|demand| demand.assistant),
        );
        self.add_some(
            "part_type.others",
            "parts of others have types of their own",
            demands.part_type.map(|demand| demand.others),
        );
        self.add_some("early_trigger", "a request for compaction is the last item", demands.early_trigger);
        self.add_some("empty_call_list", "a list of calls is not empty", demands.empty_call_list);
        self.add_some("text_only_results", "results hold text only", demands.text_only_results);
        self.add_some("listed_results", "results are one string, not a list of parts", demands.listed_results);
        if let Members::Closed { known, error, in_block } = demands.members {
            let also = if known.is_empty() { String::new() } else { format!(" beside `{}`", known.join("`, `")) };
            self.add("members", format!("messages have no members that the dialect does not have{also}"), error);
            if !in_block.0.is_empty() {
                self.add("members", "blocks have no members that their type does not have", in_block);
            }
        }
    }

    fn order(&mut self, demands: &Constraints) {
        if let SameRole::Rejected(error) = demands.same_role {
            self.add("same_role", "roles alternate", error);
        }
        match demands.first_role {
            FirstRole::User(error) => self.add("first_role", "the user speaks first", error),
            FirstRole::AnyBeforeCalls(error) => self.add("first_role", "the first message makes no calls", error),
            FirstRole::Any | FirstRole::UserBeforeCalls(_) => {}
        }
        match demands.last_role {
            LastRole::Any => {}
            LastRole::NotAssistant { models, error } => {
                let says = format!("the assistant does not speak last (models with {})", quoted(models.0));
                self.add("last_role", says, error);
            }
            LastRole::NotAssistantUnlessContinued(error) => {
                self.add("last_role", "the assistant does not speak last, unless with `prefix`", error);
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
                "a system message stands after one of the user, and last or before the assistant (models with {})",
                quoted(place.models.0)
            );
            self.add("system_place", says, place.error);
        }
        for gap in demands.role_gaps {
            let whom = if gap.models == Models::ALL { "any model".to_owned() } else { quoted(gap.models.0) };
            let says = format!("the role `{}` is not known to {whom}", gap.role.as_str());
            self.add("role_gaps", says, gap.error);
        }
        self.add_some(
            "trailing_space",
            "a last message of the assistant ends in no white space",
            demands.trailing_space,
        );
    }

    fn reasoning(&mut self, demands: &ReasoningDemands) {
        match demands.echo {
            Echo::Free => {}
            Echo::Required { field, models, error } => {
                let who =
                    if models.0.is_empty() { String::new() } else { format!(" (always with {})", quoted(models.0)) };
                let says = format!("while thinking, messages with calls bring `{field}` back{who}");
                self.add("reasoning.echo", says, error);
            }
            Echo::Refused { fields, instead, error } => {
                let also = instead.map(|instead| format!(", but in `{instead}`")).unwrap_or_default();
                self.add("reasoning.echo", format!("reasoning does not come back in {}{also}", quoted(fields)), error);
            }
        }
        self.add_some("reasoning.unsigned", "thinking comes back with its signature", demands.unsigned);
        let says = "with thinking on, a turn whose calls are being answered starts with thinking";
        self.add_some("reasoning.leading", says, demands.leading);
        self.add_some("reasoning.signed", "reasoning comes back without a signature", demands.signed);
        let says = "with thinking off, a last message of the assistant holds no thinking";
        self.add_some("reasoning.ending", says, demands.ending);
    }

    fn tools(&mut self, demands: &ToolDemands, limits: &Limits) {
        self.add_some("tools.none_declared", "calls and results need declared tools", demands.none_declared);
        self.fact("tools.declared_by_name", "a tool can be declared by its name alone", demands.declared_by_name);
        self.add_some("tools.empty_list", "a list of tools is not empty", demands.empty_list);
        self.add_some("tools.repeated", "declared tools have different names", demands.repeated);
        self.add_some("tools.cache_mark", "no mark for the cache stands among the tools", demands.cache_mark);
        self.add_some("tools.unknown_choice", "a forced tool is declared", demands.unknown_choice);
        self.add_some("tools.name", "declared names are made like those in calls", demands.name);
        if let Some(first) = started(demands.start) {
            self.add("tools.start", format!("declared names start with {first}"), ErrorText(""));
        }
        if !demands.never.is_empty() {
            self.add("tools.never", format!("declared names hold none of `{}`", demands.never), ErrorText(""));
        }
        if let Some(limit) = limits.cache_marks {
            self.add("limits.cache_marks", format!("there are at most {} cache marks", limit.max), limit.error);
        }
    }

    fn bytes(&mut self, demands: &Constraints) {
        self.add("lone_surrogate", "strings hold whole characters", demands.lone_surrogate);
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
