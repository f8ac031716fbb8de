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

#[test]
fn a_key_that_is_no_string_is_shown_with_its_object() {
    assert_eq!(
        built("resources: [map.yaml]\ncommonLabels: {1: b}\n"),
        "map[string]interface {}{\"apiVersion\":\"v1\", \"data\":map[string]interface {}{\"b\":\"c\"}, \"kind\":\"ConfigMap\", \"metadata\":map[string]interface {}{\"labels\":map[interface {}]interface {}{\"x\":\"1\", 1:\"b\"}, \"name\":\"a\"}}: json: unsupported type: map[interface {}]interface {}"
    );
}

#[test]
fn a_selector_of_labels_is_read_as_kyaml_reads_it() {
    let patched = |target: &str| {
        let text = "resources: [map.yaml]\npatches:\n- patch: '[{\"op\":\"add\",\"path\":\"/data/z\",\"value\":\"x\"}]'\n";
        built(&format!("{text}  target: {target}\n"))
    };
    let is_patched = |target: &str| patched(target).contains("z: x");
    assert!(is_patched("{labelSelector: 'x in (1,2),!y'}"));
    assert!(!is_patched("{labelSelector: 'x notin (1,2)'}"));
    // Nobody reads it.
    assert!(!is_patched("{kind: Secret, labelSelector: '*'}"));
    let why = |selector: &str| {
        let error = patched(&format!("{{labelSelector: '{selector}'}}"));
        let start = error.strip_prefix("unable to parse requirement: ");
        start.map(str::to_owned).unwrap_or(error)
    };
    assert_eq!(
        why("a b"),
        "found 'b', expected: '=', '!=', '==', 'in', notin'"
    );
    assert_eq!(
        why("x>y"),
        "for 'Gt', 'Lt' operators, the value must be an integer"
    );
    assert!(why("*").starts_with("invalid label key \"*\": name part must consist of"));
    assert!(
        why("x=_").starts_with("invalid label value: \"_\": at key: \"x\": a valid label must")
    );
    assert!(
        why("A_/x")
            .starts_with("invalid label key \"A_/x\": prefix part a DNS-1123 subdomain must")
    );
    assert_eq!(why("a=b,"), "found '', expected: identifier after ','");
}

#[test]
fn types_are_called_as_in_go() {
    for (text, field) in [
        (
            "patchesStrategicMerge: x",
            "string into Go struct field Kustomization.patchesStrategicMerge of type []types.PatchStrategicMerge",
        ),
        (
            "sortOptions: {order: 1}",
            "number into Go struct field SortOptions.sortOptions.order of type types.SortOrder",
        ),
        (
            "replacements: [{targets: x}]",
            "string into Go struct field ReplacementField.replacements.Replacement.targets of type []*types.TargetSelector",
        ),
        (
            "replacements: [{source: {options: {index: x}}}]",
            "string into Go struct field FieldOptions.replacements.Replacement.source.options.index of type int",
        ),
    ] {
        let wanted = format!("invalid Kustomization: json: cannot unmarshal {field}");
        assert_eq!(built(&format!("{text}\n")), wanted);
    }
}

#[test]
fn what_is_wrong_is_told_as_upstream_tells_it() {
    let map = "resources: [map.yaml]\n";
    assert_eq!(
        built(&format!("{map}crds: [map.yaml]\n")),
        "loading CRDs [map.yaml]: unable to parse open API definition from 'map.yaml': error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type accumulator.OpenAPIDefinition"
    );
    assert_eq!(
        built(&format!(
            "{map}patches: [{{patch: '- {{op: remove, path: /x}}', target: {{name: \"*\"}}}}]\n"
        )),
        "error parsing regexp: missing argument to repetition operator: `*`"
    );
    assert_eq!(
        built(&format!(
            "{map}replacements: [{{source: {{kind: ConfigMap}}, targets: []}}]\n"
        )),
        "replacements must specify a source and at least one target"
    );
    let nowhere = built(&format!(
        "{map}replacements: [{{source: {{kind: ConfigMap}}, targets: [{{select: {{kind: ConfigMap}}, fieldPaths: [\"\"]}}]}}]\n"
    ));
    assert!(
        nowhere.starts_with("unable to find field \"\" in replacement target: wrong node kind: expected ScalarNode but got MappingNode"),
        "{nowhere}"
    );
    assert_eq!(
        built(&format!(
            "{map}patchesJson6902: [{{patch: x, target: {{kind: A}}}}]\n"
        )),
        "trouble configuring builtin PatchJson6902Transformer with config: `\njsonOp: x\ntarget:\n  kind: A\n`: must specify the target name"
    );
}

#[test]
fn types_of_configurations_are_called_as_in_go() {
    let why = |text: &str| {
        let files = Memory::from_iter([
            ("/app/kustomization.yaml", "configurations: [c.yaml]\n"),
            ("/app/c.yaml", text),
        ]);
        let built = build(&files, &Alone, "/app", &Options::default());
        built.err().map(|it| it.to_string()).unwrap_or_default()
    };
    let cannot =
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go";
    for (text, wanted) in [
        ("a", "value of type builtinconfig.TransformerConfig"),
        (
            "nameReference: x",
            "struct field TransformerConfig.nameReference of type builtinconfig.nbrSlice",
        ),
        (
            "images: x",
            "struct field TransformerConfig.images of type types.FsSlice",
        ),
    ] {
        assert_eq!(why(text), format!("{cannot} {wanted}"));
    }
}

#[test]
fn vars_that_stand_nowhere_are_told_of_before_an_error() {
    struct Logging(std::cell::RefCell<Vec<String>>);

    impl kustomize::Host for Logging {
        fn log(&self, line: &str) {
            self.0.borrow_mut().push(line.to_owned());
        }
    }

    let files = Memory::from_iter([
        (
            "/app/kustomization.yaml",
            "resources: [map.yaml]\nvars: [{name: V, objref: {kind: ConfigMap, name: a, apiVersion: v1}}]\nconfigurations: [c.yaml]\n",
        ),
        ("/app/map.yaml", MAP),
        (
            "/app/c.yaml",
            "varReference: [{kind: ConfigMap, path: data/*}]\n",
        ),
    ]);
    let host = Logging(std::cell::RefCell::default());
    let error = build(&files, &host, "/app", &Options::default()).expect_err("no such path");
    assert!(error.to_string().ends_with("not supported in PathGetter"));
    let logged = host.0.into_inner();
    assert_eq!(
        logged,
        ["well-defined vars that were never replaced: V"],
        "{error}"
    );
}
