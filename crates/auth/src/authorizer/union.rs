//! Modes asked in order: the first opinion counts.

use std::sync::Arc;

use super::{Answer, Authorizer, Decision, Verdict};
use crate::quote::aggregate;
use crate::{Attributes, user};

/// Members of `system:masters` first, then each mode as configured.
#[derive(Clone)]
pub struct Union(Vec<(String, Arc<dyn Authorizer>)>);

impl Union {
    /// Each mode comes with the name that its reasons are prefixed with.
    pub fn new<N: Into<String>>(modes: impl IntoIterator<Item = (N, Arc<dyn Authorizer>)>) -> Self {
        let modes = modes.into_iter();
        Self(modes.map(|(name, mode)| (name.into(), mode)).collect())
    }
}

impl Authorizer for Union {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> Answer<'a> {
        if attributes.user.in_group(user::MASTERS) {
            return Decision::allow("").into();
        }
        let mut heard = Heard::default();
        let mut modes = self.0.iter();
        while let Some((name, mode)) = modes.next() {
            match mode.authorize(attributes) {
                Answer::Now(decision) => {
                    let decision = decision.unwrap_or_else(|| Decision::deny(""));
                    if let Some(final_one) = heard.note(name, decision) {
                        return final_one.into();
                    }
                }
                Answer::Later(first) => {
                    return Answer::Later(Box::pin(async move {
                        if let Some(final_one) = heard.note(name, first.await) {
                            return final_one;
                        }
                        for (name, mode) in modes {
                            let decision = mode.authorize(attributes).await;
                            if let Some(final_one) = heard.note(name, decision) {
                                return final_one;
                            }
                        }
                        heard.end()
                    }));
                }
            }
        }
        heard.end().into()
    }
}

impl std::fmt::Debug for Union {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Union of {}", self.0.len())
    }
}

/// What modes without an opinion had to say.
#[derive(Default)]
struct Heard {
    reasons: Vec<String>,
    errors: Vec<String>,
}

impl Heard {
    /// The decision back, if it is an opinion.
    fn note(&mut self, name: &str, decision: Decision) -> Option<Decision> {
        if decision.verdict != Verdict::NoOpinion {
            return Some(decision);
        }
        if !decision.reason.is_empty() {
            self.reasons.push(format!("{name}: {}", decision.reason));
        }
        self.errors.extend(decision.error);
        None
    }

    fn end(self) -> Decision {
        Decision {
            error: (!self.errors.is_empty()).then(|| aggregate(&self.errors)),
            ..Decision::no_opinion(self.reasons.join("\n"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::User;
    use crate::authorizer::{AlwaysAllow, AlwaysDeny};

    #[derive(Debug)]
    struct Says(Decision);
    impl Authorizer for Says {
        fn authorize<'a>(&'a self, _: Attributes<'a>) -> Answer<'a> {
            self.0.clone().into()
        }
    }

    #[derive(Debug)]
    struct Waits(Decision);
    impl Authorizer for Waits {
        fn authorize<'a>(&'a self, _: Attributes<'a>) -> Answer<'a> {
            Answer::Later(Box::pin(async { self.0.clone() }))
        }
    }

    fn ask(union: &Union, user: &User) -> Decision {
        let mut answer = union.authorize(Attributes::path(user, "get", "/"));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::Pin::new(&mut answer).poll(&mut context) {
            std::task::Poll::Ready(decision) => decision,
            std::task::Poll::Pending => panic!("nothing to wait for"),
        }
    }

    #[test]
    fn first_opinion_counts() {
        let says = |decision: Decision| Arc::new(Says(decision)) as Arc<dyn Authorizer>;
        let waits = |decision: Decision| Arc::new(Waits(decision)) as Arc<dyn Authorizer>;
        let none = || Decision::no_opinion("a");
        let user = User::new("u", &[]);
        let cases = [
            (vec![], Verdict::NoOpinion, ""),
            (
                vec![says(none()), says(Decision::no_opinion("b"))],
                Verdict::NoOpinion,
                "m: a\nm: b",
            ),
            (
                vec![
                    says(none()),
                    says(Decision::allow("c")),
                    says(Decision::deny("d")),
                ],
                Verdict::Allow,
                "c",
            ),
            (
                vec![says(Decision::deny("d")), says(Decision::allow("c"))],
                Verdict::Deny,
                "d",
            ),
            (
                vec![
                    says(none()),
                    waits(none()),
                    waits(Decision::allow("w")),
                    says(Decision::deny("d")),
                ],
                Verdict::Allow,
                "w",
            ),
            (
                vec![waits(Decision::deny("w")), says(Decision::allow("c"))],
                Verdict::Deny,
                "w",
            ),
            (
                vec![waits(none()), says(Decision::no_opinion("b"))],
                Verdict::NoOpinion,
                "m: a\nm: b",
            ),
            (
                vec![Arc::new(AlwaysDeny) as _, Arc::new(AlwaysAllow) as _],
                Verdict::Allow,
                "",
            ),
            (
                vec![Arc::new(AlwaysDeny) as _],
                Verdict::NoOpinion,
                "m: Everything is forbidden.",
            ),
        ];
        for (at, (modes, verdict, reason)) in cases.into_iter().enumerate() {
            let decision = ask(&Union::new(modes.into_iter().map(|it| ("m", it))), &user);
            assert_eq!(
                (decision.verdict, &*decision.reason),
                (verdict, reason),
                "case {at}"
            );
        }
    }

    #[test]
    fn masters_pass_before_any_mode() {
        let union = Union::new([(
            "m",
            Arc::new(Says(Decision::deny("no"))) as Arc<dyn Authorizer>,
        )]);
        assert!(ask(&union, &User::new("u", &["system:masters"])).allowed());
        assert!(!ask(&union, &User::new("u", &["masters"])).allowed());
    }
}
