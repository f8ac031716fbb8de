//! Whether podman can run a container here: it cannot within many containers, nor on every kernel.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::look::{Outcome, find, output, program};

pub(crate) fn runs_containers(how: &str) -> Outcome {
    program("podman", how)?;
    // Looked for so that cargo notices if it comes later.
    let runtime = find("runc");
    // Not below the target directory: podman takes no long paths.
    let place = env::temp_dir().join(format!("requires-podman-{}", std::process::id()));
    let outcome = trial(&place, runtime.is_some());
    // What cannot be removed is a temporary file like any other.
    let _ = fs::remove_dir_all(&place);
    outcome.map_err(|why| {
        let why: Vec<&str> = why.split_whitespace().collect();
        format!("needs a podman that can run containers: {}", why.join(" "))
    })
}

/// With state of its own, as the test of container functions runs it.
fn trial(place: &Path, has_runc: bool) -> Outcome {
    let _ = fs::remove_dir_all(place);
    let root = place.join("root");
    for from in linked_files().ok_or("no /bin/sh or ldd")? {
        let to = root.join(from.trim_start_matches('/'));
        let parent = to.parent().expect("it is below the root");
        fs::create_dir_all(parent).map_err(|error| error.to_string())?;
        fs::copy(&from, &to).map_err(|error| format!("copy {from}: {error}"))?;
    }
    let write = |name: &str, text: String| fs::write(place.join(name), text);
    let runtime = if has_runc { "runtime = \"runc\"\n" } else { "" };
    let conf = format!(
        "[containers]\ndefault_ulimits = []\n[engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n{runtime}"
    );
    let storage = format!(
        "[storage]\ndriver = \"vfs\"\ngraphroot = '{0}/images'\nrunroot = '{0}/run'\n",
        place.display()
    );
    write("containers.conf", conf).map_err(|error| error.to_string())?;
    write("storage.conf", storage).map_err(|error| error.to_string())?;
    let archive = place.join("root.tar");
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(&root).arg("-cf").arg(&archive).arg(".");
    output(&mut tar).ok_or("tar failed")?;
    let podman = |arguments: &[&str]| {
        let mut command = Command::new(find("podman").expect("it was there"));
        command
            .args(arguments)
            .env("CONTAINERS_CONF", place.join("containers.conf"))
            .env("CONTAINERS_STORAGE_CONF", place.join("storage.conf"));
        let done = command.output().map_err(|error| error.to_string())?;
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        if done.status.success() {
            Ok(())
        } else {
            Err(told)
        }
    };
    podman(&["import", &archive.to_string_lossy(), "localhost/trial:v1"])?;
    let run = ["run", "--rm", "--network", "none", "localhost/trial:v1"];
    podman(&[&run[..], &["/bin/sh", "-c", "exit 0"]].concat())
}

/// A shell, and what it is linked with.
fn linked_files() -> Option<Vec<String>> {
    let linked = output(Command::new("ldd").arg("/bin/sh"))?;
    let words = linked.split_whitespace().filter(|it| it.starts_with('/'));
    Some(
        std::iter::once("/bin/sh")
            .chain(words)
            .map(str::to_owned)
            .collect(),
    )
}
