//! Requests for anything but resources.

use auth::User;
use http::header::ACCEPT;
use http::{HeaderMap, Method};

use super::Query;

/// A request whose path names no resource.
#[derive(Debug)]
pub struct NonResourceRequest<'a> {
    pub user: &'a User,
    pub path: &'a str,
    pub query: &'a Query,
    pub headers: &'a HeaderMap,
    pub method: &'a Method,
}

impl NonResourceRequest<'_> {
    /// What the client asked for in its Accept header, word by word.
    pub fn accepts(&self) -> &str {
        let header = self.headers.get(ACCEPT).and_then(|it| it.to_str().ok());
        header.unwrap_or_default()
    }
}
