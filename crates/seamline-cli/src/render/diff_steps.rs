//! The order in which the steps of a diff are drawn.

use std::collections::HashMap;

use super::align::Step;

/// Orders the steps between two common elements: the rest of the messages that are drawn already, then the old messages,
/// then the new ones. So each block is drawn under the head of its own message.
pub(crate) fn ordered(steps: &[Step], is_head: impl Fn(&Step) -> bool) -> Vec<Step> {
    let mut out = Vec::with_capacity(steps.len());
    for run in runs(steps) {
        if let [Step::Both(..)] = run {
            out.extend(run);
            continue;
        }
        let (old, new): (Vec<Step>, Vec<Step>) = run.iter().partition(|step| matches!(step, Step::Before(_)));
        let cut = |list: &[Step]| list.iter().position(&is_head).unwrap_or(list.len());
        let ((old, old_rest), (new, new_rest)) = (old.split_at(cut(&old)), new.split_at(cut(&new)));
        out.extend([old, new, old_rest, new_rest].into_iter().flatten());
    }
    out
}

/// The old element of each new element that is a rewritten one, both between the same common elements.
pub(crate) fn pairs(steps: &[Step], is_rewritten: impl Fn(usize, usize) -> bool) -> HashMap<usize, usize> {
    let mut pairs = HashMap::new();
    for run in runs(steps) {
        let mut old: Vec<usize> = run.iter().filter_map(|step| before(*step)).collect();
        let mut tries = TRIES_MAX;
        for new in run.iter().filter_map(|step| after(*step)) {
            tries = tries.saturating_sub(old.len());
            if tries == 0 {
                break;
            }
            if let Some(at) = old.iter().position(|old| is_rewritten(*old, new)) {
                pairs.insert(new, old.remove(at));
            }
        }
    }
    pairs
}

/// The most comparisons of one run.
const TRIES_MAX: usize = 1 << 20;

/// The steps that are in one body only, in runs, and each common step by itself.
fn runs(steps: &[Step]) -> impl Iterator<Item = &[Step]> {
    steps.chunk_by(|one, other| !matches!(one, Step::Both(..)) && !matches!(other, Step::Both(..)))
}

fn before(step: Step) -> Option<usize> {
    if let Step::Before(index) = step { Some(index) } else { None }
}

fn after(step: Step) -> Option<usize> {
    if let Step::After(index) = step { Some(index) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_message_is_drawn_before_the_next_head() {
        // The second old element is a head; the new one belongs to the message before it.
        let steps = [Step::Both(0, 0), Step::Before(1), Step::After(1), Step::Both(2, 2)];
        let is_head = |step: &Step| *step == Step::Before(1);
        assert_eq!(ordered(&steps, is_head), [Step::Both(0, 0), Step::After(1), Step::Before(1), Step::Both(2, 2)]);
        assert_eq!(ordered(&steps, |_| false), steps);
    }

    #[test]
    fn a_rewritten_element_is_paired_once() {
        let steps = [Step::Before(0), Step::After(0), Step::After(1), Step::Both(1, 2), Step::Before(2)];
        assert_eq!(pairs(&steps, |_, _| true), HashMap::from([(0, 0)]));
    }
}
