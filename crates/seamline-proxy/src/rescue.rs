//! Any error as a status and a body in the dialect of the client.

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use seamline::guards::StopTurn;
use seamline::responses::{ErrorBody, error_body};
use serde_json::json;

use crate::body::NotRead;
use crate::incident::IncidentOutcome;
use crate::inspect::NotInspected;
use crate::response::ResponseBody;
use crate::route::NoRoute;
use crate::upstream::NoResponse;

/// A reason why the client gets an error of the proxy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// The access token is missing or wrong.
    #[error("the proxy needs its access token: send it as `x-seamline-token` or `proxy-authorization: Bearer …`")]
    Token,
    /// The length of the request can be read in two ways.
    #[error(
        "the length of the request can be read in two ways: send one `content-length`, or `transfer-encoding: chunked`"
    )]
    Ambiguous,
    /// The request has no target.
    #[error(transparent)]
    Route(#[from] NoRoute),
    /// The proxy has no such page.
    #[error("the proxy has no such page")]
    Page,
    /// A page of the proxy is asked for under a name that is not one of this machine.
    #[error("the pages of the proxy are shown under a name of this machine only, such as `localhost`")]
    Host,
    /// The request came through this proxy or another one too often.
    #[error("the request went through the proxy {0} times: an upstream leads back to the proxy")]
    Circle(u32),
    /// The body was not read.
    #[error(transparent)]
    Body(#[from] NotRead),
    /// The decoded body exceeds the limit.
    #[error("the decoded body of the request is larger than {0} bytes; raise `limits.body_bytes_max`")]
    DecodedTooLarge(usize),
    /// The history is broken, and the mode is `block`.
    #[error("Seamline did not send this request, because its history is broken: {0}")]
    Blocked(String),
    /// The model repeats failing calls, and the breaker blocks.
    #[error(
        "Seamline did not send this request, because the calls of {} failed in the same way {} times in a row",
        .0.tools.join(", "), .0.rounds
    )]
    Looping(StopTurn),
    /// The check failed, and the configuration refuses such requests.
    #[error("Seamline could not check this request: {0}")]
    Unchecked(#[from] NotInspected),
    /// The upstream did not respond.
    #[error("{what} (`{upstream}`)")]
    NoResponse {
        /// The name of the upstream.
        upstream: String,
        /// The failure of the exchange.
        what: NoResponse,
    },
}

impl Refusal {
    /// The status of the response.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Token => StatusCode::PROXY_AUTHENTICATION_REQUIRED,
            Self::Host => StatusCode::FORBIDDEN,
            Self::Circle(_) => StatusCode::LOOP_DETECTED,
            Self::Ambiguous | Self::Route(NoRoute::Path(_)) => StatusCode::BAD_REQUEST,
            Self::Route(NoRoute::Unknown { .. }) | Self::Page => StatusCode::NOT_FOUND,
            Self::Body(NotRead::TooLarge(_)) | Self::DecodedTooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Body(NotRead::Slow(_)) => StatusCode::REQUEST_TIMEOUT,
            Self::Body(NotRead::Broken) | Self::Blocked(_) | Self::Looping(_) | Self::Unchecked(_) => {
                StatusCode::BAD_REQUEST
            }
            Self::NoResponse { what: NoResponse::Unreachable | NoResponse::Broken, .. } => StatusCode::BAD_GATEWAY,
            Self::NoResponse { what: NoResponse::Slow(_), .. } => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// The outcome that an incident about the refusal has; `None` where another step reports it.
    pub(crate) fn outcome(&self) -> Option<IncidentOutcome> {
        match self {
            Self::Token | Self::Page | Self::Host | Self::Blocked(_) | Self::Looping(_) | Self::Unchecked(_) => None,
            Self::Ambiguous | Self::Circle(_) | Self::Route(_) | Self::Body(_) | Self::DecodedTooLarge(_) => {
                Some(IncidentOutcome::Refused)
            }
            Self::NoResponse { .. } => Some(IncidentOutcome::Unreachable),
        }
    }

    /// A sentence for an incident, without any part of the request.
    pub(crate) fn cause(&self) -> String {
        match self {
            Self::Route(NoRoute::Unknown { .. }) => "the path does not name an upstream".to_owned(),
            Self::NoResponse { what, .. } => what.to_string(),
            other => other.to_string(),
        }
    }
}

/// The response to a refused request.
pub(crate) fn response(dialect: Option<&str>, refusal: &Refusal) -> Response<ResponseBody> {
    error_response(dialect, refusal.status(), &refusal.to_string())
}

/// The error response with a status, in the form of the client's dialect.
pub(crate) fn error_response(dialect: Option<&str>, status: StatusCode, message: &str) -> Response<ResponseBody> {
    let ErrorBody { json, header } = error_body(dialect.unwrap_or_default(), status.as_u16(), message);
    let mut response = Response::new(ResponseBody::whole(Bytes::from(json)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some((name, kind)) = header {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(kind));
    }
    response
}

/// The event by which a WebSocket of Responses refuses a `response.create`.
pub(crate) fn socket_event(refusal: &Refusal) -> String {
    let error =
        json!({"type": "invalid_request_error", "code": "seamline", "message": refusal.to_string(), "param": null});
    json!({"type": "error", "status": refusal.status().as_u16(), "error": error}).to_string()
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use seamline::classify::Failure;

    use super::*;

    async fn text(dialect: &str, refusal: &Refusal) -> (u16, String) {
        let response = response(Some(dialect), refusal);
        let status = response.status().as_u16();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn every_dialect_has_its_own_form_and_the_cause_is_read_back() {
        let refusal = Refusal::Blocked("PAIR001 /messages/1: the call has no result".to_owned());
        for (dialect, mark) in [
            ("anthropic_messages", r#""type":"invalid_request_error"#),
            ("openai_chat", r#""type":"invalid_request_error"#),
            ("openai_responses", r#""type":"invalid_request_error"#),
            ("gemini_generate", r#""status":"INVALID_ARGUMENT"#),
            ("gemini_interactions", r#""code":"invalid_argument"#),
            ("bedrock_converse", r#"{"message":"#),
        ] {
            let (status, text) = text(dialect, &refusal).await;
            assert!(status == 400 && text.contains(mark) && text.contains("PAIR001"), "{dialect}: {text}");
        }
    }

    #[tokio::test]
    async fn an_unreachable_upstream_is_an_error_that_clients_send_again() {
        let refusal = Refusal::NoResponse { upstream: "mine".to_owned(), what: NoResponse::Unreachable };
        for dialect in ["anthropic_messages", "openai_chat", "gemini_generate", "bedrock_converse"] {
            let (status, text) = text(dialect, &refusal).await;
            let failure = Failure { dialect: Some(dialect), status: Some(status), text: &text, ..Failure::default() };
            assert_eq!(seamline::classify(&failure).class, seamline::classify::Class::Transient, "{dialect}: {text}");
        }
    }
}
