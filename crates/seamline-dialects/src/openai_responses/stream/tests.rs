//! The events that a reader makes of frames, before the assembler.

use seamline_frame::{Frame, FrameKind};
use seamline_model::{Addition, Event, Stop};

use super::{Reader, StreamReader};

/// Values of every kind, also unexpected ones.
const VALUES: [&str; 13] = [
    "null",
    "true",
    "-1",
    "1e999",
    "18446744073709551616",
    "\"\"",
    "\"failed\"",
    "\"\\ud800\"",
    "[]",
    "[null,7,{}]",
    "{}",
    "{\"type\":\"message\",\"content\":[7,{\"type\":\"refusal\",\"refusal\":{}}],\"id\":{}}",
    "{\"type\":\"function_call\",\"arguments\":[],\"output\":[{}],\"status\":3,\"incomplete_details\":[]}",
];

fn feed(frames: &[String], mut sink: impl FnMut(Event<'_>)) {
    let mut reader = Reader::default();
    for data in frames {
        let frame = Frame { kind: FrameKind::Event, name: b"", data: data.as_bytes() };
        reader.handle_frame(&frame, &mut sink);
    }
    reader.handle_end(&mut sink);
}

#[test]
fn only_the_response_ends_itself() {
    for (frame, stop, is_done) in [
        (r#"{"type":"response.output_item.done","item":{"type":"message","status":"completed"}}"#, None, false),
        ("[DONE]", None, false),
        (r#"{"type":"response.completed"}"#, Some(Stop::Turn), true),
        (r#"{"type":"response.completed","response":{"status":"incomplete"}}"#, Some(Stop::Length), true),
        (r#"{"type":"response.completed","response":{"status":"failed"}}"#, None, false),
        (r#"{"type":"response.completed","response":{"error":{"code":"x"}}}"#, None, false),
        (r#"{"type":"response.cancelled","response":{"status":"cancelled"}}"#, Some(Stop::Failure), false),
        (r#"{"object":"response","status":"completed","output":[]}"#, Some(Stop::Turn), true),
        (r#"{"object":"response","status":"queued","output":[]}"#, None, false),
        (
            r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}"#,
            Some(Stop::Filter),
            true,
        ),
    ] {
        let (mut said, mut done) = (None, false);
        feed(&[frame.to_owned()], |event| match event {
            Event::Stop { stop, .. } => said = Some(stop),
            Event::Done => done = true,
            _ => {}
        });
        assert_eq!((said, done), (stop, is_done), "{frame}");
    }
}

#[test]
fn a_failure_after_the_end_is_told() {
    let frames =
        [r#"{"type":"response.completed"}"#, r#"{"type":"response.failed","response":{"error":{"code":"x"}}}"#];
    let mut failed = false;
    feed(&frames.map(str::to_owned), |event| failed |= matches!(event, Event::Failed { said: r#"{"code":"x"}"# }));
    assert!(failed);
}

#[test]
fn items_are_known_by_place_until_a_place_is_given_twice() {
    let added = |id: &str| {
        format!(
            r#"{{"type":"response.output_item.added","output_index":0,"item":{{"type":"function_call","id":"{id}"}}}}"#
        )
    };
    let delta = |id: &str, text: &str| {
        format!(
            r#"{{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"{id}","delta":"{text}"}}"#
        )
    };
    let frames = [added("a"), delta("rotated", "1"), added("b"), delta("a", "2"), delta("b", "3")];
    let mut said = Vec::new();
    feed(&frames, |event| {
        if let Event::Add { place, addition: Addition::Arguments(text) } = event {
            said.push((place >> 12, text.to_owned()));
        }
    });
    let said: Vec<_> = said.iter().map(|(item, text)| (*item, text.as_str())).collect();
    assert_eq!(said, [(0, "1"), (0, "2"), (1, "3")]);
}

#[test]
fn later_events_of_a_finished_call_give_nothing() {
    let item = |event: &str, status: &str| {
        let item = format!(r#"{{"type":"function_call","id":"a","name":"f","arguments":"{{}}","status":"{status}"}}"#);
        format!(r#"{{"type":"response.output_item.{event}","output_index":0.0,"item":{item}}}"#)
    };
    let late = |id: &str| {
        let name = "response.function_call_arguments.done";
        format!(r#"{{"type":"{name}","output_index":"0","item_id":"{id}","arguments":"1"}}"#)
    };
    for (frames, last) in [
        ([item("done", "completed"), late("a")], "End { place: 0 }"),
        ([item("done", "completed"), late("b")], "Unreadable { what: Stray }"),
        ([item("added", "in_progress"), late("b")], r#"Add { place: 0, addition: WholeArguments("1") }"#),
    ] {
        let mut said = String::new();
        feed(&frames, |event| said = format!("{event:?}"));
        assert_eq!(said, last, "{frames:?}");
    }
    for (status, is_whole) in [("completed", true), ("in_progress", false), ("incomplete", false)] {
        let mut said = true;
        feed(&[item("done", status)], |event| {
            said &= !matches!(event, Event::Add { addition: Addition::Unfinished, .. });
        });
        assert_eq!(said, is_whole, "{status}");
    }
}

#[test]
fn values_of_any_kind_stand_anywhere() {
    let events = [
        "created",
        "in_progress",
        "completed",
        "incomplete",
        "failed",
        "cancelled",
        "output_item.added",
        "output_item.done",
        "content_part.added",
        "content_part.done",
        "output_text.delta",
        "output_text.done",
        "output_text.annotation.added",
        "refusal.delta",
        "refusal.done",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "mcp_call_arguments.delta",
        "mcp_call_arguments.done",
        "code_interpreter_call_code.delta",
        "reasoning_summary_part.added",
        "reasoning_summary_part.done",
        "reasoning_summary_text.delta",
        "reasoning_text.delta",
        "reasoning_text.done",
        "unheard_of",
    ];
    let keys = [
        "output_index",
        "item_id",
        "content_index",
        "summary_index",
        "delta",
        "text",
        "arguments",
        "item",
        "part",
        "annotation",
        "response",
        "name",
        "error",
    ];
    let mut frames = Vec::new();
    for event in events {
        for key in keys {
            for value in VALUES {
                frames.push(format!(
                    r#"{{"type":"response.{event}","delta":"d","item":{{}},"part":{{}},"{key}":{value}}}"#
                ));
            }
        }
    }
    for value in VALUES {
        frames.push(value.to_owned());
        frames.push(format!(r#"{{"type":{value},"object":"response","output":{value}}}"#));
        frames.push(format!(r#"{{"error":{value},"detail":{value}}}"#));
    }
    feed(&frames, |_| {});
    // And each at the start of a stream: what comes after an end says little.
    let mut count = 0;
    for frame in frames.chunks(1) {
        feed(frame, |_| count += 1);
    }
    assert!(count > frames.len() / 4, "{count} events of {} frames", frames.len());
}
