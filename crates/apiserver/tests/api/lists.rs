//! Lists: order, pages, what a page remembers, and other forms.

use json::{Value, json};

use crate::fixture::Fixture;

const ALL: &str = "/api/v1/configmaps";

fn maps(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps")
}

async fn create(fixture: &Fixture, namespace: &str, name: &str) {
    let map = json!({"metadata": {"name": name}});
    fixture.admin.create(&maps(namespace), &map).await.unwrap();
}

fn names(list: &Value) -> String {
    let items = list.get("items").and_then(Value::as_array).unwrap();
    let name = |it: &Value| {
        let of = |key| it.str_at(&["metadata", key]).unwrap().to_owned();
        format!("{}/{}", of("namespace"), of("name"))
    };
    items.iter().map(name).collect::<Vec<_>>().join(" ")
}

async fn with_maps() -> Fixture {
    let fixture = Fixture::new();
    for (namespace, name) in [("m", "c"), ("n", "a"), ("m", "a"), ("n", "b"), ("m", "b")] {
        create(&fixture, namespace, name).await;
    }
    fixture
}

#[tokio::test]
async fn a_list_is_in_the_order_of_its_keys() {
    let fixture = with_maps().await;
    let list = fixture.admin.get(ALL).await.unwrap();
    assert_eq!(names(&list), "m/a m/b m/c n/a n/b");
    assert_eq!(list.str_at(&["kind"]), Some("ConfigMapList"));
    assert_eq!(list.str_at(&["apiVersion"]), Some("v1"));
    assert_eq!(list.at(&["metadata", "continue"]), None);
    assert_eq!(list.at(&["metadata", "remainingItemCount"]), None);
    assert_eq!(
        names(&fixture.admin.get(&maps("n")).await.unwrap()),
        "n/a n/b"
    );
    let none = fixture.admin.get(&maps("other")).await.unwrap();
    assert_eq!(none.get("items"), Some(&json!([])));
}

#[tokio::test]
async fn pages_show_one_moment() {
    let fixture = with_maps().await;
    let first = fixture.admin.get(&format!("{ALL}?limit=2")).await.unwrap();
    assert_eq!(names(&first), "m/a m/b");
    assert_eq!(
        first.at(&["metadata", "remainingItemCount"]),
        Some(&json!(3))
    );
    // What happens in between is not seen.
    create(&fixture, "m", "d").await;
    let gone = format!("{}/c", maps("m"));
    fixture.admin.delete(&gone, &Value::Null).await.unwrap();
    let token = |list: &Value| list.str_at(&["metadata", "continue"]).unwrap().to_owned();
    let path = format!("{ALL}?limit=2&continue={}", token(&first));
    let second = fixture.admin.get(&path).await.unwrap();
    assert_eq!(names(&second), "m/c n/a");
    assert_eq!(
        second.at(&["metadata", "remainingItemCount"]),
        Some(&json!(1))
    );
    let version = |list: &Value| {
        list.str_at(&["metadata", "resourceVersion"])
            .unwrap()
            .to_owned()
    };
    assert_eq!(version(&first), version(&second));
    let path = format!("{ALL}?limit=2&continue={}", token(&second));
    let third = fixture.admin.get(&path).await.unwrap();
    assert_eq!(names(&third), "n/b");
    assert_eq!(third.at(&["metadata", "continue"]), None);
    assert_eq!(
        names(&fixture.admin.get(ALL).await.unwrap()),
        "m/a m/b m/d n/a n/b"
    );
    // As many as there are: nothing is left.
    let whole = fixture
        .admin
        .get(&format!("{}?limit=2", maps("n")))
        .await
        .unwrap();
    assert_eq!(
        (names(&whole).as_str(), whole.at(&["metadata", "continue"])),
        ("n/a n/b", None)
    );
}

