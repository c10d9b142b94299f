//! Kills between what the bank was told and what the gateway made of it.

use super::{live, notice, notices, notify, r4, server, settled, verification, verify};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

#[test]
fn a_notice_that_was_taken_survives_a_kill() {
    let mut server = server(&[]);
    let tenant = live(&server);
    for n in 0..5 {
        notify(&server, &notice(&format!("61234{n}")));
    }
    let paid = verify(&tenant.live, &verification("612340")).expect(201);
    server.kill();
    server.restart();
    assert_eq!(notices(&server, "").len(), 5);
    assert_eq!(notices(&server, "?unmatched=true").len(), 4);
    notify(&server, &notice("612341"));
    assert_eq!(notices(&server, "").len(), 5, "it was there");
    assert_eq!(tenant.live.payment(&paid), paid);
    assert_eq!(verify(&tenant.live, &verification("612341")).expect(201)["status"], "COMPLETED");
    verify(&tenant.live, &verification("2340")).refused(409, "reference_already_used");
    // Books and index follow from the log.
    let notice = notices(&server, "")[0]["noticeId"].as_str().expect("an id").to_owned();
    server.terminate();
    let verified = server.command(&["wal", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    let explained = server.command(&["wal", "explain", &notice]);
    assert!(String::from_utf8_lossy(&explained.stdout).contains("notice.received"), "{explained:?}");
}

#[test]
fn who_waits_is_found_after_a_kill() {
    let mut server = server(&[("PASARELA__RAILS__R4__NOTICE_WAIT_SECONDS", "3600")]);
    let tenant = live(&server);
    let waiting = verify(&tenant.live, &verification("515151")).expect(202);
    server.kill();
    server.restart();
    assert_eq!(tenant.live.payment(&waiting)["status"], "PENDING");
    notify(&server, &notice("515151"));
    assert_eq!(settled(&tenant.live, &waiting)["status"], "COMPLETED");
}

/// Payments and their notices at once, killed somewhere in the middle: whatever was claimed is paid
/// for, once, and nothing else is.
#[test]
fn wherever_it_is_killed_what_was_claimed_is_paid() {
    let mut server = server(&[
        ("PASARELA__RAILS__R4__NOTICE_WAIT_SECONDS", "20"),
        ("PASARELA__RAILS__POLL_SECONDS", "30"),
    ]);
    let tenants: Vec<_> = (0..2).map(|_| live(&server)).collect();
    let mut payments: Vec<(usize, Value)> = Vec::new();
    for round in 0..4_u64 {
        let reference = move |n: usize| format!("4{round}00{n:03}");
        for n in 0..12 {
            let waiting = verify(&tenants[n % 2].live, &verification(&reference(n))).expect(202);
            payments.push((n % 2, waiting));
        }
        let bank = r4(&server);
        let noticing = std::thread::spawn(move || {
            for n in 0..12 {
                let _ = bank.try_post("/rails/r4/R4notifica", &notice(&reference(n)));
            }
        });
        std::thread::sleep(Duration::from_millis(3 + 7 * round));
        server.kill();
        noticing.join().expect("no panic");
        server.restart();
        // The bank does not know what was heard, and tells of some again.
        for n in 0..6 {
            notify(&server, &notice(&reference(n)));
        }
    }
    let mut paid = BTreeMap::new();
    for (tenant, payment) in &payments {
        let payment = settled(&tenants[*tenant].live, payment);
        if payment["status"] == "COMPLETED" {
            let id = payment["paymentId"].as_str().expect("an id").to_owned();
            paid.insert(id, (payment["bankReference"].clone(), json!(tenants[*tenant].id)));
        } else {
            assert_eq!(payment["failureCode"], "reference_not_found", "{payment}");
        }
    }
    assert!(paid.len() >= 24, "what was told again is paid: {}", paid.len());
    let kept = server.admin().walk("/admin/notices", &[], 50);
    let claimed = kept.iter().filter(|notice| !notice["paymentId"].is_null()).map(|notice| {
        let id = notice["paymentId"].as_str().expect("an id").to_owned();
        (id, (notice["reference"].clone(), notice["tenantId"].clone()))
    });
    assert_eq!(claimed.collect::<BTreeMap<_, _>>(), paid);
    let all: usize = paid.len();
    let sum = |tenant: &super::Tenant| {
        let minor = tenant.live.books()["ledgerNetVes"].as_str().expect("an amount").replace('.', "");
        minor.parse::<usize>().expect("a number")
    };
    assert_eq!(tenants.iter().map(sum).sum::<usize>(), all * 197_000);
}
