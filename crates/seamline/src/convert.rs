//! Converts a body into another dialect.

mod history;
mod places;
mod report;
mod sides;

use std::collections::{BTreeMap, HashMap, HashSet};

use seamline_dialects::convert::{Renamed, Rendered, Target};
use seamline_files::native::Order;
use seamline_model::conversation::{Conversation, LiftedBlock, Says};
use seamline_model::{Alphabet, Constraints, IdDemand};
use seamline_rules::Left;

pub use report::{ConversionLoss, Converted, Rename, Side};
pub use seamline_dialects::convert::ForeignReasoning;
pub use seamline_model::conversation::Fate;

use crate::native::Native;
use crate::repair::{Repaired, repair_leaving};
use crate::{Error, Options, Policy, log, repair};
use sides::Speaking;

/// The source and the target of a conversion.
///
/// ```
/// let options = seamline::convert::ConvertOptions {
///     to: "anthropic".to_owned(),
///     model: Some("claude-sonnet-4-5".to_owned()),
///     ..Default::default()
/// };
/// let body = br#"{"model":"gpt-4o","messages":[{"role":"user","content":"hello"}]}"#;
/// let converted = seamline::convert(body, &options)?;
/// assert_eq!(converted.to.dialect, "anthropic_messages");
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ConvertOptions {
    /// The provider or dialect that the body was written for, or the [shape](crate::files::SHAPES) of a program's history;
    /// detected when not given. A body that is certainly of another dialect is an error.
    pub from: Option<String>,
    /// The order in which the history of a program is stored; found where it is not given.
    pub order: Option<Order>,
    /// The provider or dialect to convert to.
    pub to: String,
    /// The model of the new body; that of the old body when not given.
    pub model: Option<String>,
    /// The policy for repairs before the conversion.
    pub policy: Policy,
    /// The fate of reasoning that only the source's models accept.
    pub reasoning: ForeignReasoning,
    /// Whether the body is a stored conversation and not a request, as in [`Options::kept`].
    pub kept: bool,
}

/// Converts a body into another dialect. Repairs damage first, adapts ids to the target, and reports everything that
/// the target cannot hold unchanged.
///
/// ```
/// let body = br#"{"model":"gpt-4o","messages":[
///   {"role":"system","content":"Be brief."},
///   {"role":"user","content":"what is in main.rs?"},
///   {"role":"assistant","content":null,"tool_calls":[
///     {"id":"functions.read:0","type":"function","function":{"name":"read","arguments":"{\"path\":\"main.rs\"}"}}]},
///   {"role":"tool","tool_call_id":"functions.read:0","content":"fn main() {}"}]}"#;
/// let options = seamline::convert::ConvertOptions { to: "anthropic".to_owned(), ..Default::default() };
///
/// let converted = seamline::convert(body, &options)?;
/// assert!(converted.remaining.is_empty());
/// assert_eq!(converted.ids[0].from, "functions.read:0");
/// let body = String::from_utf8(converted.body).unwrap();
/// assert!(body.contains(r#""system":"Be brief.""#));
/// assert!(body.contains(&format!(r#""tool_use_id":"{}""#, converted.ids[0].to)));
/// # Ok::<(), seamline::Error>(())
/// ```
///
/// # Errors
///
/// Fails when the body is not JSON, is not a conversation, is written in another dialect than
/// [`from`](ConvertOptions::from) reads, or the options name something that does not exist.
pub fn convert(body: &[u8], options: &ConvertOptions) -> Result<Converted, Error> {
    let _span = log::enter("convert", body);
    let converted = match Native::source(body, options)? {
        Some(native) => native.convert(options)?,
        None => convert_body(body, options)?,
    };
    log::record_conversion(&converted);
    Ok(converted)
}

