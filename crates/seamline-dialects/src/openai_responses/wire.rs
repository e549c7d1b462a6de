//! The shapes on the wire, as views over borrowed JSON.

use std::borrow::Cow;

use seamline_model::{
    BlockKind, Call, Emptiness, FactKind, Input, Item, Parts, ResultBlock, Role, Span, WireId, is_metadata,
};

use super::card;
use super::item::{
    self, CLIENT_SEARCH, CLIENT_SEARCH_RESULT, Form, Known, LOCAL_SHELL_RESULT, PATCH_RESULT, SEARCH_RESULT,
};
use crate::beside::{beside, inside};
use crate::ids::{INPUT_KEYS, RESULT_ID_KEYS};
use crate::json::{Kind, Value};
use crate::reader::Reader;
use crate::reading::{Elsewhere, emptiness, input, only_text_by, parts_by};
use crate::roles;

/// The id that a call has and its result names.
pub(super) const PAIR_ID: &str = "call_id";

/// The members that a message has.
const MESSAGE_KEYS: &[&str] = &["type", "role", "content", "id", "status", "phase"];

/// The members of an item that matter here.
#[derive(Default)]
pub(super) struct WireItem<'d, 'a> {
    pub(super) kind: Option<Value<'d, 'a>>,
    pub(super) role: Option<Value<'d, 'a>>,
    pub(super) content: Option<Value<'d, 'a>>,
    id: Option<Value<'d, 'a>>,
    /// The id that pairs a call with its result.
    pair: Option<Value<'d, 'a>>,
    name: Option<Value<'d, 'a>>,
    arguments: Option<Value<'d, 'a>>,
    input: Option<Value<'d, 'a>>,
    /// An input under a key of another program or dialect.
    foreign_input: Option<Value<'d, 'a>>,
    pub(super) output: Option<Value<'d, 'a>>,
    summary: Option<Value<'d, 'a>>,
    sealed: Option<Value<'d, 'a>>,
    /// Whether there are other members.
    has_more: bool,
    /// Whether one of them is not the program that made a call, which a repair writes, too.
    has_other: bool,
}

/// The members that few items have. They are read from items with other members only, because every item is read and
/// copied.
#[derive(Default)]
struct RareMembers<'d, 'a> {
    /// The program that made a call.
    caller: Option<Value<'d, 'a>>,
    /// Whether the result of a call may come later.
    deferred: Option<Value<'d, 'a>>,
    /// Who runs a search for tools.
    execution: Option<Value<'d, 'a>>,
    /// The request that an approval answers.
    approves: Option<Value<'d, 'a>>,
    /// Safety checks that are pending, or acknowledged.
    checks: Option<Value<'d, 'a>>,
}

impl<'d, 'a> WireItem<'d, 'a> {
    pub(super) fn read(value: Value<'d, 'a>, reader: &mut Reader<'_>) -> Self {
        let mut item = Self::default();
        let mut elsewhere = Elsewhere::default();
        for (key, member) in value.members() {
            let there = !member.is(Kind::Null);
            match &*key.name() {
                "type" => reader.set(&mut item.kind, member),
                "role" => reader.set(&mut item.role, member),
                "content" => reader.set(&mut item.content, member),
                "id" if there => reader.set(&mut item.id, member),
                "name" if there => reader.set(&mut item.name, member),
                "arguments" => reader.set(&mut item.arguments, member),
                "input" => reader.set(&mut item.input, member),
                "output" => reader.set(&mut item.output, member),
                "summary" if there => reader.set(&mut item.summary, member),
                "encrypted_content" if there => reader.set(&mut item.sealed, member),
                "status" => {}
                PAIR_ID => reader.set_one_of(&mut item.pair, member, true),
                other if RESULT_ID_KEYS.contains(&other) => reader.set_one_of(&mut item.pair, member, false),
                other if elsewhere.takes(other, member) => {}
                other => {
                    if INPUT_KEYS.contains(&other) {
                        reader.set(&mut item.foreign_input, member);
                    }
                    item.has_more |= there;
                    item.has_other |= there && other != "caller";
                }
            }
        }
        if item.kind.is_none_or(|kind| kind.says("message")) {
            item.content = elsewhere.or(item.content, "content", reader);
            item.note_members(value, reader);
        } else {
            item.has_more |= elsewhere.is_some();
        }
        item
    }

