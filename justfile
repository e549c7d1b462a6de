# Short names for the chores in crates/xtask. Everything here also works as `cargo xtask …`.

# List what there is.
default:
    @just --list

# All that CI runs.
test *args:
    cargo xtask test {{args}}

# The checks of the tree that the compiler cannot make.
tidy:
    cargo xtask tidy

# Write the expected files of the fixtures and the generated docs anew; then read the diff.
bless:
    SEAMLINE_BLESS=1 cargo test --workspace
    cargo xtask codegen
    git diff --stat

# The skeleton of a rule and its fixtures.
new-rule group name:
    cargo xtask new-rule {{group}} {{name}}

# The skeleton of a dialect, its row in the testkit and its first fixture.
new-dialect name:
    cargo xtask new-dialect {{name}}

# Format every Rust file.
format:
    cargo xtask format

# Run the fuzz targets: `just fuzz repair --seconds 600`.
fuzz *args:
    cargo xtask fuzz {{args}}

# Measure: `just bench core`.
bench name *args:
    cargo xtask bench {{name}} {{args}}
