//! The entries of a dict. Code of the dict's values may change it meanwhile.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Calls `visit` for each entry, in order. If the dict changes meanwhile, entries may be missed or visited twice; the
/// iterator of `PyO3` would panic.
#[expect(unsafe_code, reason = "the safe iterator panics when a getter of a value changes the dict")]
pub(crate) fn for_each_entry<'py, E>(
    dict: &Bound<'py, PyDict>,
    mut visit: impl FnMut(&Bound<'py, PyAny>, &Bound<'py, PyAny>) -> Result<(), E>,
) -> Result<(), E> {
    let py = dict.py();
    let mut position: ffi::Py_ssize_t = 0;
    let mut key = std::ptr::null_mut();
    let mut value = std::ptr::null_mut();
    // SAFETY: `dict` is a dict, the interpreter's lock is held, and the three places are valid. `PyDict_Next` checks the
    // position against the present size. It lends its references, so each is owned before other code can run.
    while unsafe { ffi::PyDict_Next(dict.as_ptr(), &raw mut position, &raw mut key, &raw mut value) } != 0 {
        let (key, value) = unsafe { (Bound::from_borrowed_ptr(py, key), Bound::from_borrowed_ptr(py, value)) };
        visit(&key, &value)?;
    }
    Ok(())
}
