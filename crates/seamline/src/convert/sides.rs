//! The source and the target of a conversion.

use seamline_dialects::{Dialect, Provider, providers};
use seamline_model::conversation::{Fate, Settings};
use seamline_model::{IdDemand, NameDemand};

use super::{ConversionLoss, ConvertOptions, Side};
use crate::Error;

/// A dialect, and a provider that serves it where one is known.
pub(super) struct Speaking {
    pub(super) dialect: &'static Dialect,
    pub(super) provider: Option<Provider>,
    /// Whether the caller named the provider; otherwise the dialect chose it.
    is_named: bool,
    /// Whether the caller named the dialect.
    is_dialect_named: bool,
}

impl Speaking {
    /// Determines the source of a body.
    pub(super) fn source(body: &[u8], options: &ConvertOptions) -> Result<Self, Error> {
        match &options.from {
            Some(name) => Self::named(name)?.speaking_in(body),
            None => Self::named(seamline_dialects::detect(body)?.name()),
        }
    }

    /// Returns the side if the body can be of its dialect. Content that the dialect does not read would be dropped.
    fn speaking_in(self, body: &[u8]) -> Result<Self, Error> {
        let reads = self.dialect.name();
        match (seamline_dialects::contradiction(body, reads), self.provider) {
            // A provider serves several dialects.
            (Some(found), Some(provider)) if !self.is_dialect_named => {
                let provider = Some(provider.speaking(found.name(), None).provider);
                Ok(Self { dialect: found, provider, ..self })
            }
            (Some(found), _) => Err(Error::OtherDialect { reads, found: found.name() }),
            (None, _) => Ok(self),
        }
    }

    /// Determines the target. A dialect means the provider of the model, or the most tolerant provider; a provider that
    /// serves the model as a special case means that case.
    pub(super) fn target(options: &ConvertOptions) -> Result<Self, Error> {
        let (named, model) = (Self::named(&options.to)?, options.model.as_deref());
        let dialect = named.dialect.name();
        let provider = match named.provider {
            Some(provider) => provider.speaking(dialect, model).provider,
            None => *providers::for_model(dialect, model),
        };
        Ok(Self { provider: Some(provider), ..named })
    }

    fn named(name: &str) -> Result<Self, Error> {
        let (provider, dialect) = crate::providers::side(name).ok_or_else(|| Error::UnknownSide(name.to_owned()))?;
        let is_dialect_named = provider.is_none() || name.contains('/');
        let provider = provider.copied();
        Ok(Self { dialect, provider, is_named: provider.is_some(), is_dialect_named })
    }

    /// The form of call ids. A dialect alone uses the strictest form, so that every provider of it accepts the body.
    pub(super) fn call_id(&self) -> IdDemand {
        let named = self.provider.filter(|_| self.is_named);
        named.map_or(self.dialect.call_id(), |provider| provider.constraints.call_id)
    }

    /// The form of tool names.
    pub(super) fn tool_name(&self) -> NameDemand {
        let named = self.provider.filter(|_| self.is_named);
        named.map_or(self.dialect.tool_name(), |provider| provider.constraints.tool_name)
    }

    pub(super) fn side(&self) -> Side {
        Side { dialect: self.dialect.name(), provider: self.provider.map(|provider| provider.name) }
    }

    /// Reports a model that the provider does not serve, or a body that needs a model and has none.
    pub(super) fn remark_model(
        &self,
        settings: &Settings,
        options: &ConvertOptions,
        carried: &mut Vec<ConversionLoss>,
    ) {
        let Some(model) = options.model.as_deref().or(settings.model.as_deref()) else {
            if self.dialect.names_model() {
                carried.push(missing_model());
            }
            return;
        };
        let Some(provider) = self.provider.filter(|_| options.model.is_none()) else { return };
        if provider.claims(model) || provider.models.is_empty() {
            return;
        }
        let doubt = format!("{} does not seem to serve it; name one with `--model NAME`", provider.name);
        let pointer = settings.pointer("model");
        match carried.iter_mut().find(|lost| lost.fate == Fate::Moved && lost.pointer == pointer) {
            // Where the address names the model, a note exists already.
            Some(moved) => moved.note = format!("{}; {doubt}", moved.note),
            None => carried.push(ConversionLoss {
                what: format!("model `{model}`"),
                pointer: pointer.to_owned(),
                fate: Fate::Kept,
                note: doubt,
            }),
        }
    }
}

fn missing_model() -> ConversionLoss {
    let note = "the new body names no model; pass `--model NAME`".to_owned();
    ConversionLoss { what: "model".to_owned(), pointer: String::new(), fate: Fate::Missing, note }
}
