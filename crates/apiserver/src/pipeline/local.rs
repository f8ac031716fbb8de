//! The API from inside the process: the same pipeline without the network. Controllers use this module alone of the
//! server (`cargo xtask layers` checks it): requests through [`Local`], all else through [`Host`].

use std::sync::Arc;

use auth::User;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue, USER_AGENT};
use http::{Method, Request};
use http_body_util::BodyExt;
use json::Value;
use meta::Status;

use crate::state::Api;
use crate::transport::body::Body;
use crate::transport::caller::Caller;
use crate::transport::incoming::RequestBody;

pub use super::host::Host;
pub use crate::access::used_tokens::UsedToken;
pub use crate::catalog::{Catalog, Group, Resource};
pub use crate::observe::metrics::{FeatureSeries, QueueSeries, Queues};
pub use crate::read::metadata_stream::{Change, MetadataStream, ObjectMetadata};
pub use crate::state::features::{Acknowledged, FeatureAdmission, NAMESPACE as FEATURES_NAMESPACE};
pub use crate::write::feature_uses::{Found, Page, Use, collections, concerned};

/// Objects asked for at a time.
const PAGE: usize = 500;
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// A client in this process.
#[derive(Clone, Debug)]
pub struct Local {
    host: Host,
    caller: Arc<Caller>,
    agent: HeaderValue,
}

impl Local {
    /// `agent` is the field manager of what it writes.
    pub fn new(api: Arc<Api>, user: User, agent: &'static str) -> Self {
        Self {
            host: Host::new(api),
            caller: Arc::new(Caller::Local(Arc::new(user))),
            agent: HeaderValue::from_static(agent),
        }
    }

    /// What the server process offers to controllers besides the API.
    pub fn host(&self) -> &Host {
        &self.host
    }

    pub async fn get(&self, path: &str) -> Result<Value, Status> {
        self.request(Method::GET, path, "", Bytes::new()).await
    }

    pub async fn create(&self, path: &str, object: &Value) -> Result<Value, Status> {
        let body = json::to_vec(object).into();
        self.request(Method::POST, path, "application/json", body)
            .await
    }

    pub async fn update(&self, path: &str, object: &Value) -> Result<Value, Status> {
        let body = json::to_vec(object).into();
        self.request(Method::PUT, path, "application/json", body)
            .await
    }

    pub async fn merge_patch(&self, path: &str, change: &Value) -> Result<Value, Status> {
        let body = json::to_vec(change).into();
        self.request(Method::PATCH, path, "application/merge-patch+json", body)
            .await
    }

    /// Server-side apply; whatever others own is taken from them. `manager` needs no escaping.
    pub async fn apply(&self, path: &str, object: &Value, manager: &str) -> Result<Value, Status> {
        let path = format!("{path}?fieldManager={manager}&force=true");
        let body = json::to_vec(object).into();
        self.request(Method::PATCH, &path, "application/apply-patch+yaml", body)
            .await
    }

    pub async fn json_patch(&self, path: &str, change: &Value) -> Result<Value, Status> {
        let body = json::to_vec(change).into();
        self.request(Method::PATCH, path, "application/json-patch+json", body)
            .await
    }

    /// `options` is null or a `DeleteOptions`.
    pub async fn delete(&self, path: &str, options: &Value) -> Result<Value, Status> {
        let body = if options.is_null() {
            Bytes::new()
        } else {
            json::to_vec(options).into()
        };
        self.request(Method::DELETE, path, "application/json", body)
            .await
    }

    /// All items of a collection, read page by page.
    pub async fn items(&self, path: &str) -> Result<Vec<Value>, Status> {
        self.items_as(path, "application/json").await
    }

    /// The metadata of all items of a collection, read page by page.
    pub async fn metadata(&self, path: &str) -> Result<Vec<Value>, Status> {
        self.items_as(path, METADATA_LIST).await
    }

    async fn items_as(&self, path: &str, accept: &'static str) -> Result<Vec<Value>, Status> {
        let mut items = Vec::new();
        let mut token = String::new();
        loop {
            let join = if path.contains('?') { '&' } else { '?' };
            let page = format!("{path}{join}limit={PAGE}&continue={token}");
            let mut list = self
                .request_as(Method::GET, &page, "", Bytes::new(), accept)
                .await?;
            if let Some(Value::Array(some)) = list.get_mut("items").map(Value::take) {
                items.extend(some);
            }
            match list.str_at(&["metadata", "continue"]) {
                Some(next) if !next.is_empty() => next.clone_into(&mut token),
                _ => return Ok(items),
            }
        }
    }

