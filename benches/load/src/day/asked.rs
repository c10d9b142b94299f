//! What is asked over one connection for one wish, and how its answers are judged: each status and each
//! body, as a wrong answer is an error and no figure.

use super::Seen;
use super::mix::{Chance, Wish};
use super::shops::{Shop, Shops, cents};
use crate::Outcome;
use crate::connection::Connection;
use crate::lanes::{Shared, Window};
use crate::load::microseconds;
use crate::requests::Numbered;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// Payments of a connection that it may look at again.
const REMEMBERED: usize = 32;
/// The code of a buyer in pesos that is right.
const CODE: &str = "123456";

/// A call that is timed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// The request for a payment by C2P.
    Request,
    /// Its execution.
    Execution,
    /// A balance.
    Balance,
    /// A payment.
    Payment,
    /// A payout.
    Payout,
    /// A batch of payouts.
    Batch,
    /// The request for a payment in pesos.
    Pesos,
    /// Its code.
    Code,
    /// A payout that an endpoint is told of.
    Announced,
    /// The latest rate.
    Rate,
}

impl Call {
    /// Every call, in the order of the table.
    pub const ALL: [(Call, &'static str); 10] = [
        (Call::Request, "C2P, the request"),
        (Call::Execution, "C2P, the execution"),
        (Call::Balance, "balance"),
        (Call::Payment, "payment"),
        (Call::Payout, "payout"),
        (Call::Batch, "batch of payouts"),
        (Call::Pesos, "pesos, the request"),
        (Call::Code, "pesos, the code"),
        (Call::Announced, "payout that an endpoint is told of"),
        (Call::Rate, "latest rate, polled"),
    ];
}

/// What all connections have in common.
pub struct Common {
    /// The shops.
    pub shops: Shops,
    /// The address of the API.
    pub api: SocketAddr,
    /// The seed of the mix.
    pub seed: u64,
    /// Payouts in a batch.
    pub items: usize,
    /// The numbers of references.
    pub numbered: Numbered,
    /// Payouts that endpoints are told of.
    pub announced: AtomicU64,
}

/// A connection through a day.
pub struct Talk {
    common: Arc<Common>,
    connection: Connection,
    window: Window,
    seen: Shared<Seen>,
    chance: Chance,
    /// Payments that were made over this connection: the shop, the id and the reference.
    made: Vec<(usize, String, String)>,
}

impl Talk {
    /// The talk of a connection.
    pub fn new(
        common: Arc<Common>,
        each: usize,
        connection: Connection,
        window: Window,
        seen: Shared<Seen>,
    ) -> Talk {
        let chance = Chance::of(common.seed, each);
        Talk { common, connection, window, seen, chance, made: Vec::new() }
    }

    /// Grants wishes until the window ends.
    pub async fn run(mut self) -> Outcome<()> {
        while Instant::now() < self.window.end {
            self.wish().await?;
            let now = Instant::now();
            if now >= self.window.begin && now < self.window.end {
                self.seen.lock().unwrap_or_else(PoisonError::into_inner).wishes += 1;
            }
        }
        Ok(())
    }

    /// Grants the next wish.
    pub async fn wish(&mut self) -> Outcome<()> {
        let wish = self.chance.wish();
        self.grant(wish).await.map_err(|why| format!("{wish:?}: {why}"))
    }

