//! Nothing that a user wrote leaves: a canary sits in every position of every field, and must not be heard elsewhere.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use testkit::receiver::{Receiver, otlp};

use crate::user::User;

/// Fits wherever a name, a path, a key or a value fits.
pub(crate) const CANARY: &str = "canaryq7x";

/// A kustomization for each field that there is, `@` where a user writes.
const FIELDS: &[(&str, &str)] = &[
    (
        "metadata",
        "metadata: {name: @, namespace: @, labels: {@: @}, annotations: {@: @}}",
    ),
    ("openapi", "openapi: {path: @.json, version: @, @: @}"),
    ("namePrefix", "namePrefix: @-"),
    ("nameSuffix", "nameSuffix: -@"),
    ("namespace", "namespace: @"),
    ("commonLabels", "commonLabels: {@: @, @/b: '@'}"),
    (
        "labels",
        "labels: [{pairs: {@: @}, includeSelectors: true, includeTemplates: true, includeVolumeClaimTemplates: true, fields: [{path: spec/@, group: @, version: @, kind: @, create: true}]}]",
    ),
    ("commonAnnotations", "commonAnnotations: {@: '# @'}"),
    (
        "patchesStrategicMerge",
        "patchesStrategicMerge: [@.yaml, \"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: @}\\ndata: {@: @}\"]",
    ),
    (
        "patchesJson6902",
        "patchesJson6902: [{target: {group: @, version: v1, kind: @, name: @, namespace: @}, path: @.json}]",
    ),
    (
        "patches",
        "patches: [{path: @.yaml, target: {group: @, version: @, kind: @, name: @, namespace: @, labelSelector: '@=@', annotationSelector: '@=@'}, options: {allowNameChange: true, allowKindChange: true}}, {patch: \"- {op: add, path: /@, value: @}\", target: {kind: @}}]",
    ),
    (
        "images",
        "images: [{name: @/@, newName: @, newTag: @, digest: 'sha256:@', tagSuffix: @}]",
    ),
    ("imageTags", "imageTags: [{name: @, newName: @, newTag: @}]"),
    (
        "replacements",
        "replacements: [{path: @.yaml}, {source: {group: @, version: @, kind: @, name: @, namespace: @, fieldPath: data.@, options: {delimiter: '@', index: 1, encoding: @, create: true}}, targets: [{select: {kind: @, name: @}, reject: [{name: @}], fieldPaths: [data.@], options: {delimiter: '@', create: true}}]}, {sourceValue: @, targets: [{select: {name: @}, fieldPaths: [data.@]}]}]",
    ),
    ("replicas", "replicas: [{name: @, count: 3}]"),
    (
        "vars",
        "vars: [{name: @, objref: {apiVersion: @/v1, group: @, version: v1, kind: @, name: @, namespace: @}, fieldref: {fieldPath: data.@}}]",
    ),
    (
        "sortOptions",
        "sortOptions: {order: legacy, legacySortOptions: {orderFirst: [@], orderLast: [@]}}",
    ),
    (
        "resources",
        "resources: [@.yaml, @-dir, 'https://@.example/@?ref=@', \"{kind: @}\"]",
    ),
    ("components", "components: [@-dir, ../@]"),
    ("crds", "crds: [@.json]"),
    ("bases", "bases: [@-dir]"),
    (
        "configMapGenerator",
        "configMapGenerator: [{name: @, namespace: @, behavior: create, literals: ['@=@'], files: ['@=@.txt', @.txt], envs: [@.env], env: @.env, options: {labels: {@: @}, annotations: {@: @}, disableNameSuffixHash: true, immutable: true}}]",
    ),
    (
        "secretGenerator",
        "secretGenerator: [{name: @, namespace: @, behavior: create, type: @/@, literals: ['@=@'], files: [@.txt], envs: [@.env], options: {labels: {@: @}, immutable: true}}]",
    ),
    ("helmGlobals", "helmGlobals: {chartHome: @, configHome: @}"),
    (
        "helmCharts",
        "helmCharts: [{name: @, version: @, repo: 'https://@.example/@', releaseName: @, namespace: @, additionalValuesFiles: [@.yaml], valuesFile: @.yaml, valuesInline: {@: {@: @}}, valuesMerge: merge, includeCRDs: true, skipHooks: true, apiVersions: [@/v1], kubeVersion: @, nameTemplate: @, skipTests: true, debug: true, devel: true}]",
    ),
    (
        "helmChartInflationGenerator",
        "helmChartInflationGenerator: [{chartName: @, chartVersion: @, chartRepoUrl: 'https://@.example', chartHome: @, chartRepoName: @, helmBin: @, helmHome: @, values: @, valuesLocal: {@: @}, valuesMerge: @, releaseName: @, releaseNamespace: @, extraArgs: ['--@=@']}]",
    ),
    (
        "generatorOptions",
        "generatorOptions: {labels: {@: @}, annotations: {@: @}, disableNameSuffixHash: true, immutable: true}",
    ),
    ("configurations", "configurations: [@-config.yaml]"),
    (
        "generators",
        "generators: [@.yaml, \"apiVersion: @/v1\\nkind: @\\nmetadata: {name: @}\"]",
    ),
    (
        "transformers",
        "transformers: [\"apiVersion: builtin\\nkind: PrefixTransformer\\nmetadata: {name: @}\\nprefix: @-\\nfieldSpecs: [{path: metadata/@}]\", \"apiVersion: builtin\\nkind: @\\nmetadata: {name: @}\"]",
    ),
    (
        "validators",
        "validators: [@.yaml, \"apiVersion: @.io/v1\\nkind: @\\nmetadata: {name: @, annotations: {config.kubernetes.io/function: 'exec: {path: ./@}'}}\"]",
    ),
    ("buildMetadata", "buildMetadata: [originAnnotations, @]"),
    ("kind", "kind: Kustomization\nnamespace: @\n# @"),
    (
        "apiVersion",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nnamespace: @",
    ),
];

