//! `seamline session repair --unsafe`.

use crate::bench::{BROKEN, Bench, CAUTIOUS};

#[test]
fn fixes_that_drop_or_guess_wait_until_they_are_allowed() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    bench.write("cautious.toml", CAUTIOUS);
    bench.session(&["new", "s-1"]).expect(0);
    bench.session(&["append", "s-1", "body.json", "--body"]).expect(0);
    let before = bench.messages("s-1");
    let repair = ["repair", "s-1", "--policy", "cautious.toml"];
    let ran = bench.session(&repair).expect(1);
    assert!(ran.out.contains("`--unsafe` would fix 1 of them"), "{}", ran.out);
    assert_eq!(bench.messages("s-1"), before);
    let unsafely = [&repair[..], &["--unsafe"]].concat();
    let ran = bench.session(&[&unsafely[..], &["--dry-run"]].concat()).expect(0);
    assert!(ran.out.contains("nothing was changed") && bench.messages("s-1") == before, "{}", ran.out);
    let ran = bench.session(&unsafely).expect(0);
    assert!(ran.out.contains("taken out"), "{}", ran.out);
    assert!(!bench.messages("s-1").contains("toolu_1"));
    bench.session(&["undo", "s-1"]).expect(0);
    assert_eq!(bench.messages("s-1"), before);
}
