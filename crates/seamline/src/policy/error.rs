//! Errors in policy files.

use super::PRESETS;

/// The error of reading a policy. Every message suggests the nearest name and lists all of them.
///
/// ```
/// let error = seamline::Policy::from_toml("preset = 'opel'").unwrap_err();
/// assert!(error.to_string().starts_with("no preset is called `opel`; did you mean `opal`? the presets are `lossless`, "));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
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
    /// Two lines set one knob to different values.
    #[error("`{one}` and `{other}` set the same knob to different values\nhint: keep one of the two lines")]
    Contradiction {
        /// The line that comes first.
        one: String,
        /// The line that contradicts it.
        other: String,
    },
    /// Something that must be a table is a value.
    #[error("`{0}` is a table: write `[{0}]` and its knobs below")]
    NotATable(String),
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
pub(super) fn nearest<'n>(asked: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let asked = asked.to_lowercase();
    let scored = names.map(|name| (strsim::normalized_damerau_levenshtein(&asked, name), name));
    let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(likeness, _)| *likeness >= LIKENESS_MIN).map(|(_, name)| name)
}
