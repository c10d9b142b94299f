//! The HTTP front over real sockets, with a toy service behind it: what a caller sees when it
//! misbehaves, and when the server stops.

mod answers;
mod connections;
mod heads;
mod http_2;
mod stopping;
mod toy;
