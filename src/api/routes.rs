//! The table of interface B: a row per endpoint with its policy. Everything that is said about an
//! endpoint elsewhere (metrics, documentation, the golden list) comes from here.

use crate::checkout::sessions;
use crate::cop_payments::payouts as cop_payouts;
use crate::payments::{cards, debits, methods, transfers};
use crate::payouts::{batches, own_account};
use crate::plan::{Call, Plan};
use crate::problem::Problem;
use crate::products::links;
use crate::{
    balance, chargebacks, conversions, cop_payments, crypto, events, merchants, payments, payouts, products,
    reference, testing, webhooks,
};
use domain::platform::Scope;
use hyper::Method;

/// Reads and checks a request, and says what is to be done.
pub type Handler = fn(&Call<'_>) -> Result<Plan, Problem>;

/// In which modes an endpoint exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modes {
    /// Both.
    Both,
    /// Test alone.
    TestOnly,
}

/// One endpoint.
pub struct Route {
    /// Its method.
    pub method: Method,
    /// Its path, with `:names`.
    pub path: &'static str,
    /// What a key needs for it.
    pub scope: Scope,
    /// Where it exists.
    pub modes: Modes,
    /// Its name in the documentation.
    pub operation: &'static str,
    /// Whether its body has a card in it: nothing of it may stay in memory, nor be tried out by who
    /// has a backup.
    pub has_card: bool,
    /// What reads it.
    pub handler: Handler,
}

impl Route {
    const fn with_card(mut self) -> Route {
        self.has_card = true;
        self
    }
}

const fn row(
    method: Method,
    path: &'static str,
    scope: Scope,
    operation: &'static str,
    handler: Handler,
) -> Route {
    Route { method, path, scope, modes: Modes::Both, operation, has_card: false, handler }
}

const fn test(
    method: Method,
    path: &'static str,
    scope: Scope,
    operation: &'static str,
    handler: Handler,
) -> Route {
    Route { method, path, scope, modes: Modes::TestOnly, operation, has_card: false, handler }
}

