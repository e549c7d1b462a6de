//! Tests of each step of the pairing, and of the results that no step claims.

use super::{MatchedResult, Pairing, ResultFate, SCAN_MAX, Scope};
use crate::{BlockIndex, Joint, Role};

#[path = "pairing_tests/by_tool.rs"]
mod by_tool;
#[path = "pairing_tests/conversation.rs"]
mod conversation;
use conversation::{Part, transcript};

const JOINT: Scope = Scope { joint: Joint::Adjacent, ..Scope::ALL };
/// The scope for results that are items, anywhere after their call.
const LASTING: Scope = Scope { joint: Joint::Adjacent, lasting: true, ..Scope::ALL };
const SPAN_ONLY: Scope = Scope {
    late: false,
    early: false,
    misaddressed: false,
    unproven: false,
    joint: Joint::Apart,
    lasting: false,
    by_tool: false,
    prefixes: &[],
};

use Part::{From, MadeUp, Named, Result, Text};

fn says(parts: &[Part]) -> (Role, Vec<Part>) {
    (Role::Assistant, parts.to_vec())
}

fn calls(ids: &[&'static str]) -> (Role, Vec<Part>) {
    (Role::Assistant, ids.iter().map(|id| Part::Call(id)).collect())
}

fn answers(parts: &[Part]) -> (Role, Vec<Part>) {
    (Role::User, parts.to_vec())
}

fn user() -> (Role, Vec<Part>) {
    (Role::User, vec![Text])
}

/// The pairing of a conversation: for each call the number of its result, and the fate of each result, with the number
/// of its call.
fn pair(messages: &[(Role, Vec<Part>)], scope: Scope) -> (Vec<Option<usize>>, Vec<Seen>) {
    let transcript = transcript(messages);
    let pairing = Pairing::of(&transcript, scope);
    let call_at = |block: BlockIndex| pairing.calls.iter().position(|state| state.call == block).unwrap();
    let result_at = |block: BlockIndex| pairing.results.iter().position(|state| state.result == block).unwrap();
    let answered = pairing.calls.iter().map(|state| state.matched.map(|matched| result_at(matched.result))).collect();
    let misaddressed =
        |call| pairing.call(call).and_then(|state| state.matched).is_some_and(|matched| matched.misaddressed);
    let seen = pairing.results.iter().map(|state| match state.fate {
        ResultFate::Answers(call) if misaddressed(call) => Seen::Misaddressed(call_at(call)),
        ResultFate::Answers(call) => Seen::Answers(call_at(call)),
        ResultFate::Duplicate(call) => Seen::Duplicate(call_at(call)),
        ResultFate::Superseded(call) => Seen::Superseded(call_at(call)),
        // These conversations hold no unknown block.
        ResultFate::Orphan | ResultFate::Unknown => Seen::Orphan,
        ResultFate::Ambiguous => Seen::Ambiguous,
    });
    (answered, seen.collect())
}

/// A [`ResultFate`] with call numbers instead of block indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Answers(usize),
    Misaddressed(usize),
    Duplicate(usize),
    Superseded(usize),
    Orphan,
    Ambiguous,
}

fn fates(messages: &[(Role, Vec<Part>)], scope: Scope) -> Vec<Seen> {
    pair(messages, scope).1
}

// Step 1: in the span.

#[test]
fn a_result_answers_the_call_with_its_id() {
    let messages = [user(), calls(&["A", "B"]), answers(&[Result("B"), Result("A")])];
    let expected = (vec![Some(1), Some(0)], vec![Seen::Answers(1), Seen::Answers(0)]);
    assert_eq!(pair(&messages, SPAN_ONLY), expected);
    assert_eq!(pair(&messages, Scope::ALL), expected);
}

#[test]
fn the_kth_result_with_an_id_answers_the_kth_call_with_it() {
    let messages = [calls(&["A", "B", "A"]), answers(&[Result("A"), Result("A"), Result("B")])];
    assert_eq!(fates(&messages, SPAN_ONLY), [Seen::Answers(0), Seen::Answers(2), Seen::Answers(1)]);
}

