//! The sandbox as a gateway meets it: the program itself, over HTTP on loopback, by a client that
//! was written from the banks' documents (docs/contract.md, 21.3, 21.10) and shares no code with
//! what it tests.

mod concurrency;
mod faults;
mod gateway;
mod goldens;
mod program;
mod r4;
mod r4_client;
mod r4_notices;
mod wompi;
mod wompi_client;
mod wompi_daviplata;
mod wompi_events;
