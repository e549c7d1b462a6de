//! The caller's choice: how each kind of damage is put right, and up to which safety.

use seamline_model::{Reason, Safety, Scope};
use serde::{Deserialize, Serialize};

mod presets;

pub use presets::{PRESETS, Preset};

/// Why a policy could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not TOML, or names a knob or value that does not exist.
    #[error("not a policy: {0}")]
    NotAPolicy(String),
    /// No preset has this name.
    #[error("no preset is called `{0}`; there are {names}", names = preset_names())]
    UnknownPreset(String),
}

fn preset_names() -> String {
    PRESETS.iter().map(|preset| format!("`{}`", preset.name)).collect::<Vec<_>>().join(", ")
}

/// One choice of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Knob {
    /// Its name in a policy file.
    pub name: &'static str,
    /// The value it has.
    pub value: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// The values it may have.
    pub values: &'static [Value],
}

/// A value that a knob may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Value {
    /// The word for it in a policy file.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
}

/// Declares the knobs once: as fields of [`Policy`], as optional fields of a policy file,
/// and as a table that can be printed.
macro_rules! knobs {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty $(, alias $alias:literal)?;)+) => {
        /// How each kind of damage is put right. A named preset plus overrides.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
        pub struct Policy {
            /// The preset it started from.
            pub preset: String,
            $($(#[doc = $doc])+ pub $name: $type,)+
            /// The texts of synthetic results.
            pub synthetic_text: Texts,
        }

        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            preset: Option<String>,
            $($(#[serde(alias = $alias)])? $name: Option<$type>,)+
            #[serde(default)]
            synthetic_text: TextsFile,
        }

        impl File {
            fn apply(self, policy: &mut Policy) {
                $(if let Some(value) = self.$name { policy.$name = value; })+
                self.synthetic_text.apply(&mut policy.synthetic_text);
            }
        }

        impl Policy {
            /// Every knob with its value here.
            pub fn knobs(&self) -> Vec<Knob> {
                vec![$(Knob {
                    name: stringify!($name),
                    value: self.$name.as_str(),
                    about: concat!($($doc),+).trim_ascii(),
                    values: <$type>::VALUES,
                }),+]
            }
        }
    };
}

/// Declares the values of a knob.
macro_rules! values {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $value_doc:literal])+ $value:ident = $text:literal,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[doc = $value_doc])+ $value,)+
        }

        impl $name {
            /// Every value.
            pub const VALUES: &'static [Value] =
                &[$(Value { name: $text, about: concat!($($value_doc),+).trim_ascii() }),+];

            /// The word for it in a policy file.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)+
                }
            }
        }
    };
}

knobs! {
    /// Up to which safety fixes are applied.
    safety: SafetyMax;
    /// What happens to a conversation that is not valid.
    on_invalid: OnInvalid;
    // X1
    /// A call without a result.
    unanswered_call: UnansweredCall, alias "orphan_call";
    /// What is known about calls without a result; says which synthetic text they get.
    unanswered_reason: UnansweredReason;
    // X2
    /// A result without a call.
    orphan_result: OrphanResult;
    // X3
    /// How far from its call a result is recognised.
    match_scope: MatchScope;
    /// A result that names another call than the one it answers.
    misaddressed: Misaddressed;
    // X4
    /// A result that is not where the provider looks for it.
    displaced: Displaced;
    // X5
    /// A call that may still be answered, at the end of the conversation.
    trailing_call: TrailingCall;
    // X9
    /// A second result for one call.
    duplicate_result: DuplicateResult;
    // X10
    /// An id that two calls have.
    duplicate_call_id: DuplicateCallId;
    // X19
    /// A message with nothing in it.
    emptied: Emptied;
    /// The order of the results of one cycle.
    result_order: ResultOrder;
}

values! {
    /// Up to which safety fixes are applied.
    SafetyMax {
        /// Only fixes that lose and alter nothing.
        Safe = "safe",
        /// Also fixes that drop, alter or guess.
        Unsafe = "unsafe",
    }
}

values! {
    /// What happens to a conversation that is not valid.
    OnInvalid {
        /// It is repaired.
        Repair = "repair",
        /// It is reported and must not be sent.
        Block = "block",
        /// It is reported.
        Warn = "warn",
    }
}

