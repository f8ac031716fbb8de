//! `FlowSchema` and `PriorityLevelConfiguration` objects, for the filter that goes by them.

use std::sync::{Arc, Weak};

use json::Value;
use store::{Event, Snapshot};

use super::{Starting, parse};
use crate::catalog::object;
use crate::flow::{self, Changed, FlowControl};
use crate::state::Api;

const SCHEMAS: &str = "/flowschemas/";
const LEVELS: &str = "/prioritylevelconfigurations/";

/// Reads them, goes on, and keeps seats where they are asked for.
pub(super) fn start(informers: &mut Starting<'_>, snapshot: &Snapshot) {
    let api = informers.api.clone();
    let Some(filter) = api.limiter.flow() else {
        return;
    };
    for prefix in [LEVELS, SCHEMAS] {
        load(filter, prefix, snapshot);
        let (changed, again) = (filter.clone(), filter.clone());
        let change = move |event: &Event| put(&changed, prefix, event);
        let reload = move |snapshot: &Snapshot| load(&again, prefix, snapshot);
        informers.add(prefix.to_owned(), change, reload);
    }
    tokio::spawn(maintain(Arc::downgrade(&api), filter.clone()));
}

fn load(filter: &FlowControl, prefix: &str, snapshot: &Snapshot) {
    let all: Vec<Value> = (snapshot.range(prefix.as_bytes()))
        .filter_map(|it| parse(it))
        .collect();
    filter.configure(match prefix {
        LEVELS => Changed::Levels(all),
        _ => Changed::Schemas(all),
    });
}

fn put(filter: &FlowControl, prefix: &str, event: &Event) {
    let current = event.current.as_deref().and_then(parse);
    let previous = event.previous.as_deref().and_then(parse);
    let Some(known) = current.as_ref().or(previous.as_ref()) else {
        return;
    };
    let name = object::name(known);
    filter.configure(match prefix {
        LEVELS => Changed::Level(name, current.as_ref()),
        _ => Changed::Schema(name, current.as_ref()),
    });
}

/// Keeps seats where they are needed until the server stops.
async fn maintain(api: Weak<Api>, filter: Arc<FlowControl>) {
    let mut adjusted = tokio::time::Instant::now();
    loop {
        tokio::time::sleep(flow::SWEEP).await;
        match api.upgrade() {
            Some(api) if !api.lifecycle.is_stopping() => {}
            _ => return,
        }
        filter.sweep();
        if adjusted.elapsed() >= flowcontrol::PERIOD {
            adjusted = tokio::time::Instant::now();
            filter.adjust();
        }
    }
}
