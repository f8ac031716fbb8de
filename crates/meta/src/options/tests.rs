use json::json;

use super::*;

fn pairs(query: &str) -> Vec<(&str, &str)> {
    let pairs = query.split('&').filter(|it| !it.is_empty());
    pairs
        .map(|it| it.split_once('=').unwrap_or((it, "")))
        .collect()
}

fn said<T>(result: Result<T, Status>) -> String {
    result.err().map(|it| it.message).unwrap_or_default()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn lists() {
    let invalid = |errors: &str| format!(r#"ListOptions.meta.k8s.io "" is invalid: {errors}"#);
    let rvm = "resourceVersionMatch: Forbidden: ";
    let requires =
        format!("{rvm}sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    let gate = "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
    let table = [
        ("", false, String::new()),
        (
            "resourceVersion=1&resourceVersionMatch=Exact",
            false,
            String::new(),
        ),
        (
            "resourceVersion=0&resourceVersionMatch=Exact",
            false,
            invalid(&format!(
                r#"{rvm}resourceVersionMatch "exact" is forbidden for resourceVersion "0""#
            )),
        ),
        (
            "resourceVersion=0&resourceVersionMatch=NotOlderThan",
            false,
            String::new(),
        ),
        (
            "resourceVersion=0&resourceVersionMatch=foo",
            false,
            invalid(
                r#"resourceVersionMatch: Unsupported value: "foo": supported values: "Exact", "NotOlderThan", """#,
            ),
        ),
        (
            "resourceVersionMatch=Exact&continue=x",
            false,
            invalid(&format!(
                "[{rvm}resourceVersionMatch is forbidden unless resourceVersion is provided, {rvm}resourceVersionMatch is forbidden when continue is provided]"
            )),
        ),
        (
            "sendInitialEvents=true",
            false,
            invalid("sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"),
        ),
        ("watch=true", false, String::new()),
        (
            "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
            true,
            String::new(),
        ),
        (
            "watch=1&sendInitialEvents=0&resourceVersionMatch=NotOlderThan",
            true,
            String::new(),
        ),
        (
            "watch=1&resourceVersion=5&resourceVersionMatch=NotOlderThan",
            false,
            invalid(&format!(
                "{rvm}resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            )),
        ),
        (
            "watch=1&sendInitialEvents=true",
            false,
            invalid(&format!("[{requires}, {gate}]")),
        ),
        (
            "watch=1&sendInitialEvents=true&resourceVersionMatch=Exact",
            true,
            invalid(&format!(
                r#"[{requires}, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]"#
            )),
        ),
        (
            "watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&continue=123",
            true,
            invalid(&format!(
                "{rvm}resourceVersionMatch is forbidden when continue is provided"
            )),
        ),
        (
            "limit=x",
            false,
            r#"strconv.ParseInt: parsing "x": invalid syntax"#.into(),
        ),
        (
            "timeoutSeconds=99999999999999999999",
            false,
            r#"strconv.ParseInt: parsing "99999999999999999999": value out of range"#.into(),
        ),
        (
            "labelSelector=a,,",
            false,
            "found ',', expected: identifier after ','".into(),
        ),
        (
            "fieldSelector=a",
            false,
            "invalid selector: 'a'; can't understand 'a'".into(),
        ),
    ];
    for (query, watch_list, want) in table {
        assert_eq!(
            said(ListOptions::from_query(&Query(&pairs(query)), watch_list)),
            want,
            "{query}"
        );
    }
}

#[test]
fn list_fields() {
    let query = "labelSelector=a&fieldSelector=metadata.name%3Db&watch=0&limit=5&limit=6&timeoutSeconds=9&continue=c";
    let mut query = pairs(query);
    query[1].1 = "metadata.name=b";
    let options = ListOptions::from_query(&Query(&query), true).expect("a good query");
    assert_eq!(options.label_selector.to_string(), "a");
    assert_eq!(
        options.field_selector.exact_match("metadata.name"),
        Some("b")
    );
    assert_eq!(
        (options.watch, options.limit, options.timeout_seconds),
        (false, 5, Some(9))
    );
    let watch = |query| ListOptions::from_query(&Query(&pairs(query)), true).expect("a good query");
    assert_eq!(watch("watch=true").send_initial_events, Some(true));
    assert_eq!(
        watch("watch=true&resourceVersion=5").send_initial_events,
        None
    );
}

#[test]
fn writes() {
    let long = format!("fieldManager={}", "f".repeat(129));
    let create = |query| said(CreateOptions::from_query(&Query(&pairs(query))));
    let invalid = |error: &str| format!(r#"CreateOptions.meta.k8s.io "" is invalid: {error}"#);
    let table = [
        ("", String::new()),
        (
            "dryRun=All&dryRun=All&fieldValidation=Strict",
            String::new(),
        ),
        (
            "dryRun=All&dryRun=x",
            invalid(r#"dryRun: Unsupported value: ["All","x"]: supported values: "All""#),
        ),
        (
            "dryRun=",
            invalid(r#"dryRun: Unsupported value: [""]: supported values: "All""#),
        ),
        ("fieldManager=你好", String::new()),
        (
            "fieldManager=a\nb",
            invalid(
                r#"fieldManager: Invalid value: "a\nb": invalid character U+000A (at position 1)"#,
            ),
        ),
        (
            &long,
            invalid("fieldManager: Too long: may not be more than 128 bytes"),
        ),
        (
            "fieldValidation=x",
            invalid(
                r#"fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn""#,
            ),
        ),
    ];
    for (query, want) in table {
        assert_eq!(create(query), want, "{query}");
    }
    let patch = |query, apply| said(PatchOptions::from_query(&Query(&pairs(query)), apply));
    let invalid = |error: &str| format!(r#"PatchOptions.meta.k8s.io "" is invalid: {error}"#);
    let table = [
        ("force=true&fieldManager=kubectl", true, String::new()),
        ("fieldManager=patcher", false, String::new()),
        (
            "",
            true,
            invalid("fieldManager: Required value: is required for apply patch"),
        ),
        (
            "force=false",
            false,
            invalid("force: Forbidden: may not be specified for non-apply patch"),
        ),
    ];
    for (query, apply, want) in table {
        assert_eq!(patch(query, apply), want, "{query}");
    }
    let update = said(UpdateOptions::from_update_query(&Query(&pairs("dryRun=x"))));
    assert!(update.starts_with("UpdateOptions.meta.k8s.io"), "{update}");
}

#[test]
fn deletes() {
    let invalid = |error: &str| format!(r#"DeleteOptions.meta.k8s.io "" is invalid: {error}"#);
    let both = invalid(
        r#"propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set"#,
    );
    let unknown = invalid(
        r#"propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil""#,
    );
    let queries = [
        ("", String::new()),
        (
            "gracePeriodSeconds=0&propagationPolicy=Foreground&dryRun=All",
            String::new(),
        ),
        (
            "propagationPolicy=Orphan&orphanDependents=true",
            both.clone(),
        ),
        ("propagationPolicy=x", unknown.clone()),
        (
            "gracePeriodSeconds=x",
            r#"strconv.ParseInt: parsing "x": invalid syntax"#.into(),
        ),
    ];
    for (query, want) in queries {
        assert_eq!(
            said(DeleteOptions::from_query(&Query(&pairs(query)))),
            want,
            "{query}"
        );
    }
    let go = "json: cannot unmarshal string into Go struct field DeleteOptions.";
    let ignore = |error: &str| {
        format!(
            "ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set together with .{error}"
        )
    };
    let bodies = [
        (json!({}), String::new()),
        (
            json!({"kind": "DeleteOptions", "apiVersion": "apps/v1", "gracePeriodSeconds": 5}),
            String::new(),
        ),
        (
            json!({"propagationPolicy": "Orphan", "orphanDependents": false}),
            both,
        ),
        (json!({"propagationPolicy": "x"}), unknown),
        (
            json!({"dryRun": ["x"]}),
            invalid(r#"dryRun: Unsupported value: ["x"]: supported values: "All""#),
        ),
        (
            json!({"kind": "Pod"}),
            r#"no kind "Pod" is registered for version "meta.k8s.io/v1" in scheme "pkg/apis/meta/internalversion/scheme/register.go:27""#.into(),
        ),
        (
            json!({"gracePeriodSeconds": "5"}),
            format!("{go}gracePeriodSeconds of type int64"),
        ),
        (
            json!({"dryRun": "All"}),
            format!("{go}dryRun of type []string"),
        ),
        (
            json!({"ignoreStoreReadErrorWithClusterBreakingPotential": true, "propagationPolicy": "Background", "gracePeriodSeconds": 0, "preconditions": {}}),
            invalid(&format!(
                "[{}, {}, {}]",
                ignore("propagationPolicy"),
                ignore("gracePeriodSeconds"),
                ignore("preconditions")
            )),
        ),
        (
            json!({"preconditions": {"uid": 5}, "gracePeriodSeconds": "5"}),
            "json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type types.UID".into(),
        ),
        (
            json!([]),
            r#"couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#.into(),
        ),
        (
            json!({"kind": 5}),
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string".into(),
        ),
        (json!(null), String::new()),
    ];
    for (body, want) in bodies {
        assert_eq!(said(DeleteOptions::from_value(&body)), want, "{body}");
    }
}

#[test]
fn delete_fields() {
    let body = json!({"preconditions": {"uid": "u"}, "propagationPolicy": "Background"});
    let options = DeleteOptions::from_value(&body).expect("a good body");
    assert_eq!(options.propagation_policy, Some(Propagation::Background));
    assert_eq!(
        options.preconditions.and_then(|it| it.uid).as_deref(),
        Some("u")
    );
    let query = pairs("uid=u&resourceVersion=");
    let options = DeleteOptions::from_query(&Query(&query)).expect("a good query");
    assert_eq!(
        options.preconditions.and_then(|it| it.resource_version),
        None
    );
}

#[test]
fn tables() {
    let ask = |query| include_object(&Query(&pairs(query)));
    assert_eq!(ask(""), Ok(IncludeObject::Metadata));
    assert_eq!(ask("includeObject=None"), Ok(IncludeObject::None));
    assert_eq!(
        said(ask("includeObject=x")),
        r#"Unable to convert to Table as requested: includeObject: Invalid value: "x": must be 'Metadata', 'Object', 'None', or empty"#
    );
}
