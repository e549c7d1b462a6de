//! `genai` behind a proxy inside the same program: the SDK takes a URL and no middleware.
//!
//! `genai URL` sends a history whose tool call has no result, first without and then with the proxy.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatRequest, ToolCall};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{Client, ModelIden, ServiceTarget};
use seamline_proxy::Proxy;
use seamline_proxy::config::Config;
use seamline_proxy::report::NoReport;
use seamline_proxy::upstreams::Upstream;

type Error = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let url = std::env::args().nth(1).ok_or("usage: genai URL")?;
    let call = ToolCall {
        call_id: "call_1".to_owned(),
        fn_name: "read".to_owned(),
        fn_arguments: serde_json::json!({}),
        thought_signatures: None,
    };
    let history = ChatRequest::from_user("What is in main.rs?")
        .append_message(ChatMessage::from(vec![call]))
        .append_message(ChatMessage::user("Never mind."));

    let alone = client(&format!("{url}/v1/"))?.exec_chat("gpt-5", history.clone(), None).await;
    println!("alone         {}", outcome(&alone));

    let proxy = start_proxy(&url).await?;
    let repaired = client(&format!("http://{proxy}/openai/v1/"))?.exec_chat("gpt-5", history, None).await;
    println!("with seamline {}", outcome(&repaired));
    Ok(repaired.map(drop)?)
}

/// Starts a proxy on a free port of this machine. It ends with the program.
async fn start_proxy(provider: &str) -> Result<SocketAddr, Error> {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let config = Config { listen, upstreams: vec![Upstream::new("openai", provider, None)?], ..Config::default() };
    let proxy = Proxy::bind(config, Arc::new(NoReport)).await?;
    let address = proxy.address();
    tokio::spawn(proxy.run(std::future::pending()));
    Ok(address)
}

fn client(url: &str) -> Result<Client, Error> {
    let url = url.to_owned();
    let resolver = ServiceTargetResolver::from_resolver_fn(move |target: ServiceTarget| {
        let endpoint = Endpoint::from_owned(url.clone());
        let model = ModelIden::new(AdapterKind::OpenAI, target.model.model_name);
        Ok(ServiceTarget { endpoint, auth: AuthData::from_single("key"), model })
    });
    Ok(Client::builder().with_service_target_resolver(resolver).build()?)
}

fn outcome<T>(result: &Result<T, genai::Error>) -> String {
    match result {
        Ok(_) => "accepted".to_owned(),
        Err(error) => format!("rejected: {error}"),
    }
}
