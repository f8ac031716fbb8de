//! Concurrent clients never see anything that one client after the other could not have seen.

use testkit::linearize::check;
use testkit::suite::{Embedded, Memory};

#[test]
fn memory_is_linearizable() {
    check(300, &Memory);
}

#[test]
fn the_log_on_disk_is_linearizable() {
    check(150, &Embedded::new());
}
