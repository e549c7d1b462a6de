//! Responses over a WebSocket: frames of type `response.create` in, the events of responses out.

use std::io::{Error, Result, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};
use tungstenite::protocol::{Message, Role, WebSocket};

use super::exchange::End;
use super::http::Head;
use super::reject;
use super::reply::messages;
use super::script::{After, Fault, Script};
use super::server::Server;
use crate::Dialect;

/// One connection that was upgraded.
pub(super) struct Socket<'s> {
    pub(super) server: &'s Server,
    pub(super) connection: usize,
    pub(super) head: &'s Head,
    pub(super) script: &'s Script,
}

impl Socket<'_> {
    /// Speaks WebSocket until the client closes the connection. The bytes are those that were read behind the head.
    pub(super) fn serve(&self, mut stream: &TcpStream, bytes: Vec<u8>) -> Result<()> {
        let key = self.head.header("sec-websocket-key").unwrap_or_default();
        let accept = tungstenite::handshake::derive_accept_key(key.as_bytes());
        write!(
            stream,
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: {accept}\r\n\r\n"
        )?;
        let mut socket = WebSocket::from_partially_read(stream, bytes, Role::Server, None);
        let mut answer = self.script.answer.as_ref();
        loop {
            let text = match socket.read() {
                Ok(Message::Text(text)) => text,
                Ok(Message::Close(_)) | Err(_) => return Ok(()),
                Ok(_) => continue,
            };
            // The scripted answer is that to the first message.
            let (events, end) = match answer.take() {
                Some((status, json)) => (vec![self.scripted(text.as_str(), *status, json)], End::Sent),
                None => self.answer(text.as_str()),
            };
            for event in events {
                std::thread::sleep(self.script.frame_delay);
                socket.send(Message::text(event.to_string())).map_err(Error::other)?;
            }
            if end == End::Scripted {
                return Ok(());
            }
        }
    }

    /// The error of the script.
    fn scripted(&self, text: &str, status: u16, json: &str) -> Value {
        let body = serde_json::from_str(text).unwrap_or(Value::Null);
        let record = self.server.record_message(self.connection, self.head, text, (body, status, Vec::new()));
        let _ = record.set(End::Sent);
        let answer: Value = serde_json::from_str(json).unwrap_or(Value::Null);
        error(status, &answer["error"])
    }

    /// The events that answer a message, and whether the connection goes on.
    fn answer(&self, text: &str) -> (Vec<Value>, End) {
        let body: Value = serde_json::from_str(text).unwrap_or(Value::Null);
        let violations = reject::violations(Dialect::OpenAiResponses, &body, &self.head.target);
        let is_known = body["type"] == "response.create";
        let mut events = if !is_known {
            vec![error(
                400,
                &json!({"type": "invalid_request_error", "message": format!("Invalid value: '{}'. Supported values are: 'response.create'.", body["type"].as_str().unwrap_or_default())}),
            )]
        } else if violations.is_empty() || self.server.is_fast() {
            messages(&self.server.said(Dialect::OpenAiResponses, &body, self.script))
        } else {
            let reply = reject::rejection(Dialect::OpenAiResponses, &body, &violations);
            let body: Value = serde_json::from_slice(&reply.frames.concat()).unwrap_or_default();
            vec![error(400, &body["error"])]
        };
        let status = if events.len() > 1 { 200 } else { 400 };
        let mut end = End::Sent;
        match self.script.fault {
            Some(Fault::ErrorEvent(frames)) => {
                events.truncate(frames);
                events.push(error(
                    500,
                    &json!({"type": "server_error", "code": "server_error", "message": "The server had an error"}),
                ));
            }
            Some(Fault::Close(After::Frames(frames)) | Fault::Reset(After::Frames(frames))) => {
                events.truncate(frames);
                end = End::Scripted;
            }
            _ => {}
        }
        let record = self.server.record_message(self.connection, self.head, text, (body, status, violations));
        let _ = record.set(end);
        (events, end)
    }
}

fn error(status: u16, error: &Value) -> Value {
    json!({"type": "error", "status": status, "error": error})
}
