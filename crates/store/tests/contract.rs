//! The whole contract, on every engine of this crate.

mod memory {
    testkit::suite_without_restarts!(testkit::suite::Memory);
}

mod on_disk {
    testkit::suite!(testkit::suite::Embedded::new());
}
