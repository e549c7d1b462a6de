//! Options from JSON objects, as the host and the packages for other languages take them.
//!
//! The members have the names of the fields of the options. A member that is absent or `null` has its default. The policy
//! is the name of a preset, the text of a policy file, or an object with the members of a policy file.
//!
//! ```
//! use serde_json::json;
//!
//! let options = seamline::Options::from_json(&json!({
//!     "provider": "anthropic",
//!     "policy": {"preset": "minimal", "trailing_call": "allow_pending"},
//! }))?;
//! assert_eq!((options.provider.as_deref(), options.policy.preset.as_str()), (Some("anthropic"), "minimal"));
//!
//! let error = seamline::Options::from_json(&json!({"provder": "anthropic"})).unwrap_err();
//! assert!(error.to_string().starts_with("no option is called `provder`; did you mean `provider`?"), "{error}");
//! # Ok::<(), seamline::json::OptionsError>(())
//! ```

mod members;

use seamline_files::native::Order;
use seamline_frame::Framing;
use serde_json::Value;

pub use members::OptionsError;

use self::members::Members;
use crate::classify::Failure;
use crate::convert::{ConvertOptions, ForeignReasoning};
use crate::policy::PolicyError;
use crate::session::{OpenOptions, SessionOptions};
use crate::stream::StreamOptions;
use crate::{Options, Policy};

impl Policy {
    /// Reads a policy from its JSON form: the name of a preset, the text of a policy file, or an object with the members of
    /// a policy file.
    ///
    /// ```
    /// use seamline::Policy;
    /// use serde_json::json;
    ///
    /// let policy = Policy::from_json(&json!({"preset": "clawos", "session": {"checkpointRetention": 9}}))?;
    /// assert_eq!(policy.session.checkpoint_retention, 9);
    /// assert_eq!(Policy::from_json(&json!("minimal"))?, Policy::preset("minimal").unwrap());
    /// assert_eq!(Policy::from_json(&json!("preset = 'minimal'"))?, Policy::preset("minimal").unwrap());
    /// # Ok::<(), seamline::json::OptionsError>(())
    /// ```
    ///
    /// # Errors
    /// When the value is of another type, or names something that a policy does not have.
    pub fn from_json(value: &Value) -> Result<Self, OptionsError> {
        let refused = |error: &dyn std::fmt::Display| OptionsError::Policy(error.to_string());
        match value {
            Value::String(name) if !name.contains(['=', '\n', '[']) => Self::preset(name.trim()).ok_or_else(|| {
                let kind = crate::policy::PolicyErrorKind::UnknownPreset { name: name.clone() };
                refused(&PolicyError { line: None, kind })
            }),
            Value::String(text) => Self::from_toml(text).map_err(|error| refused(&error)),
            Value::Object(_) => Self::from_object(value).map_err(|error: serde_json::Error| refused(&error)),
            other => Err(members::wrong("policy", "the name of a preset, a policy file, or an object", other)),
        }
    }
}

impl Options {
    /// Reads options from a JSON object: `dialect`, `provider`, `model`, `signatures`, `policy`, `kept`, `order`.
    ///
    /// ```
    /// let options = seamline::Options::from_json(&serde_json::json!({"model": "gemini-3-pro", "kept": true}))?;
    /// assert_eq!((options.model.as_deref(), options.kept), (Some("gemini-3-pro"), true));
    /// # Ok::<(), seamline::json::OptionsError>(())
    /// ```
    ///
    /// # Errors
    /// When the value is not an object, or a member has another name or type, or the policy names something that does not
    /// exist.
    pub fn from_json(value: &Value) -> Result<Self, OptionsError> {
        const NAMES: &[&str] = &["dialect", "provider", "model", "signatures", "policy", "kept", "order"];
        let members = Members::of(value, NAMES)?;
        Ok(Self {
            dialect: members.text("dialect")?,
            provider: members.text("provider")?,
            model: members.text("model")?,
            signatures: members.texts("signatures")?.into_iter().collect(),
            policy: members.policy()?.unwrap_or_default(),
            kept: members.flag("kept")?,
            order: members.word("order", ORDERS)?,
        })
    }
}

