//! Clients of the tests.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use seamline_http::{BoxError, RepairLayer, RepairMiddleware, Repairer};
use seamline_testkit::provider::FakeProvider;
use tower_layer::Layer as _;
use tower_service::Service as _;

/// The forms of the client.
pub(crate) const FORMS: [Form; 2] = [Form::Tower, Form::Reqwest];

#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Tower,
    Reqwest,
}

/// The status and the body of a response.
pub(crate) type Got = Result<(u16, Bytes), BoxError>;

impl Form {
    /// Posts a body with this form of the client.
    pub(crate) async fn post(self, repairer: &Repairer, url: &str, body: &'static [u8]) -> Got {
        self.post_as(repairer, url, "Bearer key", body).await
    }

    /// The same, with an authorization.
    pub(crate) async fn post_as(self, repairer: &Repairer, url: &str, authorization: &str, body: &'static [u8]) -> Got {
        match self {
            Self::Tower => {
                let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
                let mut client = RepairLayer::new(repairer.clone()).layer(client);
                let request = Request::builder().method(Method::POST).uri(url).header("content-length", body.len());
                let request = request.header("authorization", authorization);
                let request = request.body(Full::new(Bytes::from_static(body)))?;
                std::future::poll_fn(|cx| client.poll_ready(cx)).await?;
                let response = client.call(request).await?;
                Ok((response.status().as_u16(), response.into_body().collect().await?.to_bytes()))
            }
            Self::Reqwest => {
                let client = reqwest_middleware::ClientBuilder::new(reqwest::Client::new())
                    .with(RepairMiddleware::new(repairer.clone()))
                    .build();
                let request = client.post(url).header("content-length", body.len());
                let response = request.header("authorization", authorization).body(body).send().await?;
                assert_eq!(response.url().as_str(), url, "the URL of the response is kept");
                Ok((response.status().as_u16(), response.bytes().await?))
            }
        }
    }
}

pub(crate) fn provider() -> FakeProvider {
    FakeProvider::start(0, "echo probe").unwrap()
}

/// A list that callbacks write to.
#[derive(Clone, Debug)]
pub(crate) struct Noted<T>(Arc<Mutex<Vec<T>>>);

impl<T> Noted<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    pub(crate) fn push(&self, value: T) {
        self.0.lock().unwrap().push(value);
    }

    pub(crate) fn take(&self) -> Vec<T> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}
