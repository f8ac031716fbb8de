//! Hot path. One member and how to reach it.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use hyper::http::uri::PathAndQuery;
use prost::Message;
use telemetry::trace;
use tokio_stream::Stream;
use tonic::client::Grpc;
use tonic::metadata::AsciiMetadataValue;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

use super::Dial;

/// etcd's own limits bound its answers; the 4 MiB that gRPC clients take by default is below one page of a list.
const MAX_MESSAGE: usize = i32::MAX as usize;

/// How to reach a member. By default: for as long as it takes, without TLS.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub connect_timeout: Option<Duration>,
    /// While requests are under way, ask for a sign of life after the first of silence; give up after the second.
    pub keep_alive: Option<(Duration, Duration)>,
    /// A member without a leader refuses at once.
    pub require_leader: bool,
    pub tls: Option<ClientTlsConfig>,
    pub dial: Option<Dial>,
}

/// One connection to one member, shared by all clones. It is made when it is needed, and again when it is lost.
///
/// The futures of its calls own what they need, and do nothing before they are polled.
#[derive(Clone, Debug)]
pub struct Client {
    grpc: Grpc<Channel>,
    require_leader: bool,
    /// Where it is, for traces.
    place: Arc<(String, u16)>,
}

impl Client {
    /// Does not connect yet. Must be called on a runtime.
    pub fn new(endpoint: &str, options: &Options) -> Result<Self, Status> {
        let mut endpoint = locate(endpoint, options.tls.as_ref())?;
        if let Some((interval, timeout)) = options.keep_alive {
            // etcd takes a sign of life asked for without a request under way as abuse (PermitWithoutStream is off).
            endpoint = endpoint
                .keep_alive_while_idle(false)
                .http2_keep_alive_interval(interval)
                .keep_alive_timeout(timeout);
        }
        if let Some(timeout) = options.connect_timeout {
            endpoint = endpoint.connect_timeout(timeout);
        }
        let uri = endpoint.uri();
        let place = (
            uri.host().unwrap_or_default().to_owned(),
            uri.port_u16().unwrap_or(2379),
        );
        let channel = match &options.dial {
            None => endpoint.connect_lazy(),
            Some(dial) => endpoint.connect_with_connector_lazy(dial.clone()),
        };
        Ok(Self {
            grpc: Grpc::new(channel).max_decoding_message_size(MAX_MESSAGE),
            require_leader: options.require_leader,
            place: Arc::new(place),
        })
    }

    pub(super) fn unary<Q, A>(
        &self,
        method: &'static str,
        message: Q,
    ) -> impl Future<Output = Result<A, Status>> + Send + use<Q, A>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let (mut grpc, mut request) = (self.grpc.clone(), self.request(message));
        let place = self.place.clone();
        async move {
            let call = trace::span(method.trim_start_matches('/')).client();
            call.set("rpc.system.name", || "grpc");
            call.set("rpc.method", || method.trim_start_matches('/'));
            call.set("server.address", || place.0.clone());
            call.set("server.port", || i64::from(place.1));
            go_along(&mut request);
            let answer = match grpc.ready().await {
                Ok(()) => {
                    let answer = grpc.unary(request, path(method), ProstCodec::default());
                    answer.await.map(Response::into_inner)
                }
                Err(error) => Err(unready(error)),
            };
            let code = answer.as_ref().err().map_or(Code::Ok, Status::code);
            call.set("rpc.response.status_code", || name(code));
            if answer.is_err() {
                call.fail();
            }
            answer
        }
    }

    pub(super) fn streaming<S, A>(
        &self,
        method: &'static str,
        messages: S,
    ) -> impl Future<Output = Result<Streaming<A>, Status>> + Send + use<S, A>
    where
        S: Stream<Item: Message + 'static> + Send + 'static,
        A: Message + Default + 'static,
    {
        let (mut grpc, request) = (self.grpc.clone(), self.request(messages));
        async move {
            grpc.ready().await.map_err(unready)?;
            let answers = grpc.streaming(request, path(method), ProstCodec::default());
            answers.await.map(Response::into_inner)
        }
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if self.require_leader {
            let yes = AsciiMetadataValue::from_static("true");
            request.metadata_mut().insert("hasleader", yes);
        }
        request
    }
}

/// As gRPC lists them: `OK`, `DEADLINE_EXCEEDED`.
fn name(code: Code) -> String {
    if code == Code::Ok {
        return "OK".into();
    }
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

/// The trace that the call is a part of, if there is one.
fn go_along<T>(request: &mut Request<T>) {
    let Some(outgoing) = trace::outgoing() else {
        return;
    };
    for (name, value) in outgoing.headers() {
        if let Ok(value) = AsciiMetadataValue::try_from(value) {
            request.metadata_mut().insert(name, value);
        }
    }
}

/// Without a scheme, `tls` decides.
fn locate(endpoint: &str, tls: Option<&ClientTlsConfig>) -> Result<Endpoint, Status> {
    let url = match tls {
        _ if endpoint.starts_with("https://") => endpoint.to_owned(),
        Some(_) if endpoint.starts_with("http://") => {
            return Err(Status::invalid_argument("TLS needs an https:// address"));
        }
        None if endpoint.starts_with("http://") => endpoint.to_owned(),
        Some(_) => format!("https://{endpoint}"),
        None => format!("http://{endpoint}"),
    };
    let secure = url.starts_with("https://");
    let endpoint = Endpoint::from_shared(url).map_err(|error| unusable(&error))?;
    if !secure {
        return Ok(endpoint);
    }
    let tls = tls.cloned().unwrap_or_default();
    endpoint.tls_config(tls).map_err(|error| unusable(&error))
}

/// With all causes: nobody looks for them in a status made here.
fn unusable(error: &(dyn StdError + 'static)) -> Status {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let texts: Vec<_> = causes.map(ToString::to_string).collect();
    Status::invalid_argument(texts.join(": "))
}

fn unready(error: tonic::transport::Error) -> Status {
    Status::from_error(error.into())
}

fn path(method: &'static str) -> PathAndQuery {
    PathAndQuery::from_static(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names() {
        assert_eq!(name(Code::Ok), "OK");
        assert_eq!(name(Code::Unavailable), "UNAVAILABLE");
        assert_eq!(name(Code::DeadlineExceeded), "DEADLINE_EXCEEDED");
    }

    #[test]
    fn the_scheme_is_that_of_the_address_or_follows_from_tls() {
        let tls = ClientTlsConfig::new();
        for (given, tls, expected) in [
            ("host:2379", None, "http://host:2379/"),
            ("http://host:2379", None, "http://host:2379/"),
            ("https://host:2379", None, "https://host:2379/"),
            ("host:2379", Some(&tls), "https://host:2379/"),
            ("https://host:2379", Some(&tls), "https://host:2379/"),
        ] {
            let endpoint = locate(given, tls).unwrap();
            assert_eq!(endpoint.uri().to_string(), expected, "{given}");
        }
        assert!(locate("http://host:2379", Some(&tls)).is_err());
        assert!(locate("a host:2379", None).is_err());
    }
}
