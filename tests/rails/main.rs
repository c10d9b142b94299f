//! Live rails against a bank of the test's own on loopback: the bytes of each call, what each answer
//! means, and what becomes of an order when the bank is late, cuts, lies or is not there.

#[path = "../api/harness/mod.rs"]
mod harness;

mod accepting;
mod fake_wompi;
mod faults;
mod goldens;
mod https;
mod incoming;
mod operators;
mod outgoing;
mod r4_codes;
mod r4_orders;
mod reconciled_kinds;
mod reconciliation;
mod sandbox_process;
mod scripted;
mod wompi_checkout;
mod wompi_codes;
mod wompi_crash;
mod wompi_events;
mod wompi_kills;
mod wompi_orders;
mod wompi_payments;
mod wompi_world;
