//! The subject of an operation: a body, its dialect and its provider.

use std::borrow::Cow;

use seamline_dialects::providers::{self, Pair};
use seamline_dialects::{Dialect, Provider};
use seamline_files::native::Order;
use seamline_model::{Edit, Encoded, Entries, LastRole, Signatures, Transcript};
use seamline_rules::Rewrite;

use crate::{Error, Policy};

/// The options of a check or a repair. The default detects the dialect and the provider and repairs without loss.
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The name of the dialect, or of the [shape](crate::files::SHAPES) of a program's history; detected when not given. A
    /// given dialect is never questioned.
    pub dialect: Option<String>,
    /// The name of the provider; detected from the model when not given. With the dialect it selects the demands. A
    /// provider whose demands in the dialect are not known gets those that all servers of the dialect share.
    pub provider: Option<String>,
    /// The model, where the URL of the request names it and not the body: Gemini and Bedrock. A body's own model counts.
    pub model: Option<String>,
    /// The signatures that the provider gave calls. A call that lost its signature gets it back, instead of the
    /// provider's replacement for a lost one.
    pub signatures: Signatures,
    /// The policy for repairs; its overrides for the provider apply.
    pub policy: Policy,
    /// Whether the body is a stored conversation and not a request. Rules that only a request can answer are then
    /// skipped: which tools it declares, whether a message follows the last one, and how the last one ends.
    pub kept: bool,
    /// The order in which the history of a program is stored; found where it is not given. A request body is always
    /// stored oldest first.
    pub order: Option<Order>,
}

/// The dialect and provider of a body.
pub(crate) struct Subject {
    pub(crate) dialect: &'static Dialect,
    pub(crate) provider: Provider,
    /// A note that the demands of the provider are not known.
    pub(crate) note: Option<String>,
    /// The model that the URL of the request names.
    model: Option<String>,
    /// The texts that the policy puts in place of missing results.
    made_up: Vec<String>,
    /// The signatures that the provider gave calls.
    signatures: Signatures,
    /// The paths of members that the provider has rejected.
    rejected: Vec<Vec<String>>,
}

impl Subject {
    /// Chooses the dialect to read a body in.
    pub(crate) fn dialect(body: &[u8], options: &Options) -> Result<&'static Dialect, Error> {
        let provider = options.provider.as_deref().map(named_provider).transpose()?;
        let named = |name: &str| seamline_dialects::by_name(name).ok_or_else(|| Error::UnknownDialect(name.to_owned()));
        match (options.dialect.as_deref(), provider) {
            (Some(name), _) => named(name),
            // A provider serves several dialects; without signs of another one it is its usual dialect.
            (None, Some(provider)) => match seamline_dialects::contradiction(body, provider.dialect) {
                Some(found) => Ok(found),
                None => named(provider.dialect),
            },
            (None, None) => Ok(seamline_dialects::detect(body)?),
        }
    }

    /// Reads a body in a dialect.
    pub(crate) fn transcript<'b>(
        dialect: &Dialect,
        body: &'b [u8],
        options: &Options,
    ) -> Result<Transcript<'b>, Error> {
        Self::with_messages(dialect, dialect.decode(body)?, options)
    }

    /// The subject of a transcript, if it has messages.
    pub(crate) fn with_messages<'b>(
        dialect: &Dialect,
        mut transcript: Transcript<'b>,
        options: &Options,
    ) -> Result<Transcript<'b>, Error> {
        let is_log = transcript.entries == Entries::Log;
        if !transcript.messages.is_empty() && transcript.entries != Entries::Messages {
            return Err(seamline_dialects::Error::NoMessage { dialect: dialect.name(), is_log }.into());
        }
        transcript.made_up = made_up(options);
        transcript.signatures = options.signatures.clone();
        name_model(&mut transcript, options.model.as_deref());
        note_rejected(&mut transcript, &options.policy.repair.rejected_paths);
        Ok(transcript)
    }

    /// The dialect and provider of a transcript.
    pub(crate) fn of(dialect: &'static Dialect, transcript: &Transcript<'_>, options: &Options) -> Result<Self, Error> {
        let model = transcript.model.as_deref();
        let pair = match options.provider.as_deref() {
            Some(name) => named_provider(name)?.speaking(dialect.name(), model),
            None => Pair { provider: *providers::for_model(dialect.name(), model), is_known: true },
        };
        let note = crate::providers::note(&pair);
        let mut provider = pair.provider;
        if options.kept {
            provider.constraints.tools.none_declared = None;
            provider.constraints.last_role = LastRole::Any;
            provider.constraints.trailing_space = None;
        }
        Ok(Self {
            dialect,
            provider,
            note,
            model: options.model.clone(),
            made_up: made_up(options),
            signatures: options.signatures.clone(),
            rejected: options.policy.repair.rejected_paths.clone(),
        })
    }
}

