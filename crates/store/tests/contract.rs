//! The whole contract, on every engine of this crate.

mod memory {
    testkit::suite!(testkit::suite::Memory);
}

mod on_disk {
    testkit::suite!(testkit::suite::Embedded::new());
}
