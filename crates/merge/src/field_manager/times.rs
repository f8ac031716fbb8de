//! Writes that change nothing.

use json::Value;

use super::managed_fields;
use crate::value;

/// If nothing differs but the times of managed fields, `new` gets the old times, so that the write can be left out.
pub fn keep_times(live: &Value, new: &mut Value) {
    let (Some(Value::Array(before)), Some(Value::Array(after))) =
        (managed_fields(live), managed_fields(new))
    else {
        return;
    };
    let time = |entry: &Value| entry.get("time").cloned();
    let pairs = || before.iter().zip(after);
    if before.len() != after.len()
        || pairs().all(|(a, b)| time(a) == time(b))
        || !pairs().all(|(a, b)| same_but(a, b, "time"))
    {
        return;
    }
    let metadata = match (live.get("metadata"), new.get("metadata")) {
        (Some(a), Some(b)) => same_but(a, b, "managedFields"),
        _ => false,
    };
    if metadata && same_but(live, new, "metadata") {
        let times: Vec<_> = before.iter().map(time).collect();
        let entries = new.at_mut(&["metadata", "managedFields"]);
        let entries = entries.and_then(Value::as_array_mut).into_iter().flatten();
        for (entry, time) in entries.zip(times) {
            if let Value::Object(entry) = entry {
                match time {
                    Some(time) => _ = entry.insert("time", time),
                    None => _ = entry.remove("time"),
                }
            }
        }
    }
}

/// Whether two objects are equal but for one key.
fn same_but(a: &Value, b: &Value, but: &str) -> bool {
    let mut same = true;
    value::zip(a.as_object(), b.as_object(), |key, a, b| {
        same = same
            && (key == but
                || match (a, b) {
                    (Some(a), Some(b)) => value::equal(a, b),
                    _ => false,
                });
    });
    same
}
