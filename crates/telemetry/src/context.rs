//! W3C Trace Context, level 2, and Baggage.
