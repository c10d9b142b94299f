//! A server whose pesos go through a Wompi of the test's own, and a tenant with an open live mode.

use crate::fake_wompi::{EVENTS_SECRET, FakeWompi, INTEGRITY_SECRET, PRIVATE_KEY, PUBLIC_KEY};
use crate::harness::check::text;
use crate::harness::client::{Answer, Api};
use crate::harness::flows::merged;
use crate::harness::pesos::{buyer, cop_path};
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long something that is bound to come may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// A server, its tenant and its processor.
pub struct World {
    pub wompi: FakeWompi,
    pub server: Server,
    pub tenant: Tenant,
    pub live: Api,
}

/// What a server needs to know of a Wompi at this address. Looks come every two seconds.
pub fn environment(base: &str) -> Vec<(String, String)> {
    [
        ("WOMPI__BASE_URL", base),
        ("WOMPI__PUBLIC_KEY", PUBLIC_KEY),
        ("WOMPI__PRIVATE_KEY", PRIVATE_KEY),
        ("WOMPI__EVENTS_SECRET", EVENTS_SECRET),
        ("WOMPI__INTEGRITY_SECRET", INTEGRITY_SECRET),
        ("WOMPI__CUSTOMER_EMAIL", "pagos@tienda.example"),
        ("WOMPI__TIMEOUT_SECONDS", "1"),
        ("POLL_SECONDS", "2"),
        ("PROBE_SECONDS", "1"),
    ]
    .into_iter()
    .map(|(name, value)| (format!("PASARELA__RAILS__{name}"), value.to_owned()))
    .collect()
}

impl World {
    pub fn start() -> World {
        World::with(&[])
    }

    /// The same with more in its environment.
    pub fn with(more: &[(&str, &str)]) -> World {
        let wompi = FakeWompi::start();
        let mut set = environment(&wompi.base());
        set.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let set: Vec<(&str, &str)> =
            set.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let server = Server::start_with(&set);
        let tenant = server.tenant();
        activate(&server, &tenant);
        World { wompi, live: tenant.live.clone(), server, tenant }
    }

    /// The server is killed and started again.
    pub fn crash(&mut self) {
        self.server.kill();
        self.server.restart();
    }

    /// How often Wompi was asked how something stands.
    pub fn looks(&self) -> usize {
        self.wompi.asked("get").len() + self.wompi.asked("list").len()
    }

    /// How often it was asked about one transaction, by its reference or its id.
    pub fn looks_at(&self, reference: &str) -> usize {
        let known = self.wompi.transactions();
        let ids: Vec<String> = known
            .iter()
            .filter(|one| one.body["reference"] == reference)
            .map(|one| format!("/{}", one.id))
            .collect();
        let looks = self.wompi.asked("list").into_iter().chain(self.wompi.asked("get"));
        looks
            .filter(|look| look.path.ends_with(reference) || ids.iter().any(|id| look.path.ends_with(id)))
            .count()
    }

    /// Waits until there were so many.
    #[track_caller]
    pub fn until_looks(&self, looks: usize) {
        let deadline = Instant::now() + PATIENCE;
        while self.looks() < looks {
            assert!(Instant::now() < deadline, "{} looks", self.looks());
            sleep(Duration::from_millis(20));
        }
    }

    /// Asks for 50,000 pesos by a channel.
    pub fn ask(&self, channel: &str) -> Answer {
        self.live.post("/v1/cop/payments", &body(channel))
    }

    /// The payment, once it is as wanted.
    #[track_caller]
    pub fn until(&self, payment: &Value, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let now = self.live.get(&cop_path(payment)).expect(200);
            if is_wanted(&now) {
                return now;
            }
            assert!(Instant::now() < deadline, "it stays {now}");
            sleep(Duration::from_millis(50));
        }
    }

    /// The same, once it has this status.
    #[track_caller]
    pub fn until_status(&self, payment: &Value, status: &str) -> Value {
        self.until(payment, |now| now["status"] == status)
    }

    /// What waits for an operator, of a status.
    #[track_caller]
    pub fn operations(&self, status: &str) -> Vec<Value> {
        let page = self.server.admin().get(&format!("/admin/operations?status={status}")).expect(200);
        page["items"].as_array().expect("items").clone()
    }

    /// The same, once there are so many.
    #[track_caller]
    pub fn until_operations(&self, status: &str, count: usize) -> Vec<Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = self.operations(status);
            if found.len() == count {
                return found;
            }
            assert!(Instant::now() < deadline, "{status}: {found:?}");
            sleep(Duration::from_millis(50));
        }
    }

    /// Waits until operators see that Wompi was asked so often about the only payment that is open.
    #[track_caller]
    pub fn until_asked(&self, asks: u64) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let open = self.operations("pending");
            if open[0]["asks"] == asks && open[0]["askedAt"].is_string() {
                return;
            }
            assert!(Instant::now() < deadline, "{open:?}");
            sleep(Duration::from_millis(50));
        }
    }

    /// An operator says what became of an operation.
    pub fn resolve(&self, operation: &str, said: Value) -> Answer {
        let said = merged(said, json!({ "note": "seen in the panel" }));
        self.server.admin().post(&format!("/admin/operations/{operation}/resolve"), &said)
    }

    /// The names of all events of live mode, oldest first.
    pub fn events(&self) -> Vec<String> {
        self.live
            .told()
            .into_iter()
            .map(|(name, _)| name)
            .filter(|name| name.starts_with("payment."))
            .collect()
    }
}

/// Opens the live mode of a tenant.
pub fn activate(server: &Server, tenant: &Tenant) {
    let path = format!("/admin/tenants/{}/live-status", tenant.id);
    server.admin().post(&path, &json!({ "status": "active", "reason": "test" })).expect(200);
    server.price_live();
}

/// Asks for 50,000 pesos by a channel.
pub fn body(channel: &str) -> Value {
    let body = json!({ "amountCop": 50_000, "channel": channel, "reference": "pedido-1" });
    if channel == "qr" { body } else { merged(body, json!({ "buyer": buyer() })) }
}

/// What the buyer does next, if there is something.
pub fn next(payment: &Value) -> &str {
    payment["next"]["type"].as_str().unwrap_or_default()
}

/// The operation that a payment waits for.
#[track_caller]
pub fn operation(payment: &Value) -> &str {
    text(payment, "operationId")
}
