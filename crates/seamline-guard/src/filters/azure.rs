//! Azure OpenAI: a verdict per category, in responses and in errors.

use super::{Beside, Is, Sign, sign};
use crate::filter::FilteredPart;

pub(super) const SIGNS: &[Sign] = &[
    Sign {
        category: Beside::Name,
        said: Beside::At("/error/message"),
        ..sign("AZR-2", "/error/innererror/content_filter_result/*/filtered", Is::True, FilteredPart::Request)
    },
    Sign {
        category: Beside::Name,
        ..sign("AZR-3", "/prompt_filter_results/*/content_filter_results/*/filtered", Is::True, FilteredPart::Request)
    },
    Sign {
        category: Beside::Name,
        may_pass: true,
        ..sign("AZR-3", "/choices/*/content_filter_results/*/filtered", Is::True, FilteredPart::Response)
    },
];
