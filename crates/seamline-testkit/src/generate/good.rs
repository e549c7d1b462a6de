//! Conversations that every provider accepts.

use proptest::{collection, option, prelude::*, sample::select};

use super::plan::{CallPlan, CyclePlan, Plan, TurnPlan, UserPlan};
use crate::transcript::{Ending, Shape, Transcript};

const TURNS_MAX: usize = 4;
const CYCLES_MAX: usize = 3;
const CALLS_MAX: usize = 3;

/// Texts that are hard for programs that read, cut or rewrite JSON.
const WORDS: [&str; 12] = [
    "plain",
    "naïve café",
    "日本語の文",
    "family 👩‍👩‍👧 \u{1F1EB}\u{1F1F7}",
    "a \"quoted\" \\ backslash",
    "two\nlines\tand a tab\r",
    "control \u{1}\u{1f}",
    "separators \u{2028}\u{2029}",
    "{\"role\": \"tool\", \"content\": []}",
    "</function_results> <tool_use>",
    "ends in a backslash \\",
    "/slash/es & \u{feff}mark",
];

/// A conversation that the provider of each dialect accepts.
pub fn good() -> impl Strategy<Value = Transcript> {
    let opening = option::weighted(0.2, words());
    let turns = collection::vec(turn(), 1..=TURNS_MAX);
    (option::of(words()), opening, turns)
        .prop_map(|(system, opening, turns)| Plan { system, opening, turns }.transcript())
}

fn turn() -> impl Strategy<Value = TurnPlan> {
    let note = option::weighted(0.15, words());
    let cycles = collection::vec(cycle(), 0..=CYCLES_MAX);
    let closing = option::weighted(0.7, (words(), shape()));
    (user(), note, cycles, closing).prop_map(|(user, note, cycles, closing)| TurnPlan { user, note, cycles, closing })
}

fn user() -> impl Strategy<Value = UserPlan> {
    (words(), shape(), prop::bool::weighted(0.15)).prop_map(|(words, shape, image)| UserPlan { words, shape, image })
}

fn cycle() -> impl Strategy<Value = CyclePlan> {
    let seldom = || prop::bool::weighted(0.2);
    let calls = collection::vec(call(), 1..=CALLS_MAX);
    let asides = (option::of(words()), option::weighted(0.2, words()), option::weighted(0.1, words()));
    let chances = (seldom(), seldom(), seldom(), seldom());
    (chances, calls, 0..6_usize, asides).prop_map(|(chances, calls, order, asides)| {
        let (thinking, server_pair, reuses_ids, cache_point) = chances;
        let (text, after_results, note) = asides;
        CyclePlan { thinking, server_pair, text, calls, reuses_ids, order, after_results, cache_point, note }
    })
}

fn call() -> impl Strategy<Value = CallPlan> {
    let ending = prop_oneof![4 => Just(Ending::Done), 1 => Just(Ending::Failed)];
    (words(), 0..4_usize, words(), shape(), ending).prop_map(|(input, depth, output, shape, ending)| CallPlan {
        input,
        depth,
        output,
        shape,
        ending,
    })
}

fn words() -> impl Strategy<Value = &'static str> {
    select(&WORDS[..])
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![Just(Shape::Text), Just(Shape::Blocks)]
}
