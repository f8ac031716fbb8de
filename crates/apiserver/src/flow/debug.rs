//! `/debug/api_priority_and_fairness/*`: levels, queues and requests as they are now, in kube-apiserver's tables.

use std::time::{Duration, SystemTime};

use flowcontrol::{QueueSet, RequestDump, Table};
use meta::time::{Time, go_duration_string};

use super::FlowControl;
use super::level::Level;
use super::seat::Carried;
use crate::request::{Query, RequestInfo};

/// What is there below that path; none if there is nothing of that name.
pub(crate) fn dump(flow: &FlowControl, query: &Query, name: &str) -> Option<String> {
    let table = match name {
        "dump_priority_levels" => levels(flow),
        "dump_queues" => queues(flow),
        "dump_requests" => {
            let details = query.get("includeRequestDetails");
            requests(flow, details.is_some_and(|it| !it.is_empty()))
        }
        _ => return None,
    };
    Some(table.render())
}

fn levels(flow: &FlowControl) -> Table {
    let mut table = Table::new(&[
        "PriorityLevelName",
        "ActiveQueues",
        "IsIdle",
        "IsQuiescing",
        "WaitingRequests",
        "ExecutingRequests",
        "DispatchedRequests",
        "RejectedRequests",
        "TimedoutRequests",
        "CancelledRequests",
    ]);
    for (name, active) in &flow.state().active {
        let level = &active.level;
        let (totals, busy) = if level.is_exempt {
            (level.exempt.totals(), 0)
        } else {
            let queues = level.queues();
            let busy = queues
                .dump()
                .iter()
                .filter(|it| !it.waiting.is_empty())
                .count();
            (queues.totals(), busy)
        };
        table.push(vec![
            name.clone(),
            busy.to_string(),
            level.is_idle().to_string(),
            active.is_quiescing.to_string(),
            totals.waiting.to_string(),
            totals.executing.to_string(),
            totals.dispatched.to_string(),
            totals.rejected.to_string(),
            // Upstream counts none of these: what waits for too long is cancelled.
            "0".to_owned(),
            totals.cancelled.to_string(),
        ]);
    }
    table
}

fn queues(flow: &FlowControl) -> Table {
    let mut table = Table::new(&[
        "PriorityLevelName",
        "Index",
        "PendingRequests",
        "ExecutingRequests",
        "SeatsInUse",
        "NextDispatchR",
        "InitialSeatsSum",
        "MaxSeatsSum",
        "TotalWorkSum",
    ]);
    for (name, active) in &flow.state().active {
        for (index, queue) in active.level.queues().dump().iter().enumerate() {
            table.push(vec![
                name.clone(),
                index.to_string(),
                queue.waiting.len().to_string(),
                queue.executing.len().to_string(),
                queue.seats_in_use.to_string(),
                queue.next_r.to_string(),
                queue.initial_seats.to_string(),
                queue.max_seats.to_string(),
                queue.work.to_string(),
            ]);
        }
    }
    table
}

const REQUEST: [&str; 10] = [
    "PriorityLevelName",
    "FlowSchemaName",
    "QueueIndex",
    "RequestIndexInQueue",
    "FlowDistingsher",
    "ArriveTime",
    "InitialSeats",
    "FinalSeats",
    "AdditionalLatency",
    "StartTime",
];
const DETAILS: [&str; 8] = [
    "UserName",
    "Verb",
    "APIPath",
    "Namespace",
    "Name",
    "APIVersion",
    "Resource",
    "SubResource",
];

fn requests(flow: &FlowControl, details: bool) -> Table {
    let headers = REQUEST
        .into_iter()
        .chain(DETAILS.into_iter().filter(|_| details));
    let mut table = Table::new(&headers.collect::<Vec<_>>());
    for active in flow.state().active.values() {
        let level = &active.level;
        of_level(&mut table, level, &level.queues(), details);
    }
    table
}

fn of_level(table: &mut Table, level: &Level, queues: &QueueSet<Carried>, details: bool) {
    let mut push = |queue: i64, place: i64, request: &RequestDump<'_, Carried>| {
        table.push(row(level, queue, place, request, details));
    };
    for (queue, it) in (0..).zip(queues.dump()) {
        for (place, request) in (0..).zip(&it.waiting) {
            push(queue, place, request);
        }
        for request in &it.executing {
            push(queue, -1, request);
        }
    }
    for request in &queues.dump_without_queue() {
        push(-1, -1, request);
    }
    for (since, request) in level.listed().requests.values() {
        let request = RequestDump {
            arrived: *since,
            started: Some(*since),
            work: request.arriving.work,
            data: request,
        };
        push(-1, -1, &request);
    }
}

fn row(
    level: &Level,
    queue: i64,
    place: i64,
    request: &RequestDump<'_, Carried>,
    details: bool,
) -> Vec<String> {
    let Carried {
        entry, arriving, ..
    } = request.data;
    let target = arriving.target.as_ref();
    let query = Query::parse(target.and_then(|it| it.query()));
    let path = target.map_or("/", |it| it.path());
    let info = RequestInfo::new(&arriving.method, path, &query).ok();
    let resource = info.and_then(|it| it.resource);
    let text = |read: fn(&crate::request::ResourceRequest<'_>) -> String| {
        resource.as_ref().map(read).unwrap_or_default()
    };
    let namespace = text(|it| it.namespace.to_string());
    let user = &arriving.user.name;
    let started = request.started.map_or_else(
        // Go's zero time.
        || "0001-01-01T00:00:00Z".to_owned(),
        |it| time(level.shared.at(it)),
    );
    let mut row = vec![
        level.name.clone(),
        entry.schema.name.clone(),
        queue.to_string(),
        place.to_string(),
        entry.shown_distinguisher(user, &namespace).to_owned(),
        time(level.shared.at(request.arrived)),
        request.work.initial_seats.to_string(),
        request.work.final_seats.to_string(),
        go_duration_string(Duration::from_nanos(request.work.additional_latency)),
        started,
    ];
    if details {
        let method = arriving.method.as_str().to_ascii_lowercase();
        let verb = resource
            .as_ref()
            .map_or(method, |it| it.verb.as_str().to_owned());
        row.extend([
            user.clone(),
            verb,
            path.to_owned(),
            namespace,
            text(|it| it.name.to_string()),
            text(|it| match &*it.group {
                "" => it.version.to_string(),
                group => format!("{group}/{}", it.version),
            }),
            text(|it| it.resource.to_string()),
            text(|it| it.subresource.to_string()),
        ]);
    }
    row
}

/// As Go writes RFC 3339 with nanoseconds.
fn time(at: SystemTime) -> String {
    let since = at
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    let whole = Time::from_unix(seconds, 0).to_string();
    match since.subsec_nanos() {
        0 => whole,
        nanos => {
            let fraction = format!("{nanos:09}");
            let fraction = fraction.trim_end_matches('0');
            format!("{}.{fraction}Z", whole.trim_end_matches('Z'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_go_writes_them() {
        let at = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 120_000_000);
        assert_eq!(time(at), "2023-11-14T22:13:20.12Z");
        assert_eq!(time(SystemTime::UNIX_EPOCH), "1970-01-01T00:00:00Z");
    }
}
