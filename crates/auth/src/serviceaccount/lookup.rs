//! What a token's verification asks of the outside.

use json::Value;

/// Finds objects by resource (`serviceaccounts`, `pods`, `secrets`, `nodes`); the namespace of a node is empty.
pub trait Lookup: Send + Sync {
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Value>;

    /// Called for a Secret whose token is used, and whose label does not say so yet.
    fn used(&self, _namespace: &str, _secret: &str, _uid: &str) {}
}

impl<F: Fn(&str, &str, &str) -> Option<Value> + Send + Sync> Lookup for F {
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        self(resource, namespace, name)
    }
}

/// What is of interest in such an object.
pub(super) struct Referent {
    pub(super) uid: String,
    /// Seconds since 1970; an unreadable time counts as long ago.
    pub(super) deleted: Option<i64>,
}

impl Referent {
    pub(super) fn of(object: &Value) -> Self {
        let text = |key| object.str_at(&["metadata", key]);
        let deleted = text("deletionTimestamp").filter(|it| !it.is_empty());
        Self {
            uid: text("uid").unwrap_or_default().to_owned(),
            deleted: deleted.map(|it| crate::time::parse(it).unwrap_or(i64::MIN)),
        }
    }
}
