//! From the queue to a collector, and what the books say of it.

#[path = "export/books.rs"]
mod books;
#[path = "export/hostile.rs"]
mod hostile;
#[path = "export/reach.rs"]
mod reach;
#[path = "export/signals.rs"]
mod signals;
#[path = "export/sink.rs"]
mod sink;
#[path = "export/trace.rs"]
mod trace;
