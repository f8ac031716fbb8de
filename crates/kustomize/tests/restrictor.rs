//! A kustomization reads nothing outside of its directory, whichever field names a file, and however it is named.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use kustomize::{Alone, Disk, LoadRestrictions, Options, build};

/// What must not get out.
const CANARY: &str = "canary-7f3a";

/// Ways to the file outside, from the directory `app` beside it; each is a file that exists.
const WAYS: [&str; 5] = [
    "../outside.yaml",
    "ABSOLUTE",
    "link.yaml",
    "up/outside.yaml",
    "below/../../outside.yaml",
];

/// Kustomizations that read the file `FILE`.
const FIELDS: [&str; 12] = [
    "resources: [FILE]",
    "configMapGenerator: [{name: a, files: [FILE]}]",
    "configMapGenerator: [{name: a, files: [key=FILE]}]",
    "configMapGenerator: [{name: a, envs: [FILE]}]",
    "secretGenerator: [{name: a, files: [FILE]}]",
    "resources: [own.yaml]\npatches: [{path: FILE, target: {kind: A}}]",
    "resources: [own.yaml]\npatchesStrategicMerge: [FILE]",
    "resources: [own.yaml]\nreplacements: [{path: FILE}]",
    "resources: [own.yaml]\nconfigurations: [FILE]",
    "resources: [own.yaml]\ncrds: [FILE]",
    "resources: [own.yaml]\nopenapi: {path: FILE}",
    "resources: [own.yaml]\ntransformers: [FILE]",
];

fn prepare(dir: &Path) {
    let app = dir.join("app");
    fs::create_dir_all(app.join("below")).expect("a directory");
    let text = format!("kind: A\nmetadata: {{name: {CANARY}}}\n");
    fs::write(dir.join("outside.yaml"), text).expect("a file");
    fs::write(app.join("own.yaml"), "kind: A\nmetadata: {name: own}\n").expect("a file");
    symlink(dir.join("outside.yaml"), app.join("link.yaml")).expect("a link");
    symlink("..", app.join("up")).expect("a link");
}

/// What is built, or why not.
fn outcome(app: &Path, text: &str, restrictions: LoadRestrictions) -> Result<String, String> {
    fs::write(app.join("kustomization.yaml"), text).expect("a file");
    let options = Options {
        load_restrictions: restrictions,
        ..Options::default()
    };
    let built = build(&Disk, &Alone, &app.to_string_lossy(), &options);
    let text = built.and_then(|it| it.to_yaml());
    text.map_err(|error| error.to_string())
}

#[test]
fn no_field_reads_outside() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let dir = fs::canonicalize(dir.path()).expect("it is there");
    prepare(&dir);
    let app = dir.join("app");
    let absolute = dir.join("outside.yaml").display().to_string();
    for way in WAYS {
        let way = if way == "ABSOLUTE" { &absolute } else { way };
        for field in FIELDS {
            let text = field.replace("FILE", way);
            let refused = outcome(&app, &text, LoadRestrictions::RootOnly);
            let error = refused.expect_err(&text);
            assert!(error.contains("is not in or below"), "{text}: {error}");
            assert!(!error.contains(CANARY), "{text}: {error}");
        }
        let text = FIELDS[0].replace("FILE", way);
        let read = outcome(&app, &text, LoadRestrictions::None).expect("it is allowed");
        assert!(read.contains(CANARY), "{read}");
    }
}

#[test]
fn no_base_is_absolute() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let dir = fs::canonicalize(dir.path()).expect("it is there");
    prepare(&dir);
    let app = dir.join("app");
    fs::write(
        dir.join("kustomization.yaml"),
        "resources: [outside.yaml]\n",
    )
    .expect("a file");
    for field in ["resources", "components"] {
        let text = format!("{field}: [{}]\n", dir.display());
        let error = outcome(&app, &text, LoadRestrictions::RootOnly).expect_err("it is refused");
        assert!(error.contains("cannot be absolute"), "{error}");
    }
}

#[test]
fn links_in_a_circle_end() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let app = dir.path();
    symlink("b.yaml", app.join("a.yaml")).expect("a link");
    symlink("a.yaml", app.join("b.yaml")).expect("a link");
    let error = outcome(app, "resources: [a.yaml]\n", LoadRestrictions::RootOnly);
    let error = error.expect_err("there is no file");
    assert!(error.contains("too many links"), "{error}");
}

#[test]
fn a_directory_that_links_to_itself_is_a_cycle() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let app = dir.path();
    symlink(".", app.join("again")).expect("a link");
    let error = outcome(app, "resources: [again]\n", LoadRestrictions::RootOnly);
    let error = error.expect_err("it contains itself");
    assert!(error.contains("cycle detected"), "{error}");
}

#[test]
fn a_file_too_large_is_not_read() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let app = dir.path();
    let file = fs::File::create(app.join("a.yaml")).expect("a file");
    file.set_len((1 << 30) + 1).expect("a file with a hole");
    let text = "resources: [a.yaml]\n";
    let error = outcome(app, text, LoadRestrictions::RootOnly).expect_err("it is too large");
    assert!(error.contains("file too large"), "{error}");
}
