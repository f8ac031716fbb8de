//! Random kustomizations, around what is hard to do byte for byte: names with a hash over everything that go-yaml keeps of
//! an object (comments, styles, positions), replacements of all kinds of values, patches, labels.

mod rng;
mod yaml;

use rng::Rng;
use std::fmt::Write as _;
use yaml::Yaml;

type Files = Vec<(String, String)>;

const NEEDS_HASH: &str = "internal.config.kubernetes.io/needsHashSuffix";

/// The files of one, below a directory. It is in `root`.
pub(super) fn kustomization(seed: u64) -> Files {
    let mut make = Make {
        rng: Rng::new(seed),
        files: Vec::new(),
        objects: Vec::new(),
    };
    let base = make.rng.chance(30);
    if base {
        let resources = make.resources("base", 3);
        let text = make.root(&resources, 25);
        make.file("base/kustomization.yaml", text);
    }
    let count = if base { 1 } else { 4 };
    let mut resources = make.resources("root", count);
    if base {
        resources.push("../base".into());
    }
    let text = make.root(&resources, 30);
    make.file("root/kustomization.yaml", text);
    make.files
}

struct Make {
    rng: Rng,
    files: Files,
    objects: Vec<Object>,
}

/// What there is.
#[derive(Clone)]
struct Object {
    version: &'static str,
    kind: &'static str,
    name: String,
    /// To its fields.
    paths: Vec<String>,
}

