//! What recording of usage costs a build: the release binary with and without it, in turns, so that whatever else the
//! machine does hits both.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Outcome, cargo};

const PROGRAM: &str = "target/release/pilothouse";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let rounds: usize = match arguments.first() {
        Some(text) => text.parse().map_err(|_| format!("{text} is no number"))?,
        None => 200,
    };
    cargo(&["build", "--release", "--package", "pilothouse"])?;
    let program = std::env::var("CARGO_TARGET_DIR").map_or_else(
        |_| PROGRAM.to_owned(),
        |directory| format!("{directory}/release/pilothouse"),
    );
    let home = std::env::temp_dir().join(format!("pilothouse-recording-{}", std::process::id()));
    let made = make(&home);
    let measured = made.and_then(|()| {
        for (name, app) in [("3 resources", "small"), ("300 resources", "large")] {
            measure(name, &program, &home, app, rounds)?;
        }
        Ok(())
    });
    _ = std::fs::remove_dir_all(&home);
    measured
}

fn make(home: &Path) -> Outcome {
    for (app, count) in [("small", 3), ("large", 300)] {
        let directory = home.join(app);
        std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
        let object = |at: usize| {
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m{at}\ndata:\n  a: b\n---\n"
            )
        };
        let objects: String = (0..count).map(object).collect();
        let text = "namePrefix: my-\ncommonLabels:\n  app: web\nresources: [all.yaml]\n";
        std::fs::write(directory.join("all.yaml"), objects)
            .and_then(|()| std::fs::write(directory.join("kustomization.yaml"), text))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn measure(name: &str, program: &str, home: &Path, app: &str, rounds: usize) -> Outcome {
    let export = format!("file:{}/out", home.display());
    let build = |export: &str| -> Result<Duration, String> {
        let begun = Instant::now();
        let done = Command::new(program)
            .args(["build", app])
            .current_dir(home)
            .env_clear()
            .env("HOME", home)
            .env("KUSTOMIZE_EXPORT_METRICS", export)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match done {
            Ok(status) if status.success() => Ok(begun.elapsed()),
            Ok(status) => Err(format!("{program}: {status}")),
            Err(error) => Err(format!("{program}: {error}")),
        }
    };
    let (mut off, mut on) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        off.push(build("none")?);
        on.push(build(&export)?);
    }
    let (off, on) = (median(off), median(on));
    println!(
        "{name}: off {off:?}, on {on:?}, difference {:?}, ratio {:.3} (medians of {rounds})",
        on.saturating_sub(off),
        on.as_secs_f64() / off.as_secs_f64()
    );
    Ok(())
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all.get(all.len() / 2).copied().unwrap_or_default()
}