    /// The metadata of one object.
    pub async fn metadata_of(&self, path: &str) -> Result<Value, Status> {
        self.request_as(Method::GET, path, "", Bytes::new(), METADATA)
            .await
    }

    /// Deletes the objects of a definition that serves no version of them. Says how many are left.
    pub async fn delete_unserved(&self, definition: &Value) -> Result<usize, Status> {
        match &*self.caller {
            Caller::Local(user) => {
                crate::write::unserved::delete_all(self.host.api(), user, definition).await
            }
            Caller::Remote { .. } => Ok(0),
        }
    }

    /// Deletes what is in a collection, page by page. Says how many there were.
    pub async fn delete_collection(&self, path: &str, options: &Value) -> Result<usize, Status> {
        let mut token = String::new();
        let mut count = 0;
        loop {
            let page = format!("{path}?limit={PAGE}&continue={token}");
            let list = self.delete(&page, options).await?;
            let items = list.get("items").and_then(Value::as_array);
            count += items.map_or(0, Vec::len);
            match list.str_at(&["metadata", "continue"]) {
                Some(next) if !next.is_empty() => next.clone_into(&mut token),
                _ => return Ok(count),
            }
        }
    }

    async fn request(
        &self,
        method: Method,
        path: &str,
        content_type: &'static str,
        body: Bytes,
    ) -> Result<Value, Status> {
        self.request_as(method, path, content_type, body, "application/json")
            .await
    }

    async fn request_as(
        &self,
        method: Method,
        path: &str,
        content_type: &'static str,
        body: Bytes,
        accept: &'static str,
    ) -> Result<Value, Status> {
        let response = self.send(method, path, content_type, body, accept).await?;
        let ok = response.status().is_success();
        let Ok(body) = response.into_body().collect().await;
        let value = json::parse(&body.to_bytes()).map_err(Status::internal)?;
        if ok {
            Ok(value)
        } else {
            Err(Status::from_value(&value))
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        content_type: &'static str,
        body: Bytes,
        accept: &'static str,
    ) -> Result<http::Response<Body>, Status> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(ACCEPT, accept)
            .header(USER_AGENT, self.agent.clone());
        if !content_type.is_empty() {
            request = request.header(CONTENT_TYPE, content_type);
        }
        let request = request.body(()).map_err(Status::internal)?;
        let (parts, ()) = request.into_parts();
        let body = RequestBody::Bytes(body);
        Ok(super::handle(self.host.api(), &self.caller, parts, body).await)
    }

    /// The path of a watch, with its query.
    pub async fn watch(&self, path: &str) -> Result<Watch, Status> {
        let json = "application/json";
        let response = self.send(Method::GET, path, "", Bytes::new(), json).await?;
        let ok = response.status().is_success();
        let mut body = response.into_body();
        if ok {
            return Ok(Watch {
                body,
                rest: Vec::new(),
                at: 0,
            });
        }
        let mut bytes = Vec::new();
        while let Some(Ok(frame)) = body.frame().await {
            bytes.extend_from_slice(frame.data_ref().map_or(&[], |it| it));
        }
        let value = json::parse(&bytes).map_err(Status::internal)?;
        Err(Status::from_value(&value))
    }
}

/// Events as they come.
#[derive(Debug)]
pub struct Watch {
    body: Body,
    rest: Vec<u8>,
    at: usize,
}

impl Watch {
    /// What happened, and to what. `None` when the watch is over.
    pub async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some(end) = self.rest[self.at..].iter().position(|byte| *byte == b'\n') {
                let line = &self.rest[self.at..self.at + end];
                let parsed = json::parse(line);
                self.at += end + 1;
                let mut event = parsed.ok()?;
                let kind = event.str_at(&["type"])?.to_owned();
                let object = event.get_mut("object").map(Value::take);
                return Some((kind, object.unwrap_or_default()));
            }
            self.rest.drain(..self.at);
            self.at = 0;
            let frame = self.body.frame().await?;
            let Ok(frame) = frame;
            self.rest
                .extend_from_slice(frame.data_ref().map_or(&[], |it| it));
        }
    }
}
