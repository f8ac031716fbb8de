//! How connections leave the server: to which network, directly or through a proxy (`EgressSelectorConfiguration`), and
//! whom they believe; and HTTP over them, as connections that are kept and as a small client. What is said by HTTP is not
//! known here.

mod connect;
mod dial;
pub mod http;
mod selector;
mod stream;
pub mod tls;

pub use connect::ProxyError;
pub use dial::{DialError, Dialer, Dialing, Observer};
pub use selector::{Error, Network, Selector};
pub use stream::Stream;
