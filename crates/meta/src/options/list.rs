use super::{Query, refuse};
use crate::Status;
use crate::field::{Error, Path};
use crate::selector::{FieldSelector, LabelSelector};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GetOptions {
    pub resource_version: String,
}

impl GetOptions {
    pub fn from_query<S: AsRef<str>>(query: &Query<'_, S>) -> Self {
        Self {
            resource_version: query.text("resourceVersion"),
        }
    }
}

/// How `resourceVersion` is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceVersionMatch {
    Exact,
    NotOlderThan,
}

/// What is listed or watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    pub label_selector: LabelSelector,
    pub field_selector: FieldSelector,
    pub watch: bool,
    pub allow_watch_bookmarks: bool,
    pub resource_version: String,
    pub resource_version_match: Option<ResourceVersionMatch>,
    pub timeout_seconds: Option<i64>,
    pub limit: i64,
    pub continue_token: String,
    pub send_initial_events: Option<bool>,
    pub shard_selector: String,
}

impl ListOptions {
    /// `watch_list` is the feature gate of that name, which allows `sendInitialEvents`, and gives it to watches that
    /// always began that way.
    pub fn from_query<S: AsRef<str>>(
        query: &Query<'_, S>,
        watch_list: bool,
    ) -> Result<Self, Status> {
        let mut matched = query.text("resourceVersionMatch");
        let bad = |it: &dyn std::fmt::Display| Status::bad_request(it.to_string());
        let mut options = Self {
            watch: query.flag("watch").unwrap_or(false),
            allow_watch_bookmarks: query.flag("allowWatchBookmarks").unwrap_or(false),
            resource_version: query.text("resourceVersion"),
            timeout_seconds: query.number("timeoutSeconds")?,
            limit: query.number("limit")?.unwrap_or(0),
            continue_token: query.text("continue"),
            send_initial_events: query.flag("sendInitialEvents"),
            shard_selector: query.text("shardSelector"),
            resource_version_match: None,
            label_selector: LabelSelector::parse(&query.text("labelSelector"))
                .map_err(|it| bad(&it))?,
            field_selector: FieldSelector::parse(&query.text("fieldSelector"))
                .map_err(|it| bad(&it))?,
        };
        let legacy = matches!(&*options.resource_version, "" | "0");
        let silent = options.send_initial_events.is_none() && matched.is_empty();
        if watch_list && options.watch && legacy && silent {
            options.send_initial_events = Some(true);
            matched = "NotOlderThan".into();
        }
        options.resource_version_match = match &*matched {
            "Exact" => Some(ResourceVersionMatch::Exact),
            "NotOlderThan" => Some(ResourceVersionMatch::NotOlderThan),
            _ => None,
        };
        let errors = if options.watch {
            options.validate_watch(&matched, watch_list)
        } else {
            options.validate_list(&matched)
        };
        refuse(options, "ListOptions", &errors)
    }

    fn validate_list(&self, matched: &str) -> Vec<Error> {
        let mut errors = Vec::new();
        let path = Path::new("resourceVersionMatch");
        if !matched.is_empty() {
            if self.resource_version.is_empty() {
                errors.push(Error::forbidden(
                    path,
                    "resourceVersionMatch is forbidden unless resourceVersion is provided",
                ));
            }
            if !self.continue_token.is_empty() {
                errors.push(forbidden_with_continue());
            }
            if self.resource_version_match.is_none() {
                errors.push(Error::not_supported(
                    path,
                    matched,
                    ["Exact", "NotOlderThan", ""],
                ));
            }
            if matched == "Exact" && self.resource_version == "0" {
                errors.push(Error::forbidden(
                    path,
                    "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
                ));
            }
        }
        if self.send_initial_events.is_some() {
            errors.push(Error::forbidden(
                Path::new("sendInitialEvents"),
                "sendInitialEvents is forbidden for list",
            ));
        }
        errors
    }

    fn validate_watch(&self, matched: &str, watch_list: bool) -> Vec<Error> {
        let mut errors = Vec::new();
        let path = Path::new("resourceVersionMatch");
        let not_older = matched == "NotOlderThan";
        if self.send_initial_events.is_some() {
            if !not_older {
                errors.push(Error::forbidden(
                    path,
                    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
                ));
            }
            if !watch_list {
                errors.push(Error::forbidden(
                    Path::new("sendInitialEvents"),
                    "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
                ));
            }
        }
        if matched.is_empty() {
            return errors;
        }
        if self.send_initial_events.is_none() {
            errors.push(Error::forbidden(
                path,
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            ));
        }
        if !not_older {
            errors.push(Error::not_supported(path, matched, ["NotOlderThan"]));
        }
        if !self.continue_token.is_empty() {
            errors.push(forbidden_with_continue());
        }
        errors
    }
}

fn forbidden_with_continue() -> Error {
    Error::forbidden(
        Path::new("resourceVersionMatch"),
        "resourceVersionMatch is forbidden when continue is provided",
    )
}
