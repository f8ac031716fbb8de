//! The Go program beside this one.

use std::path::Path;
use std::process::Command;

use crate::work::Work;

/// Nothing, and a line that says why, where there is no Go or it cannot build the program.
pub(crate) fn measure(work: &Work) -> Vec<(String, f64)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("go");
    let target = std::env::temp_dir().join(format!("bench-cel-{}", std::process::id()));
    let built = Command::new("go").args(["build", "-o"]).arg(&target).arg(".").current_dir(&source).status();
    match built {
        Ok(status) if status.success() => {}
        Ok(status) => {
            println!("cel-go is not measured: go build: {status}");
            return Vec::new();
        }
        Err(error) => {
            println!("cel-go is not measured: go: {error}");
            return Vec::new();
        }
    }
    let input = target.with_extension("json");
    std::fs::write(&input, work.input().to_string()).expect("a writable directory");
    let output = Command::new(&target).arg(&input).output().expect("a program that was just built");
    let _ = std::fs::remove_file(&target);
    let _ = std::fs::remove_file(&input);
    if !output.status.success() {
        println!("cel-go is not measured: {}", String::from_utf8_lossy(&output.stderr));
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter_map(|it| it.split_once('\t'));
    lines.filter_map(|(key, value)| Some((key.to_owned(), value.parse().ok()?))).collect()
}
