//! What is looked at: a body, its dialect and its provider.

use seamline_dialects::{Dialect, Provider, providers};
use seamline_model::{Edit, Encoded, Transcript};
use seamline_rules::{Policy, Rewrite};

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
    pub(crate) provider: Provider,
}

impl Subject {
    /// The dialect a body is to be read in.
    pub(crate) fn dialect(body: &[u8], options: &Options) -> Result<&'static dyn Dialect, Error> {
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
            (None, None) => Ok(seamline_dialects::detect(body)?),
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
        Ok(Self { dialect, provider: *provider })
    }
}

fn named_provider(name: &str) -> Result<&'static Provider, Error> {
    providers::by_name(name).ok_or_else(|| Error::UnknownProvider(name.to_owned()))
}

impl Rewrite for Subject {
    fn follow<'n>(&self, before: &Transcript<'n>, encoded: &'n Encoded) -> Option<Transcript<'n>> {
        let followed = self.dialect.follow(before, encoded)?;
        debug_assert!(self.reads_the_same(&followed), "what was copied says something else now");
        Some(followed)
    }

    fn read<'n>(&self, body: &'n [u8]) -> Option<Transcript<'n>> {
        self.dialect.decode(body).ok()
    }

    fn write(&self, transcript: &Transcript<'_>, edits: &[Edit]) -> Encoded {
        if edits.iter().all(Edit::is_bytes) {
            seamline_dialects::patch(transcript, edits)
        } else {
            self.dialect.encode(transcript, edits, &self.provider.constraints)
        }
    }
}

impl Subject {
    /// Whether a body that is put together and read afresh says what was followed.
    fn reads_the_same(&self, followed: &Transcript<'_>) -> bool {
        let joined = followed.source.joined();
        self.read(&joined).is_some_and(|fresh| fresh.says_the_same(followed))
    }
}
