//! Runs the webhook beside this file, and prints the `ValidatingWebhookConfiguration` that leads to it:
//!
//! ```text
//! cargo run -p pilothouse --example tracing_webhook -- hook.kubeconfig hook-tracing.yaml > hook.yaml
//! ```
//!
//! docs/traces.md has all the steps.

mod webhook;

use std::path::Path;

use anyhow::{Context as _, anyhow};
use webhook::Webhook;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [kubeconfig, tracing] = &*arguments else {
        return Err(anyhow!("usage: tracing_webhook KUBECONFIG TRACING-CONFIG"));
    };
    let text = std::fs::read(kubeconfig).with_context(|| format!("read {kubeconfig}"))?;
    let kubeconfig = yaml::to_json(&text).map_err(|error| anyhow!("{kubeconfig}: {error}"))?;
    let address = ([127, 0, 0, 1], 0).into();
    let webhook = Webhook::start(address, &kubeconfig, Path::new(tracing)).await?;
    println!("{}", yaml::value_to_string(&webhook.configuration()));
    tokio::signal::ctrl_c().await?;
    let report = webhook.stop().await;
    eprintln!("traces: spans {report}");
    Ok(())
}
