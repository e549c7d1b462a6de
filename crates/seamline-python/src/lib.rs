//! The native half of the Python package `seamline`: reads Python objects, calls the library without the interpreter's
//! lock, and returns Python objects and reports as JSON. The Python half in `python/seamline` gives them types.

mod bodies;
mod catalogue;
mod choices;
mod entries;
mod error;
mod given;
mod hooks;
mod rebuilt;
mod serializer;
mod session;
mod shortened;
mod store;
mod stream;

use pyo3::prelude::*;

/// The native half of the package.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::bodies::{after_rejection, check, convert, dumps, repair};
    #[pymodule_export]
    use crate::catalogue::{classify, endpoint, explain, presets};
    #[pymodule_export]
    use crate::choices::Choices;
    #[pymodule_export]
    use crate::hooks::{
        after_tool_call, after_tool_failure, agent_end, agent_failed, before_agent_start, repair_context,
        session_start, take_inbox,
    };
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::shortened::{sanitize, trim};
    #[pymodule_export]
    use crate::store::Store;
    #[pymodule_export]
    use crate::stream::ResponseStream;
}
