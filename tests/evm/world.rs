//! A server that serves POLYGON by a node, and a tenant whose live mode has USDT.

use crate::chain::{CHAIN_ID, CONTRACT};
use crate::harness::check::text;
use crate::harness::client::Answer;
use crate::harness::flows::{fresh, merged};
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// An address that nobody has a special rule for.
pub const TO: &str = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
/// How long a test waits for what should happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// The first key of the words that developers use, encrypted.
const KEYSTORE: &str = r#"{"version":3,"crypto":{"cipher":"aes-128-ctr","cipherparams":{"iv":"09090909090909090909090909090909"},"ciphertext":"44628fe32f4625004bf073758e18a57406480c0f06241f88b968e63c243f8984","kdf":"pbkdf2","kdfparams":{"c":16,"dklen":32,"prf":"hmac-sha256","salt":"0707070707070707070707070707070707070707070707070707070707070707"},"mac":"adcc677d0b8b178e2c9c57b629c3300af70b8805099c47fdf385927bd7a87b95"}}"#;
const PASSWORD: &str = "local chain";
const WORDS: &str = "test test test test test test test test test test test junk";

/// The server, the tenant, and the files of the secrets.
pub struct World {
    pub server: Server,
    pub tenant: Tenant,
    _secrets: tempfile::TempDir,
}

impl World {
    /// Of a chain in this process.
    pub fn of(url: &str) -> World {
        World::with(url, CHAIN_ID, CONTRACT, &[])
    }

    /// Of any chain, with more in the environment.
    pub fn with(url: &str, chain_id: u64, contract: &str, more: &[(&str, &str)]) -> World {
        let secrets = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| -> PathBuf {
            let path = secrets.path().join(name);
            fs::write(&path, format!("{text}\n")).expect("written");
            fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("its mode");
            path
        };
        let shown = |path: PathBuf| path.to_str().expect("UTF-8").to_owned();
        let (keystore, password, seed) = (
            shown(file("keystore", KEYSTORE)),
            shown(file("password", PASSWORD)),
            shown(file("seed", WORDS)),
        );
        let chain_id = chain_id.to_string();
        let mut environment = vec![
            ("PASARELA__RAILS__EVM__POLYGON__RPC_URL", url),
            ("PASARELA__RAILS__EVM__POLYGON__CHAIN_ID", chain_id.as_str()),
            ("PASARELA__RAILS__EVM__POLYGON__USDT_CONTRACT", contract),
            ("PASARELA__RAILS__EVM__POLYGON__USDT_DECIMALS", "6"),
            ("PASARELA__RAILS__EVM__POLYGON__KEYSTORE_FILE", keystore.as_str()),
            ("PASARELA__RAILS__EVM__POLYGON__KEYSTORE_PASSWORD_FILE", password.as_str()),
            ("PASARELA__RAILS__EVM__POLYGON__CONFIRMATIONS", "3"),
            ("PASARELA__RAILS__EVM__POLYGON__MAX_FEE_GWEI", "100"),
            ("PASARELA__RAILS__EVM__POLYGON__DEPOSIT_SEED_FILE", seed.as_str()),
            ("PASARELA__RAILS__POLL_SECONDS", "3"),
            ("PASARELA__RAILS__R4__TIMEOUT_SECONDS", "2"),
            ("PASARELA__RAILS__WOMPI__TIMEOUT_SECONDS", "2"),
        ];
        environment.extend_from_slice(more);
        let server = Server::start_with(&environment);
        let tenant = server.tenant();
        activate(&server, &tenant);
        server.price_live();
        let admin = server.admin();
        let adjustment = json!({ "mode": "live", "currency": "USDT", "amount": "5000.00",
            "externalRef": fresh("funds"), "description": "test" });
        admin.post(&format!("/admin/tenants/{}/adjustments", tenant.id), &adjustment).expect(201);
        World { server, tenant, _secrets: secrets }
    }

    /// Asks for a payout over POLYGON.
    #[track_caller]
    pub fn pay(&self, amount: &str, over: Value) -> Answer {
        let body = json!({ "amountUsdt": amount, "address": TO, "network": "POLYGON", "externalRef": fresh("usdt") });
        self.tenant.live.post("/v1/crypto/payouts", &merged(body, over))
    }

    /// A payout as it is now.
    #[track_caller]
    pub fn payout(&self, payout: &Value) -> Value {
        self.tenant.live.get(&format!("/v1/crypto/payouts/{}", text(payout, "id"))).expect(200)
    }

    /// Waits until a payout is what is wanted.
    #[track_caller]
    pub fn until(&self, payout: &Value, status: &str) -> Value {
        eventually(&format!("the payout is {status}"), || {
            let now = self.payout(payout);
            (text(&now, "status") == status).then_some(now)
        })
    }

    /// A customer's deposit address on POLYGON.
    #[track_caller]
    pub fn address(&self, customer: &str) -> Value {
        // The first block that is searched from has to be known.
        eventually("addresses are given out", || (!self.network()["scannedBlock"].is_null()).then_some(()));
        let body = json!({ "customerRef": customer, "network": "POLYGON", "asset": "USDT" });
        let answer = self.tenant.live.post("/v1/crypto/deposit-addresses", &body);
        assert!(matches!(answer.status, 200 | 201), "{}", answer.text());
        answer.json()
    }

    /// The deposits that tenants were told of, oldest first.
    #[track_caller]
    pub fn deposits(&self) -> Vec<Value> {
        let events = self.tenant.live.walk("/v1/events", &[], 100);
        let is_deposit = |event: &&Value| text(event, "event") == "crypto_deposit.completed";
        let mut deposits: Vec<Value> =
            events.iter().filter(is_deposit).map(|event| event["data"].clone()).collect();
        deposits.sort_by_key(|deposit| text(deposit, "createdAt").to_owned());
        deposits
    }

    /// What has come and is held.
    #[track_caller]
    pub fn held(&self) -> String {
        text(&self.tenant.live.get("/v1/crypto/balance").expect(200), "heldUsdt").to_owned()
    }

    /// Waits until so much is held.
    #[track_caller]
    pub fn until_held(&self, amount: &str) {
        eventually(&format!("{amount} is held"), || (self.held() == amount).then_some(()));
    }

    /// Waits until a block was searched for deposits.
    #[track_caller]
    pub fn until_searched(&self, block: usize) {
        eventually("the block is searched", || {
            (self.network()["scannedBlock"].as_u64() >= Some(block as u64)).then_some(())
        });
    }

    /// What operators see of the network.
    #[track_caller]
    pub fn network(&self) -> Value {
        self.server.admin().get("/admin/status").expect(200)["rails"]["networks"][0].clone()
    }

    /// What the tenant may spend.
    #[track_caller]
    pub fn available(&self) -> String {
        text(&self.tenant.live.get("/v1/crypto/balance").expect(200), "availableUsdt").to_owned()
    }
}

/// Opens the live mode of a tenant.
#[track_caller]
pub fn activate(server: &Server, tenant: &Tenant) {
    let path = format!("/admin/tenants/{}/live-status", tenant.id);
    server.admin().post(&path, &json!({ "status": "active" })).expect(200);
}

/// Waits until something is there.
#[track_caller]
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(since.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        sleep(Duration::from_millis(50));
    }
}
