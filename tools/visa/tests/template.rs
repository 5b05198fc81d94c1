//! The tests that the template brings.

use crate::my_visa;
use std::path::Path;

#[test]
fn its_tests_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("template/tests/lit");
    let report = my_visa::tool().suite(folder).run();
    assert!(report.is_success() && report.passed() >= 4, "{report}");
}
