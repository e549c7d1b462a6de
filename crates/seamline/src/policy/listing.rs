//! The knobs of a policy as one list.

use std::fmt;

use seamline_model::knob::{KnobKind, Setting};
use serde::ser::{Serialize, Serializer};

use super::{Policy, SectionName};

/// One knob of a policy, with its value.
///
/// ```
/// let policy = seamline::Policy::preset("kilroy").unwrap();
/// let knobs = policy.knobs();
/// let knob = knobs.iter().find(|knob| knob.name == "stall_timeout_ms").unwrap();
/// assert_eq!((knob.section, knob.value.to_string().as_str()), ("guard", "300000"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedKnob {
    /// The name in a policy file.
    pub name: &'static str,
    /// Other names that a policy file may use for it.
    pub aliases: &'static [&'static str],
    /// The section that it belongs to.
    pub section: &'static str,
    /// The value in this policy.
    pub value: KnobValue,
    /// The value in the default policy.
    pub default: KnobValue,
    /// Which values it takes.
    pub kind: KnobKind,
    /// The decision that the knob makes.
    pub about: &'static str,
    /// The mark of the question that the knob settles, such as `X1`; empty where it has none.
    pub mark: &'static str,
}

/// The value of a knob. It is shown as a policy file writes it.
///
/// ```
/// let knob = seamline::Policy::default().knobs()[0];
/// assert_eq!((knob.name, knob.value.to_string().as_str()), ("safety", "\"safe\""));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnobValue(Setting<'static>);

impl KnobValue {
    /// The word without quotes, where the value is a word.
    pub fn word(self) -> Option<&'static str> {
        match self.0 {
            Setting::Word(word) => Some(word),
            Setting::Flag(_) | Setting::Number(_) => None,
        }
    }
}

impl fmt::Display for KnobValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Setting::Word(word) => write!(f, "\"{word}\""),
            Setting::Flag(flag) => write!(f, "{flag}"),
            Setting::Number(number) => write!(f, "{number}"),
        }
    }
}

impl Serialize for KnobValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Setting::Word(word) => serializer.serialize_str(word),
            Setting::Flag(flag) => serializer.serialize_bool(flag),
            Setting::Number(number) => serializer.serialize_u64(number),
        }
    }
}

impl Policy {
    /// Lists every knob of every section, with its value here and in the default policy.
    ///
    /// ```
    /// let names: Vec<_> = seamline::Policy::default().knobs().iter().map(|knob| knob.name).collect();
    /// assert!(names.contains(&"unanswered_call") && names.contains(&"stall_timeout_ms"));
    /// ```
    pub fn knobs(&self) -> Vec<ListedKnob> {
        let default = Self::default();
        let of_section = |section: SectionName| section.knobs().iter().map(move |knob| (section, knob));
        let all = SectionName::ALL.into_iter().flat_map(of_section);
        let listed = all.filter_map(|(section, knob)| {
            let of = |policy: &Self| policy.get(section, knob.name).map(KnobValue);
            Some(ListedKnob {
                name: knob.name,
                aliases: knob.aliases,
                section: section.as_str(),
                value: of(self)?,
                default: of(&default)?,
                kind: knob.kind,
                about: knob.about,
                mark: knob.mark,
            })
        });
        listed.collect()
    }
}

/// The values that a knob takes, in words.
pub(super) fn allowed(kind: KnobKind) -> String {
    match kind {
        KnobKind::Word(words) => {
            let quoted: Vec<_> = words.iter().map(|word| format!("`\"{}\"`", word.name)).collect();
            quoted.join(", ")
        }
        KnobKind::Flag => "`true` or `false`".to_owned(),
        KnobKind::Count(0) => "a whole number".to_owned(),
        KnobKind::Count(least) => format!("a whole number of at least {least}"),
        KnobKind::Milliseconds => "a number of milliseconds".to_owned(),
        KnobKind::MillisecondsOrNever => "a number of milliseconds, or 0 for never".to_owned(),
    }
}

impl ListedKnob {
    /// The values that the knob takes, in words.
    ///
    /// ```
    /// let knobs = seamline::Policy::default().knobs();
    /// let knob = knobs.iter().find(|knob| knob.name == "retries_max").unwrap();
    /// assert_eq!(knob.allowed(), "a whole number");
    /// ```
    pub fn allowed(&self) -> String {
        allowed(self.kind)
    }
}
