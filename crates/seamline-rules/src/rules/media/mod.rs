//! Images, documents, sound.

pub(crate) mod media_in_result;
