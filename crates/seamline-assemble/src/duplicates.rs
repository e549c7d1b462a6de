//! Resolves duplicate calls.

use std::collections::HashMap;

use seamline_model::{AssembledBlock, Content};

/// Removes calls that repeat an earlier call exactly, and forbids running a call with the id of an earlier one: only
/// one of them can be answered. Returns the places of all these calls.
pub(crate) fn resolve(blocks: &mut Vec<AssembledBlock>) -> Vec<u32> {
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut places = Vec::new();
    let mut again = Vec::new();
    for at in 0..blocks.len() {
        let Some(call) = blocks[at].call().filter(|call| !call.id.trim().is_empty()) else { continue };
        let Some(&before) = first.get(&call.id) else {
            first.insert(call.id.clone(), at);
            continue;
        };
        let is_same =
            blocks[before].call().is_some_and(|known| (&known.name, &known.arguments) == (&call.name, &call.arguments));
        places.push(blocks[at].place);
        if is_same {
            again.push(at);
        } else if let Content::Call(call) = &mut blocks[at].content {
            call.executable = false;
        }
    }
    let mut again = again.into_iter().peekable();
    let mut at = 0;
    blocks.retain(|_| {
        let is_again = again.next_if_eq(&at).is_some();
        at += 1;
        !is_again
    });
    places
}
