//! What the server says of its work: a line per request, as klog would write it.

use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use apiserver::request_log::{Answered, RequestLog};
use clap::Args;
use meta::time::Time;

/// From which level on requests are told, as upstream.
const REQUESTS: i32 = 3;
/// What upstream's file is called that logs requests: `--vmodule httplog=3` turns on this and nothing else.
const FILE: &str = "httplog";

#[derive(Debug, Args)]
#[command(next_help_heading = "Logs")]
pub(crate) struct Logs {
    /// How much to tell on stderr; from 3 on each request
    #[arg(short, long, value_name = "LEVEL", default_value_t = 0)]
    v: i32,
    /// Levels of single parts as pattern=LEVEL; requests are httplog
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', value_parser = module)]
    vmodule: Vec<(String, i32)>,
}

impl Logs {
    pub(crate) fn requests(&self) -> Option<RequestLog> {
        // As klog: the first pattern that matches decides.
        let own = self.vmodule.iter().find(|(it, _)| matches(it, FILE));
        let level = own.map_or(self.v, |(_, level)| *level);
        (level >= REQUESTS).then_some(tell as RequestLog)
    }
}

fn module(text: &str) -> Result<(String, i32), String> {
    let fault = || "it is not a list of pattern=LEVEL".to_owned();
    let (pattern, level) = text.split_once('=').ok_or_else(fault)?;
    let level = level.parse().map_err(|_| fault())?;
    if pattern.is_empty() {
        return Err(fault());
    }
    Ok((pattern.to_owned(), level))
}

/// `*` stands for any text, `?` for one character.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.as_bytes().split_first() {
        None => name.is_empty(),
        Some((b'*', _)) => {
            let rest = &pattern[1..];
            (0..=name.len()).any(|at| name.is_char_boundary(at) && matches(rest, &name[at..]))
        }
        Some(_) => {
            let (mut pattern, mut name) = (pattern.chars(), name.chars());
            let (wanted, found) = (pattern.next(), name.next());
            found.is_some()
                && (wanted == Some('?') || wanted == found)
                && matches(pattern.as_str(), name.as_str())
        }
    }
}

fn tell(request: &Answered<'_>) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    let now = Time::from_unix(
        i64::try_from(now.as_secs()).unwrap_or_default(),
        now.subsec_nanos(),
    );
    let line = line(&now.to_micro_string(), request);
    // Whoever reads along may be gone.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// `now` is like 2026-11-16T02:21:01.123456Z.
fn line(now: &str, request: &Answered<'_>) -> String {
    let part = |range| now.get(range).unwrap_or_default();
    let source = request.source.map(|it| format!(" srcIP=\"{it}\""));
    let impersonated = request.impersonated;
    let impersonated = impersonated.map(|it| format!(" impersonatedUser={it:?}"));
    format!(
        "I{}{} {} {FILE}] \"HTTP\" verb={:?} URI={:?} latency=\"{:?}\" userAgent={:?} audit-ID={:?}{} user={:?}{} resp={}\n",
        part(5..7),
        part(8..10),
        part(11..26),
        request.verb.to_ascii_uppercase(),
        request.uri,
        request.latency,
        request.user_agent,
        request.audit_id,
        source.unwrap_or_default(),
        request.user,
        impersonated.unwrap_or_default(),
        request.code,
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn levels() {
        let level = |v, vmodule: &str| {
            let vmodule = vmodule.split(',').filter(|it| !it.is_empty());
            let vmodule = vmodule.map(|it| module(it).unwrap()).collect();
            Logs { v, vmodule }.requests().is_some()
        };
        assert!(!level(0, "") && !level(2, "") && level(3, "") && level(10, ""));
        assert!(level(0, "httplog=3") && level(0, "other=1,http*=4") && level(0, "httplo?=3"));
        assert!(!level(9, "httplog=2") && !level(0, "http=9") && !level(0, "httplog?=9"));
        assert!(!level(3, "h*=0,httplog=9"), "the first that matches");
        assert!(module("x").is_err() && module("=1").is_err() && module("x=y").is_err());
        assert!(!matches(&"*a".repeat(12), "httplog"));
    }

    #[test]
    fn a_line_holds_no_line_break() {
        let request = Answered {
            verb: "list",
            uri: "/api/v1/pods?limit=5".into(),
            code: 200,
            latency: Duration::from_micros(1500),
            user_agent: "kubectl",
            user: "a\nb\"",
            impersonated: Some("c"),
            audit_id: "id",
            source: Some(([127, 0, 0, 1], 5).into()),
        };
        assert_eq!(
            line("2026-11-16T02:21:01.123456Z", &request),
            "I1116 02:21:01.123456 httplog] \"HTTP\" verb=\"LIST\" URI=\"/api/v1/pods?limit=5\" latency=\"1.5ms\" \
             userAgent=\"kubectl\" audit-ID=\"id\" srcIP=\"127.0.0.1:5\" user=\"a\\nb\\\"\" impersonatedUser=\"c\" \
             resp=200\n"
        );
    }
}
