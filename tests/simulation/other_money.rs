//! The acts in pesos and USDT: conversions, payouts and deposits of USDT, collections and payouts of
//! pesos.

use crate::acts::What;
use crate::life::Life;
use crate::prices::Says;
use crate::steps::Act;
use crate::values::{beneficiary, buyer, named};
use domain::entities::conversion::Source;
use domain::entities::cop_payout::CopPayout;
use domain::entities::deposit_address::{Asset, DepositAddress};
use domain::entities::payout::Status;
use domain::resources::conversions::price::Amount;
use domain::resources::conversions::{self, NewQuote};
use domain::resources::cop_payments;
use domain::resources::cop_payments::collect::NewCopPayment;
use domain::resources::cop_payouts;
use domain::resources::crypto;
use domain::resources::crypto::deposits::Incoming;
use domain::resources::crypto::payouts::{self as crypto_payouts, NewCryptoPayout};
use domain::resources::payouts::lifecycle;
use domain::values::address::Network;
use domain::values::colombia::Channel;
use domain::values::ids::{Kind, Mode};
use domain::values::money::{Cop, Usdt};
use domain::values::time::Timestamp;
use domain::values::token::Token;
use std::time::Duration;

impl Life {
    pub async fn try_other_money(&self, tenant: u64, act: Act) -> Option<()> {
        match act {
            Act::Quote { pesos, minor } => {
                let id = self.fresh(tenant, Kind::Conversion, What::Other);
                let source = if pesos { Source::Cop } else { Source::Ves };
                let now_ms = self.wall_ms();
                let (currency, now) = (source.currency(), Timestamp::from_unix_ms(now_ms));
                let market = self.market.rate(currency, Mode::of(tenant), now);
                self.memory().check_price(currency, market, now_ms);
                let new = NewQuote { id: id.id, source, amount: Amount::Source(minor), market };
                self.ask(tenant, id, true, conversions::Command::Quote(Box::new(new))).await;
            }
            Act::Feed { pesos, says } => self.feed(pesos, says),
            Act::FeedInsists { pesos, says } => {
                self.feed(pesos, says);
                for _ in 0..2 {
                    tokio::time::sleep(Duration::from_secs(450)).await;
                    self.feed(pesos, Says::Again);
                }
            }
            Act::Accept { n } => {
                let id = self.one(tenant, Kind::Conversion, n)?.id;
                self.ask(tenant, id, false, conversions::Command::Accept(None)).await;
            }
            Act::EndConversion { n, how } => {
                let id = self.one(tenant, Kind::Conversion, n)?.id;
                let decision = match how {
                    0 => conversions::Decision::Cancel,
                    1 => conversions::Decision::Fulfil,
                    _ => conversions::Decision::Reject("no_liquidity".to_owned()),
                };
                self.ask(tenant, id, false, conversions::Command::End(decision)).await;
            }
            Act::PayCrypto { cents, bank } => {
                let id = self.fresh(tenant, Kind::CryptoPayout, What::Other);
                self.bank.follow(id.id, bank);
                let new = NewCryptoPayout {
                    id: id.id,
                    external_ref: named(id.id),
                    amount: Usdt::from_minor(cents),
                    fee: Usdt::from_minor(100),
                    network: Network::Trc20,
                    address: "T1".to_owned(),
                };
                self.ask(tenant, id, true, crypto::payouts::Command::Pay(Box::new(new))).await;
            }
            Act::Review { n, approve } => {
                let id = self.one(tenant, Kind::CryptoPayout, n)?.id;
                let verdict = if approve {
                    crypto_payouts::Verdict::Approve
                } else {
                    crypto_payouts::Verdict::Reject("no".to_owned())
                };
                self.ask(tenant, id, false, crypto::payouts::Command::Review(verdict)).await;
            }
            Act::OpenAddress => {
                let id = self.fresh(tenant, Kind::DepositAddress, What::Other);
                let new = DepositAddress {
                    id: id.id,
                    customer_ref: named(id.id),
                    network: Network::Trc20,
                    asset: Asset::Usdt,
                    address: "T1".to_owned(),
                    livemode: false,
                    created_at: Timestamp::EPOCH,
                    till: None,
                };
                self.ask(
                    tenant,
                    id,
                    true,
                    crypto::deposits::Command::Open { new: Box::new(new), is_derived: false },
                )
                .await;
            }
            Act::Deposit { n, cents } => {
                let id = self.one(tenant, Kind::DepositAddress, n)?.id;
                let deposit = self.id();
                let incoming = Incoming {
                    id: deposit,
                    address: "T1".to_owned(),
                    amount: Usdt::from_minor(cents),
                    network: Network::Trc20,
                    asset: Asset::Usdt,
                    tx_hash: deposit.to_string(),
                    entry: None,
                };
                self.ask(tenant, id, false, crypto::deposits::Command::Receive(Box::new(incoming))).await;
            }
            Act::CollectPesos { minor, channel, bank } => {
                let id = self.fresh(tenant, Kind::CopPayment, What::Other);
                self.bank.follow(id.id, bank);
                let channel = [Channel::Qr, Channel::Push, Channel::Sms][usize::from(channel % 3)];
                let new = NewCopPayment {
                    id: id.id,
                    amount: Cop::from_minor(minor),
                    channel,
                    buyer: Some(buyer()),
                    reference: None,
                    metadata: None,
                    marketplace: None,
                    checkout: None,
                };
                self.ask(tenant, id, true, cop_payments::Command::Collect(Box::new(new))).await;
            }
            Act::Buyer { n, pays } => {
                let id = self.one(tenant, Kind::CopPayment, n)?.id;
                self.ask(tenant, id, false, cop_payments::Command::PlayBuyer { pays }).await;
            }
            Act::Code { n } => {
                let id = self.one(tenant, Kind::CopPayment, n)?.id;
                let code = Token::parse_debit("123456").expect("a code");
                self.ask(tenant, id, false, cop_payments::Command::SubmitCode(Some(code))).await;
            }
            Act::CancelPesos { n } => {
                let id = self.one(tenant, Kind::CopPayment, n)?.id;
                self.ask(tenant, id, false, cop_payments::Command::Cancel(None)).await;
            }
            Act::RefundPesos { n, bank } => {
                let id = self.one(tenant, Kind::CopPayment, n)?.id;
                self.bank.follow(id.id, bank);
                self.ask(tenant, id, false, cop_payments::Command::Refund).await;
            }
            Act::PayPesos { minor } => {
                let id = self.fresh(tenant, Kind::CopPayout, What::Other);
                let new = CopPayout {
                    id: id.id,
                    external_ref: named(id.id),
                    status: Status::Pending,
                    amount: Cop::from_minor(minor),
                    to: beneficiary(),
                    reference: None,
                    failure_code: None,
                    livemode: false,
                    created_at: Timestamp::EPOCH,
                    settled_at: None,
                };
                self.ask(tenant, id, true, cop_payouts::Command::Pay(Box::new(new))).await;
            }
            Act::SettlePesos { n, well } => {
                let id = self.one(tenant, Kind::CopPayout, n)?.id;
                let verdict = if well {
                    lifecycle::PayoutEnd::Completed("1".to_owned())
                } else {
                    lifecycle::PayoutEnd::Failed("closed".to_owned())
                };
                self.ask(tenant, id, false, cop_payouts::Command::Settle(verdict)).await;
            }
            // The other acts are about clocks and the process, or in bolívares.
            act => unreachable!("somebody else does it: {act:?}"),
        }
        Some(())
    }
}