    /// Whether an item without a type is only the id of one that the provider stores. The type is optional there.
    pub(super) fn is_reference(&self) -> bool {
        let others = [self.role, self.content, self.name, self.arguments, self.input, self.output, self.pair];
        let is_bare = others.iter().all(Option::is_none) && self.summary.is_none() && self.sealed.is_none();
        let is_untyped = self.kind.is_none_or(|kind| kind.is(Kind::Null));
        is_untyped && is_bare && !self.has_more && self.id.is_some_and(|id| id.is(Kind::String))
    }

    /// Finds the properties of the type of the item, and notes the facts about it that few conversations have.
    pub(super) fn known(&self, value: Value<'_, '_>, kind: &str, reader: &mut Reader<'_>) -> &'static Known {
        let known = item::of(kind);
        // Items with such facts are opaque or have other members.
        if !self.has_more && known.form != Form::Opaque || known.form == Form::Message {
            return known;
        }
        let rare = RareMembers::of(value);
        self.note_facts(&rare, kind, reader);
        self.client_search(&rare, kind).unwrap_or(known)
    }

    /// Finds the properties of a search for tools that the client runs, or of its result. They are paired like calls.
    /// Searches without an id cannot be paired.
    fn client_search(&self, rare: &RareMembers<'_, '_>, kind: &str) -> Option<&'static Known> {
        let known = match kind {
            "tool_search_call" => &CLIENT_SEARCH,
            SEARCH_RESULT => &CLIENT_SEARCH_RESULT,
            _ => return None,
        };
        let is_client = rare.execution.is_some_and(|execution| execution.says("client"));
        let has_id = self.pair.is_some_and(|id| id.is(Kind::String) && !id.raw_str().is_empty());
        (is_client && has_id).then_some(known)
    }

