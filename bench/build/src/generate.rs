//! Input: what a large team's overlay looks like, and what large definitions look like.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;

const HEAD: &str = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";

/// How many patches the overlay has.
const PATCHES: usize = 50;

/// One application with one label for all.
pub(crate) fn hello(root: &Path) -> Result<()> {
    fs::create_dir_all(root)?;
    fs::write(root.join("app.yaml"), app("hello", 1))?;
    let text = format!("{HEAD}labels:\n- pairs:\n    app: hello\nresources:\n- app.yaml\n");
    Ok(fs::write(root.join("kustomization.yaml"), text)?)
}

/// A base of so many resources, three for an application, and an overlay that gives all of them a namespace, a prefix
/// and labels, sets images, patches some, and replaces a value in every Deployment.
pub(crate) fn overlay(root: &Path, count: usize) -> Result<()> {
    let (base, overlay) = (root.join("base"), root.join("overlay"));
    fs::create_dir_all(&base)?;
    fs::create_dir_all(overlay.join("patches"))?;
    let names: Vec<_> = (0..count / 3).map(|i| format!("app-{i:05}")).collect();
    let mut text = format!("{HEAD}resources:\n");
    for (i, name) in names.iter().enumerate() {
        fs::write(base.join(format!("{name}.yaml")), app(name, i))?;
        writeln!(text, "- {name}.yaml")?;
    }
    if !count.is_multiple_of(3) {
        let account = |i| format!("apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: sa-{i}\n");
        let all: Vec<_> = (0..count % 3).map(account).collect();
        fs::write(base.join("extra.yaml"), all.join("---\n"))?;
        text.push_str("- extra.yaml\n");
    }
    fs::write(base.join("kustomization.yaml"), text)?;
    fs::write(overlay.join("kustomization.yaml"), top(&names, &overlay)?)?;
    Ok(())
}

fn top(names: &[String], overlay: &Path) -> Result<String> {
    let mut text = format!(
        "{HEAD}namespace: prod
namePrefix: prod-
commonLabels:
  env: prod
  team: core
resources:
- ../base
images:
- name: registry.example.com/team/app
  newTag: v9
- name: sidecar
  newName: mirror.example.com/sidecar
  digest: sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3
configMapGenerator:
- name: shared
  literals:
  - HOST=db.prod.example.com
replacements:
- source:
    kind: ConfigMap
    name: shared
    fieldPath: data.HOST
  targets:
  - select:
      kind: Deployment
    fieldPaths:
    - spec.template.spec.containers.[name=main].env.[name=HOST].value
patches:
"
    );
    for i in 0..PATCHES {
        let (name, replicas) = (&names[i * names.len() / PATCHES], i + 3);
        if i % 2 == 0 {
            let patch = format!(
                "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  replicas: {replicas}
  template:
    spec:
      containers:
      - name: main
        resources:
          limits:
            memory: {}Mi
",
                256 + i
            );
            fs::write(overlay.join(format!("patches/p{i}.yaml")), patch)?;
            writeln!(text, "- path: patches/p{i}.yaml")?;
        } else {
            writeln!(
                text,
                "- target:
    kind: Deployment
    name: {name}
  patch: |-
    - op: replace
      path: /spec/replicas
      value: {replicas}"
            )?;
        }
    }
    Ok(text)
}

fn app(name: &str, number: usize) -> String {
    format!(
        r#"apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  labels:
    app: {name}
spec:
  replicas: 2
  selector:
    matchLabels:
      app: {name}
  template:
    metadata:
      labels:
        app: {name}
    spec:
      containers:
      - name: main
        image: registry.example.com/team/app:1.{number}
        args: ["--config=/etc/{name}/config.yaml", "--v=2"]
        ports:
        - containerPort: 8080
          name: http
        env:
        - name: HOST
          value: placeholder
        - name: LEVEL
          valueFrom:
            configMapKeyRef:
              name: {name}-config
              key: level
        resources:
          requests:
            cpu: 100m
            memory: 128Mi
        volumeMounts:
        - name: cfg
          mountPath: /etc/{name}
      - name: sidecar
        image: sidecar:2.0
      volumes:
      - name: cfg
        configMap:
          name: {name}-config
---
apiVersion: v1
kind: Service
metadata:
  name: {name}
spec:
  selector:
    app: {name}
  ports:
  - name: http
    port: 80
    targetPort: http
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}-config
data:
  level: info
  config.yaml: |
    name: {name}
    listen: 0.0.0.0:8080
"#
    )
}

/// How many of about 230 kB each are 12 MB.
pub(crate) const DEFINITIONS: usize = 52;

/// Large custom resource definitions, which is what the largest real outputs consist of.
pub(crate) fn definitions(root: &Path) -> Result<()> {
    fs::create_dir_all(root)?;
    let mut text = format!("{HEAD}namespace: prod\nlabels:\n- pairs:\n    team: core\nresources:\n");
    for i in 0..DEFINITIONS {
        let mut crd = format!(
            "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things{i}.example.com
spec:
  group: example.com
  names:
    kind: Thing{i}
    plural: things{i}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
"
        );
        properties(&mut crd, 10, 2)?;
        fs::write(root.join(format!("crd-{i}.yaml")), crd)?;
        writeln!(text, "- crd-{i}.yaml")?;
    }
    Ok(fs::write(root.join("kustomization.yaml"), text)?)
}

/// A tree of properties, nine on each level, described in the ways that generators of definitions do.
fn properties(out: &mut String, indent: usize, levels: usize) -> Result<()> {
    let pad = " ".repeat(indent);
    for i in 0..9 {
        writeln!(out, "{pad}property{i}:")?;
        let text = match i % 3 {
            0 => format!(
                "|-\n{pad}    What property {i} is for, in a sentence that is as long as people write them.\n{pad}    And a second line."
            ),
            1 => format!(
                "What property {i} is for, in more words than fit on a line, so that\n{pad}    it goes on below. Read https://example.com/docs#property-{i}"
            ),
            _ => format!("'The name of what property {i} refers to: it must exist.'"),
        };
        writeln!(out, "{pad}  description: {text}")?;
        if levels > 0 {
            writeln!(out, "{pad}  type: object\n{pad}  required:\n{pad}  - property1\n{pad}  - property2\n{pad}  properties:")?;
            properties(out, indent + 4, levels - 1)?;
            continue;
        }
        let facts: &[&str] = match i % 5 {
            0 => &["type: string", "maxLength: 253", "pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'"],
            1 => &["type: integer", "format: int32", "default: 10", "minimum: 0"],
            2 => &["type: boolean"],
            3 => &["type: array", "items:", "  type: string", "x-kubernetes-list-type: atomic"],
            _ => &["anyOf:", "- type: integer", "- type: string", "x-kubernetes-int-or-string: true"],
        };
        for fact in facts {
            writeln!(out, "{pad}  {fact}")?;
        }
    }
    Ok(())
}
