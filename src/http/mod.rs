//! From the socket to a request and back: listeners and their limits, TLS, routing, bodies, and
//! what a response is made of. Tenants, keys and rules about money are unknown here. What a request
//! means is `gateway/`'s.

pub mod accept;
pub mod body;
pub mod documents;
pub mod listen;
pub mod open_files;
pub mod origin_check;
pub mod router;
pub mod tls;

pub use api::respond;
