//! Black-box tests of the API: a real server, over HTTP, held against the contract. One file per
//! resource.
//!
//! A test belongs here if a tenant or an operator could notice what it checks. What a crash leaves
//! is tested in `crash/`, what banks do in `rails/`, and what operators restore in `recovery/`.

mod harness;

mod admin_guard;
mod auto_convert;
mod balance;
mod banks;
mod batch;
mod c2p;
mod chargebacks;
mod checkout;
mod checkout_limits;
mod checkout_ways;
mod clock;
mod conventions;
mod conversions;
mod cop;
mod cop_payouts;
mod cop_refunds;
mod credits;
mod crypto;
mod csv;
mod cursors;
mod debit;
mod disk;
mod errors;
mod events;
mod fairness;
mod feeds;
mod finding;
mod free_text;
mod fx;
mod idempotency;
mod instant;
mod keys;
mod marketplace;
mod merchants;
mod merchants_more;
mod methods;
mod metrics;
mod movements;
mod openapi;
mod operators;
mod pago_movil;
mod payouts;
mod pins;
mod presets;
mod privacy;
mod products;
mod quote;
mod races;
mod reversal;
mod slow_banks;
mod spans;
mod statements;
mod strangers;
mod tenants;
mod tls;
mod vpos;
mod webhooks;
mod webhooks_cli;
mod webhooks_faults;
mod withdraw;
