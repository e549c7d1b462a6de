//! The upstream of all proxies. It reads a request as a provider must: the whole body, and the whole JSON text once, to find
//! the members that it needs. It builds no tree of it, and its response is ready.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;

use crate::http::Message;

/// The number of chunks of a streamed response.
pub(crate) const CHUNKS: usize = 200;

/// The stack of the thread of a connection; the soak opens thousands.
const STACK_BYTES: usize = 128 * 1024;

/// A running upstream. It ends with the process.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    open: Arc<AtomicUsize>,
}

impl Upstream {
    pub(crate) fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let open = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&open);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let open = Arc::clone(&count);
                open.fetch_add(1, Ordering::Relaxed);
                let serving = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
                    // A connection that breaks is for the proxy to report.
                    let _ = serve(stream);
                    open.fetch_sub(1, Ordering::Relaxed);
                });
                if serving.is_err() {
                    count.fetch_sub(1, Ordering::Relaxed);
                }
            }
        });
        Ok(Self { address, open })
    }

    /// The number of open connections.
    pub(crate) fn connections(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

/// The members of a request that the upstream needs. The rest of the JSON text is read and checked, too.
#[derive(Deserialize)]
struct Wanted {
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    user: String,
}

/// The user whose streams send one chunk and end when the client goes.
const HOLDS: &str = "hold";

fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = Message::default();
    let (whole, chunk, end) = (whole(), chunk(), b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n".as_slice());
    while reader.read(&mut stream)? {
        let Ok(wanted) = serde_json::from_slice::<Wanted>(reader.body()) else {
            return stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        };
        if !wanted.stream {
            stream.write_all(&whole)?;
            continue;
        }
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(&[head, chunk.as_slice()].concat())?;
        if wanted.user == HOLDS {
            // The proxy closes the connection when its client goes.
            stream.read_exact(&mut [0])?;
        }
        for _ in 1..CHUNKS {
            stream.write_all(&chunk)?;
        }
        stream.write_all(end)?;
    }
    Ok(())
}

fn whole() -> Vec<u8> {
    let body = "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"gpt-5\",\"choices\":[{\"index\":0,\
        \"message\":{\"role\":\"assistant\",\"content\":\"The tests pass now.\"},\"finish_reason\":\"stop\"}],\
        \"usage\":{\"prompt_tokens\":9,\"completion_tokens\":5,\"total_tokens\":14}}";
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:";
    format!("{head} {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn chunk() -> Vec<u8> {
    let data = "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-5\",\
        \"choices\":[{\"index\":0,\"delta\":{\"content\":\"some words \"},\"finish_reason\":null}]}\n\n";
    format!("{:x}\r\n{data}\r\n", data.len()).into_bytes()
}
