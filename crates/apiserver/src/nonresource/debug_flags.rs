//! `/debug/flags`: the verbosity of the log, changed while the server runs, as in kube-apiserver. `vmodule`, the levels
//! of single parts, is ours.

use http::{Method, Response, StatusCode};
use meta::go::NumError;
use telemetry::logs;

use crate::handler::respond;
use crate::transport::body::Body;
use crate::transport::incoming::RequestBody;
use respond::page_not_found;

const INDEX: &str = "<html><body>flags:<br>v<br>vmodule<br></body></html>\n";
/// Of what a flag is set to.
const LONGEST: usize = 4096;

pub(crate) fn is_path(path: &str) -> bool {
    path == "/debug/flags" || path.starts_with("/debug/flags/")
}

pub(crate) async fn answer(method: &Method, path: &str, body: RequestBody) -> Response<Body> {
    let set: fn(&str) -> Result<String, String> = match path.trim_start_matches("/debug/flags") {
        "" | "/" => return respond::ok("text/html; charset=utf-8", INDEX),
        "/v" => set_verbosity,
        "/vmodule" => set_levels,
        _ => return page_not_found(),
    };
    let (code, said) = if *method == Method::PUT {
        match read(body).await.and_then(|it| set(it.trim())) {
            Ok(said) => (StatusCode::OK, said),
            Err(why) => (StatusCode::BAD_REQUEST, why),
        }
    } else {
        let why = "unsupported http method".to_owned();
        (StatusCode::NOT_ACCEPTABLE, why)
    };
    respond::with_code(code, "text/plain", said)
}

async fn read(body: RequestBody) -> Result<String, String> {
    let bytes = body.read(LONGEST).await;
    let bytes =
        bytes.map_err(|status| format!("error reading request body: {}", status.message))?;
    let text = String::from_utf8(bytes.to_vec());
    text.map_err(|_| "error reading request body: it is not UTF-8".to_owned())
}

fn set_verbosity(text: &str) -> Result<String, String> {
    let level = text.parse().map_err(|_| {
        let error = NumError::syntax("ParseInt", text);
        format!("failed set klog.logging.verbosity {text}: {error}")
    })?;
    logs::set_verbosity(level);
    Ok(format!("successfully set klog.logging.verbosity to {text}"))
}

fn set_levels(text: &str) -> Result<String, String> {
    logs::set_levels(text).map_err(|error| format!("failed set vmodule {text}: {error}"))?;
    Ok(format!("successfully set vmodule to {text}"))
}