#[test]
fn an_id_used_again_in_a_later_cycle_pairs_cycle_by_cycle() {
    let messages = [calls(&["A"]), answers(&[Result("A")]), calls(&["A"]), answers(&[Result("A")])];
    assert_eq!(fates(&messages, Scope::ALL), [Seen::Answers(0), Seen::Answers(1)]);
}

#[test]
fn a_span_continues_over_messages_of_other_roles() {
    let messages = [calls(&["A", "B"]), answers(&[Result("A")]), user(), answers(&[Result("B")])];
    assert_eq!(fates(&messages, SPAN_ONLY), [Seen::Answers(0), Seen::Answers(1)]);
}

#[test]
fn a_span_ends_at_the_next_assistant_message() {
    let messages = [calls(&["A"]), says(&[Text]), answers(&[Result("A")])];
    assert_eq!(fates(&messages, SPAN_ONLY), [Seen::Orphan]);
}

#[test]
fn missing_and_empty_ids_are_one_id() {
    let messages = [calls(&["-", ""]), answers(&[Result(""), Result("-")])];
    assert_eq!(fates(&messages, SPAN_ONLY), [Seen::Answers(0), Seen::Answers(1)]);
    let messages = [calls(&["A"]), answers(&[Result("-")])];
    assert_eq!(fates(&messages, SPAN_ONLY), [Seen::Orphan]);
}

#[test]
fn a_call_after_a_result_in_one_message_is_answered_after_it() {
    let message = (Role::User, vec![Part::Call("A"), Result("A"), Part::Call("B")]);
    let messages = [message, answers(&[Result("B")])];
    assert_eq!(fates(&messages, Scope::ALL), [Seen::Answers(0), Seen::Answers(1)]);
}

#[test]
fn cycles_hold_the_calls_of_their_message() {
    let transcript = transcript(&[calls(&["A", "B"]), answers(&[Result("A")]), user(), calls(&["C"])]);
    let pairing = Pairing::of(&transcript, Scope::ALL);
    let cycles: Vec<_> = pairing.cycles.iter().map(|cycle| (cycle.message.get(), cycle.range())).collect();
    assert_eq!(cycles, [(0, 0..2), (3, 2..3)]);
    assert_eq!(pairing.call(BlockIndex(1)), pairing.calls.get(1));
    let matched = MatchedResult { result: BlockIndex(2), misaddressed: false, proven: true };
    assert_eq!(pairing.call(BlockIndex(0)).unwrap().matched, Some(matched));
    assert_eq!(pairing.result(BlockIndex(2)).unwrap().fate, ResultFate::Answers(BlockIndex(0)));
    assert_eq!((pairing.call(BlockIndex(2)), pairing.result(BlockIndex(0))), (None, None));
}

// Joint spans.

#[test]
fn adjacent_messages_with_calls_share_a_span_in_a_joint_scope() {
    let messages = [calls(&["A"]), calls(&["B"]), answers(&[Result("A"), Result("B")])];
    assert_eq!(fates(&messages, Scope { joint: Joint::Adjacent, ..SPAN_ONLY }), [Seen::Answers(0), Seen::Answers(1)]);
    assert_eq!(fates(&messages, SPAN_ONLY), [Seen::Orphan, Seen::Answers(1)]);
}

#[test]
fn in_a_joint_span_too_the_kth_result_answers_the_kth_call() {
    let messages = [calls(&["A"]), calls(&["A"]), answers(&[Result("A"), Result("A")])];
    assert_eq!(fates(&messages, JOINT), [Seen::Answers(0), Seen::Answers(1)]);
}

#[test]
fn a_message_between_them_separates_spans() {
    let narrow = Scope { joint: Joint::Adjacent, ..SPAN_ONLY };
    for between in [user(), says(&[Text]), answers(&[Result("Z")])] {
        let messages = [calls(&["A"]), between, calls(&["B"]), answers(&[Result("A"), Result("B")])];
        assert!(fates(&messages, narrow).ends_with(&[Seen::Orphan, Seen::Answers(1)]));
    }
}

