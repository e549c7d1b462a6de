//! The check and the repair of one request, without I/O.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use seamline::classify::Failure;
use seamline::endpoint::Endpoint;
use seamline::repair::{AfterRejection, Repaired, after_rejection};
use seamline::stream::{Framing, Response, ResponseStream, StreamOptions, is_aws_framed};
use seamline::{Options, Policy, Severity};

use crate::log;

/// The largest body that is checked by default: providers take no larger ones.
const BODY_BYTES_MAX: usize = 64 << 20;

/// The start of the header with a signature of AWS.
const SIGNATURE: &[u8] = b"AWS4-";

/// Repairs the requests of a client. It is cheap to clone.
///
/// ```
/// use seamline_http::{ClientMode, Repairer};
///
/// let policy = seamline::Policy::preset("minimal").unwrap();
/// let repairer = Repairer::new().policy(policy).mode(ClientMode::Repair);
/// ```
#[derive(Clone, Default)]
pub struct Repairer {
    settings: Settings,
    on_repair: Option<OnRepair>,
    on_response: Option<OnResponse>,
}

type OnRepair = Arc<dyn Fn(&Repaired<'_>) + Send + Sync>;
type OnResponse = Arc<dyn Fn(Response) + Send + Sync>;

#[derive(Debug, Clone)]
struct Settings {
    provider: Option<String>,
    policy: Policy,
    mode: ClientMode,
    body_bytes_max: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { provider: None, policy: Policy::default(), mode: ClientMode::default(), body_bytes_max: BODY_BYTES_MAX }
    }
}

/// Treatment of a broken conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClientMode {
    /// Repair it and send it.
    #[default]
    Repair,
    /// Send it as it is. [`Repairer::on_repair`] gets the repair that [`ClientMode::Repair`] would make.
    Report,
    /// Return an error instead of sending it.
    Block,
}

/// A request that is not sent, because its conversation is broken and the mode is [`ClientMode::Block`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot send the request: {code} at `{pointer}`: {message}\nhint: use `ClientMode::Repair`, or repair the history"
)]
#[non_exhaustive]
pub struct Blocked {
    /// The code of the first error.
    pub code: String,
    /// The place of the first error in the body.
    pub pointer: String,
    /// A description of the first error.
    pub message: String,
}

impl Repairer {
    /// Makes a repairer with the default policy.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the provider. Without it the URL and the model tell the provider.
    #[must_use]
    pub fn provider(mut self, provider: impl Into<String>) -> Self {
        self.settings.provider = Some(provider.into());
        self
    }

    /// Replaces the policy of the repairs.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.settings.policy = policy;
        self
    }

    /// Replaces the treatment of broken conversations.
    #[must_use]
    pub fn mode(mut self, mode: ClientMode) -> Self {
        self.settings.mode = mode;
        self
    }

    /// Replaces the size of the largest body that is checked, 64 MB. A larger body is sent as it is.
    #[must_use]
    pub fn body_bytes_max(mut self, bytes: usize) -> Self {
        self.settings.body_bytes_max = bytes;
        self
    }

    /// Calls a function with each repair that changes a body, before the request is sent.
    #[must_use]
    pub fn on_repair(mut self, call: impl Fn(&Repaired<'_>) + Send + Sync + 'static) -> Self {
        self.on_repair = Some(Arc::new(call));
        self
    }

    /// Calls a function with each assembled response of a stream, when its last byte has passed or it is dropped.
    #[must_use]
    pub fn on_response(mut self, call: impl Fn(Response) + Send + Sync + 'static) -> Self {
        self.on_response = Some(Arc::new(call));
        self
    }

    /// The exchange that a request begins; `None` where its body is not to be read.
    pub(crate) fn exchange(&self, method: &Method, url: &str, headers: &HeaderMap) -> Option<Exchange> {
        if headers.contains_key(CONTENT_ENCODING) {
            return None;
        }
        let endpoint = Endpoint::of_url(method.as_str(), url);
        let provider = self.settings.provider.clone().or_else(|| endpoint.provider.map(str::to_owned));
        let options = Options {
            dialect: Some(endpoint.dialect?.to_owned()),
            provider,
            model: endpoint.model,
            policy: self.settings.policy.clone(),
            ..Options::default()
        };
        let authorization = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let is_signed = authorization.is_some_and(|value| value.starts_with(SIGNATURE));
        Some(Exchange { repairer: self.clone(), options, is_signed })
    }
}

impl fmt::Debug for Repairer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repairer").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// One request to a provider and its response.
#[derive(Debug)]
pub(crate) struct Exchange {
    repairer: Repairer,
    options: Options,
    /// Whether a signature covers the body. Another body would have a wrong one.
    is_signed: bool,
}

