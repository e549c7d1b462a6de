//! Policies: the choices for repairs, sessions, streams and guards.
//!
//! A [`Policy`] is a named preset and the knobs that differ from it. Every knob has a name that no other knob has, so a
//! policy file may write it in its section or at the top level; `[provider.NAME]` tables override knobs for one provider.
//! The types of knobs are in the modules that use them: [`crate::session`], [`crate::stream`] and [`crate::guards`]; those
//! of repairs are here. The page `docs/policies.md` explains policy files, `docs/knobs.md` lists every knob.
//!
//! ```
//! use seamline::Policy;
//! use seamline::policy::UnansweredCall;
//!
//! let policy = Policy::from_toml(
//!     "preset = 'lossless'
//!      [guard]
//!      stall_timeout_ms = 600000
//!      [provider.groq.repair]
//!      unanswered_call = 'remove_call'",
//! )?;
//! assert_eq!(policy.for_provider("groq").repair.unanswered_call, UnansweredCall::RemoveCall);
//! assert_eq!(policy.for_provider("openai").repair.unanswered_call, UnansweredCall::Synthesize);
//! # Ok::<(), seamline::policy::PolicyError>(())
//! ```

mod error;
mod file;
mod lines;
mod listing;
mod presets;

use std::borrow::Cow;
use std::collections::BTreeMap;

use seamline_guard::GuardPolicy;
use seamline_model::Safety;
use seamline_model::knob::{Knob, RefusedValue, Section, Setting};
use seamline_store::RejectedMembers;

use crate::classify::{MemberFault, NamedMember, Verdict};
use crate::session::{PersistRepairs, SessionPolicy};
use crate::stream::StreamPolicy;

pub(crate) use error::nearest;
pub use error::{PolicyError, PolicyErrorKind};
pub use listing::{KnobValue, ListedKnob};
pub use presets::{PRESETS, Preset};
pub use seamline_model::knob::{KnobKind, Word};
pub use seamline_rules::policy::{
    Displaced, DuplicateCallId, DuplicateResult, Emptied, IdMode, MatchScope, Misaddressed, OnInvalid, OrphanResult,
    RepairPolicy, ResultOrder, SafetyMax, SyntheticText, Texts, TrailingCall, UnansweredCall, UnansweredReason,
};

/// The choices for everything that Seamline does: a preset and the knobs that differ from it.
///
/// ```
/// let policy = seamline::Policy::from_toml("preset = 'minimal'\ntrailing_call = 'allow_pending'")?;
/// assert!(policy.allows(seamline::Safety::Unsafe));
/// # Ok::<(), seamline::policy::PolicyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The name of the preset that the policy started from.
    pub preset: String,
    /// How damage to a conversation is repaired.
    pub repair: RepairPolicy,
    /// How careful a session is.
    pub session: SessionPolicy,
    /// How streamed responses are read.
    pub stream: StreamPolicy,
    /// When requests are sent again and runs are ended.
    pub guard: GuardPolicy,
    /// The overrides for single providers, by their name; a file may write an alias of it.
    pub providers: BTreeMap<String, Overrides>,
}

/// The knobs and texts that differ for one provider.
///
/// ```
/// let policy = seamline::Policy::from_toml("[provider.groq]\nemptied = 'keep'")?;
/// assert!(policy.providers.contains_key("groq"));
/// # Ok::<(), seamline::policy::PolicyError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    settings: Vec<(SectionName, &'static str, Setting<'static>)>,
    texts: Vec<(String, String)>,
}

/// The knob that [`Policy::set_persist_repairs`] sets.
const PERSIST_REPAIRS: &str = "persist_repairs";

/// The knobs of the repair section that this crate sets for every provider.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RepairKnob {
    Safety,
    OnInvalid,
    TrailingCall,
    DuplicateCallId,
    IdMode,
}

impl RepairKnob {
    fn name(self) -> &'static str {
        match self {
            Self::Safety => "safety",
            Self::OnInvalid => "on_invalid",
            Self::TrailingCall => "trailing_call",
            Self::DuplicateCallId => "duplicate_call_id",
            Self::IdMode => "id_mode",
        }
    }
}

/// The sections of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SectionName {
    Repair,
    Session,
    Stream,
    Guard,
}

