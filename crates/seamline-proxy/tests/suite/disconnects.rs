//! Clients that leave, and clients that are slow.

use std::time::Duration;

use seamline_proxy::config::StallTime;
use seamline_testkit::Dialect;
use seamline_testkit::provider::{End, Script};

use super::bodies::{short, streamed};
use super::stage::{Stage, path, stream_path, wait_until};

const DIALECT: Dialect = Dialect::AnthropicMessages;

/// The time within which the provider must see that the client left.
const SOON: Duration = Duration::from_secs(10);

#[test]
fn a_client_that_leaves_during_a_stream_ends_the_request_to_the_provider() {
    let stage = Stage::new();
    for dialect in Dialect::ALL {
        stage.provider.next(Script::default().chunks(2000, 8).frame_delay(Duration::from_millis(5)));
        let mut client = stage.client();
        client.send_post(stream_path(dialect), &[], streamed(dialect).as_bytes());
        assert_eq!(client.head().status, 200);
        assert!(!client.read(16).is_empty());
        drop(client);
        let exchange = stage.provider.wait(1, SOON).pop().unwrap();
        assert!(matches!(exchange.end(), Some(End::ClientGone { .. })), "{dialect:?} {:?}", exchange.end());
    }
    wait_until(|| stage.control.gauges().requests == 0 && stage.control.gauges().connections == 0);
    assert_eq!(stage.reports.outcomes(), []);
}

#[test]
fn a_client_that_leaves_before_the_response_ends_the_request_to_the_provider() {
    let stage = Stage::new();
    stage.provider.next(Script::default().head_delay(Duration::from_secs(20)));
    let mut client = stage.client();
    client.send_post(path(DIALECT), &[], short(DIALECT).as_bytes());
    // The client leaves after the provider has the request, and before it responds.
    let mut taken = None;
    wait_until(|| {
        taken = taken.take().or_else(|| stage.provider.take().pop());
        taken.is_some()
    });
    let exchange = taken.unwrap();
    assert_eq!((exchange.end(), stage.control.gauges().requests), (None, 1));
    drop(client);
    wait_until(|| stage.control.gauges().requests == 0 && exchange.end().is_some());
    assert!(matches!(exchange.end(), Some(End::ClientGone { .. })));
}

#[test]
fn a_client_that_leaves_within_its_request_leaves_nothing_behind() {
    let stage = Stage::new();
    let mut request =
        format!("POST {} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", path(DIALECT), short(DIALECT).len())
            .into_bytes();
    request.extend_from_slice(short(DIALECT).as_bytes());
    for end in (0..request.len() - 1).step_by(7) {
        let mut client = stage.client();
        client.send(&request[..end]);
        client.finish();
        assert_ne!(client.answer().status, 200, "{end}");
    }
    wait_until(|| stage.control.gauges().requests == 0 && stage.control.gauges().connections == 0);
    assert_eq!(stage.provider.take().len(), 0);
}

#[test]
fn a_slow_client_gets_the_whole_stream_and_no_stall_is_counted() {
    let stage = Stage::with(|config| config.stall.kill_after = StallTime::After(Duration::from_millis(300)));
    // More than the buffers between the provider and the client hold.
    stage.provider.next(Script::default().chunks(3000, 8000));
    let mut client = stage.client();
    client.send_post(path(DIALECT), &[], streamed(DIALECT).as_bytes());
    wait_until(|| stage.control.gauges().streams == 1);
    let begin = std::time::Instant::now();
    wait_until(|| begin.elapsed() > Duration::from_millis(600));
    let answer = client.answer();
    assert!(answer.is_complete && answer.text().ends_with("message_stop\"}\n\n"), "{}", answer.body.len());
    assert_eq!(stage.reports.outcomes(), []);
}

#[test]
fn many_streams_at_a_time_are_held() {
    let stage = Stage::new();
    stage.provider.always(Script::default().chunks(10, 8).frame_delay(Duration::from_millis(100)));
    let mut clients: Vec<_> = (0..100)
        .map(|_| {
            let mut client = stage.client();
            client.send_post(path(DIALECT), &[], streamed(DIALECT).as_bytes());
            client
        })
        .collect();
    wait_until(|| stage.control.gauges().streams == 100);
    assert!(clients.iter_mut().all(|client| client.answer().is_complete));
    drop(clients);
    wait_until(|| stage.control.gauges().streams == 0 && stage.control.gauges().connections == 0);
}
