//! Where an attack takes place: a server with some users and objects on it, and a place for what went wrong.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use json::{Value, json};

use crate::bystander;
use crate::client::{Answer, Client};
use crate::server::{Program, Server};

/// The namespace in which alice may do what an ordinary user may.
pub const NAMESPACE: &str = "attack";
pub const MAPS: &str = "/api/v1/namespaces/attack/configmaps";
pub const SECRETS: &str = "/api/v1/namespaces/attack/secrets";
/// A custom kind without rules: it takes any object.
pub const BLOBS: &str = "/apis/attack.example.com/v1/namespaces/attack/blobs";

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

/// How much of an attack there is to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scale {
    /// Against a release build, for minutes.
    Full,
    /// As a test, against a debug build, for seconds.
    Short,
}

#[derive(Debug)]
pub struct Field {
    pub server: Server,
    pub scale: Scale,
    client: Client,
    /// Requests, frames or connections.
    tried: usize,
    faults: Vec<String>,
}

impl Field {
    pub fn new(program: &Program, data: &Path, scale: Scale) -> io::Result<Self> {
        let server = program.start(data)?;
        let field = Self {
            client: server.client()?,
            server,
            scale,
            tried: 0,
            faults: Vec::new(),
        };
        field.prepare()?;
        Ok(field)
    }

    /// This much, or less in a test.
    pub fn of(&self, full: usize, short: usize) -> usize {
        match self.scale {
            Scale::Full => full,
            Scale::Short => short,
        }
    }

    pub fn anonymous(&self) -> Client {
        self.client.clone()
    }

    pub fn admin(&self) -> Client {
        self.client.with_user("admin")
    }

    /// Who has no role at all.
    pub fn mallory(&self) -> Client {
        self.client.with_user("mallory")
    }

    /// Who may edit in one namespace.
    pub fn alice(&self) -> Client {
        self.client.with_user("alice")
    }

    pub fn tried(&mut self, count: usize) {
        self.tried += count;
    }

    /// Something that must not be. The first few are kept.
    pub fn fault(&mut self, what: impl Display) {
        if self.faults.len() < 5 {
            let mut what = what.to_string();
            if let Some((at, _)) = what.char_indices().nth(300) {
                what.truncate(at);
                what.push('…');
            }
            self.faults.push(what);
        }
    }

    /// Counts a request, and holds its answer to these codes.
    pub fn expect(
        &mut self,
        what: &str,
        answer: io::Result<Answer>,
        codes: &[u16],
    ) -> Option<Answer> {
        self.tried(1);
        match answer {
            Ok(answer) if codes.contains(&answer.code) => return Some(answer),
            Ok(answer) => self.fault(format!("{what}: {} {}", answer.code, answer.text())),
            Err(error) => self.fault(format!("{what}: {error}")),
        }
        None
    }

    /// Waits for something that must come to be.
    pub fn until(&mut self, what: &str, limit: Duration, mut done: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + limit;
        while !done(self) {
            if Instant::now() > deadline {
                return self.fault(format!("{what}: not within {limit:?}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The server on its data again, after it has ended.
    pub fn restart(&mut self) -> io::Result<()> {
        self.server.restart()?;
        self.client = self.client.at(self.server.address);
        Ok(())
    }

    pub(crate) fn take(&mut self) -> (usize, Vec<String>) {
        (
            std::mem::take(&mut self.tried),
            std::mem::take(&mut self.faults),
        )
    }

    /// Namespaces, roles, and an object for the bystander.
    fn prepare(&self) -> io::Result<()> {
        let admin = self.admin();
        for name in [NAMESPACE, bystander::NAMESPACE] {
            admin.make("/api/v1/namespaces", &json!({"metadata": {"name": name}}))?;
        }
        let definition = json!({
            "metadata": {"name": "blobs.attack.example.com"},
            "spec": {
                "group": "attack.example.com", "scope": "Namespaced",
                "names": {"plural": "blobs", "kind": "Blob"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }}}],
            },
        });
        admin.make(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            &definition,
        )?;
        let everything =
            json!([{"apiGroups": ["attack.example.com"], "resources": ["*"], "verbs": ["*"]}]);
        let role = json!({"metadata": {"name": "attack-custom"}, "rules": everything});
        admin.make(&format!("{RBAC}/clusterroles"), &role)?;
        for (user, namespace, role) in [
            ("alice", NAMESPACE, "edit"),
            ("alice", NAMESPACE, "attack-custom"),
            ("bystander", bystander::NAMESPACE, "edit"),
        ] {
            bind(&admin, user, namespace, role)?;
        }
        let one = json!({"metadata": {"name": "one"}, "data": {"k": "v"}});
        admin.make("/api/v1/namespaces/quiet/configmaps", &one)?;
        // Roles reach the authorizer a moment after they are acknowledged.
        for (user, path) in [
            ("alice", MAPS),
            ("alice", BLOBS),
            ("bystander", "/api/v1/namespaces/quiet/configmaps"),
        ] {
            until_allowed(&self.client.with_user(user), path)?;
        }
        Ok(())
    }
}

fn bind(admin: &Client, user: &str, namespace: &str, role: &str) -> io::Result<Value> {
    let binding = json!({
        "metadata": {"name": (format!("{user}-{role}"))},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    });
    admin.make(
        &format!("{RBAC}/namespaces/{namespace}/rolebindings"),
        &binding,
    )
}

pub(crate) fn until_allowed(client: &Client, path: &str) -> io::Result<()> {
    for _ in 0..400 {
        let answer = client.get(path)?;
        if answer.code == 200 {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    Err(io::Error::other(format!("{path} is still not allowed")))
}