    fn note_facts(&self, rare: &RareMembers<'_, '_>, kind: &str, reader: &mut Reader<'_>) {
        let note = |reader: &mut Reader<'_>, fact, id: Option<Value<'_, '_>>| {
            if let Some(id) = id.and_then(Value::str) {
                reader.fact(fact, &id);
            }
        };
        match kind {
            "program" => note(reader, FactKind::Program, self.pair),
            "program_output" => note(reader, FactKind::ProgramOutput, self.pair),
            "mcp_approval_request" => note(reader, FactKind::ApprovalRequest, self.id),
            "mcp_approval_response" => note(reader, FactKind::ApprovalResponse, rare.approves),
            _ => {}
        }
        if rare.deferred.is_some_and(|deferred| deferred.is(Kind::True)) {
            reader.fact(FactKind::Deferred, "");
        }
        note(reader, FactKind::Caller, rare.caller.and_then(|caller| caller.object()?.get("caller_id")));
        let check = if kind == "computer_call" { FactKind::PendingCheck } else { FactKind::AcknowledgedCheck };
        for id in rare.checks.into_iter().flat_map(Value::elements) {
            note(reader, check, id.object().and_then(|check| check.get("id")));
        }
    }

    /// Notes the members of a message that this dialect does not have.
    fn note_members(&self, value: Value<'_, '_>, reader: &mut Reader<'_>) {
        for (key, member) in value.members().filter(|_| self.has_more) {
            let is_content = self.content.is_some_and(|content| content.span() == member.span());
            if !is_content && !MESSAGE_KEYS.contains(&&*key.name()) {
                reader.foreign_member(member);
            }
        }
    }

    /// Reads the properties of the item that rules look at.
    pub(super) fn facts(&self, kind: &'static Known, role: Role, value: Value<'_, '_>) -> Item {
        let made = match kind.form {
            Form::Message if role == Role::Unknown => seamline_model::ItemKind::Unknown,
            Form::Message if role != Role::Assistant => seamline_model::ItemKind::Given,
            _ => kind.kind,
        };
        Item {
            kind: made,
            of: &kind.facts,
            // In these results the id is the one of the call.
            id: self.id.filter(|_| !self.is_paired_by_id(kind)).map(|id| WireId::from(&*id.str().unwrap_or_default())),
            type_span: self.kind.map_or(Span::default(), Value::span),
            // Only reasoning needs this fact.
            readable: kind.form == Form::Reasoning && self.is_readable(value),
        }
    }

    /// OAR-5: the result of a local shell call names it under `id`.
    fn is_paired_by_id(&self, kind: &Known) -> bool {
        kind.facts.result_type == LOCAL_SHELL_RESULT && self.pair.is_none()
    }

    fn is_readable(&self, value: Value<'_, '_>) -> bool {
        let held = || [self.summary, self.content].into_iter().flatten();
        let is_odd = || self.has_more || held().any(|list| list.elements().next().is_some());
        held().any(|text| texts(text).next().is_some()) || (is_odd() && !beside_thought(value).is_empty())
    }

    /// Whether only the provider can read it, so that it must be sent back unchanged.
    pub(super) fn is_sealed(&self) -> bool {
        self.sealed.is_some_and(|sealed| !sealed.raw_str().is_empty())
    }

    /// Reads a call.
    pub(super) fn call(&self, form: Form, reader: &mut Reader<'_>) -> Call {
        let id = reader.named_id(self.pair, PAIR_ID);
        let (name, input) = match form {
            Form::NamedCall(key) => {
                let (own, other) =
                    if key == "input" { (self.input, self.arguments) } else { (self.arguments, self.input) };
                let held = reader.own_or_foreign(own, other.or(self.foreign_input), key);
                (reader.tool_name(self.name), input(held))
            }
            // The arguments of such a call have their own form, and no rule about it is known.
            Form::TypedCall(name) => (Some(Cow::Borrowed(name)), Input::Text),
            Form::Message | Form::Output | Form::Reasoning | Form::Opaque => (None, Input::Missing),
        };
        Call::new(id.as_deref(), name.as_deref(), input, &mut reader.transcript.tools)
    }

    /// Reads a result.
    pub(super) fn result(&self, kind: &Known, reader: &mut Reader<'_>) -> ResultBlock {
        let id = match self.id.filter(|_| self.is_paired_by_id(kind)) {
            Some(id) => reader.id(id),
            None => reader.named_id(self.pair, PAIR_ID),
        };
        let name = reader.tool_name(self.name);
        ResultBlock {
            id: id.as_deref().map(WireId::from),
            tool: name.map(|name| reader.transcript.tools.add(&name)),
            synthetic: reader.synthetic(
                self.output,
                self.output.filter(|_| !self.has_other).and_then(|output| only_text(output, kind)),
            ),
            failed: false,
            has_more: self.has_more || self.content.is_some() || self.summary.is_some(),
            parts: match self.output {
                // The provider reads the screenshot itself.
                Some(output) if kind.facts.shown_result && output.is(Kind::Object) => Parts::Text,
                Some(output) if kind.facts.shown_result && !output.is(Kind::Null) => Parts::Unreadable,
                Some(output) => parts(output),
                // How a patch went is said by its status, and the tools that a search found have their own member.
                None if matches!(kind.facts.result_type, PATCH_RESULT | SEARCH_RESULT) => Parts::Text,
                None => Parts::Missing,
            },
            content: self.output.map_or(Span::default(), Value::span),
        }
    }
}

impl<'d, 'a> RareMembers<'d, 'a> {
    fn of(item: Value<'d, 'a>) -> Self {
        let mut rare = Self::default();
        for (key, member) in item.members() {
            let slot = match &*key.name() {
                "caller" => &mut rare.caller,
                "async" => &mut rare.deferred,
                "execution" => &mut rare.execution,
                "approval_request_id" => &mut rare.approves,
                "pending_safety_checks" | "acknowledged_safety_checks" => &mut rare.checks,
                _ => continue,
            };
            *slot = Some(member);
        }
        rare
    }
}

