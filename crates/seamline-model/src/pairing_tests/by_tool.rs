//! Pairs by the tool and the order. Where ids are optional, the name of the tool is in the place of a missing id.

use super::Part::{From, MadeUp, Named, Result, Text};
use super::{Role, Scope, Seen, answers, fates, pair, says, user};

const BY_TOOL: Scope = Scope { by_tool: true, ..Scope::ALL };

#[test]
fn results_without_ids_answer_calls_with_ids_in_the_order_of_each_tool() {
    let calls = says(&[Named("1", "read"), Named("2", "write"), Named("3", "read")]);
    let messages = [calls, answers(&[From("write", "write"), From("read", "read"), From("read", "read")])];
    assert_eq!(fates(&messages, BY_TOOL), [Seen::Answers(1), Seen::Answers(0), Seen::Answers(2)]);
    assert_eq!(fates(&messages, Scope::ALL), [Seen::Orphan, Seen::Orphan, Seen::Orphan]);
}

#[test]
fn results_that_name_their_call_come_first() {
    let calls = says(&[Named("1", "read"), Named("2", "read")]);
    let messages = [calls, answers(&[From("read", "read"), From("1", "read")])];
    assert_eq!(fates(&messages, BY_TOOL), [Seen::Answers(1), Seen::Answers(0)]);
}

#[test]
fn calls_with_and_without_ids_are_answered_in_one_order() {
    let calls = says(&[Named("1", "read"), Named("read", "read"), Named("3", "read")]);
    let messages = [calls, answers(&[From("read", "read"), From("read", "read"), From("read", "read")])];
    assert_eq!(fates(&messages, BY_TOOL), [Seen::Answers(0), Seen::Answers(1), Seen::Answers(2)]);
}

#[test]
fn a_result_with_an_unknown_id_answers_a_call_without_one() {
    let calls = says(&[Named("read", "read"), Named("write", "write"), Named("read", "read")]);
    let messages = [calls, answers(&[From("x", "read"), From("y", "read"), From("z", "write")])];
    assert_eq!(fates(&messages, BY_TOOL), [Seen::Answers(0), Seen::Answers(2), Seen::Answers(1)]);
    let other = [says(&[Named("read", "read")]), answers(&[From("x", "write")])];
    assert_eq!(fates(&other, BY_TOOL), [Seen::Orphan]);
}

#[test]
fn a_result_that_names_an_earlier_call_is_late_and_answers_no_other() {
    let messages = [
        says(&[Named("1", "read")]),
        user(),
        says(&[Named("read", "read")]),
        answers(&[From("1", "read"), From("read", "read")]),
    ];
    assert_eq!(fates(&messages, BY_TOOL), [Seen::Answers(0), Seen::Answers(1)]);
}

#[test]
fn a_synthetic_result_behind_a_real_one_changes_no_pair() {
    let shared = [says(&[Named("1", "read"), Named("1", "read")]), answers(&[From("read", "read"), MadeUp("1")])];
    assert_eq!(fates(&shared, BY_TOOL), [Seen::Answers(0), Seen::Answers(1)]);
    let unknown =
        [says(&[Named("read", "read"), Named("read", "read")]), answers(&[From("x", "read"), From("read", "read")])];
    assert_eq!(fates(&unknown, BY_TOOL), [Seen::Answers(0), Seen::Answers(1)]);
}

#[test]
fn a_late_result_without_an_id_answers_the_only_open_call_of_its_tool() {
    let late = |calls: &[super::Part]| [says(calls), says(&[Text]), answers(&[From("read", "read")])];
    assert_eq!(fates(&late(&[Named("1", "read"), Named("2", "write")]), BY_TOOL), [Seen::Answers(0)]);
    assert_eq!(fates(&late(&[Named("1", "read"), Named("read", "read")]), BY_TOOL), [Seen::Ambiguous]);
    assert_eq!(fates(&late(&[Named("1", "write")]), BY_TOOL), [Seen::Orphan]);
    let twice = [
        says(&[Named("1", "read"), Named("2", "read")]),
        says(&[Text]),
        answers(&[From("1", "read"), From("read", "read"), From("read", "read")]),
    ];
    assert_eq!(fates(&twice, BY_TOOL), [Seen::Answers(0), Seen::Answers(1), Seen::Duplicate(1)]);
}

#[test]
fn an_early_result_without_an_id_answers_no_call_with_one() {
    let messages = [answers(&[From("read", "read")]), says(&[Named("1", "read")])];
    assert_eq!(pair(&messages, BY_TOOL), (vec![None], vec![Seen::Orphan]));
}

#[test]
fn a_surplus_result_without_an_id_is_a_duplicate() {
    let messages = [says(&[Named("1", "read")]), answers(&[From("read", "read"), From("read", "read")])];
    assert_eq!(fates(&messages, BY_TOOL), [Seen::Answers(0), Seen::Duplicate(0)]);
    let named = [says(&[Named("1", "read")]), answers(&[From("read", "read"), From("1", "read")])];
    assert_eq!(fates(&named, BY_TOOL), [Seen::Duplicate(0), Seen::Answers(0)]);
}

#[test]
fn a_real_result_without_an_id_replaces_the_first_synthetic_one_of_its_tool() {
    let calls = says(&[Named("1", "read"), Named("2", "read")]);
    let messages = [calls, answers(&[MadeUp("1"), MadeUp("2"), From("read", "read")])];
    assert_eq!(fates(&messages, BY_TOOL), [Seen::Superseded(0), Seen::Answers(1), Seen::Answers(0)]);
}

#[test]
fn results_of_several_messages_are_counted_together() {
    let messages = [
        says(&[Named("1", "read"), Named("2", "read")]),
        answers(&[From("read", "read")]),
        (Role::Tool, vec![From("read", "read")]),
        says(&[Named("3", "read")]),
        answers(&[From("read", "read")]),
    ];
    assert_eq!(fates(&messages, BY_TOOL), [Seen::Answers(0), Seen::Answers(1), Seen::Answers(2)]);
}

#[test]
fn a_result_that_names_neither_a_call_nor_a_tool_answers_nothing() {
    let messages = [says(&[Named("1", "read"), Named("2", "read")]), answers(&[Result("-")])];
    assert_eq!(fates(&messages, BY_TOOL), [Seen::Orphan]);
}

#[test]
fn an_order_of_many_calls_takes_one_look_at_each() {
    let names: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let names: Vec<&'static str> = names.into_iter().map(|name| &*name.leak()).collect();
    let calls: Vec<_> = names.iter().map(|name| Named(name, "read")).collect();
    let results = vec![From("read", "read"); names.len()];
    let expected: Vec<_> = (0..names.len()).map(Seen::Answers).collect();
    assert_eq!(fates(&[says(&calls), answers(&results)], BY_TOOL), expected);
}
