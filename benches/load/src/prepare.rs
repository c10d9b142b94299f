//! Tenants that can pay: made through the operators' API, funded, with one verified merchant each.

use crate::Outcome;
use crate::connection::Connection;
use crate::server::{ADMIN_TOKEN, Server};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use tokio::task::LocalSet;

/// Tenants that are prepared at once.
const WIDTH: usize = 64;

/// The balance of every tenant, in bolívares.
const FUNDS: &str = "900000000000.00";
/// The same in cents.
pub const FUNDS_CENTS: i64 = 90_000_000_000_000;

/// A tenant that can pay.
#[derive(Clone)]
pub struct Tenant {
    /// The tenant's test key.
    pub key: String,
    /// The tenant's merchant; empty for one that has none.
    pub merchant: String,
}

/// The extent to which a tenant is prepared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The tenant has money.
    Funded,
    /// The tenant has money and a merchant to pay.
    Payable,
    /// The tenant has money in live mode, and its key is a live one.
    Live,
}

/// Prepares so many tenants.
pub fn tenants(server: &Server, count: usize, extent: Extent) -> Outcome<Vec<Tenant>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let (api, admin) = (server.api, server.admin);
    let made = LocalSet::new().block_on(&runtime, async move {
        let left = Rc::new(Cell::new(count));
        let made = Rc::new(RefCell::new(Vec::with_capacity(count)));
        let mut lanes = Vec::new();
        for _ in 0..WIDTH.min(count) {
            let (left, made) = (Rc::clone(&left), Rc::clone(&made));
            lanes.push(tokio::task::spawn_local(async move {
                let (mut api, mut admin) = (Client::open(api).await?, Client::open(admin).await?);
                while let Some(after) = left.get().checked_sub(1) {
                    left.set(after);
                    let tenant = tenant(&mut api, &mut admin, extent).await?;
                    made.borrow_mut().push(tenant);
                }
                Ok::<_, String>(())
            }));
        }
        for lane in lanes {
            lane.await.map_err(|error| error.to_string())??;
        }
        Ok::<_, String>(made.take())
    });
    made.map_err(|why| format!("preparing tenants: {why}: {}", server.last_words()))
}

/// The same tenant by another key, with a mandate that lets all of it out.
pub fn bound(server: &Server, tenant: &Tenant) -> Outcome<Tenant> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let limits = json!({ "VES": FUNDS });
    let mandate = json!({
        "agent": "bench", "perCall": limits, "perDay": limits, "perMonth": limits, "payees": [tenant.merchant],
    });
    let made = runtime.block_on(async {
        let mut api = Client::open(server.api).await?;
        let caller = format!("x-api-key: {}", tenant.key);
        api.post(&caller, "/v1/keys", &json!({ "mandate": mandate }), 201).await
    })?;
    Ok(Tenant { key: text(&made["key"])?, ..tenant.clone() })
}

async fn tenant(api: &mut Client, admin: &mut Client, extent: Extent) -> Outcome<Tenant> {
    let operator = format!("authorization: Bearer {ADMIN_TOKEN}");
    let created = admin.post(&operator, "/admin/tenants", &json!({ "name": "bench" }), 201).await?;
    if extent == Extent::Live {
        let path = format!("/admin/tenants/{}", text(&created["tenantId"])?);
        let active = json!({ "status": "active", "reason": "bench" });
        admin.post(&operator, &format!("{path}/live-status"), &active, 200).await?;
        let funds = json!({
            "mode": "live", "currency": "VES", "amount": FUNDS, "description": "bench", "externalRef": "bench",
        });
        admin.post(&operator, &format!("{path}/adjustments"), &funds, 201).await?;
        return Ok(Tenant { key: text(&created["liveKey"]["key"])?, merchant: String::new() });
    }
    let key = text(&created["testKey"]["key"])?;
    let caller = format!("x-api-key: {key}");
    api.post(&caller, "/v1/test/fund", &json!({ "currency": "VES", "amount": FUNDS }), 201).await?;
    if extent == Extent::Funded {
        return Ok(Tenant { key, merchant: String::new() });
    }
    let merchant = json!({
        "externalRef": "bench", "name": "Bodega La Esquina", "identification": "V87654321", "contactEmail": "bodega@example.com", "contactPhone": "04147654321",
        "bankCode": "0134", "phone": "04147654321",
    });
    let merchant = api.post(&caller, "/v1/merchants", &merchant, 201).await?;
    let (id, method) =
        (text(&merchant["merchantId"])?, text(&merchant["payoutMethods"][0]["payoutMethodId"])?);
    let path = format!("/v1/merchants/{id}/payout-methods/{method}/verify");
    api.post(&caller, &format!("{path}/start"), &json!({}), 202).await?;
    api.post(&caller, &path, &json!({ "amount1": "0.32", "amount2": "0.45" }), 200).await?;
    Ok(Tenant { key, merchant: id })
}

fn text(value: &Value) -> Outcome<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("{value} is no text"))
}

/// A connection that speaks JSON.
pub struct Client {
    connection: Connection,
    address: SocketAddr,
}

impl Client {
    /// Connects.
    pub async fn open(address: SocketAddr) -> Outcome<Client> {
        Ok(Client { connection: Connection::open(address).await?, address })
    }

    /// GET; the answer must have this status.
    pub async fn get(&mut self, header: &str, path: &str, status: u16) -> Outcome<Value> {
        self.ask(&format!("GET {path} HTTP/1.1\r\nhost: {}\r\n{header}\r\n\r\n", self.address), path, status)
            .await
    }

    /// The length in bytes of the body that a GET is answered with, if it is a 200.
    pub async fn size(&mut self, path: &str) -> Outcome<usize> {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.address);
        let answer =
            self.connection.exchange(request.as_bytes()).await.map_err(|why| format!("{path}: {why}"))?;
        if answer.status == 200 {
            Ok(answer.body.len())
        } else {
            Err(format!("{path}: {}: {}", answer.status, String::from_utf8_lossy(answer.body)))
        }
    }

    /// POST; the answer must have this status.
    pub async fn post(&mut self, header: &str, path: &str, body: &Value, status: u16) -> Outcome<Value> {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\n{header}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        self.ask(&(head + body.as_str()), path, status).await
    }

    /// POST of a file as CSV; the answer must have this status.
    pub async fn post_csv(&mut self, header: &str, path: &str, file: &str, status: u16) -> Outcome<Value> {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\n{header}\r\ncontent-type: text/csv\r\ncontent-length: {}\r\n\r\n",
            self.address,
            file.len()
        );
        self.ask(&(head + file), path, status).await
    }

    /// DELETE; the answer must have this status.
    pub async fn delete(&mut self, header: &str, path: &str, status: u16) -> Outcome<Value> {
        self.ask(
            &format!("DELETE {path} HTTP/1.1\r\nhost: {}\r\n{header}\r\n\r\n", self.address),
            path,
            status,
        )
        .await
    }

    async fn ask(&mut self, request: &str, path: &str, status: u16) -> Outcome<Value> {
        let answer =
            self.connection.exchange(request.as_bytes()).await.map_err(|why| format!("{path}: {why}"))?;
        if answer.status != status {
            return Err(format!(
                "{path}: {} instead of {status}: {}",
                answer.status,
                String::from_utf8_lossy(answer.body)
            ));
        }
        serde_json::from_slice(answer.body).map_err(|error| format!("{path}: {error}"))
    }
}
