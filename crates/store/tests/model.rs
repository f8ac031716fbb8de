//! Random operations against a plain reference.

use testkit::model::{cases, check};
use testkit::suite::{Embedded, Memory};

#[test]
fn memory_behaves_as_the_reference() {
    check(cases(400), || Memory);
}

#[test]
fn the_log_on_disk_behaves_as_the_reference() {
    check(cases(150), Embedded::new);
}
