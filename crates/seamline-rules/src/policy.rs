//! How damage to a conversation is repaired: the `[repair]` section of a policy.

use seamline_model::knob::Flag;
use seamline_model::{Safety, Scope, words};

/// Declares the knobs once: as fields of [`RepairPolicy`] and as its table.
macro_rules! section {
    ($($(#[doc = $doc:literal])+ $name:ident $(| $alias:ident)* [$mark:literal]: $type:ty as $knob:ty;)+) => {
        /// How each kind of damage to a conversation is repaired. The default drops nothing that the user, the model or a
        /// tool wrote: it relocates, then re-addresses, then keeps as text, then synthesizes.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct RepairPolicy {
            $($(#[doc = $doc])+ pub $name: $type,)+
            /// The texts of synthetic results.
            pub synthetic_text: Box<Texts>,
            /// The names of members that the provider has rejected. No knob sets them: they are known after an error.
            pub rejected_members: Vec<String>,
            /// The paths of members that the provider has rejected, as keys and indexes. An index stands for every
            /// element of its list.
            pub rejected_paths: Vec<Vec<String>>,
            /// The reasoning that the provider has rejected. No knob sets it.
            pub rejected_reasoning: RejectedReasoning,
            /// The codes of the rules whose demand an error of the provider has proved, also where the provider is not
            /// known to have it. No knob sets them.
            pub proved: Vec<String>,
        }

        seamline_model::knobs! {
            RepairPolicy { $($(#[doc = $doc])+ $name $(| $alias)* [$mark]: $knob = $name;)+ }
        }
    };
}

/// Reasoning that a provider has rejected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RejectedReasoning {
    /// The first message whose reasoning is rejected, as is that of all later ones. It applies to one body.
    pub from: Option<u32>,
    /// The marks of the blocks that are rejected in every body.
    pub marks: Vec<String>,
}

section! {
    /// The least safe kind of fix that is applied.
    safety [""]: SafetyMax as SafetyMax;
    /// Treatment of a conversation that is not valid.
    on_invalid ["X8"]: OnInvalid as OnInvalid;
    /// Treatment of a tool call without a result.
    unanswered_call | orphan_call ["X1"]: UnansweredCall as UnansweredCall;
    /// The knowledge about tool calls without a result. It selects the synthetic text that they get.
    unanswered_reason ["X11"]: UnansweredReason as UnansweredReason;
    /// Treatment of a tool result without a call.
    orphan_result ["X2"]: OrphanResult as OrphanResult;
    /// The largest distance between a tool call and a result that is recognised as its own.
    match_scope ["X3"]: MatchScope as MatchScope;
    /// Treatment of a tool result that names another call than the one it answers.
    misaddressed ["X3"]: Misaddressed as Misaddressed;
    /// Treatment of a tool result that is not where the provider expects it.
    displaced ["X4"]: Displaced as Displaced;
    /// Treatment of an open tool call at the end of the conversation.
    trailing_call ["X5"]: TrailingCall as TrailingCall;
    /// Which of two results for one tool call stays.
    duplicate_result ["X9"]: DuplicateResult as DuplicateResult;
    /// Treatment of two tool calls with the same id.
    duplicate_call_id ["X10"]: DuplicateCallId as DuplicateCallId;
    /// Which ids of tool calls the provider gets.
    id_mode ["X15"]: IdMode as IdMode;
    /// Treatment of a message without content.
    emptied ["X19"]: Emptied as Emptied;
    /// Whether neighbouring messages of one role are joined even where the provider accepts them apart, as long as
    /// messages are lists of blocks. Where the provider rejects them they are always joined.
    merge_same_role ["X19"]: bool as Flag;
    /// The order of the results of one tool cycle.
    result_order [""]: ResultOrder as ResultOrder;
}

words! {
    /// The least safe kind of fix that is applied.
    SafetyMax default Safe {
        /// Only fixes that lose and alter nothing.
        Safe = "safe",
        /// Also fixes that drop, alter or guess.
        Unsafe = "unsafe",
        /// Also fixes that change unknown members and roles, which the provider may accept. No preset has it.
        Any = "any",
    }
}

words! {
    /// Treatment of a conversation that is not valid.
    OnInvalid default Repair {
        /// It is repaired before it is sent.
        Repair = "repair",
        /// It is reported and not sent until the caller asks for the repair.
        Offer = "offer",
        /// It is reported, not sent and never changed.
        Block = "block",
        /// It is reported and sent as it is.
        Warn = "warn",
    }
}

words! {
    /// Treatment of a call without a result.
    UnansweredCall default Synthesize {
        /// It gets a result that says what is known.
        Synthesize = "synthesize",
        /// It is removed.
        RemoveCall = "remove_call",
        /// It stays, and the caller rolls back to a checkpoint.
        Rollback = "rollback",
        /// It stays, and the caller gives up.
        Fail = "fail",
    }
}

words! {
    /// The knowledge about calls without a result.
    UnansweredReason default Missing {
        /// Nothing is known about the call.
        Missing = "missing",
        /// The user aborted the run.
        Aborted = "aborted",
        /// The user cancelled the call.
        Cancelled = "cancelled",
        /// The user or the host refused to let the tool run.
        Denied = "denied",
        /// The tool did not finish in time.
        Timeout = "timeout",
        /// The tool or its host crashed.
        Crashed = "crashed",
        /// The call was cut off.
        Truncated = "truncated",
    }
}

words! {
    /// Treatment of a result without a call.
    OrphanResult default ToText {
        /// Its content is kept as text.
        ToText = "to_text",
        /// It is removed.
        Remove = "remove",
        /// Its call is rebuilt.
        ReconstructCall = "reconstruct_call",
    }
}

words! {
    /// The largest distance between a call and a result that is recognised as its own.
    MatchScope default Anywhere {
        /// In the next message.
        Adjacent = "adjacent",
        /// Until the next assistant message.
        Span = "span",
        /// Anywhere after the call.
        Forward = "forward",
        /// Anywhere in the conversation.
        Anywhere = "anywhere",
    }
}

words! {
    /// Treatment of a result that names another call than the one it answers.
    Misaddressed default Readdress {
        /// It is addressed to the only call that it can answer, if the name of its tool or its position proves it;
        /// without that proof only under `safety = "unsafe"`.
        Readdress = "readdress",
        /// It counts as an orphan.
        Orphan = "orphan",
    }
}

words! {
    /// Treatment of a result that is not where the provider expects it.
    Displaced default Relocate {
        /// It is moved to the expected place.
        Relocate = "relocate",
        /// It is removed together with its call.
        RemovePair = "remove_pair",
        /// It is removed.
        RemoveResult = "remove_result",
    }
}

words! {
    /// Treatment of a call whose result may still come.
    TrailingCall default Close {
        /// It gets a result as any other call.
        Close = "close",
        /// It stays open.
        AllowPending = "allow_pending",
        /// It is removed.
        Remove = "remove",
    }
}

words! {
    /// Which of two results for one call stays.
    DuplicateResult default Best {
        /// The first; the other is removed.
        First = "first",
        /// The last; the other is removed.
        Last = "last",
        /// A real one rather than a synthetic one; of two real ones the first, and the other is kept as text.
        Best = "best",
    }
}

words! {
    /// Treatment of two tool calls with the same id.
    DuplicateCallId default AllowPositional {
        /// The calls are paired with their results by position; the later one gets another id only where the provider
        /// rejects the repetition.
        AllowPositional = "allow_positional",
        /// The later call gets another id, wherever in the conversation the two are.
        RenameLater = "rename_later",
        /// The later call is removed where the provider rejects the repetition.
        DropLater = "drop_later",
        /// It is reported, wherever in the conversation the two are; the later call gets another id only where the provider
        /// rejects the repetition.
        Error = "error",
    }
}

words! {
    /// Which ids of tool calls the provider gets.
    IdMode default Preserve {
        /// The ids that the conversation has, as far as the provider accepts them.
        Preserve = "preserve",
        /// Ids in the form that the provider itself makes, such as `toolu_1` for Anthropic and `call_1` for OpenAI.
        Canonical = "canonical",
    }
}

words! {
    /// Treatment of a message without content.
    Emptied default Remove {
        /// It is removed.
        Remove = "remove",
        /// It gets a text that says that the message was empty.
        Placeholder = "placeholder",
        /// It stays where the provider accepts it, else it gets a text.
        Keep = "keep",
    }
}

words! {
    /// The order of the results of one cycle.
    ResultOrder default AsFound {
        /// In the order found.
        AsFound = "as_found",
        /// In the order of their calls.
        CallOrder = "call_order",
    }
}

/// Declares the texts of synthetic results, one per reason.
macro_rules! texts {
    ($($(#[doc = $doc:literal])+ $name:ident = $reason:ident;)+) => {
        // X11
        /// The texts of synthetic results, by what is known about the call.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Texts {
            $($(#[doc = $doc])+ pub $name: SyntheticText,)+
        }

        impl Texts {
            /// Every text: its name in a policy file, its value, and when it is used.
            pub fn list(&self) -> Vec<(&'static str, &str, &'static str)> {
                vec![$((stringify!($name), self.$name.as_str(), concat!($($doc),+).trim_ascii())),+]
            }

            /// Sets the text with this name, marked as synthetic. Returns whether there is such a text.
            pub fn set(&mut self, name: &str, text: &str) -> bool {
                $(if name == stringify!($name) {
                    self.$name = marked(text).into();
                    return true;
                })+
                false
            }

            /// The texts that only this policy identifies as synthetic.
            pub fn own(&self) -> Vec<String> {
                let texts = [$(&self.$name),+];
                let texts = texts.into_iter().map(SyntheticText::as_str);
                texts.filter(|text| !seamline_model::is_synthetic(text)).map(str::to_owned).collect()
            }

            /// The text for a reason.
            pub fn get(&self, reason: UnansweredReason) -> &str {
                match reason {
                    $(UnansweredReason::$reason => self.$name.as_str(),)+
                }
            }
        }
    };
}

/// Adds the synthetic mark if the text has none: without it, a late real result could not replace the text.
fn marked(text: &str) -> String {
    let known = seamline_model::is_synthetic(text)
        || seamline_model::is_of_others(text)
        || text.trim_start().starts_with(seamline_model::MARK);
    if known { text.to_owned() } else { format!("{} {text}", seamline_model::MARK) }
}

texts! {
    /// Nothing is known about the call.
    missing = Missing;
    /// The user aborted the run.
    aborted = Aborted;
    /// The user cancelled the call.
    cancelled = Cancelled;
    /// The user or the host refused to let the tool run.
    denied = Denied;
    /// The tool did not finish in time.
    timeout = Timeout;
    /// The tool or its host crashed. In a session: the tool panicked, or the process ended while the call may have run.
    /// A call that certainly never started keeps the text that says so.
    crashed = Crashed;
    /// The call was cut off. In a session or a stream: a part of it is missing, or its arguments cannot be read.
    truncated = Truncated;
}

/// The text of a synthetic result. It remembers whether it is a default text of Seamline.
///
/// ```
/// use seamline_rules::policy::SyntheticText;
///
/// let text = SyntheticText::from("[Aborted by user]");
/// assert_eq!((text.as_str(), text.own()), ("[Aborted by user]", Some("[Aborted by user]")));
/// assert_eq!(SyntheticText::from(seamline_model::ABORTED).own(), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntheticText {
    text: String,
    words: Words,
}

/// The author of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    /// Seamline, in this version or an earlier one.
    Default,
    /// The author of the policy.
    Own,
}

impl SyntheticText {
    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the text if it is not one of Seamline's default texts.
    pub fn own(&self) -> Option<&str> {
        (self.words == Words::Own).then_some(self.text.as_str())
    }
}

impl From<String> for SyntheticText {
    fn from(text: String) -> Self {
        let words = if seamline_model::is_default_text(&text) { Words::Default } else { Words::Own };
        Self { text, words }
    }
}

impl From<&str> for SyntheticText {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl RepairPolicy {
    /// Whether a fix of this safety is applied.
    pub fn allows(&self, safety: Safety) -> bool {
        let within = match safety {
            Safety::Safe => true,
            Safety::Unsafe => matches!(self.safety, SafetyMax::Unsafe | SafetyMax::Any),
            Safety::Unknown => self.safety == SafetyMax::Any,
            Safety::DisplayOnly => false,
        };
        within && matches!(self.on_invalid, OnInvalid::Repair | OnInvalid::Offer)
    }

    /// Whether an error of the provider proved the demand that a rule is about.
    pub(crate) fn is_proved(&self, rule: &str) -> bool {
        self.proved.iter().any(|code| code == rule)
    }

    /// The scope of pairing; `joint` comes from the provider.
    pub(crate) fn scope(&self) -> Scope {
        let (late, early) = match self.match_scope {
            MatchScope::Adjacent | MatchScope::Span => (false, false),
            MatchScope::Forward => (true, false),
            MatchScope::Anywhere => (true, true),
        };
        let misaddressed = self.misaddressed == Misaddressed::Readdress;
        Scope { late, early, misaddressed, unproven: self.allows(Safety::Unsafe), ..Scope::ALL }
    }
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            missing: seamline_model::NO_RESULT.into(),
            aborted: seamline_model::ABORTED.into(),
            cancelled: seamline_model::CANCELLED.into(),
            denied: seamline_model::DENIED.into(),
            timeout: seamline_model::TIMED_OUT.into(),
            crashed: seamline_model::CRASHED.into(),
            truncated: seamline_model::TRUNCATED.into(),
        }
    }
}
