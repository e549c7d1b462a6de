//! Upstreams behind the proxy of the network.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use seamline_proxy::network::NetworkProxy;
use seamline_proxy::upstreams::Upstream;
use seamline_testkit::Dialect;

use super::bodies::short;
use super::stage::Stage;

/// A proxy that takes `CONNECT` and connects every client to one server, whatever host it names.
struct Tunnels {
    address: SocketAddr,
    /// The heads of the requests.
    heads: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Tunnels {
    fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::<Mutex<Vec<Vec<String>>>>::default();
        let kept = Arc::clone(&heads);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || serve(client, server, &kept));
            }
        });
        Self { address, heads }
    }

    fn take(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut *self.heads.lock().unwrap())
    }
}

fn serve(mut client: TcpStream, server: SocketAddr, heads: &Mutex<Vec<Vec<String>>>) {
    let mut input = BufReader::new(client.try_clone().unwrap());
    let lines = input.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    heads.lock().unwrap().push(lines.collect());
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
    let mut upstream = TcpStream::connect(server).unwrap();
    let mut back = (upstream.try_clone().unwrap(), client);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut back.0, &mut back.1);
        let _ = back.1.shutdown(std::net::Shutdown::Both);
    });
    let _ = std::io::copy(&mut input, &mut upstream);
    let _ = upstream.shutdown(std::net::Shutdown::Both);
}

/// A stage with an upstream at this URL, which is reached through a proxy unless an exception says so.
fn stage(url: &str, exceptions: &str) -> (Stage, Tunnels) {
    let mut tunnels = None;
    let stage = Stage::with_provider(|config, provider| {
        let made = Tunnels::to(provider.address());
        let all = format!("http://user:pass@{}", made.address);
        config.network = NetworkProxy { all, exceptions: exceptions.to_owned(), ..NetworkProxy::default() };
        config.upstreams.push(Upstream::new("far", url, None).unwrap());
        tunnels = Some(made);
    });
    (stage, tunnels.unwrap())
}

fn post(stage: &Stage, upstream: &str) -> u16 {
    stage.client().post(&format!("/{upstream}/v1/messages"), short(Dialect::AnthropicMessages).as_bytes()).status
}

#[test]
fn an_upstream_is_reached_through_the_proxy_of_the_network() {
    for (url, target) in [
        ("http://models.invalid:8080/base", "models.invalid:8080"),
        ("http://models.invalid/base", "models.invalid:80"),
        ("http://[2001:db8::1]:8080/base", "[2001:db8::1]:8080"),
    ] {
        let (stage, tunnels) = stage(url, "other.invalid");
        assert_eq!((post(&stage, "far"), stage.provider.take().len()), (200, 1), "{url}");
        let heads = tunnels.take();
        assert_eq!(heads[0][0], format!("CONNECT {target} HTTP/1.1"));
        assert!(heads[0].iter().any(|line| line == "Proxy-Authorization: Basic dXNlcjpwYXNz"), "{heads:?}");
        // This machine is reached directly.
        assert_eq!((post(&stage, "anthropic"), stage.provider.take().len()), (200, 1));
        assert_eq!(tunnels.take(), Vec::<Vec<String>>::new());
    }
}

#[test]
fn an_exception_is_reached_directly() {
    let (stage, tunnels) = stage("http://models.invalid:8080/base", "models.invalid:8080");
    assert_eq!((post(&stage, "far"), tunnels.take().len()), (502, 0));
}

#[test]
fn a_proxy_that_refuses_is_an_unreachable_upstream() {
    let (stage, _) = stage("http://models.invalid/base", "");
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = seamline_proxy::config::Config {
        network: NetworkProxy { all: format!("http://{gone}"), ..NetworkProxy::default() },
        upstreams: vec![Upstream::new("far", "http://models.invalid/base", None).unwrap()],
        ..seamline_proxy::config::Config::default()
    };
    stage.control.reload(config).unwrap();
    assert_eq!(post(&stage, "far"), 502);
}
