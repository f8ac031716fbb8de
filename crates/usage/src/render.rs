//! What people are shown: the state and why, and the very payloads.

use std::fmt::Write as _;

use json::Value;

use crate::spool::Spool;
use crate::{Decision, EXPORT, Error, Invocation, Places, Reason, Source, decide, send};

/// What `config get` says.
pub fn state(invocation: &Invocation<'_>) -> String {
    let mut out = String::new();
    let decision = decide(invocation);
    match &decision {
        Decision::Off(why) => {
            _ = writeln!(out, "recording: off");
            _ = writeln!(out, "why:       {why}");
        }
        Decision::On(plan) => {
            let where_to = match &plan.destination {
                Some(destination) => send::describe(destination, plan, invocation),
                None => "nowhere: counts stay on this machine until an endpoint is set".into(),
            };
            _ = writeln!(out, "recording: on");
            _ = writeln!(out, "why:       {}", plan.source);
            _ = writeln!(out, "sent to:   {where_to}");
        }
    }
    let Some(places) = Places::find(invocation) else {
        return out;
    };
    let (waiting, lost) = spool(&decision, &places, invocation).look();
    _ = writeln!(out, "config:    {}", places.config.display());
    _ = writeln!(
        out,
        "spool:     {} ({} waiting, {lost} lost)",
        places.state.display(),
        waiting.len()
    );
    let program = invocation.program;
    _ = match &decision {
        Decision::On(_) => writeln!(
            out,
            "\nTo switch it off: {program} config set {EXPORT}=none"
        ),
        Decision::Off(Reason::OptedOut(Source::File(key, _))) => {
            writeln!(out, "\nTo switch it on: {program} config unset {key}")
        }
        Decision::Off(Reason::Broken(_)) => Ok(()),
        Decision::Off(_) => writeln!(
            out,
            "\nTo keep it off everywhere: {program} config set {EXPORT}=none"
        ),
    };
    out
}

/// The counts for the current destination, or for any.
fn spool(decision: &Decision, places: &Places, invocation: &Invocation<'_>) -> Spool {
    match decision {
        Decision::On(plan) => plan.spool(invocation),
        Decision::Off(_) => Spool::of_all(&places.state),
    }
}

/// What `usage show` says: what the next request holds, and what the last one held.
pub fn show(invocation: &Invocation<'_>) -> Result<String, Error> {
    let places = Places::find(invocation).ok_or(Error::NoHome)?;
    let spool = spool(&decide(invocation), &places, invocation);
    let mut out = state(invocation);
    let (waiting, lost) = spool.look();
    let part = |out: &mut String, title: &str, document: Option<&Value>| {
        _ = writeln!(out, "\n# {title}");
        match document {
            Some(it) => _ = writeln!(out, "{}", json::to_string_pretty(it, "  ")),
            None => _ = writeln!(out, "nothing"),
        }
    };
    let waits = !waiting.is_empty();
    let next = waits.then(|| send::request(waiting, lost, invocation.now));
    part(&mut out, "what would be sent now", next.as_ref());
    part(&mut out, "what was sent last", spool.last().as_ref());
    Ok(out)
}
