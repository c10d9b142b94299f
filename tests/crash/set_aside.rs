//! A server that is killed while a book is set aside, and while an operator resumes it: the book
//! comes back as its records say, and the others never stood still.

use crate::harness::server::Server;
use serde_json::json;
use std::sync::Barrier;
use std::thread::sleep;
use std::time::Duration;

/// The number of kills, each a little later.
const ROUNDS: u64 = 6;

#[test]
fn a_book_that_is_resumed_when_the_server_dies_is_as_its_records_say() {
    let mut server = Server::start();
    let (tenant, other) = (server.tenant(), server.tenant().test);
    tenant.test.fund("7.00");
    other.fund("1.00");
    let resume = format!("/admin/tenants/{}/resume", tenant.id);
    for round in 0..ROUNDS {
        server.kill();
        server.arguments = vec!["--set-aside", "3"];
        server.restart();
        tenant.test.get("/v1/balance").refused(503, "account_halted");
        other.fund("1.00");
        let (gate, admin) = (Barrier::new(2), server.admin());
        std::thread::scope(|scope| {
            let resuming = scope.spawn(|| {
                gate.wait();
                // Whether there is an answer depends on which of the two is first.
                admin.try_post(&resume, &json!({})).is_ok()
            });
            gate.wait();
            sleep(Duration::from_millis(3 * round));
            server.kill();
            drop(resuming.join());
        });
        server.arguments.clear();
        server.restart();
        tenant.test.assert_books("7.00", "0.00", "7.00");
        let others = format!("{}.00", round + 2);
        other.assert_books(&others, "0.00", &others);
        let verified = server.command(&["wal", "verify"]);
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    }
}
