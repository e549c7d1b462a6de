//! MiniMax: its own code beside a response that may be empty.

use super::{Beside, Is, Sign, sign};
use crate::filter::FilteredPart;

pub(super) const SIGNS: &[Sign] = &[
    Sign {
        said: Beside::Member("status_msg"),
        ..sign("MiniMax 1026", "/base_resp/status_code", Is::Number(&[1026]), FilteredPart::Request)
    },
    Sign {
        said: Beside::Member("status_msg"),
        ..sign("MiniMax 1027", "/base_resp/status_code", Is::Number(&[1027]), FilteredPart::Response)
    },
    sign("MiniMax 1026", "/input_sensitive", Is::True, FilteredPart::Request),
    sign("MiniMax 1027", "/output_sensitive", Is::True, FilteredPart::Response),
];
