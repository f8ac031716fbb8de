//! The behaviour of structured-merge-diff v6: what its own tests call with, and what comes out; and stories made at
//! random. Each line of `data/typed.jsonl` is one call, each line of `data/stories.jsonl` a sequence of writes with the
//! state it ends in; `data/schemas.jsonl` has the types.

#[path = "smd/schema.rs"]
mod schema_table;
#[path = "smd/stories.rs"]
mod stories;
#[path = "smd/typed.rs"]
mod typed;

use json::Value;

fn lines(text: &str) -> Vec<Vec<Value>> {
    let lines = text.lines().map(|line| {
        let value = json::parse(line.as_bytes()).unwrap_or_else(|why| panic!("{why}: {line}"));
        value.as_array().expect("a list").clone()
    });
    lines.collect()
}