/// Gives a transcript the model that the URL names, where the body names none.
fn name_model(transcript: &mut Transcript<'_>, model: Option<&str>) {
    if transcript.model.is_none() {
        transcript.model = model.map(|model| Cow::Owned(model.to_owned()));
    }
}

/// Notes the members of a body that the provider has rejected by their path.
fn note_rejected(transcript: &mut Transcript<'_>, paths: &[Vec<String>]) {
    // A transcript that is used again may have those of another policy.
    transcript.rejected =
        if paths.is_empty() { Vec::new() } else { seamline_dialects::find_rejected(transcript, paths) };
}

fn made_up(options: &Options) -> Vec<String> {
    options.policy.own_texts()
}

fn named_provider(name: &str) -> Result<&'static Provider, Error> {
    providers::by_name(name).ok_or_else(|| Error::UnknownProvider(name.to_owned()))
}

impl Rewrite for Subject {
    fn follow<'n>(&self, before: &Transcript<'n>, encoded: &'n Encoded) -> Option<Transcript<'n>> {
        let mut followed = self.dialect.follow(before, encoded)?;
        followed.made_up.clone_from(&self.made_up);
        followed.signatures = self.signatures.clone();
        name_model(&mut followed, self.model.as_deref());
        debug_assert!(self.reads_the_same(&followed), "a copied part changed its meaning");
        Some(followed)
    }

    fn read<'n>(&self, body: &'n [u8]) -> Option<Transcript<'n>> {
        let mut transcript = self.dialect.decode_again(body).ok()?;
        transcript.made_up.clone_from(&self.made_up);
        transcript.signatures = self.signatures.clone();
        name_model(&mut transcript, self.model.as_deref());
        note_rejected(&mut transcript, &self.rejected);
        Some(transcript)
    }

    fn write(&self, transcript: &Transcript<'_>, edits: &[Edit]) -> Encoded {
        if edits.iter().all(Edit::is_bytes) {
            seamline_dialects::patch(transcript, edits)
        } else {
            self.dialect.encode(transcript, edits, &self.provider.constraints)
        }
    }
}

/// The size up to which debug builds compare readings, so that the tests of long bodies measure the memory of a
/// repair.
pub(crate) const COMPARED_BYTES_MAX: usize = 1 << 20;

