//! What the server says of itself: its version, its address, and how its tokens are verified.

use features::Settings;
use json::{Value, json};

/// What the server says of itself.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    pub issuer: String,
    /// `/openid/v1/jwks`
    pub jwks: Value,
    pub openid: Value,
    /// How clients reach us.
    pub address: String,
}

impl Documents {
    /// The port that clients reach us at.
    pub fn port(&self) -> u16 {
        let port = self.address.rsplit(':').next();
        port.and_then(|it| it.parse().ok()).unwrap_or(6443)
    }
}

/// `/version`, with the versions that `--emulated-version` and `--min-compatibility-version` made of it.
pub fn version(features: &Settings<'_>) -> Value {
    let (emulated, oldest) = (features.emulation(), features.min_compatibility());
    json!({
        "major": "1",
        "minor": "37",
        "emulationMajor": (emulated.major.to_string()),
        "emulationMinor": (emulated.minor.to_string()),
        "minCompatibilityMajor": (oldest.major.to_string()),
        "minCompatibilityMinor": (oldest.minor.to_string()),
        "gitVersion": "v1.37.0",
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": (format!("{}/{}", std::env::consts::OS, go_arch())),
    })
}

fn go_arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
