//! What a DELETE does, and what it leaves alone.

use json::{Value, json};

use crate::fixture::Fixture;

const MAPS: &str = "/api/v1/namespaces/n/configmaps";
const PODS: &str = "/api/v1/namespaces/n/pods";

fn finalizers(object: &Value) -> Vec<&str> {
    let all = object.at(&["metadata", "finalizers"]);
    let all = all.and_then(Value::as_array).map_or(&[][..], |it| it);
    all.iter().filter_map(Value::as_str).collect()
}

#[tokio::test]
async fn a_second_delete_without_a_policy_keeps_the_first_ones() {
    let fixture = Fixture::new();
    let admin = &fixture.admin;
    for (policy, finalizer) in [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")] {
        let map =
            json!({"metadata": {"name": (policy.to_lowercase()), "finalizers": ["example.com/x"]}});
        admin.create(MAPS, &map).await.unwrap();
        let path = format!("{MAPS}/{}", policy.to_lowercase());
        let options = json!({"propagationPolicy": policy});
        let first = admin.delete(&path, &options).await.unwrap();
        assert_eq!(finalizers(&first), ["example.com/x", finalizer]);
        for options in [Value::Null, json!({"gracePeriodSeconds": 0})] {
            let again = admin.delete(&path, &options).await.unwrap();
            assert_eq!(finalizers(&again), ["example.com/x", finalizer]);
            let live = admin.get(&path).await.unwrap();
            assert_eq!(finalizers(&live), ["example.com/x", finalizer]);
        }
        // Another policy is another wish.
        let options = json!({"propagationPolicy": "Background"});
        let other = admin.delete(&path, &options).await.unwrap();
        assert_eq!(finalizers(&other), ["example.com/x"]);
    }
}

#[tokio::test]
async fn a_dry_run_marks_nothing() {
    let fixture = Fixture::new();
    let admin = &fixture.admin;
    let pod = json!({
        "metadata": {"name": "p"},
        "spec": {"nodeName": "node", "containers": [{"name": "c", "image": "i"}]},
    });
    let made = admin.create(PODS, &pod).await.unwrap();
    let path = format!("{PODS}/p");
    for grace in [json!(0), json!(5), Value::Null] {
        let options = json!({"gracePeriodSeconds": (grace.clone()), "dryRun": ["All"]});
        let answer = admin.delete(&path, &options).await.unwrap();
        let marked = answer.at(&["metadata", "deletionGracePeriodSeconds"]);
        let want = if grace.is_null() {
            json!(30)
        } else {
            grace.clone()
        };
        assert_eq!(marked, Some(&want), "what would be");
        assert_eq!(admin.get(&path).await.unwrap(), made, "{grace}");
    }
    admin
        .delete(&path, &json!({"gracePeriodSeconds": 0}))
        .await
        .unwrap();
    assert!(admin.get(&path).await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn deletecollection_goes_on_where_its_token_says() {
    let fixture = Fixture::new();
    let admin = &fixture.admin;
    for name in ["a", "b", "c", "d"] {
        admin
            .create(MAPS, &json!({"metadata": {"name": name}}))
            .await
            .unwrap();
    }
    let names = async || -> Vec<String> {
        let items = admin.items(MAPS).await.unwrap();
        let names = items.iter().map(|it| it.str_at(&["metadata", "name"]));
        names.map(|it| it.unwrap().to_owned()).collect()
    };
    let page = admin.get(&format!("{MAPS}?limit=2")).await.unwrap();
    let token = page.str_at(&["metadata", "continue"]).unwrap();
    let path = format!("{MAPS}?limit=1&continue={token}");
    let deleted = admin.delete(&path, &Value::Null).await.unwrap();
    assert_eq!(names().await, ["a", "b", "d"]);
    let token = deleted.str_at(&["metadata", "continue"]).unwrap();
    let path = format!("{MAPS}?continue={token}");
    admin.delete(&path, &Value::Null).await.unwrap();
    assert_eq!(names().await, ["a", "b"]);
}
