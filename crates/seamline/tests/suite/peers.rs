//! The twenty cases of the peer comparison.

use seamline_testkit::{Dialect, peer_cases};

use super::laws;

#[test]
fn all_damages_of_the_peer_comparison_come_out_valid_and_lossless() {
    for dialect in Dialect::ALL {
        for case in peer_cases::ALL {
            laws::hold(dialect, &case.render(dialect), &case.payloads())
                .unwrap_or_else(|failure| panic!("{} {}: {failure}", dialect.name(), case.id));
        }
    }
}
