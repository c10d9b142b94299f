//! pasarela
fn main() {}
