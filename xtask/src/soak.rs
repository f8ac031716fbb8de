//! The crash drill of the tests, for as long as one likes, on the release binary.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use crate::{Outcome, cargo};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let rounds = match arguments.first() {
        None => 200,
        Some(text) => text
            .parse()
            .map_err(|_| format!("{text} is not a number of rounds"))?,
    };
    cargo(&["build", "--release", "--package", "pilothouse"])?;
    drill(rounds).map_err(|error| error.to_string())
}

fn drill(rounds: u32) -> Result<(), Box<dyn std::error::Error>> {
    let place = std::env::temp_dir().join(format!("pilothouse-soak-{}", std::process::id()));
    std::fs::create_dir_all(&place)?;
    let (data, lines) = (place.join("data"), place.join("acknowledged"));
    let call = || {
        let mut call = Command::new("target/release/pilothouse");
        call.args(["storage", "exercise", "--data-dir"]).arg(&data);
        call
    };
    for round in 0..rounds {
        let mut child = call()
            .args(["--writers", "32"])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&lines)?;
        // A different moment each round, from the first write to some way through several segments.
        for _ in 0..=(round * 7919) % 20_000 {
            let mut line = String::new();
            if out.read_line(&mut line)? == 0 {
                return Err("the drill ended early".into());
            }
            file.write_all(line.as_bytes())?;
        }
        child.kill()?;
        child.wait()?;
        let mut rest = Vec::new();
        out.read_to_end(&mut rest)?;
        file.write_all(&rest)?;
        crate::run(call().arg("--verify").arg(&lines).stdout(Stdio::null()))?;
        eprint!("\rround {} of {rounds}", round + 1);
    }
    eprintln!("\rall acknowledged writes were there after each of {rounds} kills");
    std::fs::remove_dir_all(&place)?;
    Ok(())
}
