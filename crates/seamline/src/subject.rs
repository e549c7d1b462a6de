//! What is looked at: a body, its dialect and its provider.

use std::cell::Cell;

use seamline_dialects::{Dialect, Document, Nodes, Provider, providers};
use seamline_model::{Edit, Transcript};
use seamline_rules::{Policy, Rewrite, Rewritten};

use crate::Error;

/// How a body is looked at. The default detects dialect and provider and repairs without
/// losing anything.
///
/// ```
/// let options = seamline::Options {
///     provider: Some("anthropic".to_owned()),
///     policy: seamline::Policy::preset("minimal").unwrap(),
///     ..Default::default()
/// };
/// let checked = seamline::check(br#"{"messages":[]}"#, &options)?;
/// assert_eq!((checked.dialect, checked.provider), ("anthropic_messages", "anthropic"));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The dialect, by name; detected when not given.
    pub dialect: Option<String>,
    /// The provider, by name; detected from the model when not given.
    pub provider: Option<String>,
    /// How damage is put right.
    pub policy: Policy,
}

/// The names of all dialects.
///
/// ```
/// assert!(seamline::dialect_names().contains(&"anthropic_messages"));
/// ```
pub fn dialect_names() -> Vec<&'static str> {
    seamline_dialects::ALL.iter().map(|dialect| dialect.name()).collect()
}

/// The dialect and provider of a body.
pub(crate) struct Subject {
    pub(crate) dialect: &'static dyn Dialect,
    pub(crate) provider: &'static Provider,
}

impl Subject {
    /// The dialect a document is to be read in.
    pub(crate) fn dialect(document: &Document<'_>, options: &Options) -> Result<&'static dyn Dialect, Error> {
        let asked = options.dialect.as_deref();
        let provider = options.provider.as_deref().map(named_provider).transpose()?;
        match (asked, provider) {
            (Some(name), provider) => {
                let dialect = seamline_dialects::by_name(name).ok_or_else(|| Error::UnknownDialect(name.to_owned()))?;
                match provider {
                    Some(provider) if provider.dialect != dialect.name() => Err(Error::WrongProvider {
                        provider: provider.name,
                        serves: provider.dialect,
                        asked: dialect.name(),
                    }),
                    _ => Ok(dialect),
                }
            }
            (None, Some(provider)) => seamline_dialects::by_name(provider.dialect)
                .ok_or_else(|| Error::UnknownDialect(provider.dialect.to_owned())),
            (None, None) => Ok(seamline_dialects::detect(document)),
        }
    }

    /// The dialect and provider of a transcript that was read.
    pub(crate) fn of(
        dialect: &'static dyn Dialect,
        transcript: &Transcript<'_>,
        options: &Options,
    ) -> Result<Self, Error> {
        let provider = match options.provider.as_deref() {
            Some(name) => named_provider(name)?,
            None => providers::for_model(dialect.name(), transcript.model.as_deref()),
        };
        Ok(Self { dialect, provider })
    }
}

fn named_provider(name: &str) -> Result<&'static Provider, Error> {
    providers::by_name(name).ok_or_else(|| Error::UnknownProvider(name.to_owned()))
}

/// A body that was read already, for the first pass of a repair over it.
pub(crate) struct Read<'r, 'a> {
    pub(crate) subject: &'r Subject,
    pub(crate) document: &'r Document<'a>,
    pub(crate) transcript: &'r Transcript<'a>,
    /// The values of the text the last pass made.
    pub(crate) nodes: Cell<Option<Nodes>>,
}

impl Rewrite for Read<'_, '_> {
    fn rewrite(&self, text: &str, choose: &mut dyn FnMut(&Transcript<'_>) -> Vec<Edit>) -> Rewritten {
        if std::ptr::eq(text, self.document.text()) {
            return self.write(self.document, self.transcript, choose);
        }
        let document = match self.nodes.take() {
            Some(nodes) => Document::with_nodes(text, nodes),
            None => match Document::read(text) {
                Ok(document) => document,
                Err(_) => return Rewritten::Unreadable,
            },
        };
        let Ok(transcript) = self.subject.dialect.decode(&document) else { return Rewritten::Unreadable };
        self.write(&document, &transcript, choose)
    }
}

impl Read<'_, '_> {
    fn write(
        &self,
        document: &Document<'_>,
        transcript: &Transcript<'_>,
        choose: &mut dyn FnMut(&Transcript<'_>) -> Vec<Edit>,
    ) -> Rewritten {
        let edits = choose(transcript);
        if edits.is_empty() {
            Rewritten::Settled
        } else if edits.iter().all(|edit| matches!(edit, Edit::Patch { .. })) {
            Rewritten::Changed(seamline_dialects::patch(document.text(), transcript.messages.len(), &edits))
        } else {
            let encoded = self.subject.dialect.encode(document, transcript, &edits);
            self.nodes.set(seamline_dialects::follow(document, transcript, &encoded));
            Rewritten::Changed(encoded)
        }
    }
}
