//! Spans of OpenTelemetry for requests to models, by its conventions for generative AI, sent over OTLP/HTTP.
//!
//! A span has names, counts, times and codes, and no content. The variables of OpenTelemetry configure the export, such as
//! `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS` and `OTEL_RESOURCE_ATTRIBUTES`.

use std::fmt;
use std::pin::Pin;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer as _, TracerProvider as _};
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tokio::runtime::{Handle, Runtime};

use crate::Error;
use crate::config::TrafficLimits;
use crate::network::{Connector, NetworkProxy};
use crate::report::Finished;

/// The name under which a collector shows the spans, unless `OTEL_SERVICE_NAME` gives another one.
const SERVICE: &str = "seamline-proxy";

/// The largest response of a collector.
const RESPONSE_BYTES_MAX: usize = 1 << 20;

/// Makes a span of every request to a model and sends it to a collector.
pub struct Spans {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    /// The runtime of the connections to the collector. It outlives that of the proxy.
    runtime: Option<Runtime>,
}

impl Spans {
    /// Starts the export. `endpoint` is the URL of the traces; without it the variables of OpenTelemetry name it.
    ///
    /// # Errors
    /// Fails when the endpoint is not a URL, or the system starts no thread.
    pub fn start(endpoint: Option<&str>, network: &NetworkProxy) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(Error::Thread)?;
        let client = Collector::new(runtime.handle().clone(), network)?;
        let mut exporter =
            SpanExporter::builder().with_http().with_http_client(client).with_protocol(Protocol::HttpBinary);
        if let Some(endpoint) = endpoint {
            exporter = exporter.with_endpoint(endpoint);
        }
        let exporter = exporter.build().map_err(|error| Error::Config(format!("cannot export spans: {error}")))?;
        let mut resource = Resource::builder();
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name(SERVICE);
        }
        let provider =
            SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build();
        let tracer = provider.tracer(SERVICE);
        Ok(Self { provider, tracer, runtime: Some(runtime) })
    }

    /// Makes the span of a request that has ended.
    pub fn record(&self, finished: &Finished) {
        let operation = operation_of(finished.dialect);
        let name = match &finished.request_model {
            Some(model) => format!("{operation} {model}"),
            None => operation.to_owned(),
        };
        let builder = self.tracer.span_builder(name).with_kind(SpanKind::Client).with_start_time(finished.began);
        let mut span = builder.with_attributes(attributes(finished, operation)).start(&self.tracer);
        if let Some(error) = &finished.error {
            span.set_status(Status::error(error.clone()));
        }
        span.end_with_timestamp(finished.ended);
    }
}

impl Drop for Spans {
    /// Sends what waits.
    fn drop(&mut self) {
        // A collector that is gone has missed its spans.
        let _ = self.provider.shutdown();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spans").finish_non_exhaustive()
    }
}

fn attributes(finished: &Finished, operation: &'static str) -> Vec<KeyValue> {
    let Finished { upstream, provider, request_model, response, status, error, .. } = finished;
    let system = system_of(provider.as_deref().unwrap_or(upstream)).to_owned();
    let text = |name: &'static str, value: &Option<String>| Some(KeyValue::new(name, value.clone()?));
    let count = |name: &'static str, value: Option<u64>| Some(KeyValue::new(name, i64::try_from(value?).ok()?));
    let reasons: Vec<StringValue> = response.finish_reasons.iter().cloned().map(StringValue::from).collect();
    let reasons = (!reasons.is_empty()).then_some(Value::Array(Array::String(reasons)));
    [
        Some(KeyValue::new("gen_ai.operation.name", operation)),
        Some(KeyValue::new("gen_ai.provider.name", system.clone())),
        // The name of the attribute before version 1.37 of the conventions.
        Some(KeyValue::new("gen_ai.system", system)),
        text("gen_ai.request.model", request_model),
        text("gen_ai.response.model", &response.model),
        reasons.map(|reasons| KeyValue::new("gen_ai.response.finish_reasons", reasons)),
        count("gen_ai.usage.input_tokens", response.input_tokens),
        count("gen_ai.usage.output_tokens", response.output_tokens),
        status.map(|status| KeyValue::new("http.response.status_code", i64::from(status))),
        text("error.type", error),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The name of the operation in the conventions.
fn operation_of(dialect: &str) -> &'static str {
    if dialect.starts_with("gemini") { "generate_content" } else { "chat" }
}

/// The name of a provider in the conventions.
fn system_of(provider: &str) -> &str {
    match provider {
        "gemini" => "gcp.gemini",
        "vertex-gemini" | "vertex-anthropic" => "gcp.vertex_ai",
        "azure" => "azure.ai.openai",
        "bedrock" => "aws.bedrock",
        "mistral" => "mistral_ai",
        "xai" => "x_ai",
        "moonshot" => "moonshot_ai",
        "codex" => "openai",
        other => other,
    }
}

/// Sends spans to a collector.
struct Collector {
    client: Client<HttpsConnector<Connector>, Full<Bytes>>,
    runtime: Handle,
}

impl Collector {
    fn new(runtime: Handle, network: &NetworkProxy) -> Result<Self, Error> {
        let connector = Connector::new(network, TrafficLimits::default().connect_time)?;
        let tls = HttpsConnectorBuilder::new().with_native_roots().map_err(Error::Certificates)?;
        let connector = tls.https_or_http().enable_http1().wrap_connector(connector);
        Ok(Self { client: Client::builder(TokioExecutor::new()).build(connector), runtime })
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").finish_non_exhaustive()
    }
}

impl HttpClient for Collector {
    fn send_bytes<'c, 'f>(
        &'c self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        'c: 'f,
        Self: 'f,
    {
        let client = self.client.clone();
        // The thread of the exporter has no runtime.
        let sent = self.runtime.spawn(async move {
            let (head, body) = client.request(request.map(Full::new)).await?.into_parts();
            let body = Limited::new(body, RESPONSE_BYTES_MAX).collect().await?.to_bytes();
            Ok::<_, HttpError>(Response::from_parts(head, body))
        });
        Box::pin(async move { sent.await? })
    }
}
