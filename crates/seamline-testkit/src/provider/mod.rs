//! A fake provider on a loopback port: it takes requests of every dialect, rejects what the strict check rejects, and answers
//! like a model that runs one shell command and then says that it is done.
//!
//! Tests of real clients use it in place of paid providers. The first request of a conversation gets a call of the
//! client's own shell tool; a request whose history holds a tool result gets a text.

mod http;
mod reply;
mod tools;

use std::io::{BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::events::{Event, events};
use crate::{Dialect, strict};

use http::Request;
use reply::{Answer, Reply};

/// A request that the provider took.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The path of the request.
    pub path: String,
    /// The dialect of the path.
    pub dialect: Dialect,
    /// The request body.
    pub body: Value,
    /// The status of the response.
    pub status: u16,
    /// The violations for which it was rejected.
    pub violations: Vec<String>,
}

impl Exchange {
    /// The outputs of the tool results in the request.
    pub fn results(&self) -> Vec<String> {
        let outputs = events(self.dialect, &self.body).into_iter().filter_map(|event| match event {
            Event::Result { output, .. } => Some(output),
            Event::Call { .. } | Event::Other => None,
        });
        outputs.collect()
    }
}

/// A running fake provider. It ends with the process.
#[derive(Debug, Clone)]
pub struct FakeProvider {
    address: SocketAddr,
    exchanges: Arc<Mutex<Vec<Exchange>>>,
    /// The number of responses so far, which makes their ids unique.
    responses: Arc<AtomicUsize>,
}

impl FakeProvider {
    /// Starts a provider on a loopback port; 0 picks a free one. The shell tool of a client is called with `command`.
    ///
    /// # Errors
    ///
    /// Fails when the port is not free.
    pub fn start(port: u16, command: &str) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        let provider = Self { address: listener.local_addr()?, exchanges: Arc::default(), responses: Arc::default() };
        let (serving, command) = (provider.clone(), command.to_owned());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (serving, command) = (serving.clone(), command.clone());
                std::thread::spawn(move || {
                    // The provider does not fail when a client hangs up.
                    let _ = serving.serve(stream, &command);
                });
            }
        });
        Ok(provider)
    }

    /// The URL of the provider.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Removes and returns the exchanges so far, in their order.
    pub fn take(&self) -> Vec<Exchange> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Exchange>> {
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut stream: TcpStream, command: &str) -> std::io::Result<()> {
        let Some(request) = Request::read(&mut BufReader::new(&stream), &stream)? else { return Ok(()) };
        let reply = self.answer(&request, command);
        stream.write_all(reply.head().as_bytes())?;
        stream.write_all(reply.body.as_bytes())?;
        stream.flush()
    }

    fn answer(&self, request: &Request, command: &str) -> Reply {
        let path = request.path.split('?').next().unwrap_or_default();
        let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        let Some(dialect) = dialect_of(path) else {
            // Lists of models, token counts, telemetry.
            return Reply::json(200, &json!({"data": [], "models": [], "input_tokens": 1}));
        };
        let mut violations: Vec<String> =
            strict::check(dialect, &body).iter().map(|violation| format!("{violation:?}")).collect();
        if path.contains("deepseek") {
            violations.extend(strict::check_deepseek_responses(&body).iter().map(|found| format!("{found:?}")));
        }
        let reply = if violations.is_empty() {
            let has_result = events(dialect, &body).iter().any(|event| matches!(event, Event::Result { .. }));
            let tool = tools::shell(dialect, &body, command).filter(|_| !has_result);
            let number = self.responses.fetch_add(1, Ordering::Relaxed);
            let is_stream = body["stream"] == true || request.path.contains(":stream");
            reply::response(dialect, Answer { number, is_stream, tool: tool.as_ref() })
        } else {
            reply::rejection(dialect, &violations.join("; "))
        };
        let (path, status) = (request.path.clone(), reply.status);
        self.lock().push(Exchange { path, dialect, body, status, violations });
        reply
    }
}

/// The dialect of the requests to a path.
fn dialect_of(path: &str) -> Option<Dialect> {
    let name = match path {
        path if path.ends_with("/messages") => "anthropic_messages",
        path if path.ends_with("/chat/completions") => "openai_chat",
        path if path.ends_with("/responses") => "openai_responses",
        path if path.ends_with("generateContent") || path.ends_with("streamGenerateContent") => "gemini_generate",
        path if path.ends_with("/converse") => "bedrock_converse",
        _ => return None,
    };
    Dialect::by_name(name)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn post(provider: &FakeProvider, path: &str, body: &Value) -> String {
        let mut stream = TcpStream::connect(provider.address).unwrap();
        let body = body.to_string();
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_conversation_gets_a_call_and_then_a_text_and_damage_is_rejected() {
        let provider = FakeProvider::start(0, "echo probe").unwrap();
        let tools = json!([{"name": "Bash", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}}]);
        let user = json!({"role": "user", "content": "run the probe"});
        let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}]});
        let result =
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "probe"}]});
        let body = |messages: Value| json!({"model": "m", "max_tokens": 9, "stream": true, "tools": tools, "messages": messages});
        let first = post(&provider, "/c/v1/messages?beta=true", &body(json!([user])));
        assert!(
            first.starts_with("HTTP/1.1 200") && first.contains("input_json_delta") && first.contains("echo probe"),
            "{first}"
        );
        let second = post(&provider, "/v1/messages", &body(json!([user, call, result])));
        assert!(second.contains("text_delta") && second.contains("end_turn"), "{second}");
        let broken = post(&provider, "/v1/messages", &body(json!([user, call, user])));
        assert!(broken.starts_with("HTTP/1.1 400") && broken.contains("invalid_request_error"), "{broken}");
        let exchanges = provider.take();
        let statuses: Vec<u16> = exchanges.iter().map(|exchange| exchange.status).collect();
        assert_eq!((statuses, exchanges[1].results()), (vec![200, 200, 400], vec!["probe".to_owned()]));
    }
}
