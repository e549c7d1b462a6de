//! A provider: a company or server, and the demands that it makes in a dialect.

use seamline_model::Constraints;

use crate::providers::{ALL, MESSAGES, OPEN_MODELS, TOLERANT};

/// A company or server, and what it demands in one of its dialects.
///
/// A company that serves several dialects has an entry for each dialect in which its demands are known. The entry of its usual
/// dialect has the name of the company.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    /// The name, such as `groq` or `deepseek-responses`.
    pub name: &'static str,
    /// The company or server, such as `deepseek`.
    pub company: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One line that describes it.
    pub about: &'static str,
    /// The name of the dialect it serves.
    pub dialect: &'static str,
    /// The beginnings of its models' names, by which it is recognised; `#` means a digit.
    pub models: &'static [&'static str],
    /// Whether it is used for a model that no provider claims. It is the most tolerant provider of its dialect, so that
    /// no rule finds anything that some provider accepts.
    pub fallback: bool,
    /// The demands of the provider.
    pub constraints: Constraints,
}

/// Finds the provider with this name or alias. A company is found in its usual dialect.
pub fn by_name(name: &str) -> Option<&'static Provider> {
    let named = |is: fn(&Provider, &str) -> bool| ALL.iter().copied().find(|provider| is(provider, name));
    named(|provider, name| provider.name == name)
        .or_else(|| named(|provider, name| provider.company == name))
        .or_else(|| named(|provider, name| provider.aliases.contains(&name)))
}

/// Finds the provider of a model in a dialect: the one that claims the model, or else the fallback. A model of a company
/// whose demands in this dialect are not known, and a model that many servers offer, get the demands that all servers of
/// the dialect share.
pub fn for_model(dialect: &str, model: Option<&str>) -> &'static Provider {
    let claims = |provider: &&Provider| model.is_some_and(|model| provider.claims(model));
    let serving = || ALL.iter().copied().filter(|provider| provider.dialect == dialect);
    let is_elsewhere = || ALL.iter().any(&claims) || model.is_some_and(|model| has_many_servers(dialect, model));
    let elsewhere = || is_elsewhere().then(|| common(dialect));
    serving().find(claims).or_else(elsewhere).unwrap_or_else(|| fallback(dialect))
}

/// Whether many servers offer a model: its weights are open, or a router names its company before a slash, as in
/// `openai/gpt-5`. The models of the dialect's own company stay with it behind a router, too.
fn has_many_servers(dialect: &str, model: &str) -> bool {
    let lower = model.to_ascii_lowercase();
    let owns = |name: &str| fallback(dialect).models.iter().any(|family| name.contains(family));
    let is_routed = lower.split_once('/').is_some_and(|(_, name)| !owns(name));
    is_routed || OPEN_MODELS.iter().any(|family| begins_with(&lower, family))
}

/// The provider for models that no provider claims.
fn fallback(dialect: &str) -> &'static Provider {
    let is_fallback = |provider: &&Provider| provider.dialect == dialect && provider.fallback;
    ALL.iter().copied().find(is_fallback).unwrap_or(TOLERANT)
}

/// The provider with the demands that all servers of a dialect share: in most dialects the fallback.
fn common(dialect: &str) -> &'static Provider {
    if MESSAGES.dialect == dialect { MESSAGES } else { fallback(dialect) }
}

/// A provider in a dialect.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// The provider, with its demands in the dialect.
    pub provider: Provider,
    /// Whether these demands are its own. If nothing is known of the pair, they are those that all servers of the dialect
    /// share.
    pub is_known: bool,
}

impl Provider {
    /// Whether the name of a model belongs to one of its families. A name with a tag, such as `qwen3:8b`, belongs to a
    /// local server, and a name with a slash, such as `deepseek-ai/DeepSeek-V3.1`, to any server of open weights.
    pub fn claims(&self, model: &str) -> bool {
        let is_number =
            |tag: &str| tag.split(':').next().is_some_and(|tag| tag.bytes().all(|byte| byte.is_ascii_digit()));
        let is_tagged = || model.split_once(':').is_some_and(|(_, tag)| !is_number(tag));
        let fits = |family: &str, mark: char, has_mark: bool| family.contains(mark) || !has_mark;
        let begins = |family: &str| {
            begins_with(model, family) && fits(family, ':', is_tagged()) && fits(family, '/', model.contains('/'))
        };
        self.models.iter().any(|family| begins(family))
    }

    /// The provider in a dialect, for a model if one is named. A company has special cases for some models.
    pub fn speaking(&self, dialect: &str, model: Option<&str>) -> Pair {
        let kin = || ALL.iter().copied().filter(|other| other.company == self.company && other.dialect == dialect);
        let special = || kin().find(|other| model.is_some_and(|model| other.claims(model)));
        let usual = || kin().find(|other| other.name == self.company).or_else(|| kin().next());
        let known = if self.dialect == dialect && self.name != self.company {
            // The caller named the special case.
            Some(self)
        } else {
            special().or_else(usual)
        };
        if let Some(known) = known {
            return Pair { provider: *known, is_known: true };
        }
        let Self { dialect, constraints, .. } = *common(dialect);
        Pair { provider: Self { name: self.company, dialect, constraints, ..*self }, is_known: false }
    }
}