#[tokio::test]
async fn a_page_of_selected_objects_does_not_count_the_rest() {
    let fixture = Fixture::new();
    for (name, env) in [("a", "x"), ("b", "y"), ("c", "x"), ("d", "x")] {
        let map = json!({"metadata": {"name": name, "labels": {"env": env}}});
        fixture.admin.create(&maps("n"), &map).await.unwrap();
    }
    let path = format!("{}?labelSelector=env%3Dx&limit=2", maps("n"));
    let first = fixture.admin.get(&path).await.unwrap();
    assert_eq!(names(&first), "n/a n/c");
    assert_eq!(first.at(&["metadata", "remainingItemCount"]), None);
    let token = first.str_at(&["metadata", "continue"]).unwrap();
    let second = fixture
        .admin
        .get(&format!("{path}&continue={token}"))
        .await
        .unwrap();
    assert_eq!(names(&second), "n/d");
}

#[tokio::test]
async fn parameters_that_make_no_sense_are_refused() {
    let fixture = with_maps().await;
    for query in [
        "continue=x",
        "limit=x",
        "resourceVersion=x",
        "resourceVersionMatch=Exact",
        "resourceVersion=0&resourceVersionMatch=Exact",
        "resourceVersion=1&resourceVersionMatch=Other",
        "sendInitialEvents=true",
    ] {
        let refused = fixture.admin.get(&format!("{ALL}?{query}")).await;
        let refused = refused.expect_err(query);
        assert!(
            matches!(refused.code, 400 | 422),
            "{query}: {} {refused}",
            refused.code
        );
    }
    let future = fixture
        .admin
        .get(&format!("{ALL}?resourceVersion=99999999"))
        .await;
    assert_eq!(future.unwrap_err().code, 504);
}

#[tokio::test]
async fn an_exact_version_shows_the_past() {
    let fixture = with_maps().await;
    let list = fixture.admin.get(ALL).await.unwrap();
    let version = list.str_at(&["metadata", "resourceVersion"]).unwrap();
    create(&fixture, "n", "z").await;
    let exact = format!("{ALL}?resourceVersion={version}&resourceVersionMatch=Exact");
    assert_eq!(
        names(&fixture.admin.get(&exact).await.unwrap()),
        names(&list)
    );
    let newer = format!("{ALL}?resourceVersion={version}&resourceVersionMatch=NotOlderThan");
    assert_eq!(
        names(&fixture.admin.get(&newer).await.unwrap()),
        "m/a m/b m/c n/a n/b n/z"
    );
}

#[tokio::test]
async fn a_list_has_other_forms() {
    let fixture = with_maps().await;
    let get = async |accept: &str| fixture.request("GET", ALL, &[("accept", accept)], "").await;
    let table = get("application/json;as=Table;v=v1;g=meta.k8s.io")
        .await
        .json();
    assert_eq!(table.str_at(&["kind"]), Some("Table"));
    let rows = table.get("rows").and_then(Value::as_array).unwrap();
    assert_eq!(rows.len(), 5);
    let cells = rows[0].get("cells").and_then(Value::as_array).unwrap();
    assert_eq!(cells[..2], [json!("a"), json!(0)]);
    let form = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    let metadata = get(form).await.json();
    assert_eq!(
        metadata.str_at(&["kind"]),
        Some("PartialObjectMetadataList")
    );
    assert_eq!(names(&metadata), "m/a m/b m/c n/a n/b");
    let yaml = get("application/yaml").await;
    assert_eq!(yaml.header("content-type"), "application/yaml");
    assert!(
        yaml.body.starts_with(b"apiVersion: v1\nitems:\n"),
        "{yaml:?}"
    );
    let protobuf = get("application/vnd.kubernetes.protobuf").await;
    assert!(protobuf.body.starts_with(b"k8s\0"), "{protobuf:?}");
    let length = protobuf.body.len();
    create(&fixture, "n", "z").await;
    let more = get("application/vnd.kubernetes.protobuf").await;
    assert!(more.body.len() > length, "each object is in it");
    assert_eq!(get("text/csv").await.code, 406);
}