#[test]
fn where_messages_are_merged_text_between_calls_separates_no_spans() {
    let merged = Scope { joint: Joint::Merged, ..SPAN_ONLY };
    let messages = [calls(&["A"]), says(&[Text]), calls(&["B"]), answers(&[Result("A"), Result("B")])];
    assert_eq!(fates(&messages, merged), [Seen::Answers(0), Seen::Answers(1)]);
    for between in [user(), answers(&[Result("Z")])] {
        let messages = [calls(&["A"]), between, calls(&["B"]), answers(&[Result("A"), Result("B")])];
        assert!(fates(&messages, merged).ends_with(&[Seen::Orphan, Seen::Answers(1)]));
    }
}

#[test]
fn a_joint_span_has_one_open_call_only_if_all_its_messages_have() {
    let two_open = [calls(&["A"]), calls(&["B"]), answers(&[Result("Z")])];
    assert_eq!(fates(&two_open, JOINT), [Seen::Orphan]);
    let one_open = [calls(&["A"]), calls(&["B"]), answers(&[Result("B"), Result("Z")])];
    assert_eq!(fates(&one_open, JOINT), [Seen::Answers(1), Seen::Misaddressed(0)]);
}

// Step 2: elsewhere.

#[test]
fn a_late_result_answers_the_only_open_call_with_its_id() {
    let messages = [calls(&["A"]), says(&[Text]), user(), answers(&[Result("A")])];
    assert_eq!(pair(&messages, Scope::ALL), (vec![Some(0)], vec![Seen::Answers(0)]));
    assert_eq!(fates(&messages, Scope { late: false, ..Scope::ALL }), [Seen::Orphan]);
}

#[test]
fn a_late_result_may_be_in_the_span_of_another_cycle() {
    let messages = [calls(&["A"]), user(), calls(&["B"]), answers(&[Result("A"), Result("B")])];
    assert_eq!(fates(&messages, Scope::ALL), [Seen::Answers(0), Seen::Answers(1)]);
}

#[test]
fn several_open_calls_make_a_late_result_ambiguous() {
    let messages = [calls(&["A"]), user(), calls(&["A"]), says(&[Text]), answers(&[Result("A")])];
    assert_eq!(pair(&messages, Scope::ALL), (vec![None, None], vec![Seen::Ambiguous]));
    assert_eq!(fates(&messages, Scope { late: false, ..Scope::ALL }), [Seen::Orphan]);
}

#[test]
fn an_answered_call_with_the_same_id_makes_nothing_ambiguous() {
    let messages = [calls(&["A"]), calls(&["A"]), answers(&[Result("A")]), says(&[Text]), answers(&[Result("A")])];
    assert_eq!(fates(&messages, Scope::ALL), [Seen::Answers(1), Seen::Answers(0)]);
}

#[test]
fn an_early_result_answers_the_first_call_after_it() {
    let messages = [answers(&[Result("A")]), calls(&["A"]), user(), calls(&["A"])];
    assert_eq!(pair(&messages, Scope::ALL), (vec![Some(0), None], vec![Seen::Answers(0)]));
    assert_eq!(fates(&messages, Scope { early: false, ..Scope::ALL }), [Seen::Orphan]);
}

#[test]
fn an_early_result_does_not_answer_a_call_that_has_its_own() {
    let messages = [answers(&[Result("A")]), calls(&["A"]), answers(&[Result("A")]), calls(&["A"])];
    assert_eq!(pair(&messages, Scope::ALL), (vec![Some(1), None], vec![Seen::Orphan, Seen::Answers(0)]));
}

#[test]
fn of_two_early_results_the_first_answers() {
    let messages = [answers(&[Result("A"), Result("A")]), calls(&["A"])];
    assert_eq!(fates(&messages, Scope::ALL), [Seen::Answers(0), Seen::Duplicate(0)]);
}

#[test]
fn a_result_looks_back_before_it_looks_forward() {
    let messages = [calls(&["A"]), says(&[Text]), answers(&[Result("A")]), calls(&["A"])];
    assert_eq!(pair(&messages, Scope::ALL), (vec![Some(0), None], vec![Seen::Answers(0)]));
}