values! {
    /// What happens to a call without a result.
    UnansweredCall {
        /// It gets a result that says what is known.
        Synthesize = "synthesize",
        /// It is taken out.
        RemoveCall = "remove_call",
        /// It stays; the caller goes back to a checkpoint.
        Rollback = "rollback",
        /// It stays; the caller gives up.
        Fail = "fail",
    }
}

values! {
    /// What is known about calls without a result.
    UnansweredReason {
        /// Nothing.
        Missing = "missing",
        /// The user aborted the run.
        Aborted = "aborted",
        /// The user cancelled the call.
        Cancelled = "cancelled",
        /// Somebody refused to let the tool run.
        Denied = "denied",
        /// The tool did not finish in time.
        Timeout = "timeout",
        /// The tool or its host crashed.
        Crashed = "crashed",
        /// The call was cut off.
        Truncated = "truncated",
    }
}

impl From<UnansweredReason> for Reason {
    fn from(reason: UnansweredReason) -> Self {
        match reason {
            UnansweredReason::Missing => Self::Missing,
            UnansweredReason::Aborted => Self::Aborted,
            UnansweredReason::Cancelled => Self::Cancelled,
            UnansweredReason::Denied => Self::Denied,
            UnansweredReason::Timeout => Self::Timeout,
            UnansweredReason::Crashed => Self::Crashed,
            UnansweredReason::Truncated => Self::Truncated,
        }
    }
}

values! {
    /// What happens to a result without a call.
    OrphanResult {
        /// What it says is kept as text.
        ToText = "to_text",
        /// It is taken out.
        Remove = "remove",
        /// Its call is rebuilt.
        ReconstructCall = "reconstruct_call",
    }
}

values! {
    /// How far from its call a result is recognised.
    MatchScope {
        /// In the next message.
        Adjacent = "adjacent",
        /// Until the next assistant message.
        Span = "span",
        /// Anywhere after the call.
        Forward = "forward",
        /// Anywhere.
        Anywhere = "anywhere",
    }
}

values! {
    /// What happens to a result that names another call than the one it answers.
    Misaddressed {
        /// It is addressed to the only call it can answer.
        Readdress = "readdress",
        /// It is an orphan.
        Orphan = "orphan",
    }
}

values! {
    /// What happens to a result that is not where the provider looks for it.
    Displaced {
        /// It is moved there.
        Relocate = "relocate",
        /// It is taken out together with its call.
        RemovePair = "remove_pair",
        /// It is taken out.
        RemoveResult = "remove_result",
    }
}

values! {
    /// What happens to a call that may still be answered.
    TrailingCall {
        /// It is answered as any other.
        Close = "close",
        /// It stays open.
        AllowPending = "allow_pending",
        /// It is taken out.
        Remove = "remove",
    }
}

values! {
    /// Which of two results for one call stays.
    DuplicateResult {
        /// The first; the other is taken out.
        First = "first",
        /// The last; the other is taken out.
        Last = "last",
        /// A real one rather than a synthetic one; of two real ones the first, and the
        /// other is kept as text.
        Best = "best",
    }
}

values! {
    /// What happens to an id that two calls have.
    DuplicateCallId {
        /// The later call gets another one where the provider wants it.
        RenameLater = "rename_later",
        /// The later call is taken out.
        DropLater = "drop_later",
        /// It is reported, wherever in the conversation the two are.
        Error = "error",
    }
}

values! {
    /// What happens to a message with nothing in it.
    Emptied {
        /// It is taken out.
        Remove = "remove",
        /// It gets a text that says so.
        Placeholder = "placeholder",
        /// It stays where the provider takes it, else it gets a text.
        Keep = "keep",
    }
}

values! {
    /// The order of the results of one cycle.
    ResultOrder {
        /// As they stand.
        AsFound = "as_found",
        /// As their calls stand.
        CallOrder = "call_order",
    }
}

