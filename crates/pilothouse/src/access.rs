//! How to reach the server: what the user's kubeconfig says, and what flags say otherwise.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use clap::Args;
use egress::http::{Answer, Client};
use egress::tls::{Roots, Trust};
use encoding::percent;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{Method, Request, Uri};
use json::{Value, json};

/// Webhooks may take thirty seconds of it.
const TIMEOUT: Duration = Duration::from_secs(60);
const AGENT: &str = concat!("pilothouse/", env!("CARGO_PKG_VERSION"));

#[derive(Debug, Default, Args)]
pub(crate) struct Flags {
    /// The kubeconfig; $KUBECONFIG or ~/.kube/config if omitted
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Which of its contexts; the current one if omitted
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// URL of the server
    #[arg(long, short, value_name = "URL")]
    server: Option<String>,
    /// Token to show to the server
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Whom to believe that it is the server
    #[arg(long, value_name = "FILE")]
    certificate_authority: Option<PathBuf>,
    /// Do not verify the certificate of the server
    #[arg(long)]
    insecure_skip_tls_verify: bool,
}

#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) server: String,
    pub(crate) trust: Trust,
    pub(crate) token: Option<String>,
    /// As whom, if not as oneself.
    pub(crate) headers: Vec<(String, String)>,
    /// That of the context.
    pub(crate) namespace: Option<String>,
}

impl Access {
    pub(crate) fn find(flags: &Flags) -> anyhow::Result<Self> {
        let config = Config::load(flags)?;
        let name = flags.context.as_deref().or(config.current.as_deref());
        let context = match name {
            Some(name) => Some(config.find("contexts", "context", name)?),
            None => None,
        };
        let part = |list, key| {
            let name = context.as_ref().and_then(|it| it.value.str_at(&[key]));
            name.map(|it| config.find(list, key, it)).transpose()
        };
        let (cluster, user) = (part("clusters", "cluster")?, part("users", "user")?);
        let cluster = cluster.unwrap_or_default();
        let server = flags.server.clone().or_else(|| cluster.text("server"));
        let server = server.context(
            "which server is not known: there is no current context in the kubeconfig and no --server",
        )?;
        let roots = match &flags.certificate_authority {
            Some(path) => Some(read(path)?),
            None => cluster.data("certificate-authority")?,
        };
        let anyone = cluster.value.get("insecure-skip-tls-verify") == Some(&Value::Bool(true));
        let mut access = Self {
            server,
            trust: Trust {
                roots: match roots {
                    _ if anyone || flags.insecure_skip_tls_verify => Roots::Anyone,
                    Some(pem) => Roots::Pem(pem),
                    None => Roots::System,
                },
                identity: None,
                server_name: cluster.text("tls-server-name"),
            },
            token: None,
            headers: Vec::new(),
            namespace: context.as_ref().and_then(|it| it.text("namespace")),
        };
        access.be(&user.unwrap_or_default())?;
        if flags.token.is_some() {
            access.token.clone_from(&flags.token);
        }
        Ok(access)
    }

    /// Shows what the user has to show.
    fn be(&mut self, user: &Part<'_>) -> anyhow::Result<()> {
        let certificate = user.data("client-certificate")?;
        self.trust.identity = certificate.zip(user.data("client-key")?);
        self.token = user.text("token");
        if let Some(path) = user.text("tokenFile") {
            let token = read(&user.directory.join(path))?;
            self.token = Some(String::from_utf8(token)?.trim().to_owned());
        }
        if let Some(name) = user.text("as") {
            self.headers.push(("impersonate-user".into(), name));
        }
        let groups = user.value.get("as-groups").and_then(Value::as_array);
        for group in groups.into_iter().flatten().filter_map(Value::as_str) {
            let header = ("impersonate-group".to_owned(), group.to_owned());
            self.headers.push(header);
        }
        if let Some(exec) = user.value.get("exec").filter(|it| !it.is_null()) {
            self.ask(exec, user.directory)?;
        }
        if user.value.get("auth-provider").is_some() || user.value.get("username").is_some() {
            bail!(
                "the kubeconfig's user has an auth-provider or a password, which are not supported here"
            );
        }
        Ok(())
    }

