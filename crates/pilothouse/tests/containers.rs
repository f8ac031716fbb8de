//! Containers, by a real engine: podman, with images and state of its own. Functions of kustomizations run in them, and so does
//! the server.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What the container runs. There is nothing else but a shell in it.
const FUNCTION: &str = r#"
if [ -e /given/fail ]; then echo "it does not like this" >&2; exit 3; fi
echo "$LOG_TO_STDERR $STRUCTURED_RESULTS $COLOR" >&2
while IFS= read -r line; do
    case $line in *PLACE*) line="${line%PLACE*}the container" ;; esac
    printf '%s\n' "$line"
done
"#;

const KUSTOMIZATION: &str = "resources: [cm.yaml]\ntransformers: [fn.yaml]\n";

const RESOURCE: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  from: PLACE\n";

const CONFIGURATION: &str = "apiVersion: example.com/v1
kind: Fill
metadata:
  name: fill
  annotations:
    config.kubernetes.io/function: |
      container:
        image: localhost/function:v1
        envs: [COLOR=blue]
        mounts:
        - {type: bind, src: ./given, dst: /given}
";

/// Podman with state of its own.
struct Engine {
    dir: tempfile::TempDir,
    podman: PathBuf,
}

impl Engine {
    fn new() -> Self {
        let podman = find("podman").expect("podman in PATH");
        let dir = tempfile::tempdir().expect("a directory of our own");
        let engine = Self { dir, podman };
        engine.configure();
        engine
    }

