//! The events that a reader makes of frames, before the assembler.

use std::collections::BTreeMap;

use seamline_frame::{Frame, FrameKind};
use seamline_model::{Addition, Event, Stop};

use super::{Reader, StreamReader, places};

/// Values of every kind, also unexpected ones.
const VALUES: [&str; 16] = [
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1e999",
    "18446744073709551616",
    "\"\"",
    "\"stop\"",
    "\"\\ud800\"",
    "[]",
    "[null,7,\"x\",[],{}]",
    "{}",
    "{\"type\":7,\"text\":[]}",
    "[{\"index\":4294967296,\"id\":\"a\",\"function\":{\"name\":\"n\",\"arguments\":[]}}]",
    "{\"message\":{\"content\":{\"text\":1},\"tool_calls\":{\"function\":[]}},\"finish_reason\":{},\"usage\":3}",
];

fn feed(frames: &[String], mut sink: impl FnMut(Event<'_>)) {
    let mut reader = Reader::default();
    for data in frames {
        let frame = Frame { kind: FrameKind::Event, name: b"", data: data.as_bytes() };
        reader.handle_frame(&frame, &mut sink);
    }
    reader.handle_end(&mut sink);
}

/// The id, the name and the input of each call.
fn calls(deltas: &[&str]) -> Vec<[String; 3]> {
    let frames: Vec<_> =
        deltas.iter().map(|calls| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{calls}]}}}}]}}"#)).collect();
    let mut said: BTreeMap<u32, [String; 3]> = BTreeMap::new();
    feed(&frames, |event| match event {
        Event::Begin { place, .. } => {
            assert!(place >= places::CALLS && said.insert(place, <[String; 3]>::default()).is_none());
        }
        Event::Add { place, addition } => {
            let (at, text) = match addition {
                Addition::Id(id) => (0, id),
                Addition::Name(name) => (1, name),
                Addition::Arguments(text) | Addition::StartInput(text) | Addition::WholeArguments(text) => (2, text),
                other => panic!("{other:?}"),
            };
            said.get_mut(&place).expect("begun")[at].push_str(text);
        }
        other => panic!("{other:?}"),
    });
    said.into_values().collect()
}