    /// A program of the user's hands out what to show.
    fn ask(&mut self, exec: &Value, directory: &Path) -> anyhow::Result<()> {
        let text = |key: &str| exec.str_at(&[key]).unwrap_or_default();
        let list = |key: &str| {
            exec.get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        let command = text("command");
        // A path is the kubeconfig's, a name is the user's.
        let program = if command.contains('/') {
            directory.join(command)
        } else {
            command.into()
        };
        let info = json!({
            "apiVersion": (text("apiVersion")),
            "kind": "ExecCredential",
            "spec": {"interactive": false},
        });
        let output = Command::new(program)
            .args(list("args").filter_map(Value::as_str))
            .envs(
                list("env").filter_map(|it| Some((it.str_at(&["name"])?, it.str_at(&["value"])?))),
            )
            .env("KUBERNETES_EXEC_INFO", json::to_string(&info))
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("run {command}, which the kubeconfig names"))?;
        let credential = json::parse(&output.stdout);
        let credential = credential.map_err(|error| anyhow!("{command}: {error}"))?;
        let text = |key: &str| credential.str_at(&["status", key]).map(str::to_owned);
        let pem = |key: &str| text(key).map(String::into_bytes);
        self.token = text("token").or(self.token.take());
        let identity = pem("clientCertificateData").zip(pem("clientKeyData"));
        self.trust.identity = identity.or(self.trust.identity.take());
        Ok(())
    }
}

/// All kubeconfigs; the first that sets a value wins.
struct Config {
    files: Vec<(PathBuf, Value)>,
    current: Option<String>,
}

/// A cluster, user or context, and where the files are that it names.
#[derive(Clone, Copy)]
struct Part<'a> {
    value: &'a Value,
    directory: &'a Path,
}

impl Default for Part<'_> {
    fn default() -> Self {
        Self {
            value: &Value::Null,
            directory: Path::new(""),
        }
    }
}

impl Config {
    fn load(flags: &Flags) -> anyhow::Result<Self> {
        let variable = std::env::var_os("KUBECONFIG").filter(|it| !it.is_empty());
        let paths: Vec<PathBuf> = if let Some(path) = &flags.kubeconfig {
            vec![path.clone()]
        } else if let Some(list) = variable {
            let paths = std::env::split_paths(&list);
            paths.filter(|it| it.exists()).collect()
        } else {
            let home = std::env::home_dir().map(|it| it.join(".kube/config"));
            home.filter(|it| it.exists()).into_iter().collect()
        };
        let mut files = Vec::new();
        for path in paths {
            let value = yaml::to_json(&read(&path)?);
            let value = value.map_err(|error| anyhow!("{}: {error}", path.display()))?;
            files.push((path, value));
        }
        let current = files.iter().find_map(|(_, it)| {
            let name = it.str_at(&["current-context"])?;
            (!name.is_empty()).then(|| name.to_owned())
        });
        Ok(Self { files, current })
    }

    fn find(&self, list: &str, key: &str, name: &str) -> anyhow::Result<Part<'_>> {
        for (path, config) in &self.files {
            let all = config.get(list).and_then(Value::as_array);
            let mut all = all.into_iter().flatten();
            let found = all.find(|it| it.str_at(&["name"]) == Some(name));
            if let Some(value) = found.and_then(|it| it.get(key)) {
                let directory = path.parent().unwrap_or(Path::new(""));
                return Ok(Part { value, directory });
            }
        }
        Err(anyhow!("the kubeconfig has no {key} {name:?}"))
    }
}

impl Part<'_> {
    fn text(&self, key: &str) -> Option<String> {
        let text = self.value.str_at(&[key]).filter(|it| !it.is_empty());
        text.map(str::to_owned)
    }

    /// What stands in it, else what the file holds that it names.
    fn data(&self, key: &str) -> anyhow::Result<Option<Vec<u8>>> {
        if let Some(data) = self.text(&format!("{key}-data")) {
            let data = STANDARD.decode(data);
            return data
                .map(Some)
                .with_context(|| format!("{key}-data of the kubeconfig"));
        }
        let path = self.text(key).map(|it| self.directory.join(it));
        path.map(|it| read(&it)).transpose()
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("read {}", path.display()))
}

/// The server itself.
#[derive(Debug)]
pub(crate) struct Connection {
    client: Client,
    base: String,
    headers: Vec<(String, String)>,
}

impl Connection {
    pub(crate) fn new(access: &Access) -> anyhow::Result<Self> {
        let url: Uri = access
            .server
            .parse()
            .with_context(|| access.server.clone())?;
        let mut headers = access.headers.clone();
        if let Some(token) = &access.token {
            headers.push((AUTHORIZATION.to_string(), format!("Bearer {token}")));
        }
        Ok(Self {
            client: Client::new(&url, &access.trust, TIMEOUT)?,
            base: access.server.trim_end_matches('/').to_owned(),
            headers,
        })
    }

    /// Sends a body with its type, if there is one.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<(&'static str, Bytes)>,
    ) -> anyhow::Result<Answer> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(ACCEPT, "application/json")
            .header(USER_AGENT, AGENT);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some((content_type, _)) = body {
            request = request.header(CONTENT_TYPE, content_type);
        }
        let body = body.map(|it| it.1).unwrap_or_default();
        Ok(self.client.send(request.body(body)?).await?)
    }
}

/// A part of a path or query: all but the unreserved is encoded.
pub(crate) fn encode(text: &str) -> String {
    percent::encode(text.as_bytes(), percent::is_unreserved)
}
