//! The twenty cases of the peer comparison.

use seamline_testkit::{Dialect, peer_cases};

use super::laws::{self, Mendable};

#[test]
fn all_damages_of_the_peer_comparison_are_repaired_without_loss() {
    for dialect in Dialect::ALL {
        for case in peer_cases::ALL {
            let body = case.render(dialect);
            if let Err(failure) = laws::hold(dialect, &body, &case.payloads(), Mendable::Wholly) {
                panic!("{} {}: {failure}", dialect.name(), case.id);
            }
        }
    }
}