/// All of them.
pub fn routes() -> Vec<Route> {
    use Scope::{Collect, Convert, Manage, Payout, Read};
    let (get, post, patch, delete) = (|| Method::GET, || Method::POST, || Method::PATCH, || Method::DELETE);
    vec![
        row(get(), "/v1/banks", Read, "listBanks", reference::banks),
        row(get(), "/v1/idempotency/:key", Read, "getIdempotencyKey", reference::kept),
        row(post(), "/v1/payments/c2p/request", Collect, "requestC2p", payments::request_c2p),
        row(post(), "/v1/payments/c2p", Collect, "executeC2p", payments::execute_c2p),
        row(get(), "/v1/payments", Read, "listPayments", payments::list),
        row(get(), "/v1/payments/:id", Read, "getPayment", payments::read),
        row(get(), "/v1/payments/by-ref/:externalRef", Read, "getPaymentByRef", payments::read_by_ref),
        row(get(), "/v1/payments/operations/:id", Read, "getOperation", payments::operation),
        row(post(), "/v1/payments/:id/reverse", Collect, "reversePayment", payments::reverse),
        row(post(), "/v1/merchants", Manage, "registerMerchant", merchants::register),
        row(get(), "/v1/merchants", Read, "listMerchants", merchants::list),
        row(get(), "/v1/merchants/:id", Read, "getMerchant", merchants::read),
        row(patch(), "/v1/merchants/:id", Manage, "updateMerchant", merchants::update),
        row(delete(), "/v1/merchants/:id", Manage, "deleteMerchant", merchants::delete),
        row(post(), "/v1/merchants/:id/payout-methods", Manage, "addPayoutMethod", merchants::add_method),
        row(get(), "/v1/merchants/:id/payout-methods", Read, "listPayoutMethods", merchants::methods),
        row(
            delete(),
            "/v1/merchants/:id/payout-methods/:methodId",
            Manage,
            "deletePayoutMethod",
            merchants::delete_method,
        ),
        row(
            post(),
            "/v1/merchants/:id/payout-methods/:methodId/default",
            Manage,
            "setDefaultPayoutMethod",
            merchants::set_default,
        ),
        row(
            post(),
            "/v1/merchants/:id/payout-methods/:methodId/verify/start",
            Manage,
            "startVerification",
            merchants::start_verification,
        ),
        row(
            post(),
            "/v1/merchants/:id/payout-methods/:methodId/verify",
            Manage,
            "verifyPayoutMethod",
            merchants::verify,
        ),
        row(post(), "/v1/payouts", Payout, "createPayout", payouts::create),
        row(get(), "/v1/payouts", Read, "listPayouts", payouts::list),
        row(get(), "/v1/payouts/:id", Read, "getPayout", payouts::read),
        row(get(), "/v1/payouts/by-ref/:externalRef", Read, "getPayoutByRef", payouts::read_by_ref),
        row(get(), "/v1/balance", Read, "getBalance", balance::read),
        row(get(), "/v1/balance/transactions", Read, "listMovements", balance::transactions),
        row(post(), "/v1/payments/credit", Payout, "creditPhone", payouts::credit),
        row(post(), "/v1/payments/credit/account", Payout, "creditAccount", payouts::credit_account),
        row(post(), "/v1/payments/change", Payout, "giveChange", payouts::change),
        row(get(), "/v1/merchants/:id/balance", Read, "getMerchantBalance", balance::read_seller),
        row(
            get(),
            "/v1/merchants/:id/balance/transactions",
            Read,
            "listMerchantMovements",
            balance::seller_transactions,
        ),
        row(post(), "/v1/payouts/batch", Payout, "createPayoutBatch", batches::create),
        row(get(), "/v1/payouts/batch/:batchId", Read, "getPayoutBatch", batches::show_one),
        row(post(), "/v1/payments/credit/disburse", Payout, "disburseCredits", batches::disburse),
        row(post(), "/v1/payments/payouts", Payout, "payAccounts", batches::pay_accounts),
        row(post(), "/v1/payouts/instant", Payout, "createInstantPayout", payouts::instant),
        row(Method::PUT, "/v1/payouts/account", Manage, "setPayoutAccount", own_account::set),
        row(get(), "/v1/payouts/account", Read, "getPayoutAccount", own_account::read),
        row(
            post(),
            "/v1/payouts/account/verify/start",
            Manage,
            "startPayoutAccountVerification",
            own_account::start_verification,
        ),
        row(post(), "/v1/payouts/account/verify", Manage, "verifyPayoutAccount", own_account::verify),
        test(get(), "/v1/test/clock", Manage, "getTestClock", testing::read_clock),
        test(post(), "/v1/test/clock", Manage, "moveTestClock", testing::move_clock),
        test(post(), "/v1/test/fund", Manage, "fundTestBalance", testing::fund),
        row(post(), "/v1/payments/vpos", Collect, "chargeCard", cards::charge).with_card(),
        row(post(), "/v1/payments/debit/otp", Collect, "requestDebitOtp", debits::request_otp),
        row(post(), "/v1/payments/debit", Collect, "chargeDebit", debits::charge),
        row(post(), "/v1/payments/pago-movil/verify", Collect, "verifyPagoMovil", transfers::verify),
        row(get(), "/v1/chargebacks", Read, "listChargebacks", chargebacks::list),
        row(get(), "/v1/chargebacks/:id", Read, "getChargeback", chargebacks::read),
        row(get(), "/v1/payment-methods", Read, "listPaymentMethods", methods::list),
        row(get(), "/v1/events", Read, "listEvents", events::list),
        row(get(), "/v1/events/:id", Read, "getEvent", events::read),
        test(post(), "/v1/test/chargebacks", Manage, "openTestChargeback", chargebacks::open),
        test(post(), "/v1/test/chargebacks/:id/close", Manage, "closeTestChargeback", chargebacks::close),
        row(post(), "/v1/products", Manage, "createProduct", products::create),
        row(get(), "/v1/products", Read, "listProducts", products::list),
        row(get(), "/v1/products/:id", Read, "getProduct", products::read),
        row(patch(), "/v1/products/:id", Manage, "updateProduct", products::update),
        row(delete(), "/v1/products/:id", Manage, "deleteProduct", products::delete),
        row(post(), "/v1/products/:id/links", Manage, "createPaymentLink", links::create),
        row(get(), "/v1/products/:id/links", Read, "listPaymentLinks", links::list),
        row(get(), "/v1/payment-links/:id", Read, "getPaymentLink", links::read),
        row(patch(), "/v1/payment-links/:id", Manage, "updatePaymentLink", links::update),
        row(delete(), "/v1/payment-links/:id", Manage, "deletePaymentLink", links::delete),
        row(post(), "/v1/checkout/sessions", Collect, "createCheckoutSession", sessions::create),
        row(get(), "/v1/checkout/sessions/:id", Read, "getCheckoutSession", sessions::read),
        row(post(), "/v1/conversions/quotes", Convert, "createConversionQuote", conversions::quote),
        row(post(), "/v1/conversions", Convert, "createConversion", conversions::accept),
        row(get(), "/v1/conversions", Read, "listConversions", conversions::list),
        row(get(), "/v1/conversions/settings", Read, "getConversionSettings", conversions::settings),
        row(patch(), "/v1/conversions/settings", Manage, "updateConversionSettings", conversions::set),
        row(get(), "/v1/conversions/:id", Read, "getConversion", conversions::read),
        row(post(), "/v1/conversions/:id/cancel", Convert, "cancelConversion", conversions::cancel),
        test(post(), "/v1/test/conversions/:id/fulfil", Manage, "fulfilTestConversion", conversions::fulfil),
        test(post(), "/v1/test/conversions/:id/reject", Manage, "rejectTestConversion", conversions::reject),
        row(get(), "/v1/crypto/balance", Read, "getCryptoBalance", crypto::balance),
        row(
            get(),
            "/v1/crypto/balance/transactions",
            Read,
            "listCryptoMovements",
            balance::crypto_transactions,
        ),
        row(post(), "/v1/crypto/payouts", Payout, "createCryptoPayout", crypto::pay),
        row(get(), "/v1/crypto/payouts", Read, "listCryptoPayouts", crypto::list),
        row(get(), "/v1/crypto/payouts/:id", Read, "getCryptoPayout", crypto::read),
        row(
            get(),
            "/v1/crypto/payouts/by-ref/:externalRef",
            Read,
            "getCryptoPayoutByRef",
            crypto::read_by_ref,
        ),
        row(post(), "/v1/crypto/deposit-addresses", Manage, "createDepositAddress", crypto::open_address),
        test(post(), "/v1/test/crypto/deposits", Manage, "makeTestDeposit", crypto::deposit),
        test(
            post(),
            "/v1/test/crypto/payouts/:id/approve",
            Manage,
            "approveTestCryptoPayout",
            crypto::approve,
        ),
        test(post(), "/v1/test/crypto/payouts/:id/reject", Manage, "rejectTestCryptoPayout", crypto::reject),
        row(post(), "/v1/cop/payments", Collect, "createCopPayment", cop_payments::create),
        row(get(), "/v1/cop/payments/:id", Read, "getCopPayment", cop_payments::read),
        row(post(), "/v1/cop/payments/:id/otp", Collect, "submitCopOtp", cop_payments::submit_otp),
        row(post(), "/v1/cop/payments/:id/cancel", Collect, "cancelCopPayment", cop_payments::cancel),
        row(post(), "/v1/cop/payments/:id/refund", Collect, "refundCopPayment", cop_payments::refund),
        row(get(), "/v1/cop/balance", Read, "getCopBalance", balance::read_cop),
        row(get(), "/v1/cop/balance/transactions", Read, "listCopMovements", balance::cop_transactions),
        row(get(), "/v1/cop/payouts", Read, "listCopPayouts", cop_payouts::list),
        row(get(), "/v1/cop/payouts/:id", Read, "getCopPayout", cop_payouts::read),
        test(
            post(),
            "/v1/test/cop/payments/:id/pay",
            Manage,
            "playCopBuyerPaying",
            cop_payments::play_paying,
        ),
        test(
            post(),
            "/v1/test/cop/payments/:id/decline",
            Manage,
            "playCopBuyerDeclining",
            cop_payments::play_declining,
        ),
        row(post(), "/v1/webhooks", Manage, "createWebhook", webhooks::register),
        row(get(), "/v1/webhooks", Read, "listWebhooks", webhooks::list),
        row(get(), "/v1/webhooks/:id", Read, "getWebhook", webhooks::read),
        row(patch(), "/v1/webhooks/:id", Manage, "updateWebhook", webhooks::update),
        row(delete(), "/v1/webhooks/:id", Manage, "deleteWebhook", webhooks::delete),
        row(post(), "/v1/webhooks/:id/rotate-secret", Manage, "rotateWebhookSecret", webhooks::rotate_secret),
        row(get(), "/v1/webhooks/:id/deliveries", Read, "listDeliveries", webhooks::deliveries),
        row(post(), "/v1/events/:id/resend", Manage, "resendEvent", webhooks::resend),
        row(post(), "/v1/notifications/test", Manage, "sendTestNotification", webhooks::test),
        row(get(), "/v1/quote", Read, "getQuote", reference::quote),
    ]
}
