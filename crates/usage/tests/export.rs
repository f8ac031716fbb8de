//! What is counted reaches whoever is named, and nobody else: real requests to a receiver that reads them.

#[path = "export/buckets.rs"]
mod buckets;
#[path = "export/sending.rs"]
mod sending;
#[path = "export/world.rs"]
mod world;
