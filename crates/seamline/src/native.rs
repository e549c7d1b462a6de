//! Histories in the shape of the program that keeps them, checked and repaired through a carrier.

use std::collections::{HashMap, HashSet};

use seamline_files::native::{History, HistoryPlace, Order, Recognised, Returned, by_name, recognise};
use seamline_model::{BlockKind, RuleFinding, Spliced, Transcript};
use seamline_rules::{Left, Loss};

use crate::check::{Checked, Looked, check_body};
use crate::finding::Related;
use crate::outline::{self, OutlineBlock, OutlineKind, OutlineMessage, Role};
use crate::policy::{RepairKnob, RepairPolicy};
use crate::repair::{Body, Dropped, Prefix, RepairAction, Repaired, repair_leaving};
use crate::{Error, Finding, Options, Severity, providers};

/// The dialect of the carrier.
pub(crate) const CARRIER: &str = "openai_chat";

/// A history of a program, and the body that carries it.
pub(crate) struct Native<'b> {
    pub(crate) history: History<'b>,
    pub(crate) carrier: Vec<u8>,
    body: &'b [u8],
    options: Options,
}

/// Whether a reading of a body may be wrong, because the body is a history of a program.
fn is_suspect(transcript: &Transcript<'_>, findings: &[RuleFinding]) -> bool {
    !findings.is_empty() || transcript.blocks.iter().any(|block| matches!(block.kind, BlockKind::Opaque))
}

impl<'b> Native<'b> {
    /// Reads a history whose shape the options name.
    pub(crate) fn named(body: &'b [u8], options: &Options) -> Result<Option<Self>, Error> {
        let Some(shape) = options.dialect.as_deref().and_then(by_name) else { return Ok(None) };
        match std::str::from_utf8(body) {
            Ok(text) => Self::of(text, History::read(text, shape, options.order)?, options).map(Some),
            // A history is text, so its list cannot be read.
            Err(_) => Err(seamline_files::native::Error::NoList { program: shape.program }.into()),
        }
    }

    /// Recognises a history that was read as a request, if the options name no dialect. Only a body that reads badly can
    /// be one, so others need no second look.
    pub(crate) fn suspected(
        body: &'b [u8],
        options: &Options,
        looked: &Result<Looked<'_>, Error>,
    ) -> Result<Option<Self>, Error> {
        let is_suspect = |looked: &Looked<'_>| is_suspect(&looked.1, &looked.2.findings);
        // A look at all blocks of a long body costs time, so the name of a dialect counts first.
        if options.dialect.is_some() || !looked.as_ref().map_or(true, is_suspect) {
            return Ok(None);
        }
        Self::recognised(body, options)
    }

    /// Recognises a history by its entries, if the options name no dialect.
    pub(crate) fn recognised(body: &'b [u8], options: &Options) -> Result<Option<Self>, Error> {
        if options.dialect.is_some() {
            return Ok(None);
        }
        let Ok(text) = std::str::from_utf8(body) else { return Ok(None) };
        match recognise(text) {
            None => Ok(None),
            Some(Recognised::Shape(shape)) => {
                Self::of(text, History::read(text, shape, options.order)?, options).map(Some)
            }
            Some(Recognised::Split { shape, signs, others }) => {
                Err(seamline_dialects::Error::Split { dialects: [shape.name, CARRIER], evidence: [signs, others] }
                    .into())
            }
        }
    }

    /// Reads a history that is only shown, for which its order does not matter.
    pub(crate) fn shown(body: &'b [u8], options: &Options) -> Result<Option<Self>, Error> {
        let order = options.order.or(Some(Order::OldestFirst));
        let options = Options { order, ..options.clone() };
        match Self::named(body, &options)? {
            Some(native) => Ok(Some(native)),
            None => Self::recognised(body, &options),
        }
    }

