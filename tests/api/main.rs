//! Black-box tests of the API: a real server, over HTTP, held against the contract. One file per resource.

mod harness;

mod balance;
mod batch;
mod c2p;
mod chargebacks;
mod checkout;
mod clock;
mod conventions;
mod conversions;
mod credits;
mod crypto;
mod debit;
mod errors;
mod events;
mod idempotency;
mod instant;
mod keys;
mod marketplace;
mod merchants;
mod merchants_more;
mod methods;
mod movements;
mod openapi;
mod pago_movil;
mod payouts;
mod products;
mod races;
mod reversal;
mod slow_banks;
mod tenants;
mod vpos;
mod webhooks;
mod webhooks_faults;
