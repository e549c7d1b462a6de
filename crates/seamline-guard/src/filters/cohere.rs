//! Cohere.

use super::{Is, Sign, sign};
use crate::filter::FilteredPart;

pub(super) const SIGNS: &[Sign] = &[
    Sign { may_pass: true, ..sign("COH-5", "/finish_reason", Is::Word(&["ERROR_TOXIC"]), FilteredPart::Response) },
    Sign {
        may_pass: true,
        ..sign("COH-5", "/delta/finish_reason", Is::Word(&["ERROR_TOXIC"]), FilteredPart::Response)
    },
];