    fn of(text: &'b str, history: History<'b>, options: &Options) -> Result<Self, Error> {
        let provider = match options.provider.as_deref() {
            None => None,
            Some(name) => {
                let provider = providers::by_name(name).ok_or_else(|| Error::UnknownProvider(name.to_owned()))?;
                // The program writes the request for a provider of another dialect. What all providers demand of calls and
                // results is checked here.
                (provider.dialect == CARRIER).then(|| provider.name.to_owned())
            }
        };
        let mut policy = options.policy.clone();
        // The program gives ids the form of a request when it sends them.
        policy.set_for_all(RepairKnob::IdMode, |repair| repair.id_mode = RepairPolicy::default().id_mode);
        let options = Options { dialect: Some(CARRIER.to_owned()), provider, policy, kept: true, ..Options::default() };
        let carrier = history.carrier().into_bytes();
        Ok(Self { history, carrier, body: text.as_bytes(), options })
    }

    /// Reads a repaired history again.
    fn again(text: &'b str, before: &History<'_>, options: &Options) -> Result<Self, Error> {
        let history = History::read(text, before.shape(), Some(before.order()))?;
        let carrier = history.carrier().into_bytes();
        Ok(Self { history, carrier, body: text.as_bytes(), options: options.clone() })
    }

    /// Checks the history.
    pub(crate) fn check(&self) -> Result<Checked, Error> {
        let checked = check_body(&self.carrier, &self.options)?;
        let findings = checked.findings.into_iter().map(|finding| self.placed(finding)).collect();
        Ok(Checked { dialect: self.history.shape().name, messages: self.history.entries(), findings, ..checked })
    }