/// The part of a call in a delta; what is empty is left out.
fn part(index: &str, id: &str, name: &str, arguments: &str) -> String {
    let index = if index.is_empty() { String::new() } else { format!(r#""index":{index},"#) };
    let id = if id.is_empty() { String::new() } else { format!(r#""id":"{id}","#) };
    format!(r#"{{{index}{id}"function":{{"name":"{name}","arguments":{arguments}}}}}"#)
}

/// Ways to send two calls in four pieces, each with its index, its id, its name and a digit.
const WAYS: [(&str, [[&str; 4]; 4]); 9] = [
    ("by index", [["0", "a", "read", "1"], ["1", "b", "list", "3"], ["0", "", "", "2"], ["1", "", "", "4"]]),
    (
        "ids repeated",
        [["0", "a", "read", "1"], ["0", "a", "read", "2"], ["1", "b", "list", "3"], ["1", "b", "list", "4"]],
    ),
    ("one index", [["0", "a", "read", "1"], ["0", "", "", "2"], ["0", "b", "list", "3"], ["0", "", "", "4"]]),
    ("gaps", [["3", "a", "read", "1"], ["3", "", "", "2"], ["9", "b", "list", "3"], ["9", "", "", "4"]]),
    ("no index", [["", "a", "read", "1"], ["", "", "", "2"], ["", "b", "list", "3"], ["", "", "", "4"]]),
    ("tail elsewhere", [["0", "a", "read", "1"], ["1", "", "", "2"], ["0", "b", "list", "3"], ["1", "", "", "4"]]),
    ("id before index", [["0", "a", "read", "1"], ["1", "b", "list", "3"], ["1", "a", "", "2"], ["0", "b", "", "4"]]),
    (
        "written otherwise",
        [["0", "a", "read", "1"], ["1", "b", "list", "3"], ["\"0\"", "", "", "2"], ["1.0", "", "", "4"]],
    ),
    ("odd indices", [["-1", "a", "read", "1"], ["-1", "", "", "2"], ["1e3", "b", "list", "3"], ["null", "", "", "4"]]),
];

#[test]
fn a_piece_goes_to_the_call_it_belongs_to() {
    let both = [["a", "read", "12"], ["b", "list", "34"]].map(|call| call.map(str::to_owned));
    for (way, pieces) in WAYS {
        let pieces = pieces.map(|[index, id, name, digit]| part(index, id, name, &format!("\"{digit}\"")));
        assert_eq!(calls(&pieces.each_ref().map(String::as_str)), both, "{way}");
        // All in one delta is the same.
        assert_eq!(calls(&[&pieces.join(",")]), both, "{way}");
    }
}

#[test]
fn whole_calls_without_ids_are_told_apart() {
    let object = |name: &str, value: &str| part("", "", name, &format!("{{\"v\":{value}}}"));
    let two = format!("{},{}", object("read", "1"), object("read", "2"));
    let read = calls(&[&two, &object("list", "3"), &object("list", "4")]);
    let read: Vec<_> = read.iter().map(|[_, name, input]| (name.as_str(), input.as_str())).collect();
    assert_eq!(read, [("read", "{\"v\":1}"), ("read", "{\"v\":2}"), ("list", "{\"v\":3}"), ("list", "{\"v\":4}")]);
}

/// The events of one choice.
fn said(choice: &str) -> Vec<String> {
    let mut said = Vec::new();
    feed(&[format!(r#"{{"choices":{choice}}}"#)], |event| said.push(format!("{event:?}")));
    said
}

#[test]
fn no_piece_of_a_call_is_lost_in_silence() {
    let call = |function: &str| format!(r#"[{{"delta":{{"tool_calls":[{{"id":"a","function":{function}}}]}}}}]"#);
    for choice in [
        call(r#"{"name":"f","arguments":5}"#),
        call(r#"{"name":"f","arguments":true}"#),
        call(r#""{}""#),
        r#"{"delta":{"content":"x"}}"#.to_owned(),
        r#"[{"delta":"x"}]"#.to_owned(),
        r#"[{"delta":{"function_call":"{}"}}]"#.to_owned(),
    ] {
        assert_eq!(said(&choice).pop().as_deref(), Some("Unreadable { what: Shape }"), "{choice}");
    }
}

#[test]
fn another_choice_is_known_however_its_place_is_written() {
    for (place, is_first) in
        [("0", true), ("\"0\"", true), ("0.0", true), ("null", true), ("\"1\"", false), ("-1", false), ("1.0", false)]
    {
        let said = said(&format!(r#"[{{"index":{place},"delta":{{"content":"x"}}}}]"#));
        let others = ["Unreadable { what: SecondMessage }"];
        assert_eq!(said != others, is_first, "{place}: {said:?}");
    }
}

#[test]
fn a_complete_input_does_not_begin_again() {
    for index in ["", "0"] {
        let text = |name: &str, text: &str| part(index, "", name, &format!("{text:?}"));
        let read = calls(&[&text("read", "{}"), &text("read", "{\"v\":\"}"), &text("read", "{\"}"), &text("", " ")]);
        let read: Vec<_> = read.iter().map(|[_, name, input]| (name.as_str(), input.as_str())).collect();
        assert_eq!(read, [("read", "{}"), ("read", "{\"v\":\"}{\"} ")], "{index:?}");
    }
}

#[test]
fn of_two_objects_for_one_call_the_first_stays() {
    let call = |value: &str| part("0", "a", "read", value);
    let two = format!("{},{},{}", call("{\"v\":1}"), call("{\"v\":1}"), call("{\"v\":2}"));
    let said = said(&format!(r#"[{{"delta":{{"tool_calls":[{two}]}}}}]"#));
    let inputs: Vec<_> = said.iter().filter(|event| event.contains("WholeArguments")).collect();
    assert!(inputs.len() == 1 && inputs[0].contains("1}"), "{said:?}");
    assert_eq!(said.last().map(String::as_str), Some("Unreadable { what: Shape }"));
}

#[test]
fn calls_above_the_limit_are_not_added_to_another_call() {
    let mut calls = super::calls::Calls::default();
    let mut take = |call: &str| {
        let document = crate::json::Document::read(call).expect("json");
        let mut said = String::new();
        calls.take(document.root(), false, &mut |event: Event<'_>| said = format!("{event:?}"));
        said
    };
    for at in 0..1 << 16 {
        take(&part("0", &format!("{at}"), "f", "\"{}\""));
    }
    let shape = "Unreadable { what: Shape }";
    for call in [part("0", "x", "f", "\"\""), part("0", "", "", "\"{}\""), part("", "", "", "\"{}\"")] {
        assert_eq!(take(&call), shape, "{call}");
    }
    assert!(take(&part("", "7", "", "\" \"")).contains("Arguments"));
}

#[test]
fn no_id_or_name_takes_the_place_of_another() {
    let read = calls(&[&part("0", "", "read", "null"), &part("0", "a", "", "\"{}\""), &part("0", "", "", "\"\"")]);
    assert_eq!(read, [["a", "read", "{}"].map(str::to_owned)]);
}

#[test]
fn a_worse_stop_is_not_undone_by_a_later_one() {
    for (words, last) in [
        (&["stop", "tool_calls"][..], Stop::Calls),
        (&["length", "stop"], Stop::Length),
        (&["stop", "content_filter", "stop"], Stop::Filter),
        (&["content_filter", "error", "length"], Stop::Failure),
    ] {
        let frames: Vec<_> =
            words.iter().map(|word| format!(r#"{{"choices":[{{"finish_reason":"{word}"}}]}}"#)).collect();
        let mut said = None;
        feed(&frames, |event| {
            if let Event::Stop { stop, .. } = event {
                said = Some(stop);
            }
        });
        assert_eq!(said, Some(last), "{words:?}");
    }
}

/// How a stream of these frames stops, and whether it failed.
fn stopped(frames: &[&str]) -> (Option<(Stop, String)>, bool) {
    let (mut stopped, mut has_failed) = (None, false);
    let frames: Vec<_> = frames.iter().map(|&frame| frame.to_owned()).collect();
    feed(&frames, |event| match event {
        Event::Stop { stop, word } => stopped = Some((stop, word.to_owned())),
        Event::Failed { .. } => has_failed = true,
        _ => {}
    });
    (stopped, has_failed)
}

#[test]
fn an_error_is_recognised_at_any_place() {
    for (frame, has_failed) in [
        (r#"{"id":"a","choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit"}}"#, true),
        (r#"{"id":"a","choices":[],"base_resp":{"status_code":0,"status_msg":""}}"#, false),
        (r#"{"choices":[{"delta":{"error":{"message":"no"}}}]}"#, true),
        (r#"{"choices":[{"delta":{"error":null}}]}"#, false),
        (r#"{"choices":[],"detail":"no"}"#, true),
        (r#"{"choices":null,"message":"no"}"#, true),
        (r#"{"choices":[{"delta":{"content":"x"}}],"error":"no"}"#, true),
        (r#"{"id":"a","choices":[],"message":{}}"#, false),
    ] {
        assert_eq!(stopped(&[frame]).1, has_failed, "{frame}");
    }
}

#[test]
fn another_id_after_a_stop_is_another_answer() {
    let chunk = |id: &str, content: &str, reason: &str| {
        format!(r#"{{"id":"{id}","choices":[{{"delta":{{"content":"{content}"}},"finish_reason":{reason}}}]}}"#)
    };
    let usage = r#"{"id":"z","choices":[],"usage":{"total_tokens":3}}"#.to_owned();
    let texts = |frames: &[String]| {
        let (mut texts, mut has_second) = (String::new(), false);
        feed(frames, |event| match event {
            Event::Add { addition: Addition::Text(text), .. } => texts += text,
            Event::Usage { json, .. } => texts += json,
            Event::Unreadable { .. } => has_second = true,
            _ => {}
        });
        (texts, has_second)
    };
    let ended = [chunk("a", "1", "null"), chunk("a", "", "\"stop\""), usage.clone()];
    assert_eq!(texts(&ended), ("13".to_owned(), false));
    let other = [ended.as_slice(), &[chunk("b", "2", "null"), chunk("b", "", "\"length\"")]].concat();
    assert_eq!(texts(&other), ("13".to_owned(), true));
    let rotating = [chunk("a", "1", "null"), chunk("b", "2", "\"stop\""), chunk("c", "3", "null")];
    assert_eq!(texts(&rotating), ("123".to_owned(), false));
}

#[test]
fn a_refusal_is_one_whenever_it_comes() {
    let refusal = r#"{"choices":[{"delta":{"refusal":"No."}}]}"#;
    let stop = r#"{"choices":[{"delta":{"finish_reason":"stop"}}]}"#;
    for (frames, word) in [
        (&[refusal, "[DONE]"][..], "refusal"),
        (&[refusal, stop, "[DONE]"], "stop"),
        (&[stop, refusal, "[DONE]"], "stop"),
        (&[stop, refusal], "stop"),
    ] {
        assert_eq!(stopped(frames).0, Some((Stop::Refusal, word.to_owned())), "{frames:?}");
    }
    assert_eq!(stopped(&[stop]).0, Some((Stop::Turn, "stop".to_owned())));
    assert_eq!(stopped(&[refusal]).0, None);
}

#[test]
fn nothing_is_done_without_a_reason_to_stop() {
    for (frame, is_done) in [
        (r#"{"choices":[{"delta":{"content":"x"},"finish_reason":null}]}"#, false),
        (r#"{"choices":[{"delta":{"content":"x"},"finish_reason":""}]}"#, false),
        (r#"{"choices":[{"delta":{"content":"x"},"finish_reason":"null"}]}"#, false),
        (r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#, true),
        (r#"{"object":"chat.completion","choices":[{"message":{}}]}"#, true),
        (r#"{"message":{"content":"x"},"done":false}"#, false),
        (r#"{"message":{"content":"x"},"done":true}"#, true),
        ("[DONE]", false),
    ] {
        let mut done = 0;
        feed(&[frame.to_owned()], |event| done += usize::from(event == Event::Done));
        assert_eq!(done, usize::from(is_done), "{frame}");
    }
}

#[test]
fn a_frame_cut_after_the_reason_to_stop_is_missed() {
    let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    for (last, is_done) in [(r#"{"choices":[{"del"#, false), (r#"{"error":{"mess"#, false), (stop, true)] {
        let mut reader = Reader::default();
        let mut done = 0;
        for (kind, data) in [(FrameKind::Event, stop), (FrameKind::Cut, last)] {
            let frame = Frame { kind, name: b"", data: data.as_bytes() };
            reader.handle_frame(&frame, &mut |_: Event<'_>| {});
        }
        reader.handle_end(&mut |event: Event<'_>| done += usize::from(event == Event::Done));
        assert_eq!(done, usize::from(is_done), "{last}");
    }
}

#[test]
fn values_of_any_kind_stand_anywhere() {
    let keys = |names: &[&'static str], around: &'static str| -> Vec<(&'static str, &'static str)> {
        names.iter().map(|name| (*name, around)).collect()
    };
    let all = [
        keys(
            &["choices", "usage", "error", "type", "object", "x_groq", "message", "done", "id", "delta", "detail"],
            "@",
        ),
        keys(&["index", "delta", "message", "finish_reason", "usage", "error", "logprobs"], r#"{"choices":[@]}"#),
        keys(
            &[
                "role",
                "content",
                "tool_calls",
                "function_call",
                "refusal",
                "audio",
                "reasoning",
                "reasoning_details",
                "other",
            ],
            r#"{"choices":[{"delta":@}]}"#,
        ),
        keys(&["index", "id", "type", "function", "custom"], r#"{"choices":[{"delta":{"tool_calls":[@]}}]}"#),
        keys(&["name", "arguments"], r#"{"choices":[{"delta":{"tool_calls":[{"function":@}]}}]}"#),
        keys(&["type", "text", "thinking"], r#"{"choices":[{"delta":{"content":[@]}}]}"#),
        keys(&["content", "tool_calls", "tool_plan", "citations"], r#"{"type":"content-delta","delta":{"message":@}}"#),
        keys(&["delta", "index", "id"], r#"{"type":"message-end",@@}"#),
        keys(&["delta", "index"], r#"{"type":"citation-start",@@}"#),
    ];
    let mut frames = Vec::new();
    for (key, around) in all.concat() {
        for value in VALUES {
            let member = format!(r#""{key}":{value}"#);
            frames.push(around.replace("@@", &member).replace('@', &format!("{{{member}}}")));
        }
    }
    frames.extend(VALUES.map(str::to_owned));
    feed(&frames, |_| {});
    // And each at the start of a stream: what comes after an end says little.
    let mut count = 0;
    for frame in frames.chunks(1) {
        feed(frame, |_| count += 1);
    }
    assert!(count > frames.len() / 4, "{count} events of {} frames", frames.len());
}
