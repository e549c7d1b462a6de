//! The comparison of vendors' types with the names that our dialects read.

mod judged;
mod known;
mod report;
mod rust_text;
mod vendor;

pub(crate) use self::judged::{JUDGED, Judged};
pub(crate) use self::known::Known;
pub(crate) use self::report::Report;
pub(crate) use self::vendor::{TABLE, Table};