const ORDERS: &[(&str, Order)] = &[("oldest-first", Order::OldestFirst), ("newest-first", Order::NewestFirst)];

const FRAMINGS: &[(&str, Framing)] = &[
    ("sse", Framing::Sse),
    ("json_lines", Framing::JsonLines),
    ("json_array", Framing::JsonArray),
    ("aws_event_stream", Framing::AwsEventStream),
];

impl ConvertOptions {
    /// Reads options from a JSON object: `from`, `to`, `model`, `policy`, `reasoning`, `kept`, `order`.
    ///
    /// ```
    /// use seamline::convert::ConvertOptions;
    ///
    /// let options = ConvertOptions::from_json(&serde_json::json!({"to": "anthropic", "reasoning": "text"}))?;
    /// assert_eq!(options.to, "anthropic");
    /// let error = ConvertOptions::from_json(&serde_json::json!({})).unwrap_err();
    /// assert_eq!(error.to_string(), "the option `to` is missing");
    /// # Ok::<(), seamline::json::OptionsError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::from_json`], and when `to` is missing.
    pub fn from_json(value: &Value) -> Result<Self, OptionsError> {
        const NAMES: &[&str] = &["from", "to", "model", "policy", "reasoning", "kept", "order"];
        const FATES: &[(&str, ForeignReasoning)] =
            &[("drop", ForeignReasoning::Drop), ("text", ForeignReasoning::Text)];
        let members = Members::of(value, NAMES)?;
        Ok(Self {
            from: members.text("from")?,
            order: members.word("order", ORDERS)?,
            to: members.text("to")?.ok_or(OptionsError::Missing { name: "to" })?,
            model: members.text("model")?,
            policy: members.policy()?.unwrap_or_default(),
            reasoning: members.word("reasoning", FATES)?.unwrap_or_default(),
            kept: members.flag("kept")?,
        })
    }
}

impl StreamOptions {
    /// Reads options from a JSON object: `dialect`, `provider`, `framing`, `content_type`, `policy`. The framing may be
    /// named, or follow from the content type of the response.
    ///
    /// ```
    /// use seamline::stream::{Framing, StreamOptions};
    ///
    /// let options = StreamOptions::from_json(&serde_json::json!({"content_type": "text/event-stream"}))?;
    /// assert_eq!(options.framing, Some(Framing::Sse));
    /// # Ok::<(), seamline::json::OptionsError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::from_json`].
    pub fn from_json(value: &Value) -> Result<Self, OptionsError> {
        let members = Members::of(value, &["dialect", "provider", "framing", "content_type", "policy"])?;
        let by_type = members.text("content_type")?.and_then(|name| Framing::of_content_type(&name));
        Ok(Self {
            dialect: members.text("dialect")?,
            provider: members.text("provider")?,
            framing: members.word("framing", FRAMINGS)?.or(by_type),
            policy: members.policy()?.unwrap_or_default(),
        })
    }
}

impl SessionOptions {
    /// Reads options from a JSON object: `dialect`, `provider`, `title`, `policy`. The clock is the system's.
    ///
    /// ```
    /// use seamline::session::SessionOptions;
    ///
    /// let options = SessionOptions::from_json(&serde_json::json!({"provider": "openai", "title": "a bug"}))?;
    /// assert_eq!(options.title.as_deref(), Some("a bug"));
    /// # Ok::<(), seamline::json::OptionsError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::from_json`].
    pub fn from_json(value: &Value) -> Result<Self, OptionsError> {
        let members = Members::of(value, &["dialect", "provider", "title", "policy"])?;
        Ok(Self {
            dialect: members.text("dialect")?,
            provider: members.text("provider")?,
            title: members.text("title")?,
            policy: members.policy()?.unwrap_or_default(),
            ..Self::default()
        })
    }
}