// Step 3: under another id.

#[test]
fn the_only_open_call_takes_a_result_that_names_no_call() {
    let messages = [calls(&["A", "B"]), answers(&[Result("A"), Result("Z")])];
    assert_eq!(fates(&messages, Scope::ALL), [Seen::Answers(0), Seen::Misaddressed(1)]);
    let narrow = Scope { misaddressed: false, ..Scope::ALL };
    assert_eq!(fates(&messages, narrow), [Seen::Answers(0), Seen::Orphan]);
}

#[test]
fn two_open_calls_take_nothing() {
    let messages = [calls(&["A", "B"]), answers(&[Result("Y"), Result("Z")])];
    assert_eq!(fates(&messages, Scope::ALL), [Seen::Orphan, Seen::Orphan]);
}

#[test]
fn of_two_results_that_name_no_call_the_first_answers() {
    let messages = [calls(&["A"]), answers(&[Result("Y"), Result("Z")])];
    assert_eq!(fates(&messages, Scope::ALL), [Seen::Misaddressed(0), Seen::Orphan]);
}

#[test]
fn a_duplicate_never_answers_a_sibling() {
    let messages = [calls(&["A", "B"]), answers(&[Result("A"), Result("A")])];
    assert_eq!(pair(&messages, Scope::ALL), (vec![Some(0), None], vec![Seen::Answers(0), Seen::Duplicate(0)]));
}

#[test]
fn a_result_that_names_no_call_answers_nothing_outside_the_span() {
    let messages = [calls(&["A"]), says(&[Text]), answers(&[Result("Z")])];
    assert_eq!(fates(&messages, Scope::ALL), [Seen::Orphan]);
}

#[test]
fn a_result_of_another_tool_answers_nothing_under_another_id() {
    let with = |result| [says(&[Named("A", "read")]), answers(&[result])];
    assert_eq!(fates(&with(From("Z", "write")), Scope::ALL), [Seen::Orphan]);
    assert_eq!(fates(&with(From("Z", "read")), Scope::ALL), [Seen::Misaddressed(0)]);
    assert_eq!(fates(&with(Result("Z")), Scope::ALL), [Seen::Misaddressed(0)]);
    // Under its own id the tool's name is not checked.
    assert_eq!(fates(&with(From("A", "write")), Scope::ALL), [Seen::Answers(0)]);
}

#[test]
fn a_contradicting_tool_name_leaves_the_call_to_the_next_result() {
    let messages = [says(&[Named("A", "read")]), answers(&[From("Y", "write"), From("Z", "read")])];
    assert_eq!(fates(&messages, Scope::ALL), [Seen::Orphan, Seen::Misaddressed(0)]);
}

#[test]
fn a_text_in_between_ends_the_proof_of_the_position() {
    let guessed = Scope { unproven: true, ..Scope::ALL };
    let fates_of = |call, between: &[Part], result, scope| {
        let messages = [says(&[call]), (Role::User, [between, &[result]].concat())];
        let apart = [says(&[call]), (Role::User, between.to_vec()), (Role::Tool, vec![result])];
        let both = [fates(&messages, scope), fates(&apart, scope)];
        assert_eq!(both[0], both[1]);
        both[0].last().copied()
    };
    let (call, result) = (Named("A", "read"), Result("Z"));
    assert_eq!(fates_of(call, &[], result, Scope::ALL), Some(Seen::Misaddressed(0)));
    assert_eq!(fates_of(call, &[Text], result, Scope::ALL), Some(Seen::Orphan));
    assert_eq!(fates_of(call, &[Text], result, guessed), Some(Seen::Misaddressed(0)));
    assert_eq!(fates_of(call, &[Text], From("Z", "read"), Scope::ALL), Some(Seen::Misaddressed(0)));
    assert_eq!(fates_of(call, &[Text], From("Z", "write"), guessed), Some(Seen::Orphan));
}