impl Subject {
    /// Whether the new body, read from its bytes, equals the followed transcript.
    fn reads_the_same(&self, followed: &Transcript<'_>) -> bool {
        if followed.source.len() > COMPARED_BYTES_MAX {
            return true;
        }
        let joined = followed.source.joined();
        self.read(&joined).is_some_and(|fresh| fresh.says_the_same(followed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(body: &str, provider: &str) -> Result<&'static str, Error> {
        let options = Options { provider: Some(provider.to_owned()), ..Options::default() };
        Subject::dialect(body.as_bytes(), &options).map(Dialect::name)
    }

    const CHAT: &str = r#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
    const ANTHROPIC: &str =
        r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"x","input":{}}]}]}"#;

    #[test]
    fn a_stored_conversation_may_end_with_white_space() {
        let body = br#"{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"so "}]}"#;
        let codes = |kept: bool| {
            let options = Options { kept, ..Options::default() };
            crate::check(body, &options).unwrap().findings.iter().map(|finding| finding.code).collect::<Vec<_>>()
        };
        assert!(codes(false).contains(&"SHAPE010"), "{:?}", codes(false));
        assert_eq!(codes(true), Vec::<&str>::new());
    }

    #[test]
    fn a_provider_reads_bodies_of_every_dialect() {
        assert_eq!(dialect(CHAT, "anthropic"), Ok("openai_chat"));
        assert_eq!(dialect(ANTHROPIC, "openai"), Ok("anthropic_messages"));
        assert_eq!(dialect(r#"{"input":[{"role":"user","content":"hi"}]}"#, "openai"), Ok("openai_responses"));
        assert_eq!(dialect(r#"{"contents":[{"parts":[{"text":"hi"}]}]}"#, "openai"), Ok("gemini_generate"));
    }

    #[test]
    fn the_provider_and_the_dialect_select_the_demands() {
        let checked = |body: &str, provider: &str| {
            let options = Options { provider: Some(provider.to_owned()), ..Options::default() };
            let checked = crate::check(body.as_bytes(), &options).unwrap();
            (checked.provider, checked.note.is_some())
        };
        let responses = r#"{"model":"m","input":[{"role":"user","content":"hi"}]}"#;
        assert_eq!(checked(responses, "openai"), ("openai-responses", false));
        assert_eq!(checked(responses, "deepseek"), ("deepseek-responses", false));
        assert_eq!(checked(responses, "groq"), ("groq", true));
        assert_eq!(checked(CHAT, "gemini"), ("gemini-chat", false));
        assert_eq!(checked(ANTHROPIC, "deepseek"), ("deepseek-anthropic", false));
        assert_eq!(checked(ANTHROPIC, "ollama"), ("ollama", true));
    }

    #[test]
    fn a_body_with_signs_of_no_dialect_or_of_both_is_read() {
        let plain = r#"{"messages":[{"role":"system","content":"a"},{"role":"user","content":[{"type":"thinking"}]}]}"#;
        assert_eq!(dialect(plain, "anthropic"), Ok("anthropic_messages"));
        assert_eq!(dialect(plain, "mistral"), Ok("openai_chat"));
        let half_moved = format!("{},{}", &CHAT[..CHAT.len() - 2], &ANTHROPIC["{\"messages\":[".len()..]);
        assert_eq!(dialect(&half_moved, "openai"), Ok("openai_chat"));
        assert_eq!(dialect(&half_moved, "anthropic"), Ok("anthropic_messages"));
    }

    #[test]
    fn the_model_of_the_url_selects_demands_as_the_model_of_a_body_does() {
        // Gemini 3 demands a signature on the first call of the current turn; its model is in the URL.
        let body = br#"{"contents":[{"role":"user","parts":[{"text":"go"}]},
            {"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},
            {"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"a"}}}]}]}"#;
        let options = |model: &str| Options { model: Some(model.to_owned()), ..Options::default() };
        let codes = |model: &str| {
            let checked = crate::check(body, &options(model)).unwrap();
            checked.findings.iter().map(|finding| finding.code).collect::<Vec<_>>()
        };
        assert_eq!((codes("gemini-2.5-pro"), codes("gemini-3-pro")), (vec![], vec!["REASON007"]));
        let repaired = crate::repair(body, &options("gemini-3-pro")).unwrap();
        assert!(repaired.is_changed() && repaired.remaining.is_empty(), "{:?}", repaired.remaining);
    }

    #[test]
    fn a_kept_signature_takes_the_place_of_the_replacement_for_a_lost_one() {
        let body = r#"{"contents":[{"role":"user","parts":[{"text":"go"}]},
            {"role":"model","parts":[{"functionCall":{"id":"c1","name":"ls","args":{}}}]},
            {"role":"user","parts":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}]}]}"#;
        let repaired = |id: &str| {
            let signatures = [(id.to_owned(), "c2ln".to_owned())].into_iter().collect();
            let options = Options { model: Some("gemini-3-pro".to_owned()), signatures, ..Options::default() };
            let repaired = crate::repair(body.as_bytes(), &options).unwrap();
            assert!(repaired.remaining.is_empty(), "{:?}", repaired.remaining);
            String::from_utf8(repaired.body.to_vec()).unwrap()
        };
        let signed =
            |signature: &str| body.replace("{}}}]},", &format!("{{}}}},\"thoughtSignature\":\"{signature}\"}}]}},"));
        assert_eq!(repaired("c1"), signed("c2ln"));
        assert_eq!(repaired("c2"), signed("skip_thought_signature_validator"));
    }

    #[test]
    fn a_named_dialect_is_not_questioned() {
        let options = Options {
            provider: Some("anthropic".to_owned()),
            dialect: Some("anthropic_messages".to_owned()),
            ..Options::default()
        };
        assert!(crate::check(CHAT.as_bytes(), &options).is_ok());
    }

    #[test]
    fn a_plain_body_is_read_by_the_name_of_its_list_under_any_provider() {
        let dialect = |provider: &str, body: &str| {
            let options = Options { provider: Some(provider.to_owned()), ..Options::default() };
            crate::check(body.as_bytes(), &options).unwrap().dialect
        };
        let chat = r#"{"model":"gemini-2.5-pro","messages":[{"role":"user","content":"hi"}]}"#;
        assert_eq!(["gemini", "vertex"].map(|provider| dialect(provider, chat)), ["openai_chat"; 2]);
        let responses = r#"{"model":"gpt-5","input":"hi"}"#;
        assert_eq!(["openai", "azure", "xai"].map(|provider| dialect(provider, responses)), ["openai_responses"; 3]);
        let messages = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
        assert_eq!(dialect("anthropic", messages), "anthropic_messages");
    }

    #[test]
    fn a_body_without_messages_is_not_a_conversation() {
        let error = |body: &str| crate::check(body.as_bytes(), &Options::default()).unwrap_err().hint().unwrap();
        assert!(error("[1,2,3]").contains("`role`"));
        assert!(error(r#"[{"type":"user","message":{"role":"user","content":"hi"}}]"#).contains("log"));
        assert!(crate::check(br#"[{"role":"wizard","content":"hi"}]"#, &Options::default()).is_ok());
    }

    #[test]
    fn bytes_around_an_empty_list_of_messages_are_repaired() {
        let options = Options { provider: Some("vllm".to_owned()), ..Options::default() };
        let repaired = crate::repair(br#"{"model":"gpt-5","tools":[],"messages":[]}"#, &options).unwrap();
        assert_eq!((repaired.passes, &*repaired.body), (1, &br#"{"model":"gpt-5","messages":[]}"#[..]));
    }

    #[test]
    fn thousands_of_members_are_removed_in_few_passes() {
        let members: Vec<_> = (0..2000).map(|at| format!("\"x{at}\":\"\"")).collect();
        let members = members.join(",");
        let body = format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"hi\",{members}}}]}}");
        let mut options = Options { provider: Some("anthropic".to_owned()), ..Options::default() };
        options.policy.allow_unsafe();
        let repaired = crate::repair(body.as_bytes(), &options).unwrap();
        assert_eq!((repaired.passes, repaired.remaining.len()), (1, 0));
        assert_eq!(&*repaired.body, br#"{"messages":[{"role":"user","content":"hi"}]}"#);
    }

    #[test]
    fn a_policy_text_is_synthetic_and_a_mark_alone_is_not() {
        let body = |first: &str| {
            format!(
                r#"{{"messages":[{{"role":"user","content":"go"}},
                {{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_1","name":"x","input":{{}}}}]}},
                {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_1","content":"{first}"}}]}},
                {{"role":"assistant","content":"hm"}},
                {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_1","content":"real"}}]}}]}}"#
            )
        };
        let policy = Policy::from_toml("[synthetic_text]\nmissing = 'lost in the post'").unwrap();
        let options = Options { policy, provider: Some("anthropic".to_owned()), ..Options::default() };
        let kept = |first: &str| {
            let body = body(first);
            let repaired = crate::repair(body.as_bytes(), &options).unwrap();
            String::from_utf8(repaired.body.into_bytes().into_owned()).unwrap().contains(first)
        };
        assert!(!kept("[synthetic] lost in the post"));
        assert!(kept("[synthetic] dataset generated: 5 rows"));
        assert!(kept("[synthetic] (no output)"));
    }
}
