//! Deposit addresses, and the deposits to them.

use crate::cause::Cause;
use crate::codec::stored;
use crate::entities::resource::{Change, Listing, Resource};
use crate::entities::sale::Sale;
use crate::index::{Entries, Space};
use crate::values::address::{Network, canonical};
use crate::values::ids::Id;
use crate::values::money::{Rate, Usd, Usdt};
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;

stored! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Asset {
        0 Usdt "USDT",
        1 Usdc "USDC",
    }

    /// An address at which a customer of the tenant pays; for a checkout session, all of its addresses.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DepositAddress {
        0 pub id: Id,
        1 pub customer_ref: ExternalRef,
        2 pub network: Network,
        3 pub asset: Asset,
        4 pub address: String,
        /// Whether real deposits come to it; to a test address none do.
        5 pub livemode: bool,
        6 pub created_at: Timestamp,
        /// The checkout session that it was made for, if any, with the deposits so far.
        7 pub till: Option<Box<Till>>,
    }
}

impl DepositAddress {
    /// The name in the index by which the same customer, network and asset find the address again.
    pub fn name(network: Network, asset: Asset, customer_ref: &ExternalRef) -> String {
        format!("{} {} {customer_ref}", network.name(), asset.name())
    }

    pub fn places(&self) -> impl Iterator<Item = (Network, Asset, &str)> {
        let more = self
            .till
            .iter()
            .flat_map(|till| &till.more)
            .map(|place| (place.network, place.asset, place.address.as_str()));
        std::iter::once((self.network, self.asset, self.address.as_str())).chain(more)
    }

    pub fn address_for(&self, network: Network, asset: Asset) -> Option<&str> {
        self.places().find(|place| (place.0, place.1) == (network, asset)).map(|place| place.2)
    }
}

impl Resource for DepositAddress {
    fn listing(&self, _facet: u8) -> Listing {
        Listing::Nowhere
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        match &self.till {
            Some(till) if change.is_new => {
                entries.name(Space::CheckoutUsdt, &till.sale.session.to_string());
            }
            None if change.is_new => {
                let customer = DepositAddress::name(self.network, self.asset, &self.customer_ref);
                entries.name(Space::DepositAddress, &customer);
            }
            Some(_) | None => {}
        }
        // Every address leads to the entity that counts its deposits.
        if change.cause == Cause::DepositAddressMade {
            for (_, _, address) in self.places() {
                entries.name(Space::DepositTo, &canonical(address));
            }
        }
    }
}

stored! {
    /// The USDT payment of a checkout session: its addresses and its deposits so far.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Till {
        0 pub sale: Sale,
        /// The price; a USDT counts as a dollar.
        1 pub amount: Usd,
        2 pub marketplace: Option<(Id, Rate)>,
        /// The addresses on other networks, or for another asset, than the first.
        3 pub more: Vec<TillAddress>,
        4 pub received: Usdt,
        /// The sum of the seller's shares of the deposits.
        5 pub seller_received: Usdt,
        /// The instant at which the session was paid, and the id of the payment that was made then.
        6 pub paid: Option<(Timestamp, Id)>,
        /// The generation of the book that its session is of ([`Book::begun_at`]): one of before is gone, though
        /// its addresses are among those that stay.
        7 pub generation: u64,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TillAddress {
        0 pub network: Network,
        1 pub asset: Asset,
        2 pub address: String,
    }

    /// The place of a transfer in the log of a chain.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LogEntry {
        0 pub chain_id: u64,
        1 pub index: u64,
        2 pub block: [u8; 32],
    }
}

impl LogEntry {
    /// The name by which the entry is credited once, whatever a node says of its block.
    pub fn name(&self, transaction: &str) -> String {
        format!("{} {transaction} {}", self.chain_id, self.index)
    }

    /// The name of its transaction. A chain that changes may take a transaction into another block, and number
    /// its entries anew there: out of that one it is not credited again.
    pub fn transaction_name(&self, transaction: &str) -> String {
        format!("{} {transaction}", self.chain_id)
    }

    /// The block, as the index has it under the name of the transaction.
    pub fn block_id(&self) -> Id {
        let [first, _] = self.block.as_chunks().0 else { unreachable!("twice 16 bytes are 32") };
        Id::from_bytes(*first)
    }
}

stored! {
    /// A deposit as its event and its answer show it. A deposit never changes, so it is no entity.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Deposit {
        /// The id of the deposit and of the hold on it.
        0 pub id: Id,
        1 pub to: DepositAddress,
        2 pub amount: Usdt,
        3 pub tx_hash: String,
        /// Its place in the network's log, in live mode.
        4 pub entry: Option<LogEntry>,
        5 pub available_at: Timestamp,
    }
}