fn convert_body(body: &[u8], options: &ConvertOptions) -> Result<Converted, Error> {
    let from = Speaking::source(body, options)?;
    let to = Speaking::target(options)?;
    if from.dialect.name() == to.dialect.name() {
        return within(body, &from, &to, options);
    }
    let mut source = from.repaired_to_leave(body, &to, options)?;
    source.body.join();
    // One conversation at a time: each takes several times the memory of its body.
    let original = if source.is_changed() { from.dialect.lift(body).ok().as_ref().map(Calls::of) } else { None };
    let mut conversation = from.dialect.lift(&source.body)?;
    let made_up = options.policy.own_texts();
    note_made_up(&mut conversation, &made_up);
    let spoken = Calls::of(&conversation);
    let messages = conversation.messages.len();
    let settings = conversation.settings.clone();
    let policy = options.policy.repair_for(to.provider.map_or("", |provider| provider.name));
    let target = Target {
        provider: to.provider.map(|provider| provider.name),
        model: options.model.as_deref(),
        call_id: to.call_id(),
        tool_name: to.tool_name(),
        missing: Some(policy.synthetic_text.missing.as_str()),
        made_up: &made_up,
        foreign_reasoning: options.reasoning,
        layout: body,
    };
    let Rendered { body: rendered, lost, ids, tools } = to.dialect.render(conversation, &target);
    let mut carried = places::located(body, &source, &from, lost);
    to.remark_model(&settings, options, &mut carried);
    let result = to.repaired(rendered.as_bytes(), options)?;
    carried.extend(
        taken_out(&source).chain(taken_out(&result).map(|taken| ConversionLoss { pointer: String::new(), ..taken })),
    );
    Ok(Converted {
        from: from.side(),
        to: to.side(),
        note: result.note,
        messages,
        lost: carried,
        ids: whole_way(original.as_ref(), &spoken, &ids),
        tools: tools.into_iter().map(Rename::from).collect(),
        repairs: source.actions,
        adjustments: result.actions,
        remaining: result.remaining,
        body: result.body.into_bytes().into_owned(),
    })
}

/// Marks calls with a synthetic result as failed, even where the source dialect has no mark for that.
fn note_made_up(conversation: &mut Conversation, texts: &[String]) {
    for block in conversation.messages.iter_mut().flat_map(|message| &mut message.blocks) {
        if let Says::Result(result) = &mut block.says
            && let [LiftedBlock { says: Says::Text(text), .. }] = result.blocks.as_slice()
        {
            result.failed |= texts.iter().any(|known| known.trim() == text.trim());
        }
    }
}

/// The parts that a repair removed for good.
fn taken_out(repaired: &Repaired<'_>) -> impl Iterator<Item = ConversionLoss> {
    let real = repaired.dropped.iter().filter(|dropped| dropped.loss != seamline_rules::Loss::Synthetic);
    real.map(|dropped| ConversionLoss {
        what: "removed by a repair".to_owned(),
        pointer: dropped.pointer.clone().unwrap_or_default(),
        fate: Fate::Dropped,
        note: format!("{} asked for it, and the policy allows it", dropped.code),
    })
}

/// The calls of a conversation, which are all that is compared after the conversation is gone.
struct Calls {
    list: Vec<CallName>,
    /// The ids that were made for calls without one, with the call each belongs to.
    made: BTreeMap<String, String>,
}

/// The id and the tool of a call.
struct CallName {
    id: String,
    name: String,
}

impl Calls {
    fn of(conversation: &Conversation) -> Self {
        let list = conversation.calls().map(|call| CallName { id: call.id.clone(), name: call.name.clone() });
        Self { list: list.collect(), made: conversation.made.clone() }
    }
}

/// The renamed ids, from the original form to the form of the target, across both repairs.
fn whole_way(original: Option<&Calls>, spoken: &Calls, ids: &[Renamed]) -> Vec<Rename> {
    let made: HashMap<&str, &str> = ids.iter().rev().map(|renamed| (&*renamed.from, &*renamed.to)).collect();
    let last = |id: &str| made.get(id).copied().unwrap_or(id).to_owned();
    let mut out: Vec<Rename> = Vec::new();
    let mut between: HashSet<String> = HashSet::new();
    // After a repair that adds or removes calls, the calls cannot be matched.
    let calls = original.filter(|original| original.list.len() == spoken.list.len());
    for (before, after) in calls.into_iter().flat_map(|original| original.list.iter().zip(&spoken.list)) {
        if before.id != after.id && before.name == after.name && between.insert(after.id.clone()) {
            out.push(Rename { from: before.id.clone(), to: last(&after.id) });
        }
    }
    let rest = ids.iter().filter(|renamed| !between.contains(&renamed.from)).cloned();
    out.extend(rest.map(Rename::from).collect::<Vec<_>>());
    // A call without an id is identified by its tool and its place.
    let places = original.into_iter().chain([spoken]).map(|calls| &calls.made);
    let places: Vec<_> = places.collect();
    for rename in &mut out {
        if let Some(place) = places.iter().find_map(|made| made.get(&rename.from)) {
            rename.from.clone_from(place);
        }
    }
    out.retain(|rename| rename.from != rename.to);
    out
}

