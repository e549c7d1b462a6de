//! Tests of the public interface, in one binary.

use proptest::prelude::*;
use seamline_assemble::{ArgSource, Assembler, AssemblyLimits};
use seamline_model::{Addition, Assembled, Ending, Event, Piece, Stop, StreamFlaw, Unreadable};

fn assemble(events: &[Event<'_>]) -> Assembled {
    let mut assembler = Assembler::new(ArgSource::DeltaWins, AssemblyLimits::default());
    for event in events {
        assembler.handle_event(event);
    }
    assembler.finish()
}

/// The flaws of a message, without their frames.
fn flaws(message: &Assembled) -> Vec<StreamFlaw> {
    message.flaws.iter().map(|noted| noted.flaw.clone()).collect()
}

fn add(place: u32, addition: Addition<'static>) -> Event<'static> {
    Event::Add { place, addition }
}

/// A text and two calls, as a provider streams them.
fn complete_stream() -> Vec<Event<'static>> {
    let begin = |place, piece| Event::Begin { place, piece, base: "" };
    vec![
        Event::Member { name: "id", json: "\"msg_1\"" },
        Event::Usage { name: "input_tokens", json: "7" },
        Event::Usage { name: "output_tokens", json: "1" },
        begin(0, Piece::Text),
        add(0, Addition::Text("Let me ")),
        add(0, Addition::Text("look.")),
        Event::End { place: 0 },
        begin(1, Piece::Call),
        add(1, Addition::Id("a")),
        add(1, Addition::Name("read")),
        add(1, Addition::StartInput("{}")),
        add(1, Addition::Arguments("{\"path\":")),
        add(1, Addition::Arguments("\"a.rs\"}")),
        Event::End { place: 1 },
        begin(7, Piece::Call),
        add(7, Addition::Id("b")),
        add(7, Addition::Id("b")),
        add(7, Addition::Name("list")),
        add(7, Addition::Name("")),
        Event::End { place: 7 },
        Event::Usage { name: "input_tokens", json: "null" },
        Event::Usage { name: "output_tokens", json: "40" },
        Event::Stop { stop: Stop::Calls, word: "tool_use" },
        Event::Done,
    ]
}

#[test]
fn a_flaw_names_the_frame_it_was_found_in() {
    let mut assembler = Assembler::new(ArgSource::DeltaWins, AssemblyLimits::default());
    for (place, id, name) in [(0, "a", "read"), (0, "a", "list"), (1, "b", "read")] {
        assembler.handle_frame();
        assembler.handle_event(&Event::Begin { place, piece: Piece::Call, base: "" });
        assembler.handle_event(&add(place, Addition::Name(name)));
        assembler.handle_event(&add(place, Addition::Id(id)));
    }
    assembler.handle_event(&add(1, Addition::Arguments("{")));
    let noted: Vec<_> = assembler.finish().flaws.into_iter().map(|noted| (noted.flaw, noted.frame)).collect();
    let repeated = (StreamFlaw::Repeated { place: 0 }, Some(2));
    assert_eq!(noted, [repeated.clone(), repeated, (StreamFlaw::BrokenInput { place: 1 }, None)]);
}

#[test]
fn a_complete_stream_gives_a_complete_message() {
    let message = assemble(&complete_stream());
    assert_eq!((message.ending, flaws(&message).as_slice()), (Ending::Complete, &[][..]));
    let texts: Vec<_> = message.blocks.iter().filter_map(|block| block.text()).collect();
    assert_eq!(texts, ["Let me look."]);
    let calls: Vec<_> =
        message.executable().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(calls, [("a", "read", r#"{"path":"a.rs"}"#), ("b", "list", "{}")]);
    let usage: Vec<_> = message.usage.iter().map(|(name, json)| (name.as_str(), json.as_str())).collect();
    assert_eq!(usage, [("input_tokens", "7"), ("output_tokens", "40")]);
}

#[test]
fn no_prefix_of_a_stream_is_complete_or_may_be_run() {
    let events = complete_stream();
    for end in 0..events.len() {
        let message = assemble(&events[..end]);
        assert_eq!((message.ending, message.executable().count()), (Ending::Truncated, 0), "{end}");
    }
}

#[test]
fn a_failure_anywhere_forbids_running_any_call() {
    for at in 0..=complete_stream().len() {
        for (wrong, ending) in [
            (Event::Failed { said: "overloaded" }, Ending::Failed),
            (Event::Stop { stop: Stop::Failure, word: "error" }, Ending::Failed),
            (Event::Stop { stop: Stop::Filter, word: "content_filter" }, Ending::Filtered),
        ] {
            let mut events = complete_stream();
            // The last of several reasons counts, so this one replaces the other.
            if matches!(wrong, Event::Stop { .. }) {
                events.retain(|event| !matches!(event, Event::Stop { .. }));
            }
            events.insert(at.min(events.len()), wrong);
            let message = assemble(&events);
            assert_eq!((message.ending, message.executable().count()), (ending, 0), "{at}");
        }
    }
}

#[test]
fn only_the_calls_before_the_one_that_the_limit_cut_may_be_run() {
    let mut events = complete_stream();
    events.retain(|event| !matches!(event, Event::Stop { .. }));
    events.insert(0, Event::Stop { stop: Stop::Length, word: "max_tokens" });
    let message = assemble(&events);
    assert_eq!(message.ending, Ending::CutCall);
    assert_eq!(message.executable().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn a_call_streamed_beside_the_last_one_may_be_cut_too() {
    let mut events = complete_stream();
    events.retain(|event| !matches!(event, Event::Stop { .. }));
    events.push(add(1, Addition::Arguments(" ")));
    events.push(Event::Stop { stop: Stop::Length, word: "length" });
    let message = assemble(&events);
    assert_eq!((message.ending, message.executable().count()), (Ending::CutCall, 0));
}

#[test]
fn the_repetition_at_the_end_counts() {
    let begin = |place, piece| Event::Begin { place, piece, base: "" };
    let message = assemble(&[
        begin(0, Piece::Text),
        add(0, Addition::Text("Let me ok.")),
        add(0, Addition::WholeText("Let me look.")),
        begin(1, Piece::Text),
        add(1, Addition::WholeText("Done.")),
        begin(2, Piece::Call),
        add(2, Addition::Id("a")),
        add(2, Addition::Name("read")),
        add(2, Addition::Whole("{}")),
        add(2, Addition::Id("b")),
        add(2, Addition::Name("")),
        Event::Done,
    ]);
    let texts: Vec<_> = message.blocks.iter().filter_map(|block| block.text()).collect();
    assert_eq!(texts, ["Let me look.", "Done."]);
    let calls: Vec<_> = message.executable().map(|call| (call.id.as_str(), call.name.as_str())).collect();
    assert_eq!(calls, [("b", "read")]);
    assert_eq!(flaws(&message), [StreamFlaw::Repeated { place: 2 }, StreamFlaw::TwoTexts { place: 0 }]);
}

#[test]
fn free_input_need_not_be_json_and_an_unfinished_call_is_not_run() {
    let call = |place, name| {
        [
            Event::Begin { place, piece: Piece::Call, base: "" },
            add(place, Addition::Id(name)),
            add(place, Addition::Name(name)),
        ]
    };
    let mut events = [call(0, "sql"), call(1, "patch"), call(2, "read")].concat();
    events.extend([add(0, Addition::FreeInput), add(0, Addition::Arguments("SELECT 1"))]);
    let stop = Event::Stop { stop: Stop::Calls, word: "tool_calls" };
    events.extend([add(1, Addition::FreeInput), add(2, Addition::Unfinished), stop, Event::Done]);
    let message = assemble(&events);
    let calls: Vec<_> = message.executable().map(|call| (call.arguments.as_str(), call.free)).collect();
    let unfinished = [StreamFlaw::Unfinished { place: 2 }];
    assert_eq!((&calls[..], &flaws(&message)[..]), (&[("SELECT 1", true), ("", true)][..], &unfinished[..]));
}

#[test]
fn a_call_without_a_tool_name_is_left_out_and_reported() {
    let message = assemble(&[
        Event::Begin { place: 0, piece: Piece::Call, base: "" },
        add(0, Addition::Arguments("{\"a\":1}")),
        add(3, Addition::Text("stray")),
        Event::Done,
    ]);
    assert_eq!(message.blocks, []);
    let nameless = StreamFlaw::Nameless { place: 0, arguments: "{\"a\":1}".to_owned() };
    assert_eq!(flaws(&message), [StreamFlaw::Unreadable(Unreadable::Stray), nameless]);
}

#[test]
fn a_message_over_the_limit_fails_and_is_not_kept() {
    let limits = AssemblyLimits { message_bytes_max: 10, ..AssemblyLimits::default() };
    let mut assembler = Assembler::new(ArgSource::DeltaWins, limits);
    assembler.handle_event(&Event::Begin { place: 0, piece: Piece::Text, base: "" });
    for _ in 0..100 {
        assembler.handle_event(&add(0, Addition::Text("four")));
    }
    assembler.handle_event(&Event::Done);
    let message = assembler.finish();
    assert_eq!((message.ending, flaws(&message).as_slice()), (Ending::Failed, &[StreamFlaw::TooLong][..]));
    assert_eq!(message.blocks[0].text(), Some("fourfour"));
}

#[test]
fn a_stall_or_abort_never_changes_a_decided_ending() {
    for (events, stalled) in [(complete_stream(), Ending::Complete), (complete_stream()[..5].to_vec(), Ending::Stalled)]
    {
        let mut assembler = Assembler::new(ArgSource::DeltaWins, AssemblyLimits::default());
        for event in &events {
            assembler.handle_event(event);
        }
        assembler.handle_stall();
        assembler.handle_abort();
        assert_eq!(assembler.finish().ending, stalled);
    }
}

/// Events in any order.
const EVENTS: [Event<'static>; 12] = [
    Event::Begin { place: 0, piece: Piece::Call, base: "" },
    Event::Begin { place: 1, piece: Piece::Text, base: "{}" },
    Event::Add { place: 0, addition: Addition::Id("a") },
    Event::Add { place: 0, addition: Addition::Name("x") },
    Event::Add { place: 0, addition: Addition::Arguments("{}") },
    Event::Add { place: 0, addition: Addition::WholeArguments("{\"a\":1}") },
    Event::Add { place: 1, addition: Addition::Text("t") },
    Event::End { place: 0 },
    Event::Stop { stop: Stop::Calls, word: "tool_use" },
    Event::Stop { stop: Stop::Refusal, word: "refusal" },
    Event::Failed { said: "no" },
    Event::Done,
];

proptest! {
    #[test]
    fn only_complete_messages_have_executable_calls(events in prop::collection::vec(prop::sample::select(&EVENTS[..]), 0..20)) {
        let message = assemble(&events);
        let done = events.contains(&Event::Done);
        let failed = events.iter().any(|event| matches!(event, Event::Failed { .. }));
        let refused = events.iter().any(|event| matches!(event, Event::Stop { stop: Stop::Refusal, .. }));
        prop_assert_eq!(message.ending == Ending::Complete, done && !failed && !refused);
        prop_assert!(message.ending == Ending::Complete || message.executable().count() == 0);
    }
}

#[test]
fn a_call_with_a_gap_is_not_run() {
    let gap = Event::Unreadable { what: seamline_model::Unreadable::NotJson };
    let runs = |at: usize, more: &[Event<'static>]| {
        let mut events = complete_stream();
        events.splice(at..at, [gap.clone()]);
        let done = events.len() - 1;
        events.splice(done..done, more.iter().cloned());
        assemble(&events).executable().map(|call| call.id.clone()).collect::<Vec<_>>()
    };
    let all = complete_stream();
    let place = |sought: Event<'static>| all.iter().position(|event| *event == sought).unwrap();
    assert_eq!(runs(place(add(1, Addition::Arguments("\"a.rs\"}"))), &[]), ["b"]);
    assert_eq!(runs(place(Event::End { place: 1 }) + 1, &[]), ["a", "b"], "between two blocks");
    let whole = add(1, Addition::Whole(r#"{"id":"a","name":"read","input":{"path":"a.rs"}}"#));
    assert_eq!(runs(place(add(1, Addition::Arguments("\"a.rs\"}"))), &[whole]), ["a", "b"]);
}

/// A call that is never closed, with these deltas of input.
fn open_call(place: u32, id: &'static str, pieces: &[&'static str]) -> Vec<Event<'static>> {
    let mut events = vec![Event::Begin { place, piece: Piece::Call, base: "" }];
    events.extend([add(place, Addition::Id(id)), add(place, Addition::Name("read"))]);
    events.extend(pieces.iter().map(|piece| add(place, Addition::Arguments(piece))));
    events
}

/// The ids of the calls that may be run.
fn executable_ids(events: &[Event<'static>]) -> Vec<String> {
    assemble(events).executable().map(|call| call.id.clone()).collect()
}

const LENGTH: [Event<'static>; 2] = [Event::Stop { stop: Stop::Length, word: "length" }, Event::Done];
const CALLS: [Event<'static>; 2] = [Event::Stop { stop: Stop::Calls, word: "tool_calls" }, Event::Done];

#[test]
fn before_a_cut_call_only_complete_calls_may_be_run() {
    let cut = open_call(1, "b", &["{\"path\":"]);
    for (pieces, may_run) in [(&[][..], false), (&["{}"], false), (&["{\"a\":"], false), (&["{\"a\":", "1}"], true)] {
        let ids = executable_ids(&[open_call(0, "a", pieces), cut.clone(), LENGTH.to_vec()].concat());
        assert_eq!(ids, if may_run { &["a"][..] } else { &[] }, "{pieces:?}");
    }
    let closed = vec![Event::End { place: 0 }];
    assert_eq!(executable_ids(&[open_call(0, "a", &[]), closed.clone(), cut.clone(), LENGTH.to_vec()].concat()), ["a"]);
    // Free text can end anywhere.
    let free = [open_call(0, "a", &["rm -rf /tmp"]), vec![add(0, Addition::FreeInput)]].concat();
    assert!(executable_ids(&[free.clone(), cut.clone(), LENGTH.to_vec()].concat()).is_empty());
    assert_eq!(executable_ids(&[free, closed, cut, LENGTH.to_vec()].concat()), ["a"]);
}

#[test]
fn a_call_without_input_is_not_run_if_input_went_astray() {
    let stray = vec![Event::Unreadable { what: Unreadable::Stray }];
    let nameless =
        vec![Event::Begin { place: 5, piece: Piece::Call, base: "" }, add(5, Addition::Arguments("{\"path\":\"a\"}"))];
    for lost in [stray, nameless, vec![add(9, Addition::Arguments("{}"))]] {
        let both = [lost, open_call(0, "a", &[]), open_call(1, "b", &["{\"x\":1}"])].concat();
        assert_eq!(executable_ids(&[both.clone(), CALLS.to_vec()].concat()), ["b"]);
        let message = assemble(&[both, CALLS.to_vec()].concat());
        assert!(flaws(&message).contains(&StreamFlaw::Unfinished { place: 0 }));
    }
    assert_eq!(executable_ids(&[open_call(0, "a", &[]), CALLS.to_vec()].concat()), ["a"]);
    assert!(
        executable_ids(&[open_call(0, "a", &[]), vec![Event::Done]].concat()).is_empty(),
        "there is no stop reason"
    );
}

#[test]
fn a_gap_after_the_stop_reason_counts_if_input_continues() {
    let gap = vec![Event::Unreadable { what: Unreadable::NotJson }];
    let [stop, done] = CALLS;
    let start = [open_call(0, "a", &["{\"path\":\"/tmp"]), vec![stop], gap.clone()].concat();
    let more = vec![add(0, Addition::Arguments("\"}"))];
    assert!(executable_ids(&[start, more, vec![done.clone()]].concat()).is_empty());
    let whole = [open_call(0, "a", &["{\"path\":\"/tmp\"}"]), CALLS[..1].to_vec(), gap, vec![done]].concat();
    assert_eq!(executable_ids(&whole), ["a"]);
}

#[test]
fn of_two_calls_with_one_id_only_the_first_may_be_run() {
    let first = open_call(0, "a", &["{\"x\":1}"]);
    for (pieces, blocks) in [("{\"x\":1}", 1), ("{\"x\":2}", 2)] {
        let message = assemble(&[first.clone(), open_call(1, "a", &[pieces]), CALLS.to_vec()].concat());
        assert_eq!((message.blocks.len(), message.executable().count()), (blocks, 1));
        assert_eq!(flaws(&message), [StreamFlaw::Repeated { place: 1 }]);
    }
}

#[test]
fn a_failure_after_the_end_is_reported_once() {
    let mut assembler = Assembler::new(ArgSource::DeltaWins, AssemblyLimits::default());
    for event in &complete_stream() {
        assembler.handle_event(event);
    }
    for _ in 0..3 {
        assembler.handle_failure("a checksum is wrong");
    }
    let message = assembler.finish();
    assert_eq!((message.ending, message.executable().count()), (Ending::Complete, 2));
    assert_eq!(flaws(&message), [StreamFlaw::Unreadable(Unreadable::NotJson)]);
}

#[test]
fn input_that_some_parsers_reject_is_not_run() {
    for input in ["{\"a\":\"x\\ud83d\"}", "{\"a\":1e400}", "{\"a\":1", "[1]"] {
        let message = assemble(&[open_call(0, "a", &[input]), CALLS.to_vec()].concat());
        assert_eq!(
            (message.executable().count(), flaws(&message)),
            (0, vec![StreamFlaw::BrokenInput { place: 0 }]),
            "{input}"
        );
    }
}

#[test]
fn a_message_that_begins_again_replaces_the_first_attempt() {
    let begin = Event::Begin { place: 0, piece: Piece::Text, base: "" };
    let message = assemble(&[
        begin.clone(),
        add(0, Addition::Text("Hello wor")),
        Event::Again,
        begin,
        add(0, Addition::Text("Hello world")),
        Event::Stop { stop: Stop::Turn, word: "end_turn" },
        Event::Done,
    ]);
    assert_eq!((message.blocks[0].text(), flaws(&message)), (Some("Hello world"), vec![StreamFlaw::BegunAgain]));
}

#[test]
fn snapshots_count_once_towards_the_limit_and_are_reported() {
    let text = (0..200).map(|at| format!("word{at} ")).collect::<Vec<_>>().concat();
    let ends: Vec<_> = text.match_indices(' ').map(|(at, _)| at + 1).collect();
    let limits = AssemblyLimits { message_bytes_max: 6 * text.len(), ..AssemblyLimits::default() };
    let mut assembler = Assembler::new(ArgSource::DeltaWins, limits);
    assembler.handle_event(&Event::Begin { place: 0, piece: Piece::Text, base: "" });
    for end in ends {
        assembler.handle_event(&Event::Add { place: 0, addition: Addition::Text(&text[..end]) });
    }
    assembler.handle_event(&Event::Done);
    let message = assembler.finish();
    assert_eq!((message.ending, flaws(&message)), (Ending::Complete, vec![StreamFlaw::Snapshots { place: 0 }]));
    assert_eq!(message.blocks[0].text(), Some(text.as_str()));
}
