//! Lines of JSON and arrays.

use seamline_frame::{ErrorKind, FrameLimits, Framing};

use crate::bench::{frames, said};

#[test]
fn each_line_is_a_frame() {
    assert_eq!(
        said(Framing::JsonLines, b"\xef\xbb\xbf{\"a\":\"}\"}\r\n\n [1]\n{\"b\":2}"),
        [r#"|{"a":"}"}"#, "|[1]", r#"|{"b":2}"#]
    );
    assert_eq!(said(Framing::JsonLines, b"{\"a\":\n 1}\nnot json \n7"), ["|{\"a\":\n 1}", "|not json", "…|7"]);
    assert_eq!(said(Framing::JsonLines, b"{\"a\":1}{\"b\":[\"x"), [r#"|{"a":1}"#, r#"…|{"b":["x"#]);
}

#[test]
fn an_event_stream_may_follow_lines_of_json() {
    assert_eq!(
        said(Framing::JsonLines, b"{\"a\":1}\nevent: x\ndata: {\"b\":2}\n\n{\"c\":3}\n: hello\n\ndata: [DONE]\n\n"),
        [r#"|{"a":1}"#, r#"x|{"b":2}"#, r#"|{"c":3}"#, "|[DONE]"]
    );
    assert_eq!(said(Framing::JsonLines, b"{\"a\":1}\r\ndata: {\"b\""), [r#"|{"a":1}"#, r#"…|{"b""#]);
    let long = [b"{}\ndata: {}\n\ndata: ", &[b'x'; 100][..]].concat();
    let (kept, ended) = frames(Framing::JsonLines, FrameLimits { frame_bytes_max: 50 }, &[&long]);
    assert_eq!((kept.len(), ended.unwrap_err().offset), (2, 13));
}

#[test]
fn each_element_of_an_array_is_a_frame() {
    assert_eq!(
        said(Framing::JsonArray, b"[{\"a\":[1,2]}\n,\r\n{\"b\":\"],[\"}]\n"),
        [r#"|{"a":[1,2]}"#, r#"|{"b":"],["}"#]
    );
    assert_eq!(said(Framing::JsonArray, b" []"), [""; 0]);
    assert_eq!(said(Framing::JsonArray, b"[{\"a\":1},{\"b\":"), [r#"|{"a":1}"#, r#"…|{"b":"#]);
}

#[test]
fn an_object_may_take_the_place_of_the_array() {
    assert_eq!(said(Framing::JsonArray, b"{\n\"error\":{\"code\":400}}"), ["|{\n\"error\":{\"code\":400}}"]);
    assert_eq!(said(Framing::JsonArray, b"[{\"a\":1}]\n{\"error\":1}"), [r#"|{"a":1}"#, r#"+|{"error":1}"#]);
}

#[test]
fn an_unclosed_array_is_cut() {
    for open in ["[{\"a\":1}", "[{\"a\":1},\n", "[{\"a\":1} "] {
        assert_eq!(said(Framing::JsonArray, open.as_bytes()), [r#"|{"a":1}"#, "…|"]);
    }
    assert_eq!(said(Framing::JsonArray, b"["), ["…|"]);
    assert_eq!(said(Framing::JsonArray, b" \n"), [""; 0]);
}

#[test]
fn frames_after_an_array_are_marked() {
    assert_eq!(
        said(Framing::JsonArray, b"[{\"a\":1}][{\"b\":2},{\"c\":3}]"),
        [r#"|{"a":1}"#, r#"+|[{"b":2},{"c":3}]"#]
    );
    assert_eq!(said(Framing::JsonArray, b"[{\"a\":1}]oops"), [r#"|{"a":1}"#, "+|oops"]);
    assert_eq!(
        said(Framing::JsonArray, b"[{\"a\":1}]\ndata: {\"b\":2}\n\nevent: x\ndata: {}"),
        [r#"|{"a":1}"#, r#"+|{"b":2}"#, "+x|{}"]
    );
}

#[test]
fn an_invalid_element_ends_the_stream() {
    let (kept, ended) = frames(Framing::JsonArray, FrameLimits::default(), &[b"[{\"a\":1}, oops"]);
    assert_eq!(kept.len(), 1);
    let error = ended.unwrap_err();
    assert_eq!((error.offset, error.kind), (10, ErrorKind::Between));
}

#[test]
fn deep_nesting_is_read() {
    let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
    let (kept, ended) = frames(Framing::JsonLines, FrameLimits::default(), &[&deep]);
    assert_eq!((kept.len(), kept[0].data.len(), ended), (1, deep.len(), Ok(())));
}
