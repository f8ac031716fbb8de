//! An authorizer that says what it was asked.

use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use auth::impersonation::{Forbidden, Impersonated, LastModes};
use auth::{Answer, Attributes, Authorizer, Decision, User};

/// Nothing here has to wait.
fn now<T>(future: impl Future<Output = T> + Send) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing to wait for"),
    }
}

/// Of a sender that nothing is remembered of.
pub(crate) fn first_time(
    fake: &Fake,
    attributes: &Attributes,
    wanted: &User,
) -> Result<Impersonated, Forbidden> {
    again(&LastModes::default(), fake, attributes, wanted)
}

pub(crate) fn again(
    last: &LastModes,
    fake: &Fake,
    attributes: &Attributes,
    wanted: &User,
) -> Result<Impersonated, Forbidden> {
    now(auth::impersonation::impersonate(
        fake, last, attributes, wanted,
    ))
}

/// A rule of the fake authorizer, which notes what it was asked.
#[derive(Debug)]
pub(crate) struct Fake {
    allows: fn(&Attributes) -> bool,
    asked: Mutex<Vec<String>>,
}

impl Fake {
    pub(crate) fn new(allows: fn(&Attributes) -> bool) -> Self {
        Self {
            allows,
            asked: Mutex::default(),
        }
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Authorizer for Fake {
    fn authorize<'a>(&'a self, it: Attributes<'a>) -> Answer<'a> {
        let allowed = (self.allows)(&it);
        let sign = if allowed { "+" } else { "-" };
        let sub = if it.subresource.is_empty() {
            String::new()
        } else {
            format!("/{}", it.subresource)
        };
        let namespace = if it.namespace.is_empty() {
            String::new()
        } else {
            format!(" in {}", it.namespace)
        };
        let text = format!(
            "{sign}{} {}:{}{sub} {}{namespace}",
            it.verb, it.api_group, it.resource, it.name
        );
        self.asked.lock().unwrap().push(text);
        if allowed {
            Decision::allow("").into()
        } else {
            Decision::no_opinion("deny by default").into()
        }
    }
}

pub(crate) fn groups(attributes: &Attributes, at: usize) -> String {
    attributes.user.groups.get(at).cloned().unwrap_or_default()
}
