//! How connections leave the server: to which network, directly or through a proxy (`EgressSelectorConfiguration`), and
//! whom they believe. Who speaks what over them is not known here.

mod connect;
mod dial;
mod selector;
mod stream;
pub mod tls;

pub use connect::ProxyError;
pub use dial::{DialError, Dialer, Dialing, Observer};
pub use selector::{Error, Network, Selector};
pub use stream::Stream;