impl Exchange {
    /// The body to send: the same bytes where nothing is to be repaired.
    pub(crate) fn outgoing(&self, body: &Bytes) -> Result<Bytes, Blocked> {
        if !self.is_read(body) {
            return Ok(body.clone());
        }
        let repaired = match seamline::repair(body, &self.options) {
            Ok(repaired) => repaired,
            Err(error) => {
                // The provider says best what is wrong with a body that cannot be read.
                log::warn_of_unchecked(&error);
                return Ok(body.clone());
            }
        };
        match self.repairer.settings.mode {
            ClientMode::Block => blocked(&repaired).map_or_else(|| Ok(body.clone()), Err),
            ClientMode::Repair if self.is_signed && repaired.is_changed() => {
                log::warn_of_signed();
                self.tell(&repaired);
                Ok(body.clone())
            }
            ClientMode::Report => {
                self.tell(&repaired);
                Ok(body.clone())
            }
            ClientMode::Repair => {
                self.tell(&repaired);
                Ok(chosen(&repaired, body))
            }
        }
    }

    /// Another body for a request that the provider rejected; `None` where a second try is of no use.
    pub(crate) fn after_rejection(&self, sent: &Bytes, status: StatusCode, text: &str) -> Option<Bytes> {
        if !self.is_read(sent) {
            return None;
        }
        let failure = Failure {
            provider: self.options.provider.as_deref(),
            dialect: self.options.dialect.as_deref(),
            status: Some(status.as_u16()),
            text,
            ..Failure::default()
        };
        match after_rejection(sent, &self.options, &failure) {
            AfterRejection::Repaired(harder) => {
                self.tell(&harder.repaired);
                Some(chosen(&harder.repaired, sent))
            }
            AfterRejection::LeftByPolicy { error } => {
                log::warn_of_left(error);
                None
            }
            _ => None,
        }
    }

    /// Whether a response can be about a broken conversation, and the mode allows a second try.
    pub(crate) fn may_repair_after(&self, status: StatusCode) -> bool {
        self.repairer.settings.mode == ClientMode::Repair
            && !self.is_signed
            && matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY)
    }

    /// The assembly of a streamed response, if the caller wants it.
    pub(crate) fn watch(&self, status: StatusCode, headers: &HeaderMap) -> Option<Watch> {
        let on_response = self.repairer.on_response.clone()?;
        let content_type = headers.get(CONTENT_TYPE)?.to_str().ok()?;
        let is_stream = ["event-stream", "eventstream", "ndjson"].iter().any(|word| content_type.contains(word));
        let is_wrapped = content_type.contains("amazon.eventstream")
            && self.options.dialect.as_deref().is_some_and(|dialect| !is_aws_framed(dialect));
        if !is_stream || is_wrapped || !status.is_success() || headers.contains_key(CONTENT_ENCODING) {
            return None;
        }
        let options = StreamOptions {
            dialect: self.options.dialect.clone(),
            provider: self.options.provider.clone(),
            framing: Framing::of_content_type(content_type),
            policy: self.options.policy.clone(),
        };
        let stream = ResponseStream::new(&options).ok()?;
        Some(Watch { stream: Some(Mutex::new(stream)), on_response })
    }

    fn is_read(&self, body: &Bytes) -> bool {
        !body.is_empty() && body.len() <= self.repairer.settings.body_bytes_max
    }

    fn tell(&self, repaired: &Repaired<'_>) {
        if let Some(on_repair) = self.repairer.on_repair.as_ref().filter(|_| repaired.is_changed()) {
            on_repair(repaired);
        }
    }
}

fn chosen(repaired: &Repaired<'_>, before: &Bytes) -> Bytes {
    if repaired.is_changed() { Bytes::copy_from_slice(&repaired.body) } else { before.clone() }
}

fn blocked(repaired: &Repaired<'_>) -> Option<Blocked> {
    let first = repaired.found.iter().find(|finding| finding.severity == Severity::Error)?;
    Some(Blocked { code: first.code.to_owned(), pointer: first.pointer.clone(), message: first.message.clone() })
}

/// Fits the headers of a request to a new body.
pub(crate) fn fit_headers(headers: &mut HeaderMap, body: &Bytes) {
    headers.remove(TRANSFER_ENCODING);
    if headers.contains_key(CONTENT_LENGTH) {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    }
}

/// Assembles a streamed response while it passes.
pub(crate) struct Watch {
    /// The bodies of `reqwest` must be `Sync`. The lock is never taken: every access is exclusive.
    stream: Option<Mutex<ResponseStream>>,
    on_response: OnResponse,
}

impl Watch {
    /// Takes a piece that passes.
    pub(crate) fn feed(&mut self, piece: &[u8]) {
        if let Some(stream) = &mut self.stream {
            stream.get_mut().unwrap_or_else(PoisonError::into_inner).feed(piece);
        }
    }

    /// Gives the assembled response to the caller, once.
    pub(crate) fn finish(&mut self) {
        let Some(stream) = self.stream.take() else { return };
        if let Ok(response) = stream.into_inner().unwrap_or_else(PoisonError::into_inner).finish() {
            (self.on_response)(response);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.finish();
    }
}