impl OpenOptions {
    /// Reads options from a JSON object: `take_over`, `dialect`, `recover`, `policy`. The clock is the system's.
    ///
    /// ```
    /// use seamline::session::OpenOptions;
    ///
    /// let options = OpenOptions::from_json(&serde_json::json!({"take_over": true}))?;
    /// assert!(options.take_over && options.recover && options.policy.is_none());
    /// # Ok::<(), seamline::json::OptionsError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::from_json`].
    pub fn from_json(value: &Value) -> Result<Self, OptionsError> {
        let members = Members::of(value, &["take_over", "dialect", "recover", "policy"])?;
        Ok(Self {
            take_over: members.flag("take_over")?,
            dialect: members.text("dialect")?,
            recover: members.given_flag("recover")?.unwrap_or(true),
            policy: members.policy()?,
            ..Self::default()
        })
    }
}

/// An error of a provider, read from JSON: the owner of the texts that a [`Failure`] borrows.
///
/// ```
/// use seamline::json::GivenFailure;
///
/// let given = GivenFailure::from_json(&serde_json::json!({
///     "text": "slow down", "status": 429, "headers": {"retry-after": "9"},
/// }))?;
/// let verdict = seamline::classify(&given.failure(&given.headers()));
/// assert_eq!(verdict.retry_after.unwrap().as_secs(), 9);
/// # Ok::<(), seamline::json::OptionsError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GivenFailure {
    text: String,
    provider: Option<String>,
    dialect: Option<String>,
    status: Option<u16>,
    headers: Vec<(String, String)>,
}

impl GivenFailure {
    /// Reads an error from a JSON object: `text`, `status`, `headers`, `provider`, `dialect`; or from a text alone.
    ///
    /// # Errors
    /// As [`Options::from_json`].
    pub fn from_json(value: &Value) -> Result<Self, OptionsError> {
        if let Value::String(text) = value {
            return Ok(Self { text: text.clone(), ..Self::default() });
        }
        let members = Members::of(value, &["text", "status", "headers", "provider", "dialect"])?;
        Ok(Self {
            text: members.text("text")?.unwrap_or_default(),
            provider: members.text("provider")?,
            dialect: members.text("dialect")?,
            status: members.status("status")?,
            headers: members.texts("headers")?,
        })
    }

    /// The headers, for [`failure`](Self::failure).
    pub fn headers(&self) -> Vec<(&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// The error with these headers.
    pub fn failure<'f>(&'f self, headers: &'f [(&'f str, &'f str)]) -> Failure<'f> {
        let (provider, dialect) = (self.provider.as_deref(), self.dialect.as_deref());
        Failure { provider, dialect, status: self.status, headers, text: &self.text, ..Failure::default() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn refused(value: &Value, text: &str) {
        let error = Options::from_json(value).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }

    #[test]
    fn a_wrong_option_is_named() {
        refused(&json!([]), "the options are an array; give an object");
        refused(&json!({"dialect": 7}), "the option `dialect` is a number; give a text");
        refused(&json!({"kept": "yes"}), "the option `kept` is a text; give true or false");
        refused(
            &json!({"order": "backwards"}),
            "the option `order` does not take `backwards`; it takes `oldest-first`",
        );
        refused(&json!({"signatures": {"c1": 1}}), "the option `signatures.c1` is a number; give a text");
        refused(&json!({"policy": "losless"}), "did you mean `lossless`?");
        refused(&json!({"policy": 1}), "the option `policy` is a number");
        refused(&json!({"policy": {"repair": {"emptied": 4}}}), "emptied");
        refused(&json!({"policy": "[repair]\nemptied = 4"}), "line 2");
    }

    #[test]
    fn absent_and_null_options_have_their_defaults() {
        let null = json!({"dialect": null, "policy": null, "kept": null, "order": null, "signatures": null});
        assert_eq!(Options::from_json(&null), Ok(Options::default()));
        assert_eq!(Options::from_json(&Value::Null), Ok(Options::default()));
    }

    #[test]
    fn a_policy_object_means_the_policy_file_with_its_members() {
        let object =
            json!({"preset": "minimal", "guard": {"retries_max": 3}, "provider": {"groq": {"emptied": "keep"}}});
        let file = "preset = 'minimal'\n[guard]\nretries_max = 3\n[provider.groq]\nemptied = 'keep'";
        assert_eq!(Policy::from_json(&object).unwrap(), Policy::from_toml(file).unwrap());
    }
}
