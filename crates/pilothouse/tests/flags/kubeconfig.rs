//! `pilothouse kubeconfig`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use json::Value;

use super::client::Client;
use super::program::{Program, pilothouse, run, said, until};

fn kubeconfig(server: &Program, arguments: &[&str]) -> String {
    let mut command = pilothouse();
    command
        .args(["kubeconfig", "--data-dir"])
        .arg(server.data());
    let output = command.args(arguments).output().unwrap();
    let (ok, text) = said(&output);
    assert!(ok, "{text}");
    text
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_admin_and_others_get_in() {
    let server = Program::serve::<&str>(&[]);
    let admin = kubeconfig(&server, &[]);
    assert_eq!(admin, server.kubeconfig());
    assert_eq!(Client::new(&admin).whoami().unwrap().0, "kubernetes-admin");

    let file = server.place().join("jane.kubeconfig");
    let jane = ["--user", "jane", "--group", "developers", "--group", "ops"];
    let said = kubeconfig(
        &server,
        &[&jane[..], &["--output", file.to_str().unwrap()]].concat(),
    );
    assert_eq!((said.as_str(), mode(&file)), ("", 0o600));
    let (name, groups) = Client::new(&fs::read_to_string(&file).unwrap())
        .whoami()
        .unwrap();
    assert_eq!(name, "jane");
    assert_eq!(groups, ["developers", "ops", "system:authenticated"]);

    let joe = Client::new(&kubeconfig(&server, &["--user", "joe", "--expires", "1s"]));
    until("it has expired", || joe.whoami() == Err(401));
    let joe = Client::new(&kubeconfig(&server, &["--user", "joe", "--expires", "1h"]));
    assert_eq!(joe.whoami().unwrap().0, "joe");

    // What a shell makes is for everybody to read: that is said.
    let shared = server.place().join("shared.kubeconfig");
    for (mode, warned) in [(0o644, true), (0o600, false)] {
        let file = fs::File::create(&shared).unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(mode)).unwrap();
        let mut command = pilothouse();
        command
            .args(["kubeconfig", "--data-dir"])
            .arg(server.data());
        let output = command.stdout(file).output().unwrap();
        assert!(output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.contains("others can read"), warned, "{said}");
        assert_eq!(fs::read_to_string(&shared).unwrap(), admin);
    }

    let elsewhere = kubeconfig(&server, &["--server", "https://kube.example.org:443"]);
    assert!(
        elsewhere.contains("server: https://kube.example.org:443\n"),
        "{elsewhere}"
    );
}

fn names(config: &Value, list: &str) -> Vec<String> {
    let list = config.get(list).and_then(Value::as_array).unwrap();
    let names = list.iter().filter_map(|it| it.str_at(&["name"]));
    names.map(str::to_owned).collect()
}

#[test]
fn it_is_merged_into_what_kubectl_reads() {
    let server = Program::serve::<&str>(&[]);
    let home = tempfile::tempdir().unwrap();
    let merge = |arguments: &[&str], variable: Option<&Path>| {
        let mut command = pilothouse();
        command.env("HOME", home.path());
        if let Some(path) = variable {
            command.env("KUBECONFIG", path);
        }
        command
            .args(["kubeconfig", "--merge", "--data-dir"])
            .arg(server.data());
        said(&command.args(arguments).output().unwrap())
    };
    let (ok, text) = merge(&[], None);
    assert!(ok, "{text}");
    let config = home.path().join(".kube/config");
    assert_eq!(mode(&config), 0o600);
    assert!(
        Client::new(&fs::read_to_string(&config).unwrap())
            .whoami()
            .is_ok()
    );
    let (ok, text) = merge(&["--user", "jane", "--name", "test"], None);
    assert!(ok && text.contains("\"jane@test\""), "{text}");
    let both = yaml::to_json(&fs::read(&config).unwrap()).unwrap();
    assert_eq!(names(&both, "clusters"), ["pilothouse", "test"]);
    assert_eq!(names(&both, "users"), ["admin@pilothouse", "jane@test"]);
    assert_eq!(names(&both, "contexts"), ["pilothouse", "jane@test"]);
    assert_eq!(both.str_at(&["current-context"]), Some("jane@test"));

    // What is not ours to change stays as it is, and no lock is left behind.
    let other = home.path().join("other");
    fs::write(&other, "kind: Pod\n").unwrap();
    let (ok, text) = merge(&[], Some(&other));
    assert!(!ok && text.contains("not a kubeconfig"), "{text}");
    assert_eq!(fs::read_to_string(&other).unwrap(), "kind: Pod\n");
    let lock = home.path().join("other.lock");
    assert!(!lock.exists());
    fs::write(&lock, "").unwrap();
    let (ok, text) = merge(&[], Some(&other));
    assert!(
        !ok && text.contains("another program is changing"),
        "{text}"
    );
    assert!(lock.exists(), "it is somebody else's");
}

#[test]
fn without_a_server_it_says_what_to_do() {
    let place = tempfile::tempdir().unwrap();
    let missing = place.path().join("missing");
    let missing = missing.to_str().unwrap();
    let (ok, said) = run(&["kubeconfig", "--data-dir", missing]);
    assert!(!ok && said.contains("there is no data directory"), "{said}");
    assert!(
        said.contains(&format!("pilothouse serve --data-dir {missing}")),
        "{said}"
    );
    assert!(!Path::new(missing).exists());
    let (ok, said) = run(&["kubeconfig", "--data-dir", place.path().to_str().unwrap()]);
    assert!(!ok && said.contains("no server has run in"), "{said}");
    for (arguments, expected) in [
        (&["--group", "g"][..], "--user <NAME>"),
        (&["--merge", "--output", "x"], "cannot be used with"),
        (&["--user", "x", "--expires", "1"], "--expires"),
        (&["--user", ""], "--user"),
        (&["--server", "http://x"], "https"),
    ] {
        let (ok, said) = run(&[&["kubeconfig"], arguments].concat());
        assert!(!ok && said.contains(expected), "{arguments:?}: {said}");
    }
}
