//! What is in a collection, and what changes in it: one watch that begins with the state, goes on where it ended, and
//! begins anew when too much was missed.

use std::time::Duration;

use apiserver::local::Local;
use json::Value;
use meta::object::resource_version;

/// Between two tries when the API refuses.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) enum Event {
    /// The state follows, as `Put`s; what is not among them is gone.
    Begin,
    Put(Value),
    Gone(Value),
    /// The state is complete.
    Synced,
}

/// Tells `each` of all events. `path` is a collection, with selectors if need be. Never ends.
pub(crate) async fn follow(
    client: &Local,
    path: &str,
    mut each: impl FnMut(Event),
) -> std::convert::Infallible {
    let join = if path.contains('?') { '&' } else { '?' };
    let mut version = String::new();
    loop {
        let from = if version.is_empty() {
            each(Event::Begin);
            "sendInitialEvents=true&resourceVersionMatch=NotOlderThan".to_owned()
        } else {
            format!("resourceVersion={version}")
        };
        let path = format!("{path}{join}watch=true&allowWatchBookmarks=true&{from}");
        match client.watch(&path).await {
            Ok(mut watch) => {
                while let Some((kind, object)) = watch.next().await {
                    match &*kind {
                        "ADDED" | "MODIFIED" => {
                            note(&mut version, &object);
                            each(Event::Put(object));
                        }
                        "DELETED" => {
                            note(&mut version, &object);
                            each(Event::Gone(object));
                        }
                        "BOOKMARK" => {
                            let first = version.is_empty();
                            resource_version(&object).clone_into(&mut version);
                            if first {
                                each(Event::Synced);
                            }
                        }
                        _ => version.clear(),
                    }
                }
                // When the server stops, every watch ends at once, and so must this: it looks for that meanwhile.
                tokio::task::yield_now().await;
            }
            Err(status) => {
                if status.code == 410 {
                    version.clear();
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// The state comes in the order of names: only after it, versions say how far we are.
fn note(version: &mut String, object: &Value) {
    if !version.is_empty() {
        resource_version(object).clone_into(version);
    }
}
