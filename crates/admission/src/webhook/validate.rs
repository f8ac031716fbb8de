//! Validating webhooks: all at once.

use std::pin::Pin;
use std::task::Poll;

use json::Value;
use meta::Status;
use meta::gvk::GroupVersionKind;
use telemetry::trace;

use super::call::{Beside, Call, Failure, call};
use super::matching::{holds, invocation};
use super::review::{Objects, Response};
use super::{Hook, Hooks};
use crate::metrics::Phase;
use crate::{Admitting, BoxFuture, Request};

pub(super) async fn all(
    hooks: &Hooks,
    request: &Request<'_>,
    admitting: &mut Admitting,
) -> Result<(), Status> {
    let all = hooks.get(request.lookup);
    let mut versions = Versions::default();
    let mut calls = Vec::new();
    for hook in all.iter() {
        if let Some(found) = invocation(hook, request, &admitting.object)? {
            let at = versions
                .add(&found.kind, request, &admitting.object)
                .await?;
            let (_, new, old) = &versions.0[at];
            let seen = (new, old.as_ref());
            if holds(&hooks.caller, &found, request, seen, Phase::Validate)? {
                calls.push((found, at));
            }
        }
    }
    let work = calls.iter().map(|(invocation, at)| {
        let (_, new, old) = &versions.0[*at];
        let objects = Objects {
            new,
            old: old.as_ref(),
        };
        let work = async move {
            let made = Call::new(&hooks.caller, invocation, request, false);
            let (result, beside) = call(&made, invocation, request, objects, false).await;
            made.note(invocation, request, (Phase::Validate, beside.took), &result);
            (result, beside)
        };
        Box::pin(trace::apart(work)) as Called<'_>
    });
    let results = join(work.collect()).await;
    let slowest = results.iter().map(|(_, beside)| beside.took).max();
    admitting.waited += slowest.unwrap_or_default();
    let mut first = None;
    for (index, ((result, beside), (invocation, _))) in results.into_iter().zip(&calls).enumerate()
    {
        beside.add_to(admitting);
        let Err(failure) = result else {
            continue;
        };
        let hook: &Hook = invocation.hook;
        if let Some(status) = failure.status(hook) {
            first = first.or(Some(status));
        } else {
            let key =
                format!("failed-open.validating.webhook.admission.k8s.io/round_0_index_{index}");
            admitting.audit_annotations.push((key, hook.name.clone()));
        }
    }
    // One refusal is told, as upstream does.
    first.map_or(Ok(()), Err)
}

type Called<'a> = BoxFuture<'a, (Result<Response, Failure>, Beside)>;

/// The objects at each version that is asked for.
#[derive(Debug, Default)]
struct Versions(Vec<(GroupVersionKind, Value, Option<Value>)>);

impl Versions {
    async fn add(
        &mut self,
        kind: &GroupVersionKind,
        request: &Request<'_>,
        object: &Value,
    ) -> Result<usize, Status> {
        if let Some(at) = self.0.iter().position(|(it, ..)| it == kind) {
            return Ok(at);
        }
        let mut new = object.clone();
        let mut old = request.old.cloned();
        if kind != request.kind {
            if !new.is_null() {
                new = request.kinds.convert(new, kind).await?;
            }
            if let Some(it) = old {
                old = Some(request.kinds.convert(it, kind).await?);
            }
        }
        self.0.push((kind.clone(), new, old));
        Ok(self.0.len() - 1)
    }
}

/// The results of all, in their order. They are few: each is looked at whenever one has something to do.
async fn join<T: Unpin>(mut work: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut results: Vec<Option<T>> = work.iter().map(|_| None).collect();
    std::future::poll_fn(move |context| {
        let mut waiting = false;
        for (work, result) in work.iter_mut().zip(&mut results) {
            if result.is_none() {
                match Pin::new(work).poll(context) {
                    Poll::Ready(it) => *result = Some(it),
                    Poll::Pending => waiting = true,
                }
            }
        }
        if waiting {
            return Poll::Pending;
        }
        Poll::Ready(results.iter_mut().filter_map(Option::take).collect())
    })
    .await
}