/// Reads the role of a message. Results have types of their own here, and no role.
pub(super) fn role(value: Option<Value<'_, '_>>) -> Role {
    match roles::named(value) {
        Role::Tool | Role::Function => Role::Unknown,
        role => role,
    }
}

/// Reads one part of a message's content.
pub(super) fn part(value: Value<'_, '_>, kind: Option<Value<'_, '_>>) -> BlockKind {
    if let Some(text) = kind.filter(|kind| is_text_type(&kind.name())).and_then(|_| member_text(value)) {
        return BlockKind::Text(emptiness(text));
    }
    match kind.map(Value::raw_str) {
        Some("input_image" | "input_file" | "input_audio" | "image_url" | "image" | "file") => BlockKind::Media,
        _ => BlockKind::Opaque,
    }
}

/// The type of a part.
pub(super) fn part_type<'d, 'a>(part: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    part.object()?.get("type")
}

/// The fit between a type of part and a role (OAR-16).
pub(super) enum PartFit {
    /// The type fits, or is unknown.
    Right,
    /// The role has this type for it.
    Called(&'static str),
    /// The role has no such part.
    Foreign,
}

pub(super) fn part_fit(role: Role, kind: &str) -> PartFit {
    match (role == Role::Assistant, kind) {
        (true, "input_text" | "text") => PartFit::Called("output_text"),
        (false, "output_text" | "text") => PartFit::Called("input_text"),
        (true, "input_image" | "input_file") | (false, "refusal") => PartFit::Foreign,
        _ => PartFit::Right,
    }
}

/// The text of a part, if it is a text part.
pub(super) fn part_text<'d, 'a>(part: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    part_type(part).filter(|kind| is_text_type(&kind.name()))?;
    member_text(part)
}

fn is_text_type(kind: &str) -> bool {
    matches!(kind, "input_text" | "output_text" | "text" | "summary_text" | "reasoning_text")
}

fn member_text<'d, 'a>(part: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    part.object()?.get("text").filter(|text| text.is(Kind::String))
}

/// Finds the non-empty texts of a string or of a list of parts.
pub(super) fn texts<'d, 'a>(content: Value<'d, 'a>) -> impl Iterator<Item = Value<'d, 'a>> {
    let whole = content.is(Kind::String).then_some(content);
    let texts = whole.into_iter().chain(content.elements().filter_map(part_text));
    texts.filter(|text| emptiness(*text) == Emptiness::Present)
}

/// Writes what reasoning holds beside its texts, a line each.
pub(super) fn beside_thought(value: Value<'_, '_>) -> String {
    let held = || ["summary", "content"].into_iter().filter_map(|key| value.object()?.get(key));
    let mut shown: Vec<_> = held().flat_map(texts).map(Value::span).chain(held().map(inside)).collect();
    shown.sort_by_key(|span| span.start);
    beside(value, &shown, &|key| is_metadata(key) || key == "encrypted_content")
}

/// Finds out what the output of a result holds.
fn parts(output: Value<'_, '_>) -> Parts {
    parts_by(output, part_text)
}

/// Reads an output that is one short text. Synthetic texts are never long.
fn only_text<'a>(output: Value<'_, 'a>, kind: &Known) -> Option<Cow<'a, str>> {
    if kind.facts.shown_result {
        return shown_text(output).map(Cow::Owned);
    }
    only_text_by(output, |part| part_text(part).or_else(|| only_note(part)))
}

/// Reads the text of a picture that a repair drew.
pub(super) fn shown_text(output: Value<'_, '_>) -> Option<String> {
    card::read(&output.object()?.get("image_url")?.str()?)
}

/// Finds the error text of a command without other output. The output of a shell is a list of such outputs.
fn only_note<'d, 'a>(part: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    let output = part.object()?;
    let silent = output.get("stdout").is_none_or(|stdout| stdout.raw_str().is_empty());
    output.get("stderr").filter(|_| silent)
}
