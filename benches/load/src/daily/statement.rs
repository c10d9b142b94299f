//! A month's reconciliation: live payouts through the connector of a bank on loopback, and the bank's
//! statement of them, a line each.

use crate::prepare::{Client, Tenant};
use crate::server::{ADMIN_TOKEN, Server};
use crate::{Outcome, progress};
use chrono::{Days, FixedOffset, Utc};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::task::LocalSet;

/// Connections that pay at once.
const WIDTH: usize = 128;
/// The account of the statement.
const ACCOUNT: &str = "01690001001234567890";
/// Days of the statement.
const DAYS: u64 = 30;
/// The time between two looks whether it is done.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The times of a reconciliation.
pub struct Reconciled {
    /// Lines that were matched with a payout.
    pub matched: u64,
    /// Bytes of the file.
    pub bytes: usize,
    /// The time until the upload was answered.
    pub accepted: Duration,
    /// The time until it was done.
    pub done: Duration,
}

/// Makes the payouts, writes the statement, has it reconciled.
pub fn reconcile(server: &Server, tenant: &Tenant, lines: u32) -> Outcome<Reconciled> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let reconciled = LocalSet::new().block_on(&runtime, async {
        progress(&format!("making {lines} live payouts"));
        let paid = paid(server, tenant, lines).await?;
        progress("reconciling");
        uploaded(server, &paid).await
    });
    reconciled.map_err(|why| format!("reconciling: {why}: {}", server.last_words()))
}

/// The payouts: the bank's reference and the amount of each.
async fn paid(server: &Server, tenant: &Tenant, lines: u32) -> Outcome<Vec<(String, String)>> {
    let (next, all) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(Vec::new())));
    let mut lanes = Vec::new();
    for _ in 0..WIDTH {
        let (next, all, api) = (Rc::clone(&next), Rc::clone(&all), server.api);
        let key = format!("x-api-key: {}", tenant.key);
        lanes.push(tokio::task::spawn_local(async move {
            let mut client = Client::open(api).await?;
            loop {
                let nth = next.get();
                if nth >= lines {
                    return Ok::<_, String>(());
                }
                next.set(nth + 1);
                let made = client.post(&key, "/v1/payments/credit", &credit(nth), 201).await?;
                let text = |member: &str| made[member].as_str().unwrap_or_default().to_owned();
                all.borrow_mut().push((text("reference"), text("monto")));
            }
        }));
    }
    for lane in lanes {
        lane.await.map_err(|error| error.to_string())??;
    }
    Ok(all.take())
}

fn credit(nth: u32) -> Value {
    let monto = format!("{}.{:02}", 10 + nth / 89, 11 + nth % 89);
    json!({
        "banco": "0134", "telefono": "04147654321", "cedula": "V87654321", "monto": monto, "concepto": "pago de prueba",
        "externalRef": format!("line-{nth}"),
    })
}

async fn uploaded(server: &Server, paid: &[(String, String)]) -> Outcome<Reconciled> {
    let caracas = FixedOffset::west_opt(4 * 3_600).ok_or("no such zone")?;
    let today = Utc::now().with_timezone(&caracas).date_naive();
    let first = today.checked_sub_days(Days::new(DAYS - 1)).ok_or("no such day")?;
    let mut file = "date,reference,amount,kind\n".to_owned();
    for (reference, amount) in paid {
        let _ = writeln!(file, "{today},{reference},{amount},debit");
    }
    let mut admin = Client::open(server.admin).await?;
    let header = format!("authorization: Bearer {ADMIN_TOKEN}");
    let path = format!("/admin/reconciliations?rail=r4&account={ACCOUNT}&from={first}&to={today}");
    let began = Instant::now();
    let begun = admin.post_csv(&header, &path, &file, 202).await?;
    let accepted = began.elapsed();
    let path = format!("/admin/reconciliations/{}", begun["id"].as_str().unwrap_or_default());
    loop {
        let found = admin.get(&header, &path, 200).await?;
        match found["status"].as_str() {
            Some("running") => tokio::time::sleep(LOOK_EVERY).await,
            Some("done") => {
                let matched = found["matched"].as_u64().unwrap_or(0);
                return Ok(Reconciled { matched, bytes: file.len(), accepted, done: began.elapsed() });
            }
            _ => return Err(format!("it ended so: {found}")),
        }
    }
}
