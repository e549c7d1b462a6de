//! Who speaks on either side of a conversion.

use seamline_dialects::convert::{CONVERTERS, Converter, converter};
use seamline_dialects::{Provider, providers};
use seamline_model::conversation::Settings;
use seamline_model::{IdDemand, NameDemand};

use super::{Carried, ConvertOptions, Side};
use crate::Error;

/// A dialect, and a provider that serves it where one is known.
pub(super) struct Speaking {
    pub(super) converter: &'static Converter,
    pub(super) provider: Option<&'static Provider>,
    /// Whether the provider was named, not chosen for the dialect.
    is_named: bool,
}

impl Speaking {
    /// The side a body comes from.
    pub(super) fn source(body: &[u8], options: &ConvertOptions) -> Result<Self, Error> {
        match &options.from {
            Some(name) => Self::named(name),
            None => Self::named(seamline_dialects::detect(body)?.name()),
        }
    }

    /// The side it goes to. A dialect stands for the provider of the model, or for the most
    /// tolerant one.
    pub(super) fn target(options: &ConvertOptions) -> Result<Self, Error> {
        let named = Self::named(&options.to)?;
        let served = |dialect: &str| providers::ALL.iter().any(|provider| provider.dialect == dialect);
        if named.provider.is_none() && served(named.converter.dialect) {
            let provider = providers::for_model(named.converter.dialect, options.model.as_deref());
            return Ok(Self { provider: Some(provider), ..named });
        }
        Ok(named)
    }

    fn named(name: &str) -> Result<Self, Error> {
        let provider = providers::by_name(name);
        let dialect = provider.map_or(name, |provider| provider.dialect);
        let converter = converter(dialect).ok_or_else(|| Error::UnknownSide(name.to_owned()))?;
        Ok(Self { converter, provider, is_named: provider.is_some() })
    }

    /// What a call's id may look like. A dialect alone is taken at its strictest, so that
    /// whoever serves it takes the body.
    pub(super) fn call_id(&self) -> IdDemand {
        let named = self.provider.filter(|_| self.is_named);
        named.map_or(self.converter.call_id, |provider| provider.constraints.call_id)
    }

    /// What a tool's name may look like.
    pub(super) fn tool_name(&self) -> NameDemand {
        let named = self.provider.filter(|_| self.is_named);
        named.map_or(self.converter.tool_name, |provider| provider.constraints.tool_name)
    }

    pub(super) fn side(&self) -> Side {
        Side { dialect: self.converter.dialect, provider: self.provider.map(|provider| provider.name) }
    }

    /// A remark when a body names a model that the provider does not serve.
    pub(super) fn doubtful_model(&self, settings: &Settings, options: &ConvertOptions) -> Option<Carried> {
        let (model, provider) = (settings.model.as_deref()?, self.provider?);
        let claims = provider.models.iter().any(|start| model.starts_with(start));
        (options.model.is_none() && !claims && !provider.models.is_empty()).then(|| Carried {
            what: format!("model `{model}`"),
            pointer: settings.pointer("model").to_owned(),
            fate: "kept",
            note: format!("{} does not seem to serve it; name one that it serves", provider.name),
        })
    }
}

/// The names of every dialect that can be converted from and into.
///
/// ```
/// assert!(seamline::convertible_dialects().contains(&"gemini_generate"));
/// ```
pub fn convertible_dialects() -> Vec<&'static str> {
    CONVERTERS.iter().map(|converter| converter.dialect).collect()
}
