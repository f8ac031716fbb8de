//! Conversion webhooks, called where objects change their version: in the middle of plain functions. Few definitions
//! have one, so those functions stay plain, and the thread that needs an answer waits for it while the runtime puts
//! another in its place.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, OnceLock, Weak};

use admission::Lookup;
use admission::conversion::Converter;
use json::Value;
use meta::Status;
use telemetry::trace::Carried;
use tokio::runtime::{Builder, Runtime};

use crate::runtime::blocking::blocking;

/// The webhook of a definition.
#[derive(Clone, Debug)]
pub struct Webhook {
    converter: Arc<Converter>,
    /// Where Services are looked up.
    services: Weak<dyn Lookup>,
}

impl Webhook {
    pub(crate) fn new(converter: Converter, services: Weak<dyn Lookup>) -> Self {
        Self {
            converter: Arc::new(converter),
            services,
        }
    }

    pub(crate) async fn all(
        &self,
        objects: Vec<Value>,
        api_version: &str,
    ) -> Result<Vec<Value>, Status> {
        let services = self.services.upgrade();
        let services =
            services.ok_or_else(|| Status::service_unavailable("the server is stopping"))?;
        let work = self.converter.convert(objects, api_version, &*services);
        work.await.map_err(Status::internal)
    }

    pub(crate) fn convert(&self, object: &mut Value, api_version: &str) -> Result<(), Status> {
        let stopped = || Status::service_unavailable("the server is stopping");
        let (webhook, given, target) = (self.clone(), object.clone(), api_version.to_owned());
        let (sender, receiver) = sync_channel(1);
        let runtime = runtime()?;
        let mut trace = Carried::take();
        // On threads of its own: those here may all be waiting for it.
        runtime.spawn(async move {
            let made = match webhook.services.upgrade() {
                Some(services) => {
                    let work = webhook.converter.convert(vec![given], &target, &*services);
                    Some(trace.along(work).await)
                }
                None => None,
            };
            // The receiver is gone: the server has stopped.
            let _ = sender.send((made, trace));
        });
        let (made, trace) = blocking(|| receiver.recv()).map_err(|_| stopped())?;
        trace.put_back();
        let made = made.ok_or_else(stopped)?.map_err(Status::internal)?;
        *object = made.into_iter().next().ok_or_else(stopped)?;
        Ok(())
    }
}

fn runtime() -> Result<&'static Runtime, Status> {
    static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("conversion");
        builder.enable_all().build().ok()
    });
    made.as_ref()
        .ok_or_else(|| Status::internal("no thread can be started for conversions"))
}
