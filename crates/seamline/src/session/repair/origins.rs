//! Plans the origin of each message that a repair inserts, and of each result in it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use seamline_store::{Cut, Entry, EntrySource, Origin, Raw};

use crate::outline::OutlineKind;
use crate::repair::{ActionKind, RepairAction};
use crate::session::SessionError;
use crate::session::facts::Facts;
use crate::session::wire::Wire;

/// A result in a message.
struct FoundResult {
    /// The id of the call that it names.
    id: Option<String>,
    /// The bytes of the result.
    bytes: Vec<u8>,
    /// Whether its text reads as synthetic.
    reads_synthetic: bool,
}

/// The calls that a repair answered itself.
struct Synthesized<'a>(Vec<Option<&'a str>>);

impl<'a> Synthesized<'a> {
    fn of(actions: &'a [RepairAction]) -> Self {
        let made = actions.iter().filter(|action| action.action == ActionKind::Synthesize);
        Self(made.map(|action| action.call_id.as_deref()).collect())
    }

    /// Takes one result of this call; nothing where none is left.
    fn take(&mut self, id: Option<&str>) -> bool {
        let place = self.0.iter().position(|made| *made == id);
        place.map(|place| self.0.remove(place)).is_some()
    }
}

impl Facts<'_> {
    /// Corrects origins: a block that a repair moved keeps its origin, though its message is new.
    pub(super) fn correct_origins(&self, cuts: &mut [Cut]) -> Result<(), SessionError> {
        let inserts = || cuts.iter().flat_map(|cut| &cut.inserted);
        if inserts().all(|insert| insert.origin == Origin::Said) {
            return Ok(());
        }
        let gone = cuts.iter().flat_map(|cut| self.entries().iter().skip(cut.at as usize).take(cut.removed as usize));
        let gone: Vec<&Raw> = gone.filter(|entry| entry.origin == Origin::Said).map(|entry| &entry.message).collect();
        let (body, said) = self.blocks(gone.into_iter())?;
        let said: HashSet<&[u8]> = said.into_iter().map(|span| &body[span]).collect();
        let made_up = cuts.iter_mut().flat_map(|cut| &mut cut.inserted).filter(|it| it.origin == Origin::Synthetic);
        for insert in made_up {
            let (body, blocks) = self.blocks(std::iter::once(&insert.message))?;
            if blocks.into_iter().any(|span| said.contains(&body[span])) {
                insert.origin = Origin::Said;
            }
        }
        Ok(())
    }

    /// A body of these messages, and the spans of its blocks.
    fn blocks<'m>(
        &self,
        messages: impl Iterator<Item = &'m Raw> + Clone,
    ) -> Result<(Vec<u8>, Vec<Range<usize>>), SessionError> {
        if messages.clone().next().is_none() {
            return Ok((Vec::new(), Vec::new()));
        }
        let body = self.wire.body("{}", messages)?;
        let outline = crate::outline(&body, &self.wire.options, 0..usize::MAX)?;
        let spans = outline.into_iter().flat_map(|message| message.blocks).map(|block| block.span).collect();
        Ok((body, spans))
    }

    /// Records which results of the new messages are synthetic: those that the repair made, and those that were before. A
    /// text tells only of results that the repair changed, and of those whose record does not.
    pub(super) fn note_synthetic_results(
        &self,
        cuts: &mut [Cut],
        actions: &[RepairAction],
    ) -> Result<(), SessionError> {
        let mut made = Synthesized::of(actions);
        let gone = cuts.iter().flat_map(|cut| self.entries().iter().skip(cut.at as usize).take(cut.removed as usize));
        let mut known: HashMap<Vec<u8>, bool> = HashMap::new();
        for entry in gone {
            for (bytes, is_synthetic) in self.known_results(entry)? {
                known.entry(bytes).and_modify(|known| *known &= is_synthetic).or_insert(is_synthetic);
            }
        }
        for insert in cuts.iter_mut().flat_map(|cut| &mut cut.inserted) {
            let results = results_in(self.wire, &insert.message)?;
            let is_synthetic = |result: &FoundResult| match known.get(&result.bytes) {
                Some(known) => *known,
                None => made.take(result.id.as_deref()) || result.reads_synthetic,
            };
            let flags: Vec<bool> = results.iter().map(is_synthetic).collect();
            insert.synthetic_results =
                (0..).zip(flags).filter(|(_, is_synthetic)| *is_synthetic).map(|(number, _)| number).collect();
        }
        Ok(())
    }

    /// The results of a message of the view, and whether each is synthetic.
    fn known_results(&self, entry: &Entry) -> Result<Vec<(Vec<u8>, bool)>, SessionError> {
        let wire = self.wire.for_dialect(entry.dialect.as_ref())?;
        let results = results_in(&wire, &entry.message)?;
        let is_certain = entry.source == EntrySource::Cycle && (entry.origin == Origin::Said || results.len() == 1);
        let numbered = (0..).zip(results).map(|(number, result)| {
            let is_synthetic = if !entry.synthetic_results.is_empty() {
                entry.synthetic_results.contains(&number)
            } else if is_certain {
                entry.origin != Origin::Said
            } else {
                result.reads_synthetic
            };
            (result.bytes, is_synthetic)
        });
        Ok(numbered.collect())
    }
}

/// The results in a message.
fn results_in(wire: &Wire, message: &Raw) -> Result<Vec<FoundResult>, SessionError> {
    let outline = wire.outline(&[message])?;
    let found = outline.iter().flat_map(|outlined| {
        let start = outlined.span.start;
        let results = outlined.blocks.iter().filter(|block| block.kind == OutlineKind::Result);
        results.map(move |block| (block.id.clone(), block.span.start - start..block.span.end - start))
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let texts = wire.result_texts(message)?;
    let results = found.into_iter().zip(texts.into_iter().chain(std::iter::repeat(None)));
    let results = results.map(|((id, span), text)| FoundResult {
        id: id.filter(|id| !id.is_empty()),
        bytes: message.as_bytes()[span].to_vec(),
        reads_synthetic: text.is_some_and(|text| wire.is_synthetic(&text)),
    });
    Ok(results.collect())
}
