//! Cost is bounded by size: each step that reads a client's bytes is at most `n log n` in the size of the body and of
//! the stored object, in time and in memory.
//!
//! Each step runs over two inputs of the same shape, one eight times as large as the other. What is compared is counted
//! for the thread of the test alone, so that neither other tests nor other processes count: the bytes that it
//! allocates (exactly the same in each run), the most that it holds at once, and the CPU time that it takes. There is
//! no counter of instructions that a test may rely on, so time is what is measured: a step that seems to take too long is
//! measured again several times and the least counts, and the limit is far from both `n log n` (2.2 for each
//! doubling) and a square (4).

#![allow(
    clippy::too_many_lines,
    clippy::type_complexity,
    clippy::items_after_statements,
    clippy::semicolon_if_nothing_returned,
    reason = "tables of hostile shapes are read as tables"
)]

mod admission;
mod allocation;
mod asking;
mod bodies;
mod builtin;
mod crossing;
mod custom;
mod measure;
mod shapes;
mod validations;
