//! Tests of the words, with the paths of the real table.

use super::*;
use crate::routes::routes;

fn near(asked: &str) -> Option<&'static str> {
    let rows: Vec<&'static str> = routes().iter().map(|route| route.path).collect();
    nearest(asked, rows.into_iter())
}

#[test]
fn a_path_with_a_slip_leads_to_the_right_one() {
    for (asked, meant) in [
        ("/v1/paymets", "/v1/payments"),
        ("/v1/payment", "/v1/payments"),
        ("/v1/payments/", "/v1/payments"),
        ("/payments", "/v1/payments"),
        ("/V1/Balance", "/v1/balance"),
        ("/v1/balnace", "/v1/balance"),
        ("/v1/payments/c2p/requests", "/v1/payments/c2p/request"),
        ("/v1/payments/0197/revers", "/v1/payments/:id/reverse"),
        ("/v1/payment_methods", "/v1/payment-methods"),
        ("/v1/merchant/7/balance", "/v1/merchants/:id/balance"),
        ("/v1/checkout/session", "/v1/checkout/sessions"),
    ] {
        assert_eq!(near(asked), Some(meant), "{asked}");
    }
    for asked in ["/", "", "/v1", "/v1/no-such-thing", "/wp-login.php", "/v1/a/b/c/d/e/f/g/h/i/j/k", "/admin"]
    {
        assert_eq!(near(asked), None, "{asked}");
    }
}

#[test]
fn only_what_looks_like_a_word_of_ours_is_quoted() {
    for (asked, shown) in [
        ("/v1/paymets", "/v1/paymets"),
        (
            "/v1/payments/01975a2e-7c00-7000-8000-000000000000/x",
            "/v1/payments/01975a2e-7c00-7000-8000-000000000000/x",
        ),
        ("/v1/cards/4111111111111111", "/v1/cards/…"),
        ("/v1/V12345678", "/v1/…"),
        ("/pk_test_demo/v1", "/…/v1"),
        ("/v1/<script>alert(1)</script>", "/v1/…/…"),
        ("/v1/%6b%65%79", "/v1/…"),
        ("/1/2/3/4/5/6/7/8/9/10/11/12", "/1/2/3/4/5/6/7/8/9/10/…"),
    ] {
        assert_eq!(quoted(asked), shown);
    }
}

#[test]
fn an_object_is_named_by_its_kind_and_its_id() {
    let id = "01975a2e-7c00-7000-8000-000000000000";
    for (row, value, words) in [
        ("/v1/payments/:id", id, "no payment 01975a2e-7c00-7000-8000-000000000000 here"),
        ("/v1/payments/:id", "4111111111111111", "no payment with this id, which is no UUID, here"),
        ("/v1/payouts/by-ref/:externalRef", "a-7", "no payout with this externalRef here"),
        ("/v1/crypto/payouts/by-ref/:externalRef", "a-7", "no USDT payout with this externalRef here"),
        ("/v1/cop/payments/:id/otp", id, "no payment in pesos 01975a2e-7c00-7000-8000-000000000000 here"),
        ("/v1/payment-links/:id", "x", "no payment link with this id, which is no UUID, here"),
        (
            "/v1/merchants/:id/payout-methods/:methodId",
            id,
            "no merchant 01975a2e-7c00-7000-8000-000000000000, or no payout method 01975a2e-7c00-7000-8000-000000000000 here",
        ),
        ("/v1/idempotency/:key", "k", "no request with this Idempotency-Key in the last 24 hours here"),
        ("/v1/conversions", "", "no quote with the quoteId of the body here"),
        ("/admin/tenants/:id", id, "no tenant 01975a2e-7c00-7000-8000-000000000000 here"),
        ("/admin/banks/:code", "9999", "no bank with this code here"),
    ] {
        assert_eq!(object(row, |_| value, "here").message, words, "{row}");
    }
}

#[test]
fn every_row_has_words() {
    for route in routes() {
        let problem = object(route.path, |_| "", "here");
        assert_eq!((problem.status, problem.code), (404, "not_found"));
        assert!(!problem.message.contains("  ") && !problem.message.contains("no  "), "{}", problem.message);
    }
}
