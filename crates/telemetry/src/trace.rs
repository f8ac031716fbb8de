//! The recorder: what one request did, and when.