    async fn grant(&mut self, wish: Wish) -> Outcome<()> {
        let common = Arc::clone(&self.common);
        let plain = &common.shops.plain;
        let nth = self.chance.one_of(plain.len());
        match wish {
            Wish::C2p => self.collect(nth, &plain[nth]).await,
            Wish::Balance => self.balance(&plain[nth]).await,
            Wish::Payment if self.made.is_empty() => self.balance(&plain[nth]).await,
            Wish::Payment => self.payment(plain).await,
            Wish::Payout => self.pay(&plain[nth], Call::Payout).await,
            Wish::Batch => self.batch(&plain[nth]).await,
            Wish::Pesos => self.pesos(&plain[nth]).await,
            Wish::Announced => {
                let announced = &common.shops.with_endpoint;
                let nth = self.chance.one_of(announced.len());
                self.pay(&announced[nth], Call::Announced).await?;
                common.announced.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    async fn collect(&mut self, nth: usize, shop: &Shop) -> Outcome<()> {
        let reference = self.reference();
        let _clock_stands = shop.clock.read().await;
        let usd = 1 + self.chance.below(50);
        let mut body = json!({
            "usdAmount": usd, "debtorId": "V12345678", "debtorCellPhone": "04141234567", "debtorBankCode": 134,
            "externalRef": reference,
        });
        let asked = self.post(Call::Request, shop, "/v1/payments/c2p/request", &body, 201).await?;
        right(&asked, &[("status", "PENDING"), ("externalRef", &reference)])?;
        let intent = text(&asked, "intentId")?;
        body["intentId"] = json!(intent);
        body["token"] = json!("12345678");
        let paid = self.post(Call::Execution, shop, "/v1/payments/c2p", &body, 200).await?;
        right(&paid, &[("status", "COMPLETED"), ("id", &intent), ("externalRef", &reference)])?;
        add(&shop.collected, figure(&paid, "netVes")?);
        if self.made.len() == REMEMBERED {
            self.made.swap_remove(0);
        }
        self.made.push((nth, intent, reference));
        Ok(())
    }

    async fn balance(&mut self, shop: &Shop) -> Outcome<()> {
        let said = self.get(Call::Balance, Some(shop), "/v1/balance").await?;
        let of = |name| figure(&said, name);
        if of("ledgerNetVes")? == of("availableVes")? + of("heldVes")? {
            Ok(())
        } else {
            Err(format!("the sum is not that of its parts: {said}"))
        }
    }

    async fn payment(&mut self, plain: &[Shop]) -> Outcome<()> {
        let nth = self.chance.one_of(self.made.len());
        let (shop, id, reference) = self.made[nth].clone();
        let said = self.get(Call::Payment, Some(&plain[shop]), &format!("/v1/payments/{id}")).await?;
        right(&said, &[("status", "COMPLETED"), ("id", &id), ("externalRef", &reference)])
    }

    /// The members of a payout, of whole bolívares: cents would tell the simulated bank to fail.
    fn payout(&mut self, shop: &Shop, reference: &str) -> Value {
        let monto = format!("{}.00", 1 + self.chance.below(20));
        json!({
            "merchantId": shop.tenant.merchant, "monto": monto, "concepto": "pago de prueba", "externalRef": reference,
        })
    }

    async fn pay(&mut self, shop: &Shop, call: Call) -> Outcome<()> {
        let reference = self.reference();
        let body = self.payout(shop, &reference);
        let paid = self.post(call, shop, "/v1/payouts", &body, 201).await?;
        arrived(shop, &body, &paid)
    }

    async fn batch(&mut self, shop: &Shop) -> Outcome<()> {
        let reference = self.reference();
        let items: Vec<Value> =
            (0..self.common.items).map(|nth| self.payout(shop, &format!("{reference}-{nth}"))).collect();
        let body = json!({ "externalRef": reference, "items": items });
        let paid = self.post(Call::Batch, shop, "/v1/payouts/batch", &body, 201).await?;
        right(&paid, &[("externalRef", &reference)])?;
        let said = paid["items"].as_array().map_or(&[][..], Vec::as_slice);
        if said.len() != items.len() {
            return Err(format!("{} of {} items were answered", said.len(), items.len()));
        }
        items.iter().zip(said).try_for_each(|(item, said)| arrived(shop, item, said))
    }

    async fn pesos(&mut self, shop: &Shop) -> Outcome<()> {
        let reference = self.reference();
        let _clock_stands = shop.clock.read().await;
        let body = json!({
            "amountCop": 20_000 + self.chance.below(80) * 1_000, "channel": "sms", "reference": reference,
            "buyer": { "email": "ana@example.com", "phone": "+573001234567", "documentType": "CC", "documentNumber": "1020304050" },
        });
        let asked = self.post(Call::Pesos, shop, "/v1/cop/payments", &body, 201).await?;
        right(&asked, &[("status", "pending"), ("reference", &reference)])?;
        let path = format!("/v1/cop/payments/{}/otp", text(&asked, "id")?);
        let paid = self.post(Call::Code, shop, &path, &json!({ "otp": CODE }), 200).await?;
        right(&paid, &[("status", "completed"), ("reference", &reference)])?;
        add(&shop.pesos, figure(&paid, "netCop")? / 100);
        Ok(())
    }

    /// Looks at the latest rate once.
    pub async fn rate(&mut self) -> Outcome<()> {
        let said = self.get(Call::Rate, None, "/api/v1/fx/latest?pair=USD/VES").await?;
        if figure(&said, "price")? == 20_000 { Ok(()) } else { Err(format!("not the rate: {said}")) }
    }

    fn reference(&self) -> String {
        self.common.numbered.reference(&self.common.numbered.next().to_string())
    }

    async fn post(
        &mut self,
        call: Call,
        shop: &Shop,
        path: &str,
        body: &Value,
        status: u16,
    ) -> Outcome<Value> {
        let body = body.to_string();
        let (api, key, length) = (self.common.api, &shop.tenant.key, body.len());
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {api}\r\nx-api-key: {key}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        self.ask(call, &request, status).await
    }

    async fn get(&mut self, call: Call, shop: Option<&Shop>, path: &str) -> Outcome<Value> {
        let key = shop.map_or_else(String::new, |shop| format!("x-api-key: {}\r\n", shop.tenant.key));
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n{key}\r\n", self.common.api);
        self.ask(call, &request, 200).await
    }

    async fn ask(&mut self, call: Call, request: &str, status: u16) -> Outcome<Value> {
        let asked = Instant::now();
        let answer = self.connection.exchange(request.as_bytes()).await?;
        let now = Instant::now();
        if now >= self.window.begin && now < self.window.end {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.calls[call as usize].saturating_record(microseconds(now - asked));
        }
        if answer.status != status {
            let body = String::from_utf8_lossy(answer.body);
            return Err(format!("{} instead of {status}: {body}", answer.status));
        }
        serde_json::from_slice(answer.body).map_err(|error| error.to_string())
    }
}

/// Judges a payout's answer, and counts what it took.
fn arrived(shop: &Shop, asked: &Value, said: &Value) -> Outcome<()> {
    let of = |name| asked[name].as_str().unwrap_or_default();
    right(said, &[("status", "completed"), ("externalRef", of("externalRef")), ("monto", of("monto"))])?;
    add(&shop.paid, figure(said, "monto")? + figure(said, "feeVes")?);
    Ok(())
}

fn right(said: &Value, members: &[(&str, &str)]) -> Outcome<()> {
    match members.iter().find(|(name, expected)| said[*name].as_str() != Some(*expected)) {
        Some((name, expected)) => Err(format!("{name} is not {expected}: {said}")),
        None => Ok(()),
    }
}

fn text(said: &Value, name: &str) -> Outcome<String> {
    said[name].as_str().map(str::to_owned).ok_or_else(|| format!("no {name}: {said}"))
}

/// A figure in hundredths, be it a text or a number.
fn figure(said: &Value, name: &str) -> Outcome<i64> {
    let shown = match &said[name] {
        Value::String(text) => cents(text),
        Value::Number(number) => cents(&number.to_string()),
        _ => None,
    };
    shown.ok_or_else(|| format!("no figure {name}: {said}"))
}

fn add(sum: &AtomicI64, figure: i64) {
    sum.fetch_add(figure, Ordering::Relaxed);
}
