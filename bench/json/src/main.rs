//! Our JSON against sonic-rs and serde_json, in one run: time of each, and ours over theirs.

mod rounds;

use std::hint::black_box;

use anyhow::{Context as _, Result, ensure};

use crate::rounds::{Row, compare};

/// A Pod as a cluster holds it, with what manages its fields: 5 kB.
const POD: &[u8] = include_bytes!("pod.json");

/// Parsing the Pod may take this many times what sonic-rs takes.
const BAR: f64 = 2.0;

fn main() -> Result<()> {
    let pods = list(500);
    println!("one Pod: {} bytes; a list: {} bytes", POD.len(), pods.len());
    println!(
        "{:<26}{:>12}{:>22}{:>22}",
        "", "ours", "sonic-rs", "serde_json"
    );
    let parsed = parse("parse a Pod", POD)?;
    parse("parse a list of 500", &pods)?;
    write("write a Pod", POD)?;
    write("write a list of 500", &pods)?;
    clone("clone a Pod", POD)?;
    change("clone, change a label", POD)?;
    scan("find a field in a Pod", POD)?;
    ensure!(
        parsed.ratio(1) <= BAR,
        "missed: parsing may take {BAR} times what sonic-rs takes"
    );
    Ok(())
}

fn list(length: usize) -> Vec<u8> {
    let mut out =
        b"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[".to_vec();
    for index in 0..length {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(POD);
    }
    out.extend_from_slice(b"]}");
    out
}

fn parse(name: &str, text: &[u8]) -> Result<Row> {
    compare(
        name,
        &mut [
            &mut || drop(black_box(json::parse(black_box(text)))),
            &mut || {
                drop(black_box(sonic_rs::from_slice::<sonic_rs::Value>(
                    black_box(text),
                )))
            },
            &mut || {
                drop(black_box(serde_json::from_slice::<serde_json::Value>(
                    black_box(text),
                )))
            },
        ],
    )
}

fn write(name: &str, text: &[u8]) -> Result<Row> {
    let ours = json::parse(text)?;
    let sonic: sonic_rs::Value = sonic_rs::from_slice(text)?;
    let serde: serde_json::Value = serde_json::from_slice(text)?;
    ensure!(
        json::to_vec(&ours) == text,
        "{name}: what is written is not what was read"
    );
    compare(
        name,
        &mut [
            &mut || drop(black_box(json::to_vec(black_box(&ours)))),
            &mut || drop(black_box(sonic_rs::to_vec(black_box(&sonic)))),
            &mut || drop(black_box(serde_json::to_vec(black_box(&serde)))),
        ],
    )
}

fn clone(name: &str, text: &[u8]) -> Result<Row> {
    let ours = json::parse(text)?;
    let sonic: sonic_rs::Value = sonic_rs::from_slice(text)?;
    let serde: serde_json::Value = serde_json::from_slice(text)?;
    compare(
        name,
        &mut [
            &mut || drop(black_box(black_box(&ours).clone())),
            &mut || drop(black_box(black_box(&sonic).clone())),
            &mut || drop(black_box(black_box(&serde).clone())),
        ],
    )
}

/// What a clone really costs shows when it is changed.
fn change(name: &str, text: &[u8]) -> Result<Row> {
    let ours = json::parse(text)?;
    let sonic: sonic_rs::Value = sonic_rs::from_slice(text)?;
    let serde: serde_json::Value = serde_json::from_slice(text)?;
    compare(
        name,
        &mut [
            &mut || {
                let mut it = black_box(&ours).clone();
                if let Some(tier) = it.at_mut(&["metadata", "labels", "tier"]) {
                    *tier = "frontend".into();
                }
                black_box(it);
            },
            &mut || {
                let mut it = black_box(&sonic).clone();
                it["metadata"]["labels"]["tier"] = "frontend".into();
                black_box(it);
            },
            &mut || {
                let mut it = black_box(&serde).clone();
                it["metadata"]["labels"]["tier"] = "frontend".into();
                black_box(it);
            },
        ],
    )
}

fn scan(name: &str, text: &[u8]) -> Result<Row> {
    let path = ["metadata", "labels"];
    let ours = json::scan::field(text, &path).context("no labels found")?;
    let sonic = sonic_rs::get(text, path.as_slice())?;
    ensure!(
        text[ours] == *sonic.as_raw_str().as_bytes(),
        "{name}: not the same field"
    );
    compare(
        name,
        &mut [
            &mut || drop(black_box(json::scan::field(black_box(text), &path))),
            &mut || drop(black_box(sonic_rs::get(black_box(text), path.as_slice()))),
        ],
    )
}
