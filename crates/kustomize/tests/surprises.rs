//! Where kustomize 5.8.1 does what one would not expect, and this does the same.

use kustomize::{Alone, Memory, Options, build};

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels:\n    x: \"1\"\ndata:\n  b: c\n";

/// The text of a build, or its error.
fn built(kustomization: &str) -> String {
    let files = Memory::from_iter([
        ("/app/kustomization.yaml", kustomization),
        ("/app/map.yaml", MAP),
    ]);
    let mut out = Vec::new();
    let built = build(&files, &Alone, "/app", &Options::default());
    match built.and_then(|it| it.write(&mut out)) {
        Ok(()) => String::from_utf8(out).expect("text"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_patch_that_replaces_a_whole_resource_does_nothing() {
    let patched = |directive: &str| {
        built(&format!(
            "resources: [map.yaml]\npatches:\n- patch: |-\n    $patch: {directive}\n    apiVersion: v1\n    kind: ConfigMap\n    metadata:\n      name: a\n    data:\n      d: e\n"
        ))
    };
    let unchanged = built("resources: [map.yaml]\n");
    assert!(unchanged.contains("b: c"), "{unchanged}");
    assert_eq!(patched("replace"), unchanged);
    assert!(patched("merge").contains("b: c\n  d: e"));
    assert_eq!(patched("delete"), "");
}

#[test]
fn replacements_are_shown_under_the_name_of_a_field_of_go() {
    let error =
        built("resources: [map.yaml]\nreplacements:\n- path: r.yaml\n  source: {kind: X}\n");
    assert_eq!(
        error,
        "trouble configuring builtin ReplacementTransformer with config: `\nReplacements:\n- path: r.yaml\n  source:\n    kind: X\n`: cannot specify both path and inline replacement"
    );
}

#[test]
fn a_path_of_a_configuration_may_hold_what_is_no_field() {
    let labelled = |path: &str| {
        let files = Memory::from_iter([
            (
                "/app/kustomization.yaml",
                "resources: [map.yaml]\ncommonAnnotations: {k: v}\nconfigurations: [c.yaml]\n",
            ),
            ("/app/map.yaml", MAP),
            (
                "/app/c.yaml",
                &format!("commonAnnotations:\n- path: {path}\n  create: true\n"),
            ),
        ]);
        let built = build(&files, &Alone, "/app", &Options::default());
        built.err().map(|it| it.to_string()).unwrap_or_default()
    };
    let considering = |path: &str| {
        format!("considering field '{path}' of object ConfigMap.v1.[noGrp]/a.[noNs]: fieldName: ")
    };
    assert_eq!(labelled("metadata/more"), "");
    assert_eq!(
        labelled("metadata/labels/*"),
        considering("metadata/labels/*") + "*: wildcard is not supported in PathGetter"
    );
    assert_eq!(
        labelled("metadata/-2"),
        considering("metadata/-2") + "-2: array index -2 cannot be negative"
    );
}
