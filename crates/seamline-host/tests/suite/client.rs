//! A client in the same process.

use std::sync::Arc;

use seamline_host::{Host, HostLimits, Service, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// A client of a host, over a pair of pipes.
pub(crate) struct Client {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
    serving: JoinHandle<std::io::Result<()>>,
    last_id: u64,
}

impl Client {
    pub(crate) fn new() -> Self {
        Self::with(HostLimits::default())
    }

    pub(crate) fn with(limits: HostLimits) -> Self {
        Self::of(Arc::new(Host::new(limits)))
    }

    pub(crate) fn of<S: Service>(service: Arc<S>) -> Self {
        let (near, far) = tokio::io::duplex(1 << 20);
        let (far_input, far_output) = tokio::io::split(far);
        let serving = tokio::spawn(async move { serve(service, far_input, far_output).await });
        let (output, input) = tokio::io::split(near);
        Self { input, output: BufReader::new(output), serving, last_id: 0 }
    }

    pub(crate) async fn send(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    pub(crate) async fn raw(&mut self, line: &str) -> Value {
        self.send(line).await;
        self.receive().await
    }

    /// Sends a request and returns its response.
    pub(crate) async fn response(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        super::schema::assert_valid(&request);
        let response = self.raw(&request.to_string()).await;
        assert_eq!(response["id"], self.last_id, "{response}");
        response
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut response = self.response(method, params).await;
        assert_eq!(response["error"], Value::Null, "{method}: {response}");
        response["result"].take()
    }

    pub(crate) async fn refused(&mut self, method: &str, params: Value) -> (i64, String) {
        let response = self.response(method, params).await;
        let error = &response["error"];
        (error["code"].as_i64().unwrap_or_default(), error["message"].as_str().unwrap_or_default().to_owned())
    }

    /// Ends the input, and returns the lines that still come.
    pub(crate) async fn end(mut self) -> Vec<Value> {
        self.input.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let mut line = String::new();
        while self.output.read_line(&mut line).await.unwrap() > 0 {
            rest.push(serde_json::from_str(&line).unwrap());
            line.clear();
        }
        self.serving.await.unwrap().unwrap();
        rest
    }
}