/// Declares the texts of synthetic results, one per reason.
macro_rules! texts {
    ($($(#[doc = $doc:literal])+ $name:ident = $reason:ident;)+) => {
        // X11
        /// The texts of synthetic results, by what is known about the call.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
        pub struct Texts {
            $($(#[doc = $doc])+ pub $name: String,)+
        }

        #[derive(Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct TextsFile {
            $($name: Option<String>,)+
        }

        impl TextsFile {
            fn apply(self, texts: &mut Texts) {
                $(if let Some(text) = self.$name { texts.$name = marked(text); })+
            }
        }

        impl Texts {
            /// Every text: its name in a policy file, what it says, and when it is used.
            pub fn list(&self) -> Vec<(&'static str, &str, &'static str)> {
                vec![$((stringify!($name), self.$name.as_str(), concat!($($doc),+).trim_ascii())),+]
            }

            /// Those of them that only this policy knows to be made up.
            pub fn own(&self) -> Vec<String> {
                let texts = [$(&self.$name),+];
                texts.into_iter().filter(|text| !seamline_model::is_synthetic(text)).cloned().collect()
            }

            /// The text for a reason.
            pub fn get(&self, reason: Reason) -> &str {
                match reason {
                    $(Reason::$reason => &self.$name,)+
                }
            }
        }
    };
}

/// A text that is known to be made up: without a mark, a real result that comes later
/// could not take its place.
fn marked(text: String) -> String {
    let known = seamline_model::is_synthetic(&text) || text.trim_start().starts_with(seamline_model::MARK);
    if known { text } else { format!("{} {text}", seamline_model::MARK) }
}

texts! {
    /// Nothing is known.
    missing = Missing;
    /// The user aborted the run.
    aborted = Aborted;
    /// The user cancelled the call.
    cancelled = Cancelled;
    /// Somebody refused to let the tool run.
    denied = Denied;
    /// The tool did not finish in time.
    timeout = Timeout;
    /// The tool or its host crashed.
    crashed = Crashed;
    /// The call was cut off.
    truncated = Truncated;
    /// The call was rebuilt from its result.
    reconstructed = Reconstructed;
}

impl Policy {
    /// The preset with this name.
    ///
    /// ```
    /// use seamline_rules::Policy;
    ///
    /// let policy = Policy::preset("minimal").unwrap();
    /// assert_eq!(policy.preset, "minimal");
    /// assert_eq!(Policy::preset("lossless"), Some(Policy::default()));
    /// assert_eq!(Policy::preset("no such preset"), None);
    /// ```
    pub fn preset(name: &str) -> Option<Self> {
        PRESETS.iter().find(|preset| preset.name == name).map(|preset| (preset.build)())
    }

    /// Reads a policy file: `preset = "…"` and any knobs that differ from it.
    ///
    /// ```
    /// use seamline_rules::policy::{Policy, UnansweredCall};
    ///
    /// let policy = Policy::from_toml("preset = 'lossless'\nunanswered_call = 'remove_call'")?;
    /// assert_eq!(policy.unanswered_call, UnansweredCall::RemoveCall);
    /// assert!(Policy::from_toml("unanswered_call = 'ignore'").is_err());
    /// # Ok::<(), seamline_rules::policy::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the text is not TOML, or names a preset, knob or value that does not exist.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        let mut file: File = toml::from_str(text).map_err(|error| Error::NotAPolicy(error.to_string()))?;
        let name = file.preset.take().unwrap_or_else(|| "lossless".to_owned());
        let mut policy = Self::preset(&name).ok_or(Error::UnknownPreset(name))?;
        file.apply(&mut policy);
        Ok(policy)
    }

    /// Whether a fix of this safety is applied.
    pub fn allows(&self, safety: Safety) -> bool {
        let within = match safety {
            Safety::Safe => true,
            Safety::Unsafe => self.safety == SafetyMax::Unsafe,
            Safety::DisplayOnly => false,
        };
        within && self.on_invalid == OnInvalid::Repair
    }

    /// How far pairing looks; `joint` is the provider's affair.
    pub(crate) fn scope(&self) -> Scope {
        let (late, early) = match self.match_scope {
            MatchScope::Adjacent | MatchScope::Span => (false, false),
            MatchScope::Forward => (true, false),
            MatchScope::Anywhere => (true, true),
        };
        Scope { late, early, misaddressed: self.misaddressed == Misaddressed::Readdress, ..Scope::ALL }
    }
}

impl Default for Policy {
    fn default() -> Self {
        presets::lossless()
    }
}
