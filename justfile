# Short names for the chores in crates/xtask. All of them also work as `cargo xtask …`.

# List the recipes.
default:
    @just --list

# Run everything that CI runs.
test *args:
    cargo xtask test {{args}}

# Check the tree for what the compiler cannot check.
tidy:
    cargo xtask tidy

# Rewrite the expected files of the fixtures and the generated docs; then read the diff.
bless:
    SEAMLINE_BLESS=1 cargo test --workspace
    cargo xtask codegen
    git diff --stat

# Write the skeleton of a rule and its fixtures.
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

# Run a benchmark: `just bench core`.
bench name *args:
    cargo xtask bench {{name}} {{args}}

# Print size, shape and language of a checkout: `just figures --root ../old`.
figures *args:
    cargo xtask figures {{args}}

# Print what vendors added to their types and no dialect reads.
drift *args:
    cargo xtask drift {{args}}
