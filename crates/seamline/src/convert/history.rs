//! Converts the history of a program.

use std::collections::HashMap;

use seamline_files::native::by_name;
use seamline_model::conversation::Fate;

use super::{ConversionLoss, ConvertOptions, Converted, Side, convert_body};
use crate::native::{CARRIER, Native};
use crate::{Error, Options};

impl<'b> Native<'b> {
    /// Reads the source of a conversion, if it is the history of a program.
    pub(super) fn source(body: &'b [u8], options: &ConvertOptions) -> Result<Option<Self>, Error> {
        let (dialect, order) = (options.from.clone(), options.order);
        let source = Options { dialect, order, policy: options.policy.clone(), ..Options::default() };
        match options.from.as_deref() {
            None => Self::recognised(body, &source),
            Some(name) if by_name(name).is_some() => Self::named(body, &source),
            Some(_) => Ok(None),
        }
    }

    /// Converts the history. The report lists what only the history holds.
    pub(super) fn convert(&self, options: &ConvertOptions) -> Result<Converted, Error> {
        let options = ConvertOptions { from: Some(CARRIER.to_owned()), ..options.clone() };
        let converted = convert_body(&self.carrier, &options)?;
        let unseen = self.history.unseen().into_iter().map(|(what, place)| ConversionLoss {
            what: what.to_owned(),
            pointer: place.pointer,
            fate: Fate::Dropped,
            note: "a request made from a history holds its text, its tool calls and their results".to_owned(),
        });
        let placed = |carried: ConversionLoss| {
            let pointer = self.placed_pointer(Some(&carried.pointer)).unwrap_or_default();
            ConversionLoss { pointer, ..carried }
        };
        let hashes = HashMap::new();
        Ok(Converted {
            from: Side { dialect: self.history.shape().name, provider: None },
            messages: self.history.entries(),
            lost: unseen.chain(converted.lost.iter().cloned().map(placed)).collect(),
            repairs: converted.repairs.iter().map(|action| self.placed_action(action, &hashes)).collect(),
            ..converted
        })
    }
}
