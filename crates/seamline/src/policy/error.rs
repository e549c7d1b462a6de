//! Errors in policy files.

use std::fmt;

use super::PRESETS;

/// The error of reading a policy: what is wrong, and the line where it is. Every message suggests the nearest name and
/// lists all of them.
///
/// ```
/// use seamline::policy::PolicyErrorKind;
///
/// let error = seamline::Policy::from_toml("# ours\npreset = 'opel'").unwrap_err();
/// assert_eq!((error.line, &error.kind), (Some(2), &PolicyErrorKind::UnknownPreset { name: "opel".to_owned() }));
/// let text = "line 2: no preset is called `opel`; did you mean `opal`? the presets are `lossless`, ";
/// assert!(error.to_string().starts_with(text));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyError {
    /// The line of the file, counted from 1. It is absent where the policy was not read from a file, and where the
    /// message itself has it.
    pub line: Option<usize>,
    /// The mistake in the policy.
    pub kind: PolicyErrorKind,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.kind),
            None => self.kind.fmt(f),
        }
    }
}

impl std::error::Error for PolicyError {}

impl PolicyError {
    /// Returns what the caller can do about it, if there is one thing to do.
    ///
    /// ```
    /// let error = seamline::Policy::from_toml("[guard]\nverbose = true").unwrap_err();
    /// assert_eq!(error.hint().as_deref(), Some("move `verbose` to `[session]`"));
    /// ```
    pub fn hint(&self) -> Option<String> {
        let write = |nearest: Option<&str>| nearest.map(|nearest| format!("write `{nearest}`"));
        match &self.kind {
            PolicyErrorKind::NotToml(_) => None,
            PolicyErrorKind::UnknownPreset { name } => write(nearest(name, preset_names())),
            PolicyErrorKind::UnknownKnob { name, known, .. }
            | PolicyErrorKind::UnknownSection { name, known, .. }
            | PolicyErrorKind::UnknownProvider { name, known } => write(nearest(name, known.iter().copied())),
            PolicyErrorKind::OtherSection { name, section, .. } => Some(format!("move `{name}` to `[{section}]`")),
            PolicyErrorKind::UnknownValue { nearest, .. } => write(nearest.as_deref()),
            PolicyErrorKind::RepeatedProvider { .. } => Some("keep one table".to_owned()),
            PolicyErrorKind::Contradiction { .. } => Some("keep one of the two lines".to_owned()),
            PolicyErrorKind::NotATable(name) => Some(format!("write `[{name}]` and its knobs below")),
        }
    }
}

/// The mistake in a policy.
///
/// ```
/// use seamline::policy::PolicyErrorKind;
///
/// let error = seamline::Policy::from_toml("[guard]\nverbose = true").unwrap_err();
/// assert!(matches!(error.kind, PolicyErrorKind::OtherSection { section: "session", .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyErrorKind {
    /// The text is not TOML.
    #[error("not a policy: {0}")]
    NotToml(String),
    /// No preset has this name.
    #[error(
        "no preset is called `{name}`; {}the presets are {}",
        did_you_mean(nearest(name, preset_names())),
        listed(preset_names())
    )]
    UnknownPreset {
        /// The name that was asked for.
        name: String,
    },
    /// No knob has this name.
    #[error("{place} has no knob `{name}`; {}the knobs are {}", did_you_mean(nearest(name, known.iter().copied())), listed(known.iter().copied()))]
    UnknownKnob {
        /// The place of the name: a section, or the policy.
        place: String,
        /// The name that was asked for.
        name: String,
        /// The knobs that exist there.
        known: Vec<&'static str>,
    },
    /// No section has this name.
    #[error("{place} has no section `[{name}]`; {}the sections are {}", did_you_mean(nearest(name, known.iter().copied())), listed(known.iter().copied()))]
    UnknownSection {
        /// The place of the name: a table, or the policy.
        place: String,
        /// The name that was asked for.
        name: String,
        /// The sections that exist there.
        known: Vec<&'static str>,
    },
    /// The knob belongs to another section.
    #[error("`{name}` is a knob of `[{section}]`, not of {place}")]
    OtherSection {
        /// The place of the name.
        place: String,
        /// The name of the knob.
        name: String,
        /// The section that has the knob.
        section: &'static str,
    },
    /// The knob does not take this value.
    #[error("`{knob}` does not take `{value}`; {}it takes {allowed}", did_you_mean(nearest.as_deref()))]
    UnknownValue {
        /// The name of the knob.
        knob: String,
        /// The value that was given.
        value: String,
        /// The nearest value that exists.
        nearest: Option<String>,
        /// The values that the knob takes.
        allowed: String,
    },
    /// No provider has this name.
    #[error("no provider is called `{name}`; {}the providers are {}", did_you_mean(nearest(name, known.iter().copied())), listed(known.iter().copied()))]
    UnknownProvider {
        /// The name that was asked for.
        name: String,
        /// The providers that exist.
        known: Vec<&'static str>,
    },
    /// Two tables are for one provider.
    #[error("`[provider.{other}]` and `[provider.{one}]` are both for `{provider}`; keep one table")]
    RepeatedProvider {
        /// The name of the provider.
        provider: &'static str,
        /// The spelling of the first table.
        one: String,
        /// The spelling of the other table.
        other: String,
    },
    /// Two lines set one knob to different values.
    #[error("`{other}` contradicts `{one}`{}: both set `{knob}`; keep one of the two", in_line(*one_line))]
    Contradiction {
        /// The name of the knob.
        knob: &'static str,
        /// The text of the line that comes first.
        one: String,
        /// The number of that line, where the policy was read from a file.
        one_line: Option<usize>,
        /// The text of the line that contradicts it.
        other: String,
    },
    /// Something that must be a table is a value.
    #[error("`{0}` is a table: write `[{0}]` and its knobs below")]
    NotATable(String),
}

fn in_line(line: Option<usize>) -> String {
    line.map(|line| format!(" in line {line}")).unwrap_or_default()
}

fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name)
}

fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("did you mean `{nearest}`? ")).unwrap_or_default()
}

/// The least similarity of a suggested name, from 0 to 1.
const LIKENESS_MIN: f64 = 0.6;

/// The name that is most similar to the given one.
pub(crate) fn nearest<'n>(asked: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let asked = asked.to_lowercase();
    let scored = names.map(|name| (strsim::normalized_damerau_levenshtein(&asked, name), name));
    let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(likeness, _)| *likeness >= LIKENESS_MIN).map(|(_, name)| name)
}
