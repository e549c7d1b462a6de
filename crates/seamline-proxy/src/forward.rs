//! Sends a request to its upstream, and hands the response on.

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response};
use seamline::stream::{Framing, is_aws_framed};

use crate::body::{self, ReadBody, SentBody};
use crate::config::StallTimes;
use crate::headers::{HOPS, describe_new_body, hops, prepare_request, prepare_response};
use crate::incident::IncidentOutcome;
use crate::join::Joined;
use crate::log;
use crate::network::is_of_this_machine;
use crate::note::Note;
use crate::observe::{Observed, Watched};
use crate::rescue::Refusal;
use crate::response::ResponseBody;
use crate::route::Target;
use crate::sign::{Covered, SigningScope, is_outdated};
use crate::state::{Lens, Settings, Shared};
use crate::stop::Stop;

/// The headers of browsers. Web pages must not make the proxy sign requests with the credentials of the machine.
const OF_BROWSERS: [&str; 2] = ["origin", "sec-fetch-site"];

/// The way of one request to its upstream.
pub(crate) struct Forwarding<'r> {
    pub(crate) shared: &'r Arc<Shared>,
    pub(crate) settings: &'r Arc<Settings>,
    pub(crate) target: &'r Target,
}

/// The body of a request that was read.
#[derive(Debug, Clone)]
pub(crate) struct Payload {
    /// The body that the client sent.
    pub(crate) original: ReadBody,
    /// The body that replaces it.
    pub(crate) new: Option<Bytes>,
}

/// A request that is ready to be sent.
pub(crate) struct Ready {
    pub(crate) request: Request<SentBody>,
    /// The reason why the request has not the signature that it needs. Its body is the original.
    pub(crate) unsigned: Option<&'static str>,
}

impl Payload {
    fn original(original: ReadBody) -> Self {
        Self { original, new: None }
    }
}

