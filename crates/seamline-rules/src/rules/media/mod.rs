//! Images, documents, audio.

pub(crate) mod media_in_result;