    /// Repairs the history.
    pub(crate) fn repair(&self) -> Result<Repaired<'b>, Error> {
        let repaired = repair_leaving(&self.carrier, &self.options, Left::Nothing, |_| {})?;
        if !repaired.is_changed() {
            return Ok(self.unchanged(&repaired));
        }
        let spans = outline::message_spans(&repaired.body, &self.options)?;
        let texts: Vec<&str> =
            spans.iter().map(|span| std::str::from_utf8(&repaired.body[span.clone()]).unwrap_or_default()).collect();
        let origins = repaired.origins.iter().copied().chain(std::iter::repeat(None));
        let returned: Vec<_> = texts.iter().zip(origins).map(|(text, origin)| Returned { origin, text }).collect();
        let Some(given) = self.history.give_back(&returned) else { return Ok(self.unrepaired(&repaired)) };
        let again = Native::again(&given.text, &self.history, &self.options)?;
        let remaining = again.check()?.findings;
        let errors = |findings: &[Finding]| findings.iter().filter(|found| found.severity == Severity::Error).count();
        if errors(&remaining) > errors(&repaired.remaining) {
            return Ok(self.unrepaired(&repaired));
        }
        let mut hashes = self.hashes();
        for (text, landed) in texts.iter().zip(&given.landed) {
            hashes.insert(hash(text), hash(again.history.entry_text(*landed)));
        }
        let actions = repaired.actions.iter().map(|action| self.placed_action(action, &hashes)).collect();
        let unchanged = self.unchanged(&repaired);
        let mut dropped = unchanged.dropped.clone();
        dropped.extend(self.left_out(&given.origins, &unchanged));
        let prefix = self.prefix(given.text.as_bytes(), &repaired.prefix);
        let body = Body::changed(Spliced::from(given.text.clone().into_bytes()));
        Ok(Repaired { body, actions, dropped, origins: given.origins, remaining, prefix, ..unchanged })
    }

    /// The entries that are no longer there and that no report names. The carrier loses nothing with them, such as a second
    /// result that equals the first; the entry may have members of its own.
    fn left_out(&self, origins: &[Option<usize>], unchanged: &Repaired<'_>) -> Vec<Dropped> {
        let kept: HashSet<usize> = origins.iter().flatten().copied().collect();
        let reported: HashSet<&str> =
            unchanged.dropped.iter().filter_map(|dropped| dropped.pointer.as_deref()).collect();
        let gone = (0..self.history.entries()).filter(|entry| !kept.contains(entry));
        let places = gone.filter_map(|entry| self.history.entry(entry));
        let unreported = places.filter(|place| !reported.contains(place.pointer.as_str()));
        let left_out = unreported.map(|place| {
            let is_about = |action: &&RepairAction| action.pointer.as_deref() == Some(place.pointer.as_str());
            Dropped {
                code: unchanged.actions.iter().find(is_about).map_or("", |action| action.code),
                source: self.history.entry_text(place.entry).to_owned(),
                pointer: Some(place.pointer),
                loss: Loss::Hidden,
            }
        });
        left_out.collect()
    }

    /// The outcome of a repair that changes nothing.
    fn unchanged(&self, repaired: &Repaired<'_>) -> Repaired<'b> {
        let placed = |findings: &[Finding]| findings.iter().cloned().map(|finding| self.placed(finding)).collect();
        let hashes = self.hashes();
        Repaired {
            body: Body::of(self.body),
            dialect: self.history.shape().name,
            provider: repaired.provider,
            note: repaired.note.clone(),
            more_actions: repaired.more_actions.clone(),
            messages: self.history.entries(),
            passes: repaired.passes,
            found: placed(&repaired.found),
            actions: repaired.actions.iter().map(|action| self.placed_action(action, &hashes)).collect(),
            dropped: repaired.dropped.iter().map(|dropped| self.placed_dropped(dropped)).collect(),
            remaining: placed(&repaired.remaining),
            sendable: repaired.sendable,
            origins: (0..self.history.entries()).map(Some).collect(),
            prefix: Prefix { unchanged_bytes: self.body.len(), ..Prefix::default() },
        }
    }

    /// The outcome where the repaired carrier has a form that the history cannot hold.
    fn unrepaired(&self, repaired: &Repaired<'_>) -> Repaired<'b> {
        let unchanged = self.unchanged(repaired);
        let remaining = unchanged.found.clone();
        Repaired { remaining, passes: 0, actions: Vec::new(), dropped: Vec::new(), sendable: false, ..unchanged }
    }

    /// The hashes of entries, by the hashes of the messages that carry them.
    fn hashes(&self) -> HashMap<String, String> {
        let messages = 0..self.history.messages();
        let entry =
            |message| self.history.place(message, None).map_or("", |place| self.history.entry_text(place.entry));
        messages.map(|message| (hash(self.history.carried(message)), hash(entry(message)))).collect()
    }

    fn prefix(&self, after: &[u8], carried: &Prefix) -> Prefix {
        let same = self.body.iter().zip(after).take_while(|(before, after)| before == after).count();
        let entries = (0..self.history.entries()).filter_map(|entry| self.history.entry(entry));
        let first = entries.into_iter().find(|place| place.span.end > same).map(|place| place.entry);
        Prefix { unchanged_bytes: same, first_changed_message: first, ..carried.clone() }
    }
}

/// Places in the history.
impl Native<'_> {
    /// The place of a JSON pointer into the carrier.
    pub(crate) fn place(&self, pointer: &str) -> Option<HistoryPlace> {
        let mut steps = pointer.strip_prefix("/messages/")?.split('/');
        let message = steps.next()?.parse().ok()?;
        let call = match (steps.next(), steps.next()) {
            (Some("tool_calls"), Some(call)) => call.parse().ok(),
            _ => None,
        };
        self.history.place(message, call)
    }

    /// A finding with its places in the history.
    pub(crate) fn placed(&self, finding: Finding) -> Finding {
        let Some(place) = self.place(&finding.pointer) else {
            return Finding { pointer: String::new(), span: 0..0, ..finding };
        };
        Finding {
            pointer: place.pointer,
            message_index: Some(place.entry),
            block_index: place.block.or(finding.block_index.map(|_| 0)),
            call_id: finding.call_id.map(|id| self.own_id(id)),
            related: finding.related.into_iter().map(|related| self.placed_related(related)).collect(),
            span: place.span,
            ..finding
        }
    }

    fn placed_related(&self, related: Related) -> Related {
        let call_id = related.call_id.map(|id| self.own_id(id));
        match self.place(&related.pointer) {
            Some(place) => Related { pointer: place.pointer, message_index: place.entry, call_id },
            None => Related { call_id, ..related },
        }
    }

    pub(crate) fn placed_action(&self, action: &RepairAction, hashes: &HashMap<String, String>) -> RepairAction {
        let hashed = |hash: &Option<String>| hash.as_ref().and_then(|hash| hashes.get(hash)).cloned();
        RepairAction {
            pointer: self.placed_pointer(action.pointer.as_deref()),
            call_id: action.call_id.clone().map(|id| self.own_id(id)),
            from_call_id: action.from_call_id.clone().map(|id| self.own_id(id)),
            before_hash: hashed(&action.before_hash),
            after_hash: hashed(&action.after_hash),
            ..action.clone()
        }
    }

    /// A JSON pointer into the history, for one into the carrier.
    pub(crate) fn placed_pointer(&self, pointer: Option<&str>) -> Option<String> {
        pointer.and_then(|pointer| self.place(pointer)).map(|place| place.pointer)
    }

    fn placed_dropped(&self, dropped: &Dropped) -> Dropped {
        let place = dropped.pointer.as_deref().and_then(|pointer| self.place(pointer));
        let source = place.as_ref().and_then(|place| self.body.get(place.span.clone()));
        Dropped {
            source: source.map_or_else(|| dropped.source.clone(), |bytes| String::from_utf8_lossy(bytes).into_owned()),
            pointer: place.map(|place| place.pointer),
            ..dropped.clone()
        }
    }

    fn own_id(&self, id: String) -> String {
        self.history.own_id(&id).map_or(id, str::to_owned)
    }
}

