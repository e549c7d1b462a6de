//! The schema and the page are those of the table of methods.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;

static VALIDATOR: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&seamline_host::schema()).unwrap());

/// The schema is not stricter than the host: what the tests send is valid.
pub(crate) fn assert_valid(request: &Value) {
    VALIDATOR.validate(request).unwrap_or_else(|error| panic!("{error}: {request}"));
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

#[track_caller]
fn assert_same(path: &Path, expected: &str) {
    if std::env::var_os("SEAMLINE_BLESS").is_some() {
        std::fs::write(path, expected).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == expected, "{} is old; run the test with SEAMLINE_BLESS=1", path.display());
}

#[test]
fn the_docs_have_every_method() {
    assert_same(&docs().join("host-methods.md"), &seamline_host::page());
    let schema = serde_json::to_string_pretty(&seamline_host::schema()).unwrap() + "\n";
    assert_same(&docs().join("host.schema.json"), &schema);
}

#[test]
fn the_schema_refuses_what_the_host_refuses() {
    let wrong = [
        r#"{"jsonrpc":"1.0","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","method":"no_such_method"}"#,
        r#"{"jsonrpc":"2.0","method":"explain"}"#,
        r#"{"jsonrpc":"2.0","method":"explain","params":{"code":7}}"#,
        r#"{"jsonrpc":"2.0","method":"check","params":{"text":"{}","colour":"red"}}"#,
        r#"{"jsonrpc":"2.0","method":"stall/open","params":{"now_ms":-1}}"#,
    ];
    for request in wrong {
        assert!(!VALIDATOR.is_valid(&serde_json::from_str(request).unwrap()), "{request}");
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = seamline_host::METHODS.iter().map(|method| method.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    for method in seamline_host::METHODS.iter() {
        let mut params: Vec<_> = method.all_params().map(|param| param.name).collect();
        let count = params.len();
        params.sort_unstable();
        params.dedup();
        assert_eq!(params.len(), count, "{}", method.name);
    }
}