/// Within one dialect only the repairs for the other provider and the name of the model change; every other byte stays.
fn within(body: &[u8], from: &Speaking, to: &Speaking, options: &ConvertOptions) -> Result<Converted, Error> {
    let asked = options.model.as_deref().and_then(|model| to.dialect.with_model(body, model));
    let result = to.repaired(asked.as_deref().unwrap_or(body), options)?;
    let lifted = from.dialect.lift(body)?;
    let (messages, settings) = (lifted.messages.len(), lifted.settings.clone());
    let before = Calls::of(&lifted);
    drop(lifted);
    let after = Calls::of(&to.dialect.lift(&result.body)?);
    let mut lost: Vec<ConversionLoss> = taken_out(&result).collect();
    if from.side() != to.side() {
        to.remark_model(&settings, options, &mut lost);
    }
    if asked.is_none()
        && let Some(model) = &options.model
    {
        lost.push(unnamed(model, to));
    }
    Ok(Converted {
        from: from.side(),
        to: to.side(),
        note: result.note,
        messages,
        repairs: Vec::new(),
        lost,
        ids: whole_way(Some(&before), &after, &[]),
        tools: renamed_tools(&before, &after),
        adjustments: result.actions,
        remaining: result.remaining,
        body: result.body.into_bytes().into_owned(),
    })
}

/// Reports a requested model that the body cannot name.
fn unnamed(model: &str, to: &Speaking) -> ConversionLoss {
    let note = if to.dialect.names_model() {
        "the body is a list of messages, so the request names it"
    } else {
        "it is part of the address there, not of the body"
    };
    let what = format!("model `{model}`");
    ConversionLoss { what, pointer: String::new(), fate: Fate::Moved, note: note.to_owned() }
}

/// The tools whose names a repair changed in calls.
fn renamed_tools(before: &Calls, after: &Calls) -> Vec<Rename> {
    if before.list.len() != after.list.len() {
        return Vec::new();
    }
    let mut seen: HashSet<(&str, &str)> = HashSet::new();
    let named = before.list.iter().zip(&after.list).map(|(old, new)| (old.name.as_str(), new.name.as_str()));
    let renamed = named.filter(|(old, new)| old != new).filter(|pair| seen.insert(*pair));
    renamed.map(|(from, to)| Rename { from: from.to_owned(), to: to.to_owned() }).collect()
}

impl Speaking {
    /// Repairs the body for this side.
    fn repaired<'b>(&self, body: &'b [u8], options: &ConvertOptions) -> Result<Repaired<'b>, Error> {
        repair(body, &self.options(options))
    }

    /// Repairs the body before it leaves this side. Ids only have to exist: the other side decides their form, and a
    /// client's own ids get the prefix of that side.
    fn repaired_to_leave<'b>(
        &self,
        body: &'b [u8],
        to: &Speaking,
        options: &ConvertOptions,
    ) -> Result<Repaired<'b>, Error> {
        let anything = IdDemand { alphabet: Alphabet::Any, length_max: usize::MAX, ..to.call_id() };
        let demand = |constraints: &mut Constraints| {
            constraints.call_id = IdDemand { demanded: constraints.call_id.demanded, ..anything };
        };
        repair_leaving(body, &self.options(options), Left::Nothing, demand)
    }

    fn options(&self, options: &ConvertOptions) -> Options {
        let provider = self.provider.map(|provider| provider.name.to_owned());
        let (policy, kept) = (options.policy.clone(), options.kept);
        Options { dialect: Some(self.dialect.name().to_owned()), provider, policy, kept, ..Options::default() }
    }
}