const KINDS: [(&str, &str); 9] = [
    ("apps/v1", "Deployment"),
    ("v1", "Service"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("example.com/v1", "Thing"),
    ("example.com/v1", "Thing"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("apps/v1", "StatefulSet"),
    ("v1", "Namespace"),
];

impl Make {
    fn file(&mut self, path: &str, text: String) {
        self.files.push((path.to_owned(), text));
    }

    /// Writes up to so many, and says in which files they are.
    fn resources(&mut self, directory: &str, most: usize) -> Vec<String> {
        let mut all = Vec::new();
        let count = 1 + self.rng.below(most);
        let mut text = String::new();
        for at in 0..count {
            let (version, kind) = *self.rng.pick(&KINDS);
            let name = format!("{}{at}", self.rng.word(&["web", "db", "a", "x-y"]));
            let object = self.object(version, kind, &name);
            let mut paths = Vec::new();
            object.paths("", &mut paths);
            self.objects.push(Object {
                version,
                kind,
                name,
                paths,
            });
            if !text.is_empty() {
                text.push_str("---\n");
            }
            text.push_str(&yaml::text(&object, &mut self.rng));
            if self.rng.chance(60) || at + 1 == count {
                let path = format!("r{at}.yaml");
                self.file(&format!("{directory}/{path}"), std::mem::take(&mut text));
                all.push(path);
            }
        }
        all
    }

    fn object(&mut self, version: &str, kind: &str, name: &str) -> Yaml {
        let mut metadata = vec![("name", Yaml::text(name))];
        if self.rng.chance(25) {
            metadata.push(("namespace", Yaml::text("ns")));
        }
        if self.rng.chance(50) {
            metadata.push(("labels", self.some_map(&["app", "tier", "x", "z"])));
        }
        let mut annotations = Vec::new();
        if self.rng.chance(70) {
            annotations.push((NEEDS_HASH.to_owned(), Yaml::text("enabled")));
        }
        if self.rng.chance(40)
            && let Yaml::Map(more) = self.some_map(&["note", "owner", "b/c", "aa"])
        {
            annotations.extend(more);
        }
        if !annotations.is_empty() || self.rng.chance(10) {
            metadata.push(("annotations", Yaml::Map(annotations)));
        }
        let mut fields = vec![
            ("apiVersion", Yaml::text(version)),
            ("kind", Yaml::text(kind)),
            ("metadata", Yaml::map(metadata)),
        ];
        if self.rng.chance(20) {
            fields.swap(0, 1);
        }
        match kind {
            "Deployment" | "StatefulSet" => fields.push(("spec", self.workload())),
            "Service" => {
                let ports = Yaml::map([("name", Yaml::text("http")), ("port", Yaml::plain("80"))]);
                fields.push((
                    "spec",
                    Yaml::map([
                        ("selector", self.some_map(&["app", "x"])),
                        ("ports", Yaml::Seq(vec![ports])),
                    ]),
                ));
            }
            "ConfigMap" => fields.push(("data", self.some_map(&["a", "b", "conf.yaml", "c"]))),
            "Secret" => {
                fields.push(("type", Yaml::text("Opaque")));
                fields.push(("stringData", self.some_map(&["user", "password"])));
            }
            "RoleBinding" => {
                let subject = Yaml::map([
                    ("kind", Yaml::text("ServiceAccount")),
                    ("name", Yaml::text("default")),
                ]);
                fields.push(("subjects", Yaml::Seq(vec![subject])));
            }
            "Namespace" => {}
            _ => fields.push(("spec", self.anything(3))),
        }
        Yaml::map(fields)
    }

    fn workload(&mut self) -> Yaml {
        let mut containers = Vec::new();
        for name in ["main", "side", "log"]
            .into_iter()
            .take(1 + self.rng.below(3))
        {
            let mut container = vec![("name", Yaml::text(name))];
            let image = self
                .rng
                .word(&["nginx", "nginx:1.2", "repo/app@sha256:1234"]);
            container.push(("image", Yaml::text(image)));
            if self.rng.chance(50) {
                let env = Yaml::map([("name", Yaml::text("A")), ("value", self.scalar())]);
                container.push(("env", Yaml::Seq(vec![env])));
            }
            if self.rng.chance(40) {
                container.push(("args", Yaml::Seq(vec![self.scalar(), self.scalar()])));
            }
            containers.push(Yaml::map(container));
        }
        let mut template = Vec::new();
        if self.rng.chance(70) {
            let labels = self.some_map(&["app", "x"]);
            template.push(("metadata", Yaml::map([("labels", labels)])));
        }
        template.push(("spec", Yaml::map([("containers", Yaml::Seq(containers))])));
        let mut spec = vec![("template", Yaml::map(template))];
        if self.rng.chance(50) {
            spec.push(("replicas", Yaml::plain("2")));
        }
        if self.rng.chance(60) {
            let labels = self.some_map(&["app", "x"]);
            spec.push(("selector", Yaml::map([("matchLabels", labels)])));
        }
        Yaml::map(spec)
    }

    fn some_map(&mut self, keys: &[&str]) -> Yaml {
        let mut pairs = Vec::new();
        for key in keys {
            if self.rng.chance(50) {
                pairs.push(((*key).to_owned(), self.scalar()));
            }
        }
        Yaml::Map(pairs)
    }

    fn scalar(&mut self) -> Yaml {
        match self.rng.below(12) {
            0 => Yaml::text(""),
            1 => Yaml::plain("null"),
            2 => Yaml::plain("~"),
            3 => Yaml::plain(""),
            4 => Yaml::plain("1"),
            5 => Yaml::text("1"),
            6 => Yaml::plain(self.rng.word(&["true", "yes", "1.50", "0x1F", "1e3"])),
            7 => Yaml::text(self.rng.word(&["true", "no", "1e3", "null", "~"])),
            8 => Yaml::text(
                self.rng
                    .word(&["one\ntwo\n", "one\ntwo", " lead\nx", "a\n\nb\n"]),
            ),
            9 => Yaml::text(
                self.rng
                    .word(&["a: b", "k: v\nl:\n- 1\n", "{\"k\":\"v\"}", "[1, 2]"]),
            ),
            10 => Yaml::text(self.rng.word(&["a.b.c", "x:1:2", "a,b", "/p/q", "#no"])),
            _ => Yaml::text(self.rng.word(&["v", "value", "two words", "nginx"])),
        }
    }

    fn anything(&mut self, depth: usize) -> Yaml {
        match self.rng.below(4) {
            0 | 1 if depth > 0 => {
                let mut pairs = Vec::new();
                for key in ["a", "b", "list", "name", "k.l"] {
                    if self.rng.chance(45) {
                        pairs.push((key.to_owned(), self.anything(depth - 1)));
                    }
                }
                Yaml::Map(pairs)
            }
            2 if depth > 0 => {
                let count = self.rng.below(4);
                Yaml::Seq((0..count).map(|_| self.anything(depth - 1)).collect())
            }
            _ => self.scalar(),
        }
    }

    /// A kustomization, in which each field stands with a chance in percent.
    fn root(&mut self, resources: &[String], chance: usize) -> String {
        let mut out = String::from("resources:\n");
        for path in resources {
            _ = writeln!(out, "- {path}");
        }
        for (field, text) in [
            ("namePrefix", "pre-"),
            ("nameSuffix", "-suf"),
            ("namespace", "other"),
        ] {
            if self.rng.chance(chance / 2) {
                _ = writeln!(out, "{field}: {text}");
            }
        }
        if self.rng.chance(chance) {
            let value = self.rng.word(&["web", "\"true\"", "\"1\"", "\"\""]);
            _ = writeln!(out, "commonLabels:\n  app: {value}\n  new: other");
        }
        if self.rng.chance(chance) {
            let more = self.rng.word(&[
                "",
                "  includeSelectors: true\n",
                "  includeTemplates: true\n",
            ]);
            _ = write!(out, "labels:\n- pairs:\n    x: l\n    w: \"no\"\n{more}");
        }
        if self.rng.chance(chance) {
            let hash = if self.rng.chance(30) {
                format!("  {NEEDS_HASH}: enabled\n")
            } else {
                String::new()
            };
            _ = write!(out, "commonAnnotations:\n  note: all\n  zz: \"1\"\n{hash}");
        }
        if self.rng.chance(chance / 2) {
            out.push_str("images:\n- name: nginx\n  newTag: \"9\"\n");
        }
        if self.rng.chance(chance / 3) {
            let options = [
                "managedByLabel",
                "originAnnotations",
                "transformerAnnotations",
            ];
            let option = self.rng.word(&options);
            _ = writeln!(out, "buildMetadata: [{option}]");
        }
        let replicated = self.objects.iter().find(|it| it.kind == "Deployment");
        if let (Some(Object { name, .. }), true) = (replicated.cloned(), self.rng.chance(chance)) {
            _ = writeln!(out, "replicas:\n- name: {name}\n  count: 5");
        }
        if self.rng.chance(chance) {
            let patches = self.patches();
            out.push_str(&patches);
        }
        if self.rng.chance(chance * 2) {
            let replacements = self.replacements();
            out.push_str(&replacements);
        }
        out
    }

    fn any_object(&mut self) -> Object {
        self.rng.pick(&self.objects).clone()
    }

    /// Mostly to something that is there.
    fn path(&mut self, object: &Object, others: &[&str]) -> String {
        if object.paths.is_empty() || self.rng.chance(20) {
            return self.rng.word(others).to_owned();
        }
        self.rng.pick(&object.paths).clone()
    }

    fn patches(&mut self) -> String {
        let mut out = String::from("patches:\n");
        for _ in 0..=self.rng.below(2) {
            let Object {
                version,
                kind,
                name,
                ..
            } = self.any_object();
            let patch = if self.rng.chance(50) {
                self.operations()
            } else {
                let object = self.merge_patch(version, kind, &name);
                yaml::text(&object, &mut self.rng)
            };
            out.push_str("- patch: |-\n");
            for line in patch.lines() {
                _ = writeln!(out, "    {line}");
            }
            if self.rng.chance(70) || patch.starts_with("- op") {
                _ = writeln!(out, "  target:\n    kind: {kind}");
                if self.rng.chance(60) {
                    _ = writeln!(out, "    name: {name}");
                }
            }
        }
        out
    }

    fn merge_patch(&mut self, version: &str, kind: &str, name: &str) -> Yaml {
        let Yaml::Map(mut fields) = self.object(version, kind, name) else {
            return Yaml::Map(Vec::new());
        };
        if self.rng.chance(20) {
            fields.push(("more".into(), self.anything(2)));
        }
        Yaml::Map(fields)
    }

    fn operations(&mut self) -> String {
        let all = [
            "- op: add\n  path: /metadata/labels\n  value: {p: q}\n",
            "- op: add\n  path: /spec\n  value:\n    a: \"1\"\n    b: |\n      x\n      y\n",
            "- op: add\n  path: /metadata/annotations/new\n  value: \"yes\"\n",
            "- op: remove\n  path: /metadata/labels\n",
            "- op: add\n  path: /data\n  value: {a: 1, b: 1.5, c: true, d: null, e: [1, x], f: {}}\n",
            "- op: replace\n  path: /metadata/name\n  value: renamed\n",
        ];
        self.rng.word(&all).to_owned()
    }

    fn replacements(&mut self) -> String {
        const SOURCES: [&str; 10] = [
            "metadata.name",
            "metadata.labels.app",
            "metadata.annotations.note",
            "data.a",
            "data.conf\\.yaml",
            "spec.a",
            "spec.list",
            "spec",
            "stringData.user",
            "spec.template.spec.containers.0.image",
        ];
        const TARGETS: [&str; 16] = [
            "metadata.labels.new",
            "metadata.labels.app",
            "metadata.annotations.note",
            "metadata.annotations.b/c",
            "data.a",
            "data.b",
            "data.conf\\.yaml.k",
            "data.b.k",
            "spec.a",
            "spec.list.0",
            "spec.list.[name=v].a",
            "spec.list.*",
            "spec.template.spec.containers.[name=main].image",
            "spec.template.spec.containers.*.env.[name=A].value",
            "spec.new.deep",
            "stringData.password",
        ];
        let mut out = String::from("replacements:\n");
        for _ in 0..=self.rng.below(2) {
            let options = |rng: &mut Rng, create: bool| {
                let mut all = Vec::new();
                if create && rng.chance(60) {
                    all.push("create: true".to_owned());
                }
                if rng.chance(25) {
                    let delimiter = rng.word(&[".", ":", ",", "/", "-"]);
                    all.push(format!("delimiter: \"{delimiter}\""));
                    if rng.chance(70) {
                        all.push(format!("index: {}", rng.word(&["0", "1", "-1", "7"])));
                    }
                }
                all.join(", ")
            };
            if self.rng.chance(25) {
                let value =
                    self.rng
                        .word(&["\"\"", "v", "\"1\"", "\"null\"", "\"a\\nb\\n\"", "\"true\""]);
                _ = writeln!(out, "- sourceValue: {value}");
            } else {
                let object = self.any_object();
                let path = self.path(&object, &SOURCES);
                let Object { kind, name, .. } = object;
                let options = options(&mut self.rng, false);
                _ = write!(
                    out,
                    "- source:\n    kind: {kind}\n    name: {name}\n    fieldPath: '{path}'\n    options: {{{options}}}\n"
                );
            }
            out.push_str("  targets:\n");
            for _ in 0..=self.rng.below(2) {
                let object = self.any_object();
                let path = self.path(&object, &TARGETS);
                let Object { kind, name, .. } = object;
                let options = options(&mut self.rng, true);
                let named = if self.rng.chance(90) {
                    format!(", name: {name}")
                } else {
                    String::new()
                };
                _ = write!(
                    out,
                    "  - select: {{kind: {kind}{named}}}\n    fieldPaths:\n    - '{path}'\n    options: {{{options}}}\n"
                );
            }
        }
        out
    }
}
