//! Tests of the provider through its socket.