#[test]
fn a_result_without_an_id_names_no_call() {
    let messages = [calls(&["A"]), answers(&[Result("-")])];
    assert_eq!(fates(&messages, Scope::ALL), [Seen::Misaddressed(0)]);
    let messages = [calls(&["-"]), answers(&[Result("A")])];
    assert_eq!(fates(&messages, Scope::ALL), [Seen::Misaddressed(0)]);
}

// Step 4: the rest.

#[test]
fn a_second_result_is_a_duplicate_in_the_span_and_after_it() {
    let messages = [calls(&["A"]), answers(&[Result("A"), Result("A")]), says(&[Text]), answers(&[Result("A")])];
    for scope in [Scope::ALL, SPAN_ONLY] {
        assert_eq!(fates(&messages, scope), [Seen::Answers(0), Seen::Duplicate(0), Seen::Duplicate(0)]);
    }
}

#[test]
fn a_real_result_replaces_a_synthetic_one() {
    let messages = [calls(&["A"]), answers(&[MadeUp("A")]), user(), answers(&[Result("A")])];
    assert_eq!(pair(&messages, Scope::ALL), (vec![Some(1)], vec![Seen::Superseded(0), Seen::Answers(0)]));
}

#[test]
fn a_late_real_result_replaces_a_synthetic_one() {
    let messages = [calls(&["A"]), answers(&[MadeUp("A")]), says(&[Text]), answers(&[Result("A")])];
    assert_eq!(fates(&messages, Scope::ALL), [Seen::Superseded(0), Seen::Answers(0)]);
}

#[test]
fn a_synthetic_result_replaces_nothing() {
    for first in [Result("A"), MadeUp("A")] {
        let messages = [calls(&["A"]), answers(&[first, MadeUp("A")])];
        assert_eq!(fates(&messages, Scope::ALL), [Seen::Answers(0), Seen::Duplicate(0)]);
    }
}

#[test]
fn a_conversation_without_calls_has_orphans_only() {
    assert_eq!(fates(&[user(), answers(&[Result("A"), Result("-")])], Scope::ALL), [Seen::Orphan, Seen::Orphan]);
    assert_eq!(pair(&[user(), says(&[Text])], Scope::ALL), (vec![], vec![]));
}

// The size of a cycle does not change its pairing.

const IDS: [&str; SCAN_MAX + 1] = ["A", "B", "C", "D", "E", "F", "G", "H", "I"];

/// Ids of a cycle that is scanned, and of one that is one call larger and uses a map.
fn both_sizes() -> [&'static [&'static str]; 2] {
    [&IDS[..SCAN_MAX], &IDS[..]]
}

#[test]
fn a_duplicate_has_the_same_fate_in_cycles_of_every_size() {
    for ids in both_sizes() {
        for extra in [Result("A"), MadeUp("A")] {
            let messages = [calls(ids), answers(&[Result("A"), extra, Result("B")])];
            let expected = [Seen::Answers(0), Seen::Duplicate(0), Seen::Answers(1)];
            assert_eq!(fates(&messages, Scope::ALL), expected, "{} calls", ids.len());
        }
    }
}

#[test]
fn a_surplus_result_for_a_repeated_id_has_the_same_fate_in_cycles_of_every_size() {
    for ids in both_sizes() {
        let mut ids = ids.to_vec();
        ids[1] = "A";
        let messages = [calls(&ids), answers(&[Result("A"), Result("A"), Result("A")])];
        let expected = [Seen::Answers(0), Seen::Answers(1), Seen::Duplicate(1)];
        assert_eq!(fates(&messages, Scope::ALL), expected, "{} calls", ids.len());
    }
}

#[test]
fn a_real_result_replaces_the_latest_synthetic_one_in_cycles_of_every_size() {
    for ids in both_sizes() {
        let mut ids = ids.to_vec();
        ids[1] = "A";
        let messages = [calls(&ids), answers(&[MadeUp("A"), MadeUp("A"), Result("A")])];
        let expected = [Seen::Answers(0), Seen::Superseded(1), Seen::Answers(1)];
        assert_eq!(fates(&messages, Scope::ALL), expected, "{} calls", ids.len());
    }
}

