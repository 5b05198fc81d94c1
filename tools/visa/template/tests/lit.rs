//! Runs the tests of `tests/lit` with the tool of this crate. `VISA_BLESS=1 cargo test` accepts their outputs.

#[test]
fn lit() {
    let report = my_visa::tool().suite("tests/lit").run();
    assert!(report.is_success() && report.passed() > 0, "{report}");
}
