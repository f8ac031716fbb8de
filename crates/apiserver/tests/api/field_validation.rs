//! `fieldValidation` of requests about custom resources.

use json::json;

use crate::fixture::Fixture;

const WIDGETS: &str = "/apis/example.com/v1/namespaces/n/widgets";

#[tokio::test]
async fn strict_is_strict_for_patches_of_custom_resources() {
    let fixture = Fixture::new();
    let spec = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    fixture
        .define("widgets", "Widget", "Namespaced", spec)
        .await;
    let widget = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"a": "1"},
    });
    fixture.admin.create(WIDGETS, &widget).await.unwrap();
    let applied =
        r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":"#;
    let unknown = "strict decoding error: unknown field \"spec.b\"";
    // The kind of a patch, its body, and what upstream says of it.
    let cases = [
        (
            "application/merge-patch+json",
            r#"{"spec":{"a":"2","b":1}}"#.to_owned(),
            unknown,
        ),
        (
            "application/json-patch+json",
            r#"[{"op":"add","path":"/spec/b","value":1}]"#.to_owned(),
            unknown,
        ),
        (
            "application/merge-patch+json",
            r#"{"spec":{"a":"2","a":"3"}}"#.to_owned(),
            "strict decoding error: duplicate field \"spec.a\"",
        ),
        (
            "application/apply-patch+yaml",
            format!(r#"{applied}{{"a":"2","b":1}}}}"#),
            ".spec.b: field not declared in schema",
        ),
    ];
    for (kind, body, text) in cases {
        let patch = async |validation: &str| {
            let query = format!("fieldManager=m&fieldValidation={validation}");
            let path = format!("{WIDGETS}/w?{query}");
            let headers = [("content-type", kind)];
            fixture
                .request("PATCH", &path, &headers, body.clone())
                .await
        };
        let before = fixture.admin.get(&format!("{WIDGETS}/w")).await.unwrap();
        let strict = patch("Strict").await;
        assert!(
            strict.code.is_client_error() || strict.code == 500,
            "{strict:?}"
        );
        assert!(strict.message().contains(text), "{strict:?}");
        let after = fixture.admin.get(&format!("{WIDGETS}/w")).await.unwrap();
        assert_eq!(before, after, "{kind} {body}");
        if kind.contains("apply") {
            // The merge itself knows the schema.
            continue;
        }
        let warn = patch("Warn").await;
        assert_eq!(warn.code, 200, "{warn:?}");
        let field = text.trim_start_matches("strict decoding error: ");
        assert!(
            warn.header("warning").contains(&field.replace('"', "\\\"")),
            "{warn:?}"
        );
        let ignore = patch("Ignore").await;
        assert_eq!((ignore.code.as_u16(), ignore.header("warning")), (200, ""));
    }
}
