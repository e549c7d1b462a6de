//! HTTP/2 without TLS, as clients speak it that know the proxy.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use seamline_testkit::Dialect;
use seamline_testkit::provider::{End, Script};

use super::bodies::{DAMAGED, short, streamed};
use super::stage::{Stage, path, wait_until};

const DIALECT: Dialect = Dialect::AnthropicMessages;

type Sender = SendRequest<Full<Bytes>>;

async fn connect(stage: &Stage) -> Sender {
    let stream = tokio::net::TcpStream::connect(stage.address).await.unwrap();
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

fn request(body: &str) -> Request<Full<Bytes>> {
    let request = Request::post(format!("http://proxy{}", path(DIALECT))).header("content-type", "application/json");
    request.body(Full::new(Bytes::from(body.to_owned()))).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_share_one_connection() {
    let stage = Stage::new();
    let sender = connect(&stage).await;
    let bodies = [short(DIALECT).to_owned(), DAMAGED.to_owned(), streamed(DIALECT)];
    let sent = (0..30).map(|number| {
        let mut sender = sender.clone();
        let request = request(&bodies[number % bodies.len()]);
        async move {
            let response = sender.send_request(request).await.unwrap();
            let status = response.status().as_u16();
            (status, response.into_body().collect().await.unwrap().to_bytes())
        }
    });
    for (status, body) in futures_util::future::join_all(sent).await {
        assert!(status == 200 && !body.is_empty());
    }
    assert_eq!(stage.control.gauges().connections, 1);
    assert_eq!(stage.provider.take().len(), 30);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_the_client_drops_ends_at_the_provider() {
    let stage = Stage::new();
    stage.provider.next(Script::default().chunks(2000, 8).frame_delay(std::time::Duration::from_millis(5)));
    let mut sender = connect(&stage).await;
    let mut response = sender.send_request(request(&streamed(DIALECT))).await.unwrap();
    assert!(response.body_mut().frame().await.is_some());
    drop(response);
    wait_until(|| stage.control.gauges().requests == 0);
    let exchange = stage.provider.wait(1, std::time::Duration::from_secs(10)).pop().unwrap();
    assert!(matches!(exchange.end(), Some(End::ClientGone { .. })));
    assert_eq!(sender.send_request(request(short(DIALECT))).await.unwrap().status(), 200);
}
