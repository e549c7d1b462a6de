//! Event streams.

use seamline_frame::{ErrorKind, FrameLimits, Framing};

use crate::bench::{frames, said};

fn events(stream: &str) -> Vec<String> {
    said(Framing::Sse, stream.as_bytes())
}

#[test]
fn every_line_break_and_a_byte_order_mark_are_read() {
    for line_break in ["\n", "\r\n", "\r"] {
        let stream = "\u{feff}event: a\ndata: 1\n\ndata:2\n\n".replace('\n', line_break);
        assert_eq!(events(&stream), ["a|1", "|2"], "{stream:?}");
    }
}

#[test]
fn data_of_several_lines_are_one_frame() {
    assert_eq!(events("data: a\ndata\ndata:  b\n\n"), ["|a\n\n b"]);
}

#[test]
fn comments_and_unneeded_fields_are_skipped() {
    let stream = ": keep-alive\n\n: OPENROUTER PROCESSING\nid: 7\nretry: 10\nfoo: bar\ndata: x\nodd\n\nevent: lonely\n\ndata: y\n\n";
    assert_eq!(events(stream), ["|x", "|y"]);
}

#[test]
fn lines_meant_as_data_are_not_skipped() {
    for line in [
        " data: {\"x\":1}",
        "Data: 1",
        "data : x",
        "dta: {\"x\":1}",
        "data {\"x\":1}",
        "oops {\"x\":1}",
        "y\"}",
        "plain text",
    ] {
        assert_eq!(events(&format!("data: 1\n\n{line}\n\ndata: 2\n\n")), ["|1", &format!("|{line}"), "|2"]);
        assert_eq!(events(&format!("data: 1\n\n{line}")), ["|1", &format!("…|{line}")]);
    }
    for line in ["Data:", "note: a {b}", "x-note: \"a\"", "error: [upstream]", "id: {\"x\":1}", ": {\"x\":1}"] {
        assert_eq!(events(&format!("data: 1\n\n{line}\n\ndata: 2\n\n")), ["|1", "|2"]);
    }
}

#[test]
fn a_stream_may_end_without_a_line_break() {
    assert_eq!(events("data: a\n\ndata: [DONE]"), ["|a", "…|[DONE]"]);
    assert_eq!(events("data: a\n\nevent: b\ndata: c\n"), ["|a", "…b|c"]);
    assert_eq!(events("data: a\n\n: bye"), ["|a"]);
}

#[test]
fn json_without_a_field_is_a_frame() {
    assert_eq!(events("{\"error\":{}}\n"), ["|{\"error\":{}}"]);
    assert_eq!(
        events("data: 1\n\n{\"error\":1}\n{\"error\":2}\n\ndata: 3\n\n"),
        ["|1", "|{\"error\":1}", "|{\"error\":2}", "|3"]
    );
    assert_eq!(
        events("{\n  \"error\": {\n    \"code\": 500\n  }\n}"),
        ["|{\n  \"error\": {\n    \"code\": 500\n  }\n}"]
    );
    assert_eq!(events("{\"cut\":\ndata: 1\n\n"), ["|{\"cut\":", "|1"]);
}

#[test]
fn events_without_empty_lines_between_them_are_separated() {
    let stream = "event: a\ndata: {\"x\":1}\n\nevent: b\nid: 7\ndata: {\"x\":2} \n\ndata:{\ndata:\"x\":{}}\n\nevent: c\n\
                  data: {\"x\":4}\n\n{\"error\":5}\n\ndata: [DONE]\n\ndata: {\"x\":6}\n\n";
    let whole = events(stream);
    let wanted =
        ["a|{\"x\":1}", "b|{\"x\":2} ", "|{\n\"x\":{}}", "c|{\"x\":4}", "|{\"error\":5}", "|[DONE]", "|{\"x\":6}"];
    assert_eq!(whole, wanted);
    let bare: Vec<_> = events(&stream.replace("\n\n", "\n")).iter().map(|frame| frame.replace('…', "")).collect();
    assert_eq!(bare, whole);
}

#[test]
fn a_name_may_follow_its_data() {
    assert_eq!(events("data: {}\nevent: a\n\ndata: {}\n\n"), ["a|{}", "|{}"]);
    assert_eq!(events("data: {}\nevent: a\ndata: {}\nevent: b"), ["|{}", "…a|{}"]);
    assert_eq!(events("data: {}\nevent: a"), ["…a|{}"]);
}

#[test]
fn a_frame_over_the_limit_ends_the_stream_and_names_its_offset() {
    let limits = FrameLimits { frame_bytes_max: 10 };
    for stream in [
        "data: 1\n\ndata: 12345678901\n\ndata: 3\n\n",
        "data: 1\n\ndata: 12345\ndata: 67890\n\n",
        "data: 1\n\ndata: 123456789012345",
    ] {
        let pieces: Vec<&[u8]> = stream.as_bytes().chunks(4).collect();
        for pieces in [vec![stream.as_bytes()], pieces] {
            let (frames, ended) = frames(Framing::Sse, limits, &pieces);
            assert_eq!(frames.len(), 1, "{stream:?}");
            let error = ended.unwrap_err();
            assert_eq!((error.offset, error.kind), (9, ErrorKind::TooLong(10)), "{stream:?}");
        }
    }
}

#[test]
fn an_empty_piece_changes_nothing() {
    let pieces = [&b"data:x\r"[..], b"", b"\n", b"", b"data:y\r\n\r", b"", b"\n"];
    let (said, ended) = frames(Framing::Sse, FrameLimits::default(), &pieces);
    assert_eq!((said.len(), said[0].data.as_slice(), ended), (1, &b"x\ny"[..], Ok(())));
}

#[test]
fn an_error_without_data_is_a_frame() {
    assert_eq!(events("data: 1\n\nevent: error\n\ndata: 2\n\n"), ["|1", "error|", "|2"]);
    assert_eq!(events("event: error"), ["…error|"]);
}

/// Scanning all data at every line would take minutes.
#[test]
fn many_empty_lines_are_scanned_once() {
    let lines = 1_000_000;
    assert_eq!(events(&"data:\n".repeat(lines)).len(), 1);
    let strange = format!("data: {}\n{}", " ".repeat(lines), "{x\n".repeat(lines / 4));
    assert_eq!(events(&strange).len(), 1);
}

#[test]
fn a_frame_cut_before_its_data_is_emitted_as_cut() {
    for (end, told) in
        [("d", "…|"), ("data", "…|"), ("event", "…|"), ("event: pin", "…pin|"), ("event: ping\nda", "…ping|")]
    {
        assert_eq!(said(Framing::Sse, format!("data: a\n\n{end}").as_bytes()), ["|a", told], "{end}");
    }
    for end in ["", "event: done\n", ": here", "id: 7", "retry: 1", "oops", "\r"] {
        assert_eq!(said(Framing::Sse, format!("data: a\n\n{end}").as_bytes()), ["|a"], "{end}");
    }
}