#[test]
fn everything_else_pairs_the_same_in_cycles_of_every_size() {
    for ids in both_sizes() {
        let last = ids.len() - 1;
        let mut results: Vec<_> = ids[..last].iter().rev().map(|id| Result(id)).collect();
        results.extend([Result("Z"), Result("Z")]);
        let mut expected: Vec<_> = (0..last).rev().map(Seen::Answers).collect();
        expected.extend([Seen::Misaddressed(last), Seen::Orphan]);
        assert_eq!(fates(&[calls(ids), answers(&results)], Scope::ALL), expected, "{} calls", ids.len());
    }
}

#[test]
fn a_message_whose_calls_come_between_results_pairs_the_same_in_every_size() {
    for ids in both_sizes() {
        let mut parts: Vec<_> = ids.iter().map(|id| Part::Call(id)).collect();
        parts.extend([Result("A"), Part::Call("A"), Result("A")]);
        let expected = [Seen::Answers(0), Seen::Answers(ids.len())];
        assert_eq!(fates(&[(Role::User, parts)], Scope::ALL), expected, "{} calls", ids.len());
    }
}

#[test]
fn a_lasting_span_ends_at_the_next_calls_and_not_at_assistant_text() {
    let late = [calls(&["A"]), says(&[Text]), user(), answers(&[Result("A")])];
    assert_eq!(fates(&late, Scope { late: false, ..LASTING }), [Seen::Answers(0)]);
    let across = [calls(&["A"]), user(), calls(&["B"]), answers(&[Result("A"), Result("B")])];
    assert_eq!(fates(&across, LASTING), [Seen::Answers(0), Seen::Answers(1)]);
    let parallel = [calls(&["A"]), calls(&["B"]), answers(&[Result("B"), Result("A")])];
    assert_eq!(fates(&parallel, LASTING), [Seen::Answers(1), Seen::Answers(0)]);
}

#[test]
fn a_further_result_answers_the_latest_open_call_with_its_id_when_spans_last() {
    let again = [calls(&["A"]), user(), calls(&["A"]), user(), calls(&["B"]), answers(&[Result("A"), Result("A")])];
    assert_eq!(fates(&again, LASTING), [Seen::Answers(1), Seen::Answers(0)]);
    let in_span = [calls(&["A"]), user(), calls(&["A"]), answers(&[Result("A"), Result("A"), Result("A")])];
    assert_eq!(fates(&in_span, LASTING), [Seen::Answers(1), Seen::Answers(0), Seen::Duplicate(1)]);
}

#[test]
fn a_result_under_another_id_is_not_guessed_beyond_the_next_assistant_message() {
    assert_eq!(fates(&[calls(&["A"]), answers(&[Result("Z")])], LASTING), [Seen::Misaddressed(0)]);
    assert_eq!(fates(&[calls(&["A"]), says(&[Text]), answers(&[Result("Z")])], LASTING), [Seen::Orphan]);
}

#[test]
fn a_result_under_another_form_of_the_id_answers_its_call() {
    let scope = Scope { prefixes: &[&["call_", "toolu_"]], ..SPAN_ONLY };
    let messages = [calls(&["hist_tool_a", "hist_tool_b"]), answers(&[Result("toolu_b"), Result("call_a")])];
    assert_eq!(fates(&messages, scope), [Seen::Misaddressed(1), Seen::Misaddressed(0)]);
    let other = [calls(&["call_a"]), answers(&[Result("toolu_a")])];
    assert_eq!(fates(&other, scope), [Seen::Orphan]);
    let exact = [calls(&["hist_tool_a", "call_a"]), answers(&[Result("call_a"), Result("hist_tool_a")])];
    assert_eq!(fates(&exact, scope), [Seen::Answers(1), Seen::Answers(0)]);
    let twice =
        [calls(&["hist_tool_a"]), user(), calls(&["hist_tool_a"]), user(), says(&[Text]), answers(&[Result("call_a")])];
    assert_eq!(fates(&twice, Scope { late: true, ..scope }), [Seen::Orphan]);
}
