//! Rules that collections in every currency share: the postings of a sale and of its reversal
//! ([`sale`]) and money that is set aside until a bank has decided ([`set_aside`]).
//!
//! Rules that differ are with the payments: fees, the money that a reversal may take (bolívares:
//! the sale's own hold and the available balance; pesos: other holds too), and when an order is
//! sent again.

pub mod sale;
pub mod set_aside;
