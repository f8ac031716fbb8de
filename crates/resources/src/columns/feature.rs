//! Features of the control plane and of others.

use json::Value;

use super::Column;
use super::cell::{NONE, cells, name, or};
use super::table::NAME;
use super::table::make::{AGE, column, text, wide};
use crate::clock::Now;
use crate::read::{Read, condition};

pub(crate) const FEATURE: &[Column] = &[
    NAME,
    text("Stage", "How mature the feature is."),
    column("Default", "boolean", 0, "Whether it is enabled by default."),
    text("Target", "What it is to become."),
    text(
        "State",
        "What it is; with a star if it is off and uses are stored.",
    ),
    text("Source", "What decided the target."),
    text("Agreed", "Whether all components have the same value."),
    text("Clean", "Whether nothing of it is stored while it is off."),
    AGE,
    wide("Locked", "Whether it cannot be anything but its default."),
    wide("Settable", "Who sets it."),
    wide("Uses", "Components that report, of those that should."),
    wide("Blocked", "What keeps it from its target."),
    column("Epoch", "integer", 1, "Number of the last transition."),
];

pub(crate) fn feature(it: &Value, now: Now) -> Vec<Value> {
    let of = |kind: &str| condition(it, kind).map_or(NONE, |it| it.text("status"));
    let state = or(it.text("status.state"), NONE);
    let dangles = state == "Off" && it.int("status.dangling.count") > 0;
    let uses = it.find("status.uses.reporters");
    let uses = uses.map(|it| format!("{}/{}", it.int("live"), it.int("expected")));
    let blocked = condition(it, "Blocked").filter(|it| it.text("status") == "True");
    cells![
        name(it),
        or(it.text("status.stage"), NONE),
        it.flag("status.default"),
        or(it.text("status.target"), NONE),
        if dangles {
            format!("{state}*")
        } else {
            state.to_owned()
        },
        or(it.text("status.source"), NONE),
        of("Agreed"),
        of("Clean"),
        now.age(it),
        if it.flag("status.locked") {
            "true"
        } else {
            "false"
        },
        or(it.text("status.settable"), NONE),
        uses.unwrap_or_else(|| NONE.to_owned()),
        blocked.map_or(NONE, |it| it.text("reason")),
        it.int("status.epoch"),
    ]
}
