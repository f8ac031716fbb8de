//! Remote bases and files: a repository on this machine by `git`, a server on this machine by `curl`.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use kustomize::{Cached, Disk, Error, Finished, Host, LoadRestrictions, Local, Options, Program};

/// This machine, with a list of what was run.
#[derive(Default)]
struct Listing(RefCell<Vec<String>>);

impl Host for &Listing {
    fn run(&self, program: &Program) -> Result<Finished, Error> {
        let word = program.arguments.first().cloned().unwrap_or_default();
        self.0.borrow_mut().push(word);
        Local.run(program)
    }

    fn get(&self, url: &str) -> Result<Vec<u8>, Error> {
        Local.get(url)
    }

    fn find(&self, program: &str) -> Option<String> {
        Local.find(program)
    }
}

fn git(dir: &Path, words: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
        .args([
            "-c",
            "init.defaultBranch=main",
            "-c",
            "commit.gpgSign=false",
        ])
        .args(words)
        .current_dir(dir)
        .output()
        .expect("git starts");
    assert!(done.status.success(), "{words:?}: {done:?}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

fn service(name: &str) -> String {
    format!("apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\n")
}

/// A repository with a base `base`, and a kustomization that uses it by an address that ends in `query`.
fn repository(dir: &Path, query: &str) -> (PathBuf, PathBuf) {
    let (repo, app) = (dir.join("repo"), dir.join("app"));
    fs::create_dir_all(repo.join("base")).expect("a directory");
    fs::create_dir_all(&app).expect("a directory");
    fs::write(
        repo.join("base/kustomization.yaml"),
        "resources: [a.yaml]\n",
    )
    .expect("a file");
    fs::write(repo.join("base/a.yaml"), service("one")).expect("a file");
    git(&repo, &["init", "--quiet"]);
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "--quiet", "-m", "one"]);
    let url = format!("file://{}//base{query}", repo.display());
    let text = format!("namePrefix: my-\nresources: [{url:?}]\n");
    fs::write(app.join("kustomization.yaml"), text).expect("a file");
    (repo, app)
}

fn build(app: &Path, host: &dyn Host) -> Result<String, String> {
    let output = kustomize::build(&Disk, host, &app.to_string_lossy(), &Options::default());
    let text = output.and_then(|it| it.to_yaml());
    text.map_err(|error| error.to_string())
}

#[requires::requires(git)]
#[test]
fn a_repository_is_a_base() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let (repo, app) = repository(dir.path(), "?ref=v1");
    let error = build(&app, &Local).expect_err("there is no such tag yet");
    assert!(error.contains("fetch --depth=1 file://"), "{error}");
    git(&repo, &["tag", "v1"]);
    fs::write(repo.join("base/a.yaml"), service("two")).expect("a file");
    git(&repo, &["commit", "--quiet", "-am", "two"]);
    assert_eq!(build(&app, &Local), Ok(service("my-one")));
    let url = format!("file://{}//base", repo.display());
    let newest = kustomize::build(&Disk, &Local, &url, &Options::default());
    assert_eq!(newest.and_then(|it| it.to_yaml()), Ok(service("two")));
}

/// Refuses programs, keeps what is logged.
#[derive(Default)]
struct Logging(RefCell<Vec<String>>);

impl Host for Logging {
    fn log(&self, line: &str) {
        self.0.borrow_mut().push(line.to_owned());
    }
}

#[test]
fn a_prefix_of_old_is_warned_of() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    for (address, warnings) in [("git::file:///nowhere//x", 1), ("file:///nowhere//x", 0)] {
        let text = format!("resources: ['{address}']\n");
        fs::write(dir.path().join("kustomization.yaml"), text).expect("a file");
        let host = Logging::default();
        build(dir.path(), &host).expect_err("there is no git");
        let logged = host.0.borrow();
        let warned = |it: &&String| it.starts_with("Warning: Forcing the git protocol");
        assert_eq!(logged.iter().filter(warned).count(), warnings, "{logged:?}");
    }
}

#[requires::requires(git)]
#[test]
fn a_repository_reads_nothing_of_ours() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let dir = fs::canonicalize(dir.path()).expect("it is there");
    fs::write(dir.join("ours.yaml"), service("ours")).expect("a file");
    let (repo, app) = repository(&dir, "");
    std::os::unix::fs::symlink(dir.join("ours.yaml"), repo.join("base/link.yaml")).expect("a link");
    std::os::unix::fs::symlink(&dir, repo.join("base/out")).expect("a link");
    let options = Options {
        load_restrictions: LoadRestrictions::None,
        ..Options::default()
    };
    let cases = [
        ("link.yaml", "is not in or below"),
        (
            "../../../../../../../../../../../tmp",
            "must be within the repo",
        ),
        ("out", "must be within the repo"),
        ("/tmp", "cannot be absolute"),
    ];
    for (path, wanted) in cases {
        let text = format!("resources: [{path}]\n");
        fs::write(repo.join("base/kustomization.yaml"), text).expect("a file");
        git(&repo, &["add", "."]);
        git(&repo, &["commit", "--quiet", "--allow-empty", "-m", "bad"]);
        let built = kustomize::build(&Disk, &Local, &app.to_string_lossy(), &options);
        let error = built.map(|_| ()).expect_err(path).to_string();
        assert!(error.contains(wanted), "{path}: {error}");
    }
}

