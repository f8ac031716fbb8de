//! New objects.

use json::json;

use crate::fixture::Fixture;

const MAPS: &str = "/api/v1/namespaces/n/configmaps";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/n/widgets";

#[tokio::test]
async fn a_dry_run_answers_an_object_with_a_resource_version() {
    let fixture = Fixture::new();
    let spec = json!({"type": "object"});
    fixture
        .define("widgets", "Widget", "Namespaced", spec)
        .await;
    let admin = &fixture.admin;
    for (path, version, kind) in [
        (MAPS, "v1", "ConfigMap"),
        (WIDGETS, "example.com/v1", "Widget"),
    ] {
        for given in ["5", "0", "x"] {
            let object = json!({
                "apiVersion": version, "kind": kind, "metadata": {"name": "a", "resourceVersion": given},
            });
            let tried = admin.create(&format!("{path}?dryRun=All"), &object).await;
            let tried = tried.unwrap();
            assert_eq!(tried.str_at(&["metadata", "resourceVersion"]), Some(given));
            assert!(tried.str_at(&["metadata", "uid"]).is_some());
        }
        let object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}});
        let tried = admin.create(&format!("{path}?dryRun=All"), &object).await;
        assert_eq!(tried.unwrap().at(&["metadata", "resourceVersion"]), None);
        // Without the dry run it is the storage that notices.
        let object = json!({
            "apiVersion": version, "kind": kind, "metadata": {"name": "a", "resourceVersion": "5"},
        });
        let refused = admin.create(path, &object).await.unwrap_err();
        assert_eq!(
            (refused.code, &*refused.message),
            (
                500,
                "resourceVersion should not be set on objects to be created"
            )
        );
        assert!(
            admin
                .get(&format!("{path}/a"))
                .await
                .unwrap_err()
                .is_not_found()
        );
    }
}