/// Whether a model's name begins with a family, in which `#` means a digit.
fn begins_with(model: &str, family: &str) -> bool {
    let mut letters = model.bytes();
    family.bytes().all(|wanted| {
        letters.next().is_some_and(|letter| if wanted == b'#' { letter.is_ascii_digit() } else { letter == wanted })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALL as DIALECTS;

    fn claimant(dialect: &str, model: &str) -> &'static str {
        for_model(dialect, Some(model)).name
    }

    #[test]
    fn a_new_model_belongs_to_the_family_of_its_provider() {
        for (model, provider) in [
            ("gpt-6-sol", "openai"),
            ("gpt-10", "openai"),
            ("o5-mini", "openai"),
            ("deepseek-flash", "deepseek"),
            ("deepseek-v5", "deepseek"),
            ("kimi-k4", "moonshot"),
            ("qwen4-max", "dashscope"),
            ("gemini-4-pro", "gemini-chat"),
            ("gpt-oss-120b", "openai-compatible"),
            ("ollama", "openai-compatible"),
        ] {
            assert_eq!(claimant("openai_chat", model), provider, "{model}");
        }
        assert_eq!(claimant("openai_responses", "gpt-6"), "openai-responses");
        assert_eq!(claimant("openai_responses", "deepseek-v4-pro"), "deepseek-responses");
        assert_eq!(claimant("openai_responses", "kimi-k3"), "responses-compatible");
        assert_eq!(claimant("anthropic_messages", "kimi-k3"), "messages-compatible");
        assert_eq!(claimant("anthropic_messages", "unknown"), "anthropic");
    }

    #[test]
    fn tagged_and_foreign_names_belong_to_no_company() {
        for model in [
            "qwen3:8b",
            "deepseek-r1:14b",
            "gpt-oss:20b",
            "kimi-k2:1t-cloud",
            "qwen/qwen3-32b",
            "qwen-3-32b",
            "deepseek-ai/DeepSeek-V3.1",
        ] {
            assert_eq!(claimant("openai_chat", model), "openai-compatible", "{model}");
        }
        assert_eq!(claimant("openai_responses", "deepseek-ai/DeepSeek-V3.1"), "responses-compatible");
        for model in ["llama-4", "gemma-3", "kimi", "openai/gpt-6", "deepseek/deepseek-chat"] {
            assert_eq!(claimant("anthropic_messages", model), "messages-compatible", "{model}");
        }
        assert_eq!(claimant("anthropic_messages", "anthropic/claude-sonnet-5"), "anthropic");
        assert_eq!(claimant("openai_chat", "ft:gpt-4o:acme::abc"), "openai");
        assert_eq!(claimant("bedrock_converse", "us.amazon.nova-pro-v1:0:24k"), "bedrock-nova");
    }

    #[test]
    fn the_pair_of_provider_and_dialect_selects_the_demands() {
        let pair = |name: &str, dialect: &str| {
            let Pair { provider, is_known } = by_name(name).unwrap().speaking(dialect, None);
            assert_eq!(provider.dialect, dialect);
            (provider.name, is_known)
        };
        assert_eq!(pair("openai", "openai_responses"), ("openai-responses", true));
        assert_eq!(pair("openai-responses", "openai_chat"), ("openai", true));
        assert_eq!(pair("gemini", "openai_chat"), ("gemini-chat", true));
        assert_eq!(pair("deepseek", "openai_responses"), ("deepseek-responses", true));
        assert_eq!(pair("deepseek-responses", "anthropic_messages"), ("deepseek-anthropic", true));
        assert_eq!(pair("vertex", "gemini_generate"), ("vertex-gemini", true));
        assert_eq!(pair("bedrock", "anthropic_messages"), ("bedrock-anthropic", true));
        assert_eq!(pair("groq", "openai_responses"), ("groq", false));
        assert_eq!(pair("kimi", "anthropic_messages"), ("moonshot", false));
        assert_eq!(pair("lmstudio", "openai_responses"), ("lm-studio", false));
    }

    #[test]
    fn a_company_has_special_cases_for_models() {
        let name =
            |name: &str, model: &str| by_name(name).unwrap().speaking(by_name(name).unwrap().dialect, Some(model));
        assert_eq!(name("mistral", "magistral-medium").provider.name, "mistral-v13");
        assert_eq!(name("mistral", "mistral-large").provider.name, "mistral");
        assert_eq!(name("bedrock", "amazon.nova-pro-v1:0").provider.name, "bedrock-nova");
        assert_eq!(name("bedrock-claude", "amazon.nova-pro-v1:0").provider.name, "bedrock-claude");
    }

    #[test]
    fn names_are_unique_and_every_pair_is_known_once() {
        for (at, provider) in ALL.iter().enumerate() {
            let names = provider.aliases.iter().chain([&provider.name]);
            for name in names {
                assert_eq!(by_name(name).unwrap().name, provider.name, "{name}");
            }
            assert!(ALL[..at].iter().all(|other| other.name != provider.name), "{}", provider.name);
            assert_eq!(by_name(provider.company).unwrap().company, provider.company);
        }
    }

    #[test]
    fn every_provider_speaks_every_dialect() {
        for provider in ALL {
            for dialect in DIALECTS {
                assert_eq!(provider.speaking(dialect.name(), None).provider.dialect, dialect.name());
            }
        }
    }
}