#[test]
fn a_reference_is_no_option() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let app = dir.path();
    let mark = app.join("mark");
    let text = format!(
        "resources: ['file://{}//x?ref=--upload-pack=touch%20{}']\n",
        app.display(),
        mark.display()
    );
    fs::write(app.join("kustomization.yaml"), text).expect("a file");
    let error = build(app, &Local).expect_err("it is refused");
    assert!(error.contains("is no branch, tag or commit"), "{error}");
    assert!(!mark.exists());
}

#[requires::requires(git)]
#[test]
fn a_repository_is_fetched_once() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let (repo, app) = repository(dir.path(), "");
    let cache = dir.path().join("cache");
    let listing = Listing::default();
    let host = |offline| Cached::new(&listing, &cache, offline);
    let ran = |word: &str| listing.0.borrow().iter().filter(|it| *it == word).count();

    let error = build(&app, &host(true)).expect_err("nothing is there yet");
    assert!(error.contains("is not in the cache"), "{error}");
    assert!(listing.0.borrow().is_empty(), "nothing is run offline");
    for _ in 0..3 {
        assert_eq!(build(&app, &host(false)), Ok(service("my-one")));
    }
    assert_eq!(ran("fetch"), 1);

    fs::write(repo.join("base/a.yaml"), service("two")).expect("a file");
    git(&repo, &["commit", "--quiet", "-am", "two"]);
    assert_eq!(build(&app, &host(true)), Ok(service("my-one")));
    assert_eq!(build(&app, &host(false)), Ok(service("my-two")));
    assert_eq!(ran("fetch"), 2);

    // A commit is what it is: nobody has to be asked.
    let commit = git(&repo, &["rev-parse", "HEAD"]);
    let url = format!("file://{}//base?ref={commit}", repo.display());
    fs::write(
        app.join("kustomization.yaml"),
        format!("resources: [{url:?}]\n"),
    )
    .expect("a file");
    assert_eq!(build(&app, &host(false)), Ok(service("two")));
    let before = listing.0.borrow().len();
    fs::remove_dir_all(&repo).expect("it is ours");
    assert_eq!(build(&app, &host(false)), Ok(service("two")));
    assert_eq!(listing.0.borrow().len(), before);
}

/// Serves `/a.yaml` with a tag, anything else is not found. Returns its address and the codes of its answers so far.
fn server() -> (String, std::sync::Arc<std::sync::Mutex<Vec<u16>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("http://{}", listener.local_addr().expect("it is bound"));
    let codes = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let told = std::sync::Arc::clone(&codes);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if let Some(code) = answer(&stream) {
                told.lock().expect("nobody panics with it").push(code);
            }
        }
    });
    (address, codes)
}

fn answer(mut stream: &TcpStream) -> Option<u16> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    let rest: Vec<String> = lines
        .map_while(Result::ok)
        .take_while(|it| !it.is_empty())
        .collect();
    let known = |it: &String| it.eq_ignore_ascii_case("if-none-match: \"v1\"");
    let body = service("web");
    let (code, reason, body) = if !first.starts_with("GET /a.yaml ") {
        (404, "Not Found", "nothing")
    } else if rest.iter().any(known) {
        (304, "Not Modified", "")
    } else {
        (200, "OK", body.as_str())
    };
    let head = format!(
        "HTTP/1.1 {code} {reason}\r\nETag: \"v1\"\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()?;
    Some(code)
}

#[requires::requires(curl)]
#[test]
fn a_file_comes_from_a_server() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let app = dir.path();
    let (address, codes) = server();
    let uses = |path: &str| {
        let text = format!("namePrefix: my-\nresources: ['{address}/{path}']\n");
        fs::write(app.join("kustomization.yaml"), text).expect("a file");
    };
    uses("a.yaml");
    assert_eq!(build(app, &Local), Ok(service("my-web")));
    uses("b.yaml");
    let error = build(app, &Local).expect_err("there is none");
    assert!(
        error.contains("HTTP Error: status code 404 (Not Found)"),
        "{error}"
    );

    uses("a.yaml");
    codes.lock().expect("nobody panics with it").clear();
    let cache = app.join("cache");
    for offline in [false, false, true] {
        let host = Cached::new(Local, &cache, offline);
        assert_eq!(build(app, &host), Ok(service("my-web")));
    }
    assert_eq!(*codes.lock().expect("nobody panics with it"), [200, 304]);
}