/// Outlines of the history.
impl Native<'_> {
    /// The bytes of each entry.
    pub(crate) fn spans(&self) -> Vec<std::ops::Range<usize>> {
        (0..self.history.entries()).filter_map(|entry| Some(self.history.entry(entry)?.span)).collect()
    }

    /// Outlines entries, up to the first that does not exist.
    pub(crate) fn outline(
        &self,
        indices: impl IntoIterator<Item = usize>,
        preview_bytes: usize,
    ) -> Result<Vec<OutlineMessage>, Error> {
        let entries: Vec<HistoryPlace> = indices.into_iter().map_while(|entry| self.history.entry(entry)).collect();
        let messages = entries.iter().flat_map(|place| self.history.messages_of(place.entry));
        let mut carried = outline::outline_body(&self.carrier, &self.options, messages, preview_bytes)?.into_iter();
        let outlined = entries.into_iter().map(|place| {
            let own = carried.by_ref().take(self.history.messages_of(place.entry).len()).collect();
            self.outlined(place, own, preview_bytes)
        });
        Ok(outlined.collect())
    }

    fn outlined(&self, place: HistoryPlace, carried: Vec<OutlineMessage>, preview_bytes: usize) -> OutlineMessage {
        let role = carried.first().map_or(Role::Unknown, |message| message.role);
        let mut blocks: Vec<OutlineBlock> = carried.into_iter().flat_map(|message| message.blocks).collect();
        for block in &mut blocks {
            block.id = block.id.take().map(|id| self.own_id(id));
            if let Some(place) = self.place(&block.pointer) {
                (block.pointer, block.span) = (place.pointer, place.span);
            }
        }
        if blocks.is_empty() {
            let text = self.history.entry_text(place.entry);
            blocks.push(OutlineBlock {
                kind: OutlineKind::Opaque,
                index: 0,
                id: None,
                name: None,
                pointer: place.pointer.clone(),
                span: place.span.clone(),
                preview: text[..text.floor_char_boundary(preview_bytes)].to_owned(),
            });
        }
        OutlineMessage { index: place.entry, role, span: place.span, blocks }
    }
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
