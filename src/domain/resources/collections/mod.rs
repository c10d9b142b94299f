//! The rules that collections in every currency share: what a sale does to the ledger and what giving
//! it back does ([`sale`]), money that is set aside until a bank has decided ([`set_aside`]), and
//! asking on after an operator's word ([`asked_on`]).
//!
//! Not the same, and so with the payments: fees, which money a reversal may take (bolívares: the sale's
//! own hold and what is available; pesos: other holds too), and when an order is sent again.

pub mod asked_on;
pub mod sale;
pub mod set_aside;
