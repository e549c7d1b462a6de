//! Everything that is tested through the face of the crate, in one binary.

use proptest::prelude::*;
use seamline_assemble::{ArgSource, Assembler, Limits};
use seamline_model::{Addition, Assembled, Ending, Event, Flaw, Piece, Stop, Unreadable};

fn assembled(events: &[Event<'_>]) -> Assembled {
    let mut assembler = Assembler::new(ArgSource::DeltaWins, Limits::default());
    for event in events {
        assembler.handle_event(event);
    }
    assembler.finish()
}

/// What was wrong, wherever it stood.
fn flaws(message: &Assembled) -> Vec<Flaw> {
    message.flaws.iter().map(|noted| noted.flaw.clone()).collect()
}

fn add(place: u32, addition: Addition<'static>) -> Event<'static> {
    Event::Add { place, addition }
}

/// A text and two calls, as a provider streams them.
fn whole() -> Vec<Event<'static>> {
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
fn a_flaw_says_in_which_frame_it_was_seen() {
    let mut assembler = Assembler::new(ArgSource::DeltaWins, Limits::default());
    for (place, name) in [(0, "read"), (0, "list"), (1, "read")] {
        assembler.handle_frame();
        assembler.handle_event(&Event::Begin { place, piece: Piece::Call, base: "" });
        assembler.handle_event(&add(place, Addition::Name(name)));
        assembler.handle_event(&add(place, Addition::Id("a")));
    }
    assembler.handle_event(&add(1, Addition::Arguments("{")));
    let noted: Vec<_> = assembler.finish().flaws.into_iter().map(|noted| (noted.flaw, noted.frame)).collect();
    let repeated = (Flaw::Repeated { place: 0 }, Some(2));
    assert_eq!(noted, [repeated.clone(), repeated, (Flaw::BrokenInput { place: 1 }, None)]);
}

#[test]
fn a_whole_stream_is_a_whole_message() {
    let message = assembled(&whole());
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
fn no_part_of_a_stream_is_whole_or_may_be_run() {
    let events = whole();
    for end in 0..events.len() {
        let message = assembled(&events[..end]);
        assert_eq!((message.ending, message.executable().count()), (Ending::Truncated, 0), "{end}");
    }
}

#[test]
fn whatever_goes_wrong_anywhere_nothing_may_be_run() {
    for at in 0..=whole().len() {
        for (wrong, ending) in [
            (Event::Failed { said: "overloaded" }, Ending::Failed),
            (Event::Stop { stop: Stop::Failure, word: "error" }, Ending::Failed),
            (Event::Stop { stop: Stop::Filter, word: "content_filter" }, Ending::Filtered),
        ] {
            let mut events = whole();
            // Of several reasons the last counts, so this one takes the place of the other.
            if matches!(wrong, Event::Stop { .. }) {
                events.retain(|event| !matches!(event, Event::Stop { .. }));
            }
            events.insert(at.min(events.len()), wrong);
            let message = assembled(&events);
            assert_eq!((message.ending, message.executable().count()), (ending, 0), "{at}");
        }
    }
}

#[test]
fn the_call_that_the_limit_cut_is_not_run_and_those_before_it_are() {
    let mut events = whole();
    events.retain(|event| !matches!(event, Event::Stop { .. }));
    events.insert(0, Event::Stop { stop: Stop::Length, word: "max_tokens" });
    let message = assembled(&events);
    assert_eq!(message.ending, Ending::CutCall);
    assert_eq!(message.executable().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn a_call_that_came_beside_the_last_one_may_be_cut_too() {
    let mut events = whole();
    events.retain(|event| !matches!(event, Event::Stop { .. }));
    events.push(add(1, Addition::Arguments(" ")));
    events.push(Event::Stop { stop: Stop::Length, word: "length" });
    let message = assembled(&events);
    assert_eq!((message.ending, message.executable().count()), (Ending::CutCall, 0));
}

#[test]
fn what_the_provider_repeats_at_the_end_counts() {
    let begin = |place, piece| Event::Begin { place, piece, base: "" };
    let message = assembled(&[
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
    assert_eq!(flaws(&message), [Flaw::Repeated { place: 2 }, Flaw::TwoTexts { place: 0 }]);
}

#[test]
fn a_free_input_need_not_be_json_and_an_unfinished_call_is_not_run() {
    let call = |place, name| {
        [
            Event::Begin { place, piece: Piece::Call, base: "" },
            add(place, Addition::Id(name)),
            add(place, Addition::Name(name)),
        ]
    };
    let mut events = [call(0, "sql"), call(1, "patch"), call(2, "read")].concat();
    events.extend([add(0, Addition::FreeInput), add(0, Addition::Arguments("SELECT 1"))]);
    events.extend([add(1, Addition::FreeInput), add(2, Addition::Unfinished), Event::Done]);
    let message = assembled(&events);
    let calls: Vec<_> = message.executable().map(|call| (call.arguments.as_str(), call.free)).collect();
    let unfinished = [Flaw::Unfinished { place: 2 }];
    assert_eq!((&calls[..], &flaws(&message)[..]), (&[("SELECT 1", true), ("", true)][..], &unfinished[..]));
}

#[test]
fn a_call_of_nothing_is_left_out_and_told() {
    let message = assembled(&[
        Event::Begin { place: 0, piece: Piece::Call, base: "" },
        add(0, Addition::Arguments("{\"a\":1}")),
        add(3, Addition::Text("stray")),
        Event::Done,
    ]);
    assert_eq!(message.blocks, []);
    let nameless = Flaw::Nameless { place: 0, arguments: "{\"a\":1}".to_owned() };
    assert_eq!(flaws(&message), [Flaw::Unreadable(Unreadable::Stray), nameless]);
}

#[test]
fn what_is_too_long_fails_and_is_not_kept() {
    let limits = Limits { message_bytes_max: 10, ..Limits::default() };
    let mut assembler = Assembler::new(ArgSource::DeltaWins, limits);
    assembler.handle_event(&Event::Begin { place: 0, piece: Piece::Text, base: "" });
    for _ in 0..100 {
        assembler.handle_event(&add(0, Addition::Text("four")));
    }
    assembler.handle_event(&Event::Done);
    let message = assembler.finish();
    assert_eq!((message.ending, flaws(&message).as_slice()), (Ending::Failed, &[Flaw::TooLong][..]));
    assert_eq!(message.blocks[0].text(), Some("fourfour"));
}

#[test]
fn whoever_stops_listening_decides_only_what_is_not_decided() {
    for (events, stalled) in [(whole(), Ending::Complete), (whole()[..5].to_vec(), Ending::Stalled)] {
        let mut assembler = Assembler::new(ArgSource::DeltaWins, Limits::default());
        for event in &events {
            assembler.handle_event(event);
        }
        assembler.handle_stall();
        assembler.handle_abort();
        assert_eq!(assembler.finish().ending, stalled);
    }
}

/// Things a stream can say, in any order.
const SAYINGS: [Event<'static>; 12] = [
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
    fn only_what_is_done_and_well_may_be_run(events in prop::collection::vec(prop::sample::select(&SAYINGS[..]), 0..20)) {
        let message = assembled(&events);
        let done = events.contains(&Event::Done);
        let failed = events.iter().any(|event| matches!(event, Event::Failed { .. }));
        let refused = events.iter().any(|event| matches!(event, Event::Stop { stop: Stop::Refusal, .. }));
        prop_assert_eq!(message.ending == Ending::Complete, done && !failed && !refused);
        prop_assert!(message.ending == Ending::Complete || message.executable().count() == 0);
    }
}

#[test]
fn a_call_with_a_gap_in_it_is_not_run() {
    let gap = Event::Unreadable { what: seamline_model::Unreadable::NotJson };
    let runs = |at: usize, more: &[Event<'static>]| {
        let mut events = whole();
        events.splice(at..at, [gap.clone()]);
        let done = events.len() - 1;
        events.splice(done..done, more.iter().cloned());
        assembled(&events).executable().map(|call| call.id.clone()).collect::<Vec<_>>()
    };
    let all = whole();
    let place = |sought: Event<'static>| all.iter().position(|event| *event == sought).unwrap();
    assert_eq!(runs(place(add(1, Addition::Arguments("\"a.rs\"}"))), &[]), ["b"]);
    assert_eq!(runs(place(Event::End { place: 1 }) + 1, &[]), ["a", "b"], "between two blocks");
    let whole = add(1, Addition::Whole(r#"{"id":"a","name":"read","input":{"path":"a.rs"}}"#));
    assert_eq!(runs(place(add(1, Addition::Arguments("\"a.rs\"}"))), &[whole]), ["a", "b"]);
}