impl Forwarding<'_> {
    /// Passes a request on whose body the proxy does not read.
    pub(crate) async fn pass_through(
        &self,
        head: Parts,
        body: Incoming,
        note: &mut Note,
    ) -> Result<Response<ResponseBody>, Stop> {
        let limits = &self.settings.config.limits;
        let response = if self.needs_signature(&head, false) {
            let mut held = self.shared.bodies.enter(limits.all_bodies_bytes_max);
            let original = body::read(body, limits.body_bytes_max, limits.body_time, &mut held).await?;
            self.send(&head, original, note).await?
        } else {
            let request = Request::from_parts(self.prepared(&head), SentBody::Passed(body));
            self.wait(request).await?
        };
        Ok(self.observe(response, None, note))
    }

    /// Sends a request with the body of the client.
    pub(crate) async fn send(
        &self,
        head: &Parts,
        original: ReadBody,
        note: &mut Note,
    ) -> Result<Response<Incoming>, Refusal> {
        let ready = self.ready(head, Payload::original(original)).await;
        if let Some(why) = ready.unsigned {
            note.report(IncidentOutcome::Unsigned, why, None);
        }
        self.wait(ready.request).await
    }

    /// Prepares a request with a body in memory. A changed body of a signed request is signed again; where that fails,
    /// the original is sent.
    pub(crate) async fn ready(&self, head: &Parts, payload: Payload) -> Ready {
        let Payload { original, new } = payload;
        let unsigned = match new {
            Some(new) => match self.with_new_body(head, new).await {
                Ok(request) => return Ready { request, unsigned: None },
                Err(why) => Some(why),
            },
            None => None,
        };
        if !self.needs_signature(head, false) {
            return Ready { request: self.request(head, original), unsigned };
        }
        match self.sign(head, original.clone(), false).await {
            Ok(request) => Ready { request, unsigned },
            Err(why) => Ready { request: self.request(head, original), unsigned: Some(why) },
        }
    }

    /// Sends a request with a body that replaces the original; `None` where it must be signed and cannot be.
    pub(crate) async fn send_new(
        &self,
        head: &Parts,
        new: Bytes,
        note: &mut Note,
    ) -> Option<Result<Response<Incoming>, Refusal>> {
        match self.with_new_body(head, new).await {
            Ok(request) => Some(self.wait(request).await),
            Err(why) => {
                note.report(IncidentOutcome::Unsigned, why, None);
                None
            }
        }
    }

    /// A request with a body that replaces the original. The error says why it could not be signed.
    async fn with_new_body(&self, head: &Parts, new: Bytes) -> Result<Request<SentBody>, &'static str> {
        let body = ReadBody { bytes: new, trailers: None };
        if self.needs_signature(head, true) {
            return self.sign(head, body, true).await;
        }
        let mut request = self.request(head, body);
        describe_new_body(request.headers_mut());
        Ok(request)
    }

    fn request(&self, head: &Parts, body: ReadBody) -> Request<SentBody> {
        Request::from_parts(self.prepared(head), SentBody::Whole(body))
    }

    async fn sign(&self, head: &Parts, body: ReadBody, is_new: bool) -> Result<Request<SentBody>, &'static str> {
        if !self.target.upstream.is_of_aws() {
            return Err("a request to another server than those of AWS is not signed");
        }
        if OF_BROWSERS.iter().any(|name| head.headers.contains_key(*name)) {
            return Err("a request of a web page is not signed");
        }
        let mut prepared = self.prepared(head);
        if is_new {
            describe_new_body(&mut prepared.headers);
        }
        match self.shared.signer.sign(&mut prepared, &body.bytes).await {
            Ok(()) => Ok(Request::from_parts(prepared, SentBody::Whole(body))),
            Err(error) => {
                log::warn_of_unsigned(&error);
                Err("the request could not be signed; the log says why")
            }
        }
    }

    /// Whether the client signed the request, and the signature does not fit what goes to the upstream.
    fn needs_signature(&self, head: &Parts, has_new_body: bool) -> bool {
        // A request to another server keeps the signature of the client.
        if SigningScope::of(&head.headers).is_none() || !has_new_body && !self.target.upstream.is_of_aws() {
            return false;
        }
        let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| head.uri.authority().map(hyper::http::uri::Authority::as_str));
        let path = |uri: &hyper::Uri| uri.path_and_query().map_or_else(String::new, |path| path.as_str().to_owned());
        let (received_path, sent_path) = (path(&head.uri), path(&self.target.uri));
        let received = Covered { host: host.unwrap_or_default(), path: &received_path };
        let sent = Covered { host: self.target.upstream.authority.as_str(), path: &sent_path };
        is_outdated(received, sent, has_new_body)
    }

    /// The head of a request for the upstream.
    pub(crate) fn prepared(&self, head: &Parts) -> Parts {
        let (mut prepared, ()) = Request::new(()).into_parts();
        prepared.method = head.method.clone();
        prepared.uri = self.target.uri.clone();
        prepared.headers = head.headers.clone();
        prepare_request(&mut prepared.headers);
        if is_of_this_machine(self.target.upstream.authority.host()) {
            prepared.headers.insert(HOPS, HeaderValue::from(hops(&head.headers) + 1));
        }
        prepared
    }

    /// Sends a request and waits for the head of the response.
    pub(crate) async fn wait(&self, request: Request<SentBody>) -> Result<Response<Incoming>, Refusal> {
        let sent = self.settings.client.send(request, self.settings.config.limits.response_time);
        sent.await.map_err(|what| Refusal::NoResponse { upstream: self.target.upstream.name.clone(), what })
    }

    /// The stall times of the provider that the check found; without a check, those of the upstream's provider.
    pub(crate) fn stall(&self, found: Option<&str>) -> StallTimes {
        self.settings.config.stall_for(found.or(self.target.upstream.provider.as_deref()))
    }

    /// Hands a response on, byte for byte, and watches it.
    pub(crate) fn observe(
        &self,
        response: Response<Incoming>,
        lens: Option<&Lens>,
        note: &mut Note,
    ) -> Response<ResponseBody> {
        let (mut head, body) = response.into_parts();
        prepare_response(&mut head.headers);
        let coding = coding_of(&head.headers);
        let mut call = note.call.take();
        if let Some(call) = &mut call {
            call.set_status(head.status.as_u16());
        }
        let lens = lens.filter(|_| head.status.is_success());
        let framing = framing_of(&head.headers, self.target.uri.path());
        let watched = match (lens, framing, coding) {
            (Some(lens), Some(Framing::AwsEventStream), _) if !is_aws_framed(lens.dialect) => Watched::Opaque,
            (Some(lens), Some(framing), coding) => {
                let has_length = body.size_hint().exact().is_some();
                Watched::stream(&lens.stream, framing, coding.as_deref(), has_length)
            }
            (Some(lens), None, coding) if call.is_some() || seamline::signatures::are_in(lens.dialect) => {
                Watched::whole(coding)
            }
            _ => Watched::Opaque,
        };
        let open = framing.is_some().then(|| self.shared.open.streams.enter());
        let beside = (note.facts.clone(), Arc::clone(&self.settings.ledger), open, call);
        // The pieces that have arrived are joined first, so that they are read and watched together.
        let stall = self.stall(note.facts.provider);
        let observed = Observed::new(Joined::new(body), watched, stall, beside);
        let mut response = Response::new(ResponseBody::observed(observed));
        *response.status_mut() = head.status;
        *response.headers_mut() = head.headers;
        response
    }
}

fn coding_of(headers: &HeaderMap) -> Option<String> {
    let coding = headers.get(CONTENT_ENCODING)?.to_str().unwrap_or("?").trim().to_owned();
    (!coding.is_empty() && !coding.eq_ignore_ascii_case("identity")).then_some(coding)
}

/// The framing of a streamed response; `None` where the response is one document.
fn framing_of(headers: &HeaderMap, path: &str) -> Option<Framing> {
    let framing = Framing::of_content_type(headers.get(CONTENT_TYPE)?.to_str().ok()?)?;
    let is_stream = framing != Framing::JsonArray || path.ends_with(":streamGenerateContent");
    is_stream.then_some(framing)
}