/// What cannot be read at all, or is no field.
const BROKEN: &[&str] = &[
    "@: @",
    "namespace: @\n@: {@: @}",
    "kind: @\nnamespace: @",
    "apiVersion: @/v1\nnamespace: @",
    "namespace: [@]",
    "[@",
    "@",
    "",
];

fn fill(text: &str) -> String {
    text.replace('@', CANARY)
}

fn write_files(user: &User, directory: &str) {
    let write =
        |name: &str, text: &str| user.write(&fill(&format!("{directory}/{name}")), &fill(text));
    write(
        "@.yaml",
        "apiVersion: @.io/v1\nkind: @\nmetadata: {name: @, labels: {@: @}}\nspec: {@: @}\n",
    );
    write(
        "@.json",
        "[{\"op\": \"add\", \"path\": \"/@\", \"value\": \"@\"}]",
    );
    write("@.txt", "@\n");
    write("@.env", "@=@\n");
    write(
        "@-config.yaml",
        "nameReference: [{kind: @, fieldSpecs: [{kind: @, path: spec/@}]}]\n",
    );
    write(
        "@-dir/kustomization.yaml",
        "namePrefix: @-\nresources: [@.yaml]\n",
    );
    write(
        "@-dir/@.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '@'}\ndata: {@: @}\n",
    );
}

fn assert_silent(user: &User, receiver: &Receiver) {
    for it in receiver.received() {
        assert!(!it.text().to_lowercase().contains(CANARY), "{}", it.text());
    }
    let kept = user.kept();
    assert!(!kept.is_empty(), "there is something to look at");
    for (path, text) in kept {
        assert!(
            !text.to_lowercase().contains(CANARY),
            "{}: {text}",
            path.display()
        );
    }
}

#[test]
fn what_a_user_writes_stays() {
    let receiver = Receiver::start();
    let mut user = User::called(CANARY);
    user.set("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.url());
    for name in [
        "USER",
        "LOGNAME",
        "HOSTNAME",
        "PWD",
        "LANG",
        "TZ",
        "AWS_PROFILE",
        CANARY,
    ] {
        user.set(name, CANARY);
    }
    let directory = fill("@-work/@");
    write_files(&user, &directory);
    let build = |text: &str, field: &str| {
        user.write(&format!("{directory}/kustomization.yaml"), text);
        let done = user.run(&[
            "build",
            &directory,
            "--enable-helm",
            "--helm-command",
            CANARY,
            "--enable-alpha-plugins",
            "--env",
            &fill("@=@"),
            "--network-name",
            CANARY,
            "--helm-kube-version",
            CANARY,
        ]);
        assert!(done.code.is_some(), "{field}: {}", done.stderr);
        assert!(
            !done.stderr.contains("panicked"),
            "{field}: {}",
            done.stderr
        );
    };
    // The spool holds more than there are builds here; some are sent on the way, by processes that builds start.
    for (field, text) in FIELDS {
        build(&fill(text), field);
    }
    for text in BROKEN {
        build(&fill(text), text);
    }
    user.flush();

    // It can fail: all fields have been counted, and no build was passed over. What a process of before has taken may
    // still be on its way.
    let (mut fields, mut builds) = (BTreeSet::new(), 0);
    let end = Instant::now() + Duration::from_secs(60);
    while builds < FIELDS.len() + BROKEN.len() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
        (fields, builds) = (BTreeSet::new(), 0);
        for it in receiver.received() {
            for (name, count) in otlp::read(&it).sums() {
                if name.starts_with("kustomize.builds{") {
                    builds += usize::try_from(count).expect("a count");
                } else if let Some(field) = name.strip_prefix("kustomize.fields{field=") {
                    fields.insert(field.trim_end_matches('}').to_owned());
                }
            }
        }
    }
    assert_eq!(builds, FIELDS.len() + BROKEN.len());
    assert_silent(&user, &receiver);
    let missing: Vec<_> = FIELDS
        .iter()
        .filter(|(field, _)| !fields.contains(*field))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    for deep in [
        "helmCharts.valuesInline",
        "labels.fields.create",
        "patches.options.allowKindChange",
        "replacements.source.options.delimiter",
        "replacements.targets.reject.name",
        "secretGenerator.options.labels",
        "vars.objref.apiVersion",
    ] {
        assert!(fields.contains(deep), "{deep} in {fields:?}");
    }
}