impl SectionName {
    pub(crate) const ALL: [Self; 4] = [Self::Repair, Self::Session, Self::Stream, Self::Guard];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Repair => "repair",
            Self::Session => "session",
            Self::Stream => "stream",
            Self::Guard => "guard",
        }
    }

    pub(crate) fn knobs(self) -> &'static [Knob] {
        match self {
            Self::Repair => RepairPolicy::KNOBS,
            Self::Session => SessionPolicy::KNOBS,
            Self::Stream => StreamPolicy::KNOBS,
            Self::Guard => GuardPolicy::KNOBS,
        }
    }
}

impl Policy {
    /// Builds the preset with this name; there may be none.
    ///
    /// ```
    /// use seamline::Policy;
    ///
    /// assert_eq!(Policy::preset("minimal").unwrap().preset, "minimal");
    /// assert_eq!(Policy::preset("lossless"), Some(Policy::default()));
    /// assert_eq!(Policy::preset("no such preset"), None);
    /// ```
    pub fn preset(name: &str) -> Option<Self> {
        PRESETS.iter().find(|preset| preset.name == name).map(|preset| (preset.build)())
    }

    /// Reads a policy file: `preset = "…"` and the knobs that differ from it, in sections or at the top level.
    ///
    /// ```
    /// use seamline::policy::{OnInvalid, Policy};
    ///
    /// let policy = Policy::from_toml("preset = 'clawos'\n[session]\ncheckpointRetention = 9")?;
    /// assert_eq!((policy.repair.on_invalid, policy.session.checkpoint_retention), (OnInvalid::Offer, 9));
    /// let error = Policy::from_toml("checkpoint_retension = 9").unwrap_err().to_string();
    /// assert!(error.contains("did you mean `checkpoint_retention`?"), "{error}");
    /// # Ok::<(), seamline::policy::PolicyError>(())
    /// ```
    ///
    /// # Errors
    /// When the text is not TOML, names a preset, knob, value, section or provider that does not exist, or sets one knob
    /// to two values.
    pub fn from_toml(text: &str) -> Result<Self, PolicyError> {
        let not_toml =
            |error: toml::de::Error| PolicyError { line: None, kind: PolicyErrorKind::NotToml(error.to_string()) };
        let table: toml::Table = toml::from_str(text).map_err(not_toml)?;
        file::read(&table, file::Written::ByUser).map_err(|wrong| wrong.in_text(text))
    }

