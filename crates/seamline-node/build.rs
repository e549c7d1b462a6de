//! Sets the linker up for a library that Node.js loads.

fn main() {
    napi_build::setup();
}
