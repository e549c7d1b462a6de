//! The order in which events are sent.

use std::collections::HashMap;

/// The part of an event that decides its order.
pub(super) struct Event {
    /// The index of the record.
    pub(super) record: usize,
    /// The message for the carrier.
    pub(super) message: String,
    /// The ids of the calls that it makes.
    pub(super) calls: Vec<String>,
    /// The id of the call that it answers.
    pub(super) call_id: Option<String>,
}

/// Events that are sent together: a message with the results of its calls, or one event.
pub(super) type Group = Vec<usize>;

/// Puts each result behind the message that makes its call: tools run at the same time, and messages of the user may come
/// while they run. A result without a call stays where it is.
pub(super) fn groups(events: &[Event]) -> Vec<Group> {
    let mut groups: Vec<Group> = events.iter().enumerate().map(|(index, _)| vec![index]).collect();
    // The messages whose call with an id has no result yet, and the results that came before their call.
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut early: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, event) in events.iter().enumerate() {
        if let Some(id) = event.call_id.as_deref() {
            match open.get_mut(id).and_then(Vec::pop) {
                Some(maker) => attach(&mut groups, maker, index),
                None => early.entry(id).or_default().push(index),
            }
        }
        for id in &event.calls {
            match early.get_mut(id.as_str()).and_then(Vec::pop) {
                Some(result) => attach(&mut groups, index, result),
                None => open.entry(id).or_default().push(index),
            }
        }
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// Moves a result behind the message that makes its call.
fn attach(groups: &mut [Group], maker: usize, result: usize) {
    groups[result].clear();
    groups[maker].push(result);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(calls: &[&str], call_id: Option<&str>) -> Event {
        let calls = calls.iter().map(|call| (*call).to_owned()).collect();
        Event { record: 0, message: String::new(), calls, call_id: call_id.map(str::to_owned) }
    }

    #[test]
    fn results_follow_their_calls_and_an_id_may_come_again() {
        let events = [
            event(&[], Some("b")),
            event(&["a", "b"], None),
            event(&[], None),
            event(&[], Some("a")),
            event(&["a"], None),
            event(&[], Some("a")),
            event(&[], Some("lost")),
        ];
        assert_eq!(groups(&events), [vec![1, 0, 3], vec![2], vec![4, 5], vec![6]]);
    }
}
