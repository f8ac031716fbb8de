//! The authorizer that expressions ask: for the user of the request, each question once.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use auth::{Authorizer, User};
use cel::Decision;

use crate::Request;

/// Lives as long as one request.
pub(crate) struct RequestAuthorizer<'a> {
    authorizer: &'a dyn Authorizer,
    user: &'a User,
    decisions: Mutex<HashMap<cel::Attributes, Decision>>,
}

impl fmt::Debug for RequestAuthorizer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestAuthorizer")
            .field("user", &self.user.name)
            .finish_non_exhaustive()
    }
}

impl<'a> RequestAuthorizer<'a> {
    pub(crate) fn new(authorizer: &'a dyn Authorizer, user: &'a User) -> Self {
        Self {
            authorizer,
            user,
            decisions: Mutex::default(),
        }
    }

    fn ask(&self, attributes: &cel::Attributes) -> Decision {
        let account;
        let user = match &attributes.service_account {
            Some((namespace, name)) => {
                account = service_account(namespace, name);
                &account
            }
            None => self.user,
        };
        let verb = &*attributes.verb;
        let asked = match &attributes.path {
            Some(path) => auth::Attributes::path(user, verb, path),
            None => auth::Attributes {
                // No version is asked for: all are meant.
                version: "*",
                subresource: &attributes.subresource,
                namespace: &attributes.namespace,
                name: &attributes.name,
                field_selector: attributes.field_selector.as_deref().unwrap_or_default(),
                label_selector: attributes.label_selector.as_deref().unwrap_or_default(),
                ..auth::Attributes::resource(user, verb, &attributes.group, &attributes.resource)
            },
        };
        // An expression cannot wait. All modes that this server has answer at once.
        match self.authorizer.authorize(asked).now() {
            Some(decision) => Decision {
                allowed: decision.allowed(),
                reason: decision.reason,
                error: decision.error,
            },
            None => Decision {
                allowed: false,
                reason: String::new(),
                error: Some("the authorizer does not answer at once".to_owned()),
            },
        }
    }
}

impl cel::Authorizer for RequestAuthorizer<'_> {
    fn authorize(&self, attributes: &cel::Attributes) -> Decision {
        let lock = || {
            self.decisions
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(decision) = lock().get(attributes) {
            return decision.clone();
        }
        let decision = self.ask(attributes);
        lock().insert(attributes.clone(), decision.clone());
        decision
    }
}

fn service_account(namespace: &str, name: &str) -> User {
    let all = auth::user::SERVICE_ACCOUNTS;
    let own = format!("{all}:{namespace}");
    User::new(
        &format!("system:serviceaccount:{namespace}:{name}"),
        &[all, &own],
    )
}

/// What `authorizer.requestResource` asks about.
pub(crate) fn request_resource(request: &Request<'_>) -> cel::Attributes {
    cel::Attributes {
        group: request.resource.group.clone(),
        resource: request.resource.resource.clone(),
        subresource: request.subresource.to_owned(),
        namespace: request.namespace.to_owned(),
        name: request.name.to_owned(),
        ..cel::Attributes::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use auth::Answer;
    use cel::Authorizer as _;

    use super::*;

    #[derive(Debug, Default)]
    struct Counting(AtomicUsize);

    impl Authorizer for Counting {
        fn authorize<'a>(&'a self, attributes: auth::Attributes<'a>) -> Answer<'a> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let name = &attributes.user.name;
            if name == "system:serviceaccount:demo:web" {
                return auth::Decision::allow("an account").into();
            }
            auth::Decision::no_opinion("").into()
        }
    }

    #[test]
    fn each_question_is_asked_once() {
        let (counting, user) = (Counting::default(), User::new("alice", &[]));
        let asked = RequestAuthorizer::new(&counting, &user);
        let mut attributes = cel::Attributes {
            verb: "get".to_owned(),
            ..cel::Attributes::default()
        };
        assert!(!asked.authorize(&attributes).allowed);
        assert!(!asked.authorize(&attributes).allowed);
        assert_eq!(counting.0.load(Ordering::Relaxed), 1);
        attributes.service_account = Some(("demo".to_owned(), "web".to_owned()));
        assert!(asked.authorize(&attributes).allowed);
        assert_eq!(counting.0.load(Ordering::Relaxed), 2);
    }
}
