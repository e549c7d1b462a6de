//! `async-openai` with repaired requests: one service between the SDK and its HTTP client.
//!
//! `async_openai URL` sends a history whose tool call has no result, first without and then with the service.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_openai::types::chat::CreateChatCompletionRequest;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use seamline_http::{RepairMiddleware, Repairer};

type Error = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let url = std::env::args().nth(1).ok_or("usage: async_openai URL")?;
    let config = OpenAIConfig::new().with_api_base(format!("{url}/v1")).with_api_key("key");
    let history: CreateChatCompletionRequest = serde_json::from_value(serde_json::json!({
        "model": "gpt-5",
        "messages": [
            {"role": "user", "content": "What is in main.rs?"},
            {"role": "assistant", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]},
            {"role": "user", "content": "Never mind."},
        ],
    }))?;

    let alone = Client::with_config(config.clone()).chat().create(history.clone()).await;
    println!("alone         {}", outcome(&alone));

    let http = ClientBuilder::new(reqwest::Client::new()).with(RepairMiddleware::new(Repairer::new())).build();
    let service = tower::service_fn(move |request| send(http.clone(), request));
    let repaired = Client::with_config(config).with_http_service(service).chat().create(history).await;
    println!("with seamline {}", outcome(&repaired));
    Ok(repaired.map(drop)?)
}

/// The service that the SDK sends its requests through.
async fn send(http: ClientWithMiddleware, request: HttpRequestFactory) -> Result<reqwest::Response, OpenAIError> {
    http.execute(request.build().await?).await.map_err(|error| OpenAIError::InvalidArgument(error.to_string()))
}

fn outcome<T>(result: &Result<T, OpenAIError>) -> String {
    match result {
        Ok(_) => "accepted".to_owned(),
        Err(error) => format!("rejected: {error}"),
    }
}
