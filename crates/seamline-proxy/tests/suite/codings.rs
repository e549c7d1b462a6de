//! Compressed bodies.

use std::io::Write as _;

use seamline_proxy::incident::IncidentOutcome;
use seamline_testkit::Dialect;
use seamline_testkit::provider::Script;

use super::bodies::{DAMAGED, short, streamed};
use super::stage::{Stage, path};

const DIALECT: Dialect = Dialect::AnthropicMessages;

fn coded(coding: &str, body: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(body).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut coded = Vec::new();
            brotli::CompressorWriter::new(&mut coded, 4096, 1, 20).write_all(body).unwrap();
            coded
        }
        "zstd" => zstd::encode_all(body, 1).unwrap(),
        _ => body.to_vec(),
    }
}

#[test]
fn a_clean_body_stays_compressed_and_a_repaired_one_has_no_coding() {
    for coding in ["gzip", "br", "zstd"] {
        let stage = Stage::new();
        let mut client = stage.client();
        let clean = coded(coding, short(DIALECT).as_bytes());
        assert_eq!(client.post_with(path(DIALECT), &[("content-encoding", coding)], &clean).status, 200);
        let damaged = coded(coding, DAMAGED.as_bytes());
        let headers = [("content-encoding", coding), ("content-md5", "x")];
        assert_eq!(client.post_with(path(DIALECT), &headers, &damaged).status, 200, "{coding}");
        let sent = stage.provider.take();
        assert_eq!((sent[0].raw_body.as_slice(), sent[0].header("content-encoding")), (&clean[..], Some(coding)));
        assert_eq!((sent[1].header("content-encoding"), sent[1].header("content-md5")), (None, None));
        assert!(sent[1].raw_body.starts_with(b"{\"model\""));
        assert_eq!(stage.reports.outcomes(), [IncidentOutcome::Repaired]);
    }
}

#[test]
fn a_bomb_is_refused() {
    let stage = Stage::with(|config| config.limits.body_bytes_max = 1 << 20);
    for coding in ["gzip", "br", "zstd"] {
        let bomb = coded(coding, &vec![b' '; 64 << 20]);
        assert!(bomb.len() < 1 << 20, "{coding}: {}", bomb.len());
        let answer = stage.client().post_with(path(DIALECT), &[("content-encoding", coding)], &bomb);
        assert_eq!(answer.status, 413, "{coding}");
    }
    assert_eq!(stage.provider.take().len(), 0);
    assert_eq!(stage.reports.outcomes(), [IncidentOutcome::Refused; 3]);
}

#[test]
fn a_coding_that_cannot_be_read_passes_with_an_incident() {
    let stage = Stage::new();
    let headers = [("content-encoding", "lzma")];
    stage.client().post_with(path(DIALECT), &headers, DAMAGED.as_bytes());
    let broken = [("content-encoding", "gzip")];
    stage.client().post_with(path(DIALECT), &broken, DAMAGED.as_bytes());
    let sent = stage.provider.take();
    assert!(sent.iter().all(|sent| sent.raw_body == DAMAGED.as_bytes()) && sent.len() == 2);
    assert_eq!(stage.reports.outcomes(), [IncidentOutcome::Failed; 2]);
}

#[test]
fn a_compressed_response_is_passed_on_unchanged() {
    let stage = Stage::new();
    for body in [short(DIALECT).to_owned(), streamed(DIALECT)] {
        stage.provider.next(Script::default().gzip().text("squeezed"));
        let answer = stage.client().post_with(path(DIALECT), &[("accept-encoding", "gzip")], body.as_bytes());
        assert_eq!((answer.header("content-encoding"), answer.is_complete), (Some("gzip"), true));
        let mut text = String::new();
        let mut decoder = flate2::read::MultiGzDecoder::new(&answer.body[..]);
        std::io::Read::read_to_string(&mut decoder, &mut text).unwrap();
        assert!(text.contains("squeezed"));
        assert_eq!(stage.provider.take()[0].header("accept-encoding"), Some("gzip"));
    }
}