    /// The policy for one provider: its overrides are applied, and none are left. The name may be an alias. Where a
    /// company has an entry for a dialect, such as `deepseek-responses`, the overrides of the company apply first.
    ///
    /// ```
    /// let policy = seamline::Policy::from_toml("[provider.groq]\nretries_max = 5")?;
    /// assert_eq!(policy.for_provider("groq").guard.retry.retries_max, 5);
    /// let policy = seamline::Policy::from_toml("[provider.claude]\nretries_max = 5")?;
    /// assert_eq!(policy.for_provider("anthropic").guard.retry.retries_max, 5);
    /// # Ok::<(), seamline::policy::PolicyError>(())
    /// ```
    pub fn for_provider(&self, provider: &str) -> Cow<'_, Self> {
        let overrides = self.overrides(provider);
        if overrides.iter().all(Option::is_none) {
            return Cow::Borrowed(self);
        }
        let mut policy = Self { providers: BTreeMap::new(), ..self.clone() };
        for overrides in overrides.into_iter().flatten() {
            for (section, knob, setting) in &overrides.settings {
                // Reading the file already rejected values that a knob does not take.
                let _ = policy.set(*section, knob, *setting);
            }
            for (name, text) in &overrides.texts {
                policy.repair.synthetic_text.set(name, text);
            }
        }
        Cow::Owned(policy)
    }

    /// The overrides for the company of a provider, and for the provider, by their names or other spellings.
    fn overrides(&self, provider: &str) -> [Option<&Overrides>; 2] {
        if self.providers.is_empty() {
            return [None; 2];
        }
        let by_spelling = || self.providers.get(file::known_provider(provider)?);
        let own = self.providers.get(provider).or_else(by_spelling);
        let company = crate::providers::by_name(provider).map(|known| known.company).filter(|name| *name != provider);
        [company.and_then(|company| self.providers.get(company)), own]
    }

    /// Checks that the preset and the providers of the policy exist, so that it can be read again once it is stored.
    pub(crate) fn check_names(&self) -> Result<(), PolicyError> {
        file::check_names(self).map_err(|kind| PolicyError { line: None, kind })
    }

    /// Whether a repair applies fixes of this safety.
    pub fn allows(&self, safety: Safety) -> bool {
        self.repair.allows(safety)
    }

    /// Lets repairs apply every fix, for every provider: also unsafe ones, and those of unknown members and roles.
    ///
    /// ```
    /// let mut policy = seamline::Policy::from_toml("[provider.groq]\nsafety = 'safe'")?;
    /// policy.allow_unsafe();
    /// assert!(policy.for_provider("groq").allows(seamline::Safety::Unknown));
    /// # Ok::<(), seamline::policy::PolicyError>(())
    /// ```
    pub fn allow_unsafe(&mut self) {
        self.set_for_all(RepairKnob::Safety, |repair| repair.safety = SafetyMax::Any);
    }

    /// Notes the members that a provider has rejected as unknown, so that a repair removes them: from all messages, and
    /// from every place of the body that is like the one that the error names. Members that the dialect needs, such as
    /// `role`, stay. Without a rejection an unknown member stays: the provider may have added it.
    ///
    /// ```
    /// let body = br#"{"messages":[{"role":"user","content":"hi","mood":"good"}]}"#;
    /// let error = r#"{"error":{"message":"Unknown parameter: 'messages[0].mood'."}}"#;
    /// let verdict = seamline::classify(&seamline::classify::Failure { text: error, ..Default::default() });
    ///
    /// let mut options = seamline::Options::default();
    /// assert!(!seamline::repair(body, &options)?.is_changed());
    /// options.policy.reject_members(&verdict.members);
    /// let repaired = seamline::repair(body, &options)?;
    /// assert_eq!(&*repaired.body, br#"{"messages":[{"role":"user","content":"hi"}]}"#);
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn reject_members(&mut self, members: &[NamedMember]) {
        for member in members.iter().filter(|member| member.fault == MemberFault::Unknown) {
            let path = member.pointer.as_deref().map(|pointer| pointer.split('/').skip(1).map(str::to_owned).collect());
            let paths = &mut self.repair.rejected_paths;
            paths.extend(path.filter(|path| !paths.contains(path)));
            if !is_in_message(member) {
                continue;
            }
            let name = member.name.rsplit('.').next().unwrap_or_default();
            let known = &mut self.repair.rejected_members;
            if !name.is_empty() && !known.iter().any(|other| other == name) {
                known.push(name.to_owned());
            }
        }
    }

    /// Notes what an error says about reasoning: that the provider rejects it, or that it demands it. The next repair
    /// removes the reasoning in the message that the error names and in all later ones (in all messages where it names
    /// none), replaces a rejected signature of a call, or adds what is missing.
    ///
    /// ```
    /// let body = br#"{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"},
    ///     {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"EqQB"},
    ///     {"type":"text","text":"yes"}]},{"role":"user","content":"go on"}]}"#;
    /// let text = "messages.1.content.0: Invalid `signature` in `thinking` block";
    /// let verdict = seamline::classify(&seamline::classify::Failure { text, ..Default::default() });
    ///
    /// let mut options = seamline::Options::default();
    /// assert!(!seamline::repair(body, &options)?.is_changed());
    /// options.policy.reject_reasoning(&verdict);
    /// let repaired = seamline::repair(body, &options)?;
    /// assert!(!String::from_utf8_lossy(&repaired.body).contains("EqQB"));
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn reject_reasoning(&mut self, verdict: &Verdict) {
        let Some(kind) = verdict.known.map(|known| known.kind) else { return };
        if kind.rejects_reasoning {
            let named = verdict.place.message_index.and_then(|index| u32::try_from(index).ok());
            self.repair.rejected_reasoning.from = Some(named.unwrap_or_default());
        }
        let proved = kind.proves.iter().map(|code| (*code).to_owned()).collect();
        self.reject(&RejectedMembers { proved, ..RejectedMembers::default() });
    }

    /// The members and the reasoning that a provider has rejected, as they count for every body.
    pub fn rejections(&self) -> RejectedMembers {
        let RepairPolicy { rejected_members: names, rejected_paths: paths, rejected_reasoning, proved, .. } =
            &self.repair;
        RejectedMembers {
            names: names.clone(),
            paths: paths.clone(),
            reasoning: rejected_reasoning.marks.clone(),
            proved: proved.clone(),
        }
    }

    /// Adds members and reasoning that a provider has rejected before.
    pub fn reject(&mut self, rejected: &RejectedMembers) {
        let mut all = self.rejections();
        all.extend(rejected);
        let repair = &mut self.repair;
        (repair.rejected_members, repair.rejected_paths) = (all.names, all.paths);
        (repair.rejected_reasoning.marks, repair.proved) = (all.reasoning, all.proved);
    }

    /// Sets which part of a repair a session stores, for every provider.
    ///
    /// ```
    /// use seamline::session::PersistRepairs;
    ///
    /// let mut policy = seamline::Policy::from_toml("[provider.groq]\npersist_repairs = 'never'")?;
    /// policy.set_persist_repairs(PersistRepairs::All);
    /// assert_eq!(policy.for_provider("groq").session.persist_repairs, PersistRepairs::All);
    /// # Ok::<(), seamline::policy::PolicyError>(())
    /// ```
    pub fn set_persist_repairs(&mut self, persist: PersistRepairs) {
        self.session.persist_repairs = persist;
        self.remove_overrides(PERSIST_REPAIRS);
    }

    /// Sets a knob of the repair section for every provider: no override of it is left.
    pub(crate) fn set_for_all(&mut self, knob: RepairKnob, set: impl FnOnce(&mut RepairPolicy)) {
        set(&mut self.repair);
        self.remove_overrides(knob.name());
    }

    fn remove_overrides(&mut self, knob: &str) {
        for overrides in self.providers.values_mut() {
            overrides.settings.retain(|(_, name, _)| *name != knob);
        }
    }

    /// The repair section for one provider.
    pub(crate) fn repair_for(&self, provider: &str) -> Cow<'_, RepairPolicy> {
        match self.for_provider(provider) {
            Cow::Borrowed(policy) => Cow::Borrowed(&policy.repair),
            Cow::Owned(policy) => Cow::Owned(policy.repair),
        }
    }

    /// The session section for one provider.
    pub(crate) fn session_for(&self, provider: &str) -> Cow<'_, SessionPolicy> {
        match self.for_provider(provider) {
            Cow::Borrowed(policy) => Cow::Borrowed(&policy.session),
            Cow::Owned(policy) => Cow::Owned(policy.session),
        }
    }

    /// Every text that this policy puts where a result is missing, for whatever provider, and that only it knows to be
    /// synthetic.
    pub(crate) fn own_texts(&self) -> Vec<String> {
        let mut texts = self.repair.synthetic_text.own();
        for provider in self.providers.keys() {
            for text in self.repair_for(provider).synthetic_text.own() {
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
        texts
    }

    fn get(&self, section: SectionName, knob: &str) -> Option<Setting<'static>> {
        match section {
            SectionName::Repair => self.repair.get(knob),
            SectionName::Session => self.session.get(knob),
            SectionName::Stream => self.stream.get(knob),
            SectionName::Guard => self.guard.get(knob),
        }
    }

    fn set(&mut self, section: SectionName, knob: &str, setting: Setting<'_>) -> Result<(), RefusedValue> {
        let done = match section {
            SectionName::Repair => self.repair.set(knob, setting),
            SectionName::Session => self.session.set(knob, setting),
            SectionName::Stream => self.stream.set(knob, setting),
            SectionName::Guard => self.guard.set(knob, setting),
        };
        done.unwrap_or(Err(RefusedValue))
    }
}

impl Default for Policy {
    fn default() -> Self {
        presets::lossless()
    }
}

/// Runs the examples of `docs/policies.md`.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/policies.md")]
struct Page;

/// Whether an error names a member that is in a message, or says nothing about its place.
fn is_in_message(member: &NamedMember) -> bool {
    let is_inside = |pointer: &str| {
        let first = pointer.strip_prefix('/').and_then(|path| path.split_once('/'));
        first.is_some_and(|(list, _)| seamline_dialects::message_lists().contains(&list))
    };
    member.pointer.as_deref().is_none_or(is_inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knob_that_is_set_for_all_providers_exists() {
        use RepairKnob::{DuplicateCallId, IdMode, OnInvalid, Safety, TrailingCall};
        for knob in [Safety, OnInvalid, TrailingCall, DuplicateCallId, IdMode] {
            assert!(RepairPolicy::KNOBS.iter().any(|known| known.name == knob.name()), "{knob:?}");
        }
        assert!(SessionPolicy::KNOBS.iter().any(|known| known.name == PERSIST_REPAIRS));
    }
}
