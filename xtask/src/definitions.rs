//! Applies the custom resource definitions of other projects to a fresh server, as their users do: `kubectl apply
//! --server-side`. Tells which are refused, and why.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::{Outcome, cargo};

/// `[--server PATH] DIRECTORY...`
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (mut server, mut directories) = (None, Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--server" => server = Some(PathBuf::from(rest.next().ok_or("--server takes a path")?)),
            directory => directories.push(PathBuf::from(directory)),
        }
    }
    if directories.is_empty() {
        return Err("name directories with definitions, of one project each".to_owned());
    }
    let server = if let Some(path) = server {
        path
    } else {
        cargo(&["build", "--package", "pilothouse"])?;
        PathBuf::from("target/debug/pilothouse")
    };
    let place = std::env::temp_dir().join(format!("pilothouse-definitions-{}", std::process::id()));
    let mut failed = 0;
    for directory in &directories {
        let outcome = project(&server, &place, directory);
        let _ = fs::remove_dir_all(&place);
        failed += outcome?;
    }
    match failed {
        0 => Ok(()),
        _ => Err(format!("definitions of {failed} projects were not applied")),
    }
}

/// A server that ends with its value.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn project(server: &Path, place: &Path, directory: &Path) -> Result<usize, String> {
    let files = definitions(directory)?;
    let mut child = Command::new(server)
        .args(["serve", "--secure-port=0", "--data-dir"])
        .arg(place)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{}: {error}", server.display()))?;
    let lines = BufReader::new(child.stdout.take().ok_or("no output")?);
    let _server = Server(child);
    // It says where its kubeconfig is once it serves.
    for line in lines.lines() {
        let line = line.map_err(|error| error.to_string())?;
        if line.contains("kubeconfig") || line.contains("kubectl") {
            break;
        }
    }
    let kubeconfig = place.join("admin.kubeconfig");
    let mut call = Command::new("kubectl");
    call.arg("--kubeconfig").arg(&kubeconfig);
    call.args(["apply", "--server-side", "--validate=strict"]);
    let mut rules = 0;
    for file in &files {
        call.arg("-f").arg(file);
        let text = fs::read_to_string(file).unwrap_or_default();
        rules += text.matches(" rule: ").count();
    }
    let output = call.output().map_err(|error| format!("kubectl: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let applied = said.matches("serverside-applied").count();
    let wrong = String::from_utf8_lossy(&output.stderr);
    for line in wrong.lines() {
        println!("  {line}");
    }
    println!(
        "{}: {applied} applied, some {rules} rules",
        directory.display()
    );
    Ok(usize::from(!output.status.success() || applied == 0))
}

/// Files with nothing but definitions, in order.
fn definitions(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut todo = vec![directory.to_owned()];
    while let Some(next) = todo.pop() {
        let entries =
            fs::read_dir(&next).map_err(|error| format!("{}: {error}", next.display()))?;
        for entry in entries {
            let path = entry.map_err(|error| error.to_string())?.path();
            if path.is_dir() {
                todo.push(path);
                continue;
            }
            let is_yaml = path
                .extension()
                .is_some_and(|it| it == "yaml" || it == "yml");
            if !is_yaml {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let kinds: Vec<&str> = text.lines().filter(|it| it.starts_with("kind:")).collect();
            let is_definition = |it: &&str| it.trim() == "kind: CustomResourceDefinition";
            // What templates and patches have is not whole.
            if !kinds.is_empty()
                && kinds.iter().all(is_definition)
                && !text.contains("{{")
                && text.contains("openAPIV3Schema")
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
