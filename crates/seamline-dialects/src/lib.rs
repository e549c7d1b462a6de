//! Seamline.