    /// With an image of the function.
    fn start() -> Self {
        let engine = Self::new();
        let image = engine.image();
        let change = r#"ENTRYPOINT ["/bin/sh", "/function"]"#;
        let name = "localhost/function:v1";
        let import = engine.run(&["import", "--change", change, &image, name]);
        assert!(import.status.success(), "{}", text(&import.stderr));
        engine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn configure(&self) {
        fs::create_dir(self.path("bin")).expect("a directory");
        symlink(&self.podman, self.path("bin/podman")).expect("a link");
        let runtime = match find("runc") {
            Some(_) => "runtime = \"runc\"\n",
            None => "",
        };
        // As little of the machine's own as possible, so that it also runs inside of other containers.
        let conf = format!(
            "[containers]\ndefault_ulimits = []\n[engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n{runtime}"
        );
        fs::write(self.path("containers.conf"), conf).expect("a file");
        let storage = format!(
            "[storage]\ndriver = \"vfs\"\ngraphroot = '{}'\nrunroot = '{}'\n",
            self.path("images").display(),
            self.path("run").display()
        );
        fs::write(self.path("storage.conf"), storage).expect("a file");
    }

    /// A shell, what it is linked with, the function, and a user.
    fn image(&self) -> String {
        let root = self.path("root");
        copy_below(&root, "/bin/sh");
        copy_libraries(&root, "/bin/sh");
        fs::create_dir(root.join("etc")).expect("a directory");
        fs::write(root.join("etc/passwd"), "nobody:x:65534:65534::/:/bin/sh\n").expect("a file");
        fs::write(root.join("function"), FUNCTION).expect("a file");
        self.archive(&root)
    }

    fn archive(&self, root: &Path) -> String {
        let archive = self.path("root.tar").display().to_string();
        let tar = Command::new("tar")
            .args(["-C", &root.to_string_lossy(), "-cf", &archive, "."])
            .status();
        assert!(tar.expect("tar").success());
        archive
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let podman = self
            .with(Command::new(&self.podman))
            .args(arguments)
            .output();
        podman.expect("it starts")
    }

    fn kustomize(&self, directory: &Path, arguments: &[&str]) -> Output {
        let program = Command::new(env!("CARGO_BIN_EXE_pilothouse"));
        let kustomize = self
            .with(program)
            // There is no docker.
            .env("PATH", self.path("bin"))
            .env("KUSTOMIZE_EXPORT_METRICS", "none")
            .current_dir(directory)
            .arg("kustomize")
            .args(arguments)
            .output();
        kustomize.expect("it starts")
    }

    fn with(&self, mut command: Command) -> Command {
        command
            .env("CONTAINERS_CONF", self.path("containers.conf"))
            .env("CONTAINERS_STORAGE_CONF", self.path("storage.conf"));
        command
    }
}

fn copy_below(root: &Path, from: &str) {
    let to = root.join(from.trim_start_matches('/'));
    fs::create_dir_all(to.parent().expect("it is below the root")).expect("a directory");
    fs::copy(from, to).expect("a copy");
}

/// What a program is linked with.
fn copy_libraries(root: &Path, program: &str) {
    let linked = Command::new("ldd").arg(program).output().expect("ldd");
    let linked = text(&linked.stdout);
    let words = linked.split_whitespace();
    let libraries = words.filter(|it| it.starts_with('/') && *it != program);
    libraries.for_each(|it| copy_below(root, it));
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|it| it.join(program));
    places.find(|it| it.is_file())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[testkit::requires(podman)]
#[test]
fn containers_are_functions_by_podman_where_there_is_no_docker() {
    let engine = Engine::start();
    let app = engine.path("app");
    fs::create_dir_all(app.join("given")).expect("a directory");
    for (name, text) in [
        ("kustomization.yaml", KUSTOMIZATION),
        ("cm.yaml", RESOURCE),
        ("fn.yaml", CONFIGURATION),
    ] {
        fs::write(app.join(name), text).expect("a file");
    }
    let build = ["build", "--enable-alpha-plugins", "."];
    let filled =
        "apiVersion: v1\ndata:\n  from: the container\nkind: ConfigMap\nmetadata:\n  name: a\n";

    let output = engine.kustomize(&app, &build);
    assert_eq!(text(&output.stderr), "true true blue\n");
    assert_eq!(text(&output.stdout), filled);

    // The same function on files: they keep the order of their fields.
    let image = ["fn", "run", ".", "--image", "localhost/function:v1"];
    let output = engine.kustomize(&app, &image);
    assert!(output.status.success(), "{output:?}");
    let file = fs::read_to_string(app.join("cm.yaml")).expect("the file");
    assert_eq!(file, RESOURCE.replace("PLACE", "the container"));

    // It sees what is mounted, and its failure is the build's.
    fs::write(app.join("given/fail"), "").expect("a file");
    let output = engine.kustomize(&app, &build);
    assert_eq!(
        text(&output.stderr),
        "it does not like this\nError: couldn't execute function: exit status 3 \n"
    );
    assert_eq!(output.status.code(), Some(1));
}

/// The image of `deploy/Containerfile`. A published binary is static and its base is empty; the binary of a test is not, so its
/// base is what it is linked with, and nothing else.
#[testkit::requires(podman, kubectl)]
#[test]
fn the_containerfile_makes_an_image_that_serves() {
    let engine = Engine::new();
    let program = env!("CARGO_BIN_EXE_pilothouse");
    let root = engine.path("libraries");
    copy_libraries(&root, program);
    let context = engine.path("context");
    fs::create_dir_all(context.join("bin")).expect("a directory");
    fs::hard_link(program, context.join("bin/pilothouse"))
        .or_else(|_| fs::copy(program, context.join("bin/pilothouse")).map(drop))
        .expect("the program");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/Containerfile");
    let podman = |arguments: &[&str]| {
        let done = engine.run(arguments);
        assert!(
            done.status.success(),
            "{arguments:?}: {}",
            text(&done.stderr)
        );
        text(&done.stdout)
    };
    podman(&["import", &engine.archive(&root), "localhost/libraries:v1"]);
    podman(&[
        "build",
        "--build-arg=BASE=localhost/libraries:v1",
        "--file",
        &file.to_string_lossy(),
        "--tag=localhost/pilothouse:test",
        &context.to_string_lossy(),
    ]);
    let version = podman(&[
        "run",
        "--rm",
        "--network=none",
        "localhost/pilothouse:test",
        "version",
    ]);
    assert!(version.starts_with("pilothouse "), "{version}");

    let run = [
        "run",
        "--rm",
        "--network=host",
        "--name=server",
        "--read-only",
    ];
    let serve = ["serve", "--ephemeral", "--print-kubeconfig"];
    let mut server = engine
        .with(Command::new(&engine.podman))
        .args(run)
        .arg("localhost/pilothouse:test")
        .args(serve)
        .stdout(Stdio::piped())
        .stderr(fs::File::create(engine.path("log")).expect("a file"))
        .spawn()
        .expect("it starts");
    // The kubeconfig is all that it prints there, when it is ready; its last line is the key.
    let mut kubeconfig = String::new();
    let mut out = server.stdout.take().expect("piped");
    let mut buffer = [0; 4096];
    while !(kubeconfig.contains("client-key-data") && kubeconfig.ends_with('\n')) {
        let read = out.read(&mut buffer).expect("its output");
        let log = fs::read_to_string(engine.path("log")).expect("its log");
        assert!(read > 0, "it did not start: {log}");
        kubeconfig += &text(&buffer[..read]);
    }
    fs::write(engine.path("kubeconfig"), kubeconfig).expect("a file");
    let kubectl = std::env::var_os("KUBECTL").unwrap_or_else(|| "kubectl".into());
    let created = Command::new(kubectl)
        .args(["create", "namespace", "shop"])
        .env("KUBECONFIG", engine.path("kubeconfig"))
        .output()
        .expect("kubectl");
    let stopped = engine.run(&["stop", "--time=60", "server"]);
    assert_eq!(
        text(&created.stdout),
        "namespace/shop created\n",
        "{created:?}"
    );
    assert!(stopped.status.success(), "{}", text(&stopped.stderr));
    let status = server.wait().expect("it ends");
    assert!(status.success(), "{status}");
}
