//! The table of interface B: a row per endpoint with its policy. Everything that is said about an
//! endpoint elsewhere (metrics, documentation, the golden list) comes from here: the row takes from
//! its resource what reads the endpoint and what describes it.

use crate::checkout::sessions;
use crate::cop_payments::payouts as cop_payouts;
use crate::csv::Table;
use crate::endpoint::Endpoint;
use crate::openapi::document::Chapter;
use crate::payments::{c2p, cards, debits, methods, receipt, transfers};
use crate::payouts::{batches, own_account};
use crate::products::links;
use crate::tenants::{approvals, keys, own};
use crate::{
    balance, chargebacks, checkout, conversions, cop_payments, crypto, events, merchants, payments, payouts,
    products, public, reference, search, statements, streams, testing, webhooks,
};
use domain::platform::Scope;
use hyper::Method;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modes {
    Both,
    TestOnly,
}

/// Whether agents have the row as a tool (`openapi/tools.rs`). None may answer a secret or take a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agents {
    No,
    Tool,
    MovesMoney,
}

/// What a row asks of the key that calls it.
#[derive(Clone, Copy)]
pub struct Needs {
    pub scope: Scope,
    pub modes: Modes,
    /// Whether the scope `read` is enough.
    pub reads: bool,
    /// Whether any key may call it: the endpoint looks at what it asks for.
    pub is_for_any_key: bool,
    /// Whether only a page can call it, for whoever is logged in.
    pub is_for_pages: bool,
    /// Whether it says to whose phone or account a payee's money goes: not for a key whose mandate names payees.
    pub leads_money: bool,
}

pub struct Route {
    pub method: Method,
    /// The row's path, with `:names`.
    pub path: &'static str,
    pub needs: Needs,
    pub operation: &'static str,
    /// Whether its body has a card in it: nothing of it may stay in memory, nor be tried out by who
    /// has a backup.
    pub has_card: bool,
    pub endpoint: Endpoint,
    /// Whether it takes parameters after the question mark; if not, any is unknown. Derived from the
    /// description.
    pub takes_query: bool,
    /// The columns of a list, which can be read as CSV; derived from the description.
    pub table: Option<Arc<Table>>,
    /// Whether it rests on its book and on the names that it reserves, and on nothing else: then a line of a stream need
    /// not wait until those before it are durable.
    pub is_of_book: bool,
    /// Whether it tries a secret for which there are few tries. In live mode it is not rehearsed, as that would cost none.
    pub is_try: bool,
    pub agents: Agents,
    /// Whether the platform's book decides on it; of a read, whether it has a part of the answer.
    pub is_of_platform: bool,
}

impl Route {
    fn tool(self) -> Route {
        Route { agents: Agents::Tool, ..self }
    }

    fn moves_money(self) -> Route {
        Route { agents: Agents::MovesMoney, ..self }
    }

    fn with_card(mut self) -> Route {
        self.has_card = true;
        self
    }

    fn of_few_tries(mut self) -> Route {
        self.is_try = true;
        self
    }

    fn of_platform(mut self) -> Route {
        self.is_of_platform = true;
        self
    }

    fn for_any_key(mut self) -> Route {
        self.needs.is_for_any_key = true;
        self
    }

    fn leading_money(mut self) -> Route {
        self.needs.leads_money = true;
        self
    }

    fn of_book(mut self) -> Route {
        self.is_of_book = true;
        self
    }
}

fn row(
    method: Method,
    path: &'static str,
    scope: Scope,
    operation: &'static str,
    endpoint: Endpoint,
) -> Route {
    let needs = Needs {
        scope,
        modes: Modes::Both,
        reads: method == Method::GET && scope != Scope::Keys,
        is_for_any_key: false,
        is_for_pages: false,
        leads_money: false,
    };
    Route {
        method,
        path,
        needs,
        operation,
        has_card: false,
        endpoint,
        takes_query: false,
        table: None,
        is_of_book: false,
        is_try: false,
        agents: Agents::No,
        is_of_platform: false,
    }
}

fn test(
    method: Method,
    path: &'static str,
    scope: Scope,
    operation: &'static str,
    endpoint: Endpoint,
) -> Route {
    let endpoint = Endpoint { chapter: testing::CHAPTER, ..endpoint };
    let mut row = row(method, path, scope, operation, endpoint);
    row.needs.modes = Modes::TestOnly;
    row
}

/// The rows of what a tenant does to its own account, on pages alone. They are a part of no description,
/// and pass every check that the rows of the API pass.
pub fn page_routes() -> [Route; 2] {
    let page = |path, operation, endpoint| {
        let mut row = row(Method::POST, path, Scope::Manage, operation, endpoint).of_platform();
        row.needs.is_for_pages = true;
        row
    };
    [
        page("/v1/pages/keys/rotate", "rotateOwnKey", own::ROTATE_KEY),
        page("/v1/pages/live", "askLive", own::ASK_LIVE),
    ]
}

#[rustfmt::skip] // A row is read across.
pub fn routes() -> Vec<Route> {
    use Scope::{Collect, Convert, Keys, Manage, Payout, Read};
    let (get, post, patch, delete) = (|| Method::GET, || Method::POST, || Method::PATCH, || Method::DELETE);
    vec![
        row(get(), "/v1/banks", Read, "listBanks", reference::BANKS).tool(),
        row(get(), "/v1/idempotency/:key", Read, "getIdempotencyKey", reference::KEPT).of_platform(),
        row(post(), "/v1/payments/c2p/request", Collect, "requestC2p", c2p::REQUEST).tool(),
        row(post(), "/v1/payments/c2p", Collect, "executeC2p", c2p::EXECUTE).moves_money(),
        row(get(), "/v1/payments", Read, "listPayments", payments::list::LIST).tool(),
        row(get(), "/v1/payments/:id", Read, "getPayment", payments::show::READ).tool(),
        row(get(), "/v1/payments/by-ref/:externalRef", Read, "getPaymentByRef", payments::show::READ_BY_REF).tool(),
        row(get(), "/v1/payments/operations/:id", Read, "getOperation", payments::operations::OPERATION).tool(),
        row(get(), "/v1/payments/:id/receipt", Read, receipt::OPERATION, receipt::READ),
        row(post(), "/v1/payments/:id/reverse", Collect, "reversePayment", c2p::REVERSE).moves_money(),
        row(post(), "/v1/merchants", Manage, "registerMerchant", merchants::REGISTER).leading_money(),
        row(get(), "/v1/merchants", Read, "listMerchants", merchants::LIST).tool(),
        row(get(), "/v1/merchants/:id", Read, "getMerchant", merchants::READ).tool(),
        row(patch(), "/v1/merchants/:id", Manage, "updateMerchant", merchants::UPDATE).leading_money(),
        row(delete(), "/v1/merchants/:id", Manage, "deleteMerchant", merchants::DELETE),
        row(post(), "/v1/merchants/:id/payout-methods", Manage, "addPayoutMethod", merchants::ADD_METHOD).leading_money(),
        row(get(), "/v1/merchants/:id/payout-methods", Read, "listPayoutMethods", merchants::METHODS).tool(),
        row(delete(), "/v1/merchants/:id/payout-methods/:methodId", Manage, "deletePayoutMethod", merchants::DELETE_METHOD).leading_money(),
        row(post(), "/v1/merchants/:id/payout-methods/:methodId/default", Manage, "setDefaultPayoutMethod", merchants::SET_DEFAULT).leading_money(),
        row(post(), "/v1/merchants/:id/payout-methods/:methodId/verify/start", Manage, "startVerification", merchants::START_VERIFICATION),
        row(post(), "/v1/merchants/:id/payout-methods/:methodId/verify", Manage, "verifyPayoutMethod", merchants::VERIFY).of_few_tries(),
        row(post(), "/v1/payouts", Payout, "createPayout", payouts::CREATE).of_book().moves_money(),
        row(get(), "/v1/payouts", Read, "listPayouts", payouts::list::LIST).tool(),
        row(get(), "/v1/payouts/:id", Read, "getPayout", payouts::READ).tool(),
        row(get(), "/v1/payouts/by-ref/:externalRef", Read, "getPayoutByRef", payouts::READ_BY_REF).tool(),
        row(get(), "/v1/balance", Read, "getBalance", balance::READ).tool(),
        row(get(), "/v1/balance/transactions", Read, "listMovements", balance::TRANSACTIONS).tool(),
        row(post(), "/v1/payments/credit", Payout, "creditPhone", payouts::CREDIT).of_book().moves_money(),
        row(post(), "/v1/payments/credit/account", Payout, "creditAccount", payouts::CREDIT_ACCOUNT).of_book().moves_money(),
        row(post(), "/v1/payments/change", Payout, "giveChange", payouts::CHANGE).of_book().moves_money(),
        row(get(), "/v1/merchants/:id/balance", Read, "getMerchantBalance", balance::READ_SELLER).tool(),
        row(get(), "/v1/merchants/:id/balance/transactions", Read, "listMerchantMovements", balance::SELLER_TRANSACTIONS).tool(),
        row(get(), "/v1/statements", Read, "getStatement", statements::READ).tool(),
        row(get(), "/v1/merchants/:id/statements", Read, "getMerchantStatement", statements::READ_SELLER).tool(),
        row(post(), "/v1/payouts/batch", Payout, "createPayoutBatch", batches::CREATE).moves_money(),
        row(get(), "/v1/payouts/batch/:batchId", Read, "getPayoutBatch", batches::SHOW_ONE).tool(),
        row(post(), "/v1/payments/credit/disburse", Payout, "disburseCredits", batches::DISBURSE).moves_money(),
        row(post(), "/v1/payments/payouts", Payout, "payAccounts", batches::PAY_ACCOUNTS).moves_money(),
        row(post(), "/v1/payouts/instant", Payout, "createInstantPayout", payouts::INSTANT).of_book().moves_money(),
        row(Method::PUT, "/v1/payouts/account", Manage, "setPayoutAccount", own_account::SET).leading_money(),
        row(get(), "/v1/payouts/account", Read, "getPayoutAccount", own_account::READ).tool(),
        row(post(), "/v1/payouts/account/verify/start", Manage, "startPayoutAccountVerification", own_account::START_VERIFICATION),
        row(post(), "/v1/payouts/account/verify", Manage, "verifyPayoutAccount", own_account::VERIFY).of_few_tries(),
        test(get(), "/v1/test/clock", Manage, "getTestClock", testing::READ_CLOCK).tool(),
        test(post(), "/v1/test/clock", Manage, "moveTestClock", testing::MOVE_CLOCK).tool(),
        test(post(), "/v1/test/reset", Manage, testing::RESET_OPERATION, testing::RESET),
        test(post(), "/v1/test/fund", Manage, "fundTestBalance", testing::FUND).of_book().moves_money(),
        row(post(), "/v1/payments/vpos", Collect, "chargeCard", cards::CHARGE).with_card(),
        row(post(), "/v1/payments/debit/otp", Collect, "requestDebitOtp", debits::REQUEST_OTP).tool(),
        row(post(), "/v1/payments/debit", Collect, "chargeDebit", debits::CHARGE).moves_money(),
        row(post(), "/v1/payments/pago-movil/verify", Collect, "verifyPagoMovil", transfers::VERIFY).moves_money(),
        row(get(), "/v1/payments/pago-movil/account", Read, "getPagoMovilAccount", transfers::ACCOUNT).tool(),
        row(get(), "/v1/chargebacks", Read, "listChargebacks", chargebacks::LIST).tool(),
        row(get(), "/v1/chargebacks/:id", Read, "getChargeback", chargebacks::READ).tool(),
        row(get(), "/v1/payment-methods", Read, "listPaymentMethods", methods::LIST).tool(),
        row(get(), "/v1/events", Read, "listEvents", events::LIST).tool(),
        row(get(), "/v1/events/:id", Read, "getEvent", events::READ),
        test(post(), "/v1/test/chargebacks", Manage, "openTestChargeback", chargebacks::OPEN),
        test(post(), "/v1/test/chargebacks/:id/close", Manage, "closeTestChargeback", chargebacks::CLOSE),
        row(post(), "/v1/products", Manage, "createProduct", products::CREATE).tool(),
        row(get(), "/v1/products", Read, "listProducts", products::LIST).tool(),
        row(get(), "/v1/products/:id", Read, "getProduct", products::READ).tool(),
        row(patch(), "/v1/products/:id", Manage, "updateProduct", products::UPDATE),
        row(delete(), "/v1/products/:id", Manage, "deleteProduct", products::DELETE),
        row(post(), "/v1/products/:id/links", Manage, "createPaymentLink", links::CREATE).tool(),
        row(get(), "/v1/products/:id/links", Read, "listPaymentLinks", links::LIST).tool(),
        row(get(), "/v1/payment-links/:id", Read, "getPaymentLink", links::READ).tool(),
        row(patch(), "/v1/payment-links/:id", Manage, "updatePaymentLink", links::UPDATE).tool(),
        row(delete(), "/v1/payment-links/:id", Manage, "deletePaymentLink", links::DELETE),
        row(post(), "/v1/checkout/sessions", Collect, "createCheckoutSession", sessions::CREATE),
        row(get(), "/v1/checkout/sessions", Read, "listCheckoutSessions", sessions::LIST),
        row(get(), "/v1/checkout/sessions/:id", Read, "getCheckoutSession", sessions::READ),
        row(post(), "/v1/conversions/quotes", Convert, "createConversionQuote", conversions::QUOTE).of_book().tool(),
        row(post(), "/v1/conversions", Convert, "createConversion", conversions::ACCEPT).moves_money(),
        row(get(), "/v1/conversions", Read, "listConversions", conversions::LIST).tool(),
        row(get(), "/v1/conversions/settings", Read, "getConversionSettings", conversions::SETTINGS).tool(),
        row(patch(), "/v1/conversions/settings", Manage, "updateConversionSettings", conversions::SET).of_platform(),
        row(get(), "/v1/conversions/:id", Read, "getConversion", conversions::READ).tool(),
        row(post(), "/v1/conversions/:id/cancel", Convert, "cancelConversion", conversions::CANCEL).moves_money(),
        test(post(), "/v1/test/conversions/:id/fulfil", Manage, "fulfilTestConversion", conversions::FULFIL),
        test(post(), "/v1/test/conversions/:id/reject", Manage, "rejectTestConversion", conversions::REJECT),
        row(get(), "/v1/crypto/networks", Read, "listCryptoNetworks", crypto::NETWORKS).tool(),
        row(get(), "/v1/crypto/balance", Read, "getCryptoBalance", crypto::BALANCE).tool(),
        row(get(), "/v1/crypto/balance/transactions", Read, "listCryptoMovements", balance::CRYPTO_TRANSACTIONS).tool(),
        row(post(), "/v1/crypto/payouts", Payout, "createCryptoPayout", crypto::PAY).of_book().moves_money(),
        row(get(), "/v1/crypto/payouts", Read, "listCryptoPayouts", crypto::LIST).tool(),
        row(get(), "/v1/crypto/payouts/:id", Read, "getCryptoPayout", crypto::READ).tool(),
        row(get(), "/v1/crypto/payouts/by-ref/:externalRef", Read, "getCryptoPayoutByRef", crypto::READ_BY_REF).tool(),
        row(post(), "/v1/crypto/deposit-addresses", Manage, "createDepositAddress", crypto::OPEN_ADDRESS),
        test(post(), "/v1/test/crypto/deposits", Manage, "makeTestDeposit", crypto::DEPOSIT),
        test(post(), "/v1/test/crypto/payouts/:id/approve", Manage, "approveTestCryptoPayout", crypto::APPROVE),
        test(post(), "/v1/test/crypto/payouts/:id/reject", Manage, "rejectTestCryptoPayout", crypto::REJECT),
        row(post(), "/v1/cop/payments", Collect, "createCopPayment", cop_payments::CREATE).of_book().moves_money(),
        row(get(), "/v1/cop/payments/:id", Read, "getCopPayment", cop_payments::READ).tool(),
        row(post(), "/v1/cop/payments/:id/otp", Collect, "submitCopOtp", cop_payments::SUBMIT_OTP).moves_money(),
        row(post(), "/v1/cop/payments/:id/cancel", Collect, "cancelCopPayment", cop_payments::CANCEL).moves_money(),
        row(post(), "/v1/cop/payments/:id/refund", Collect, "refundCopPayment", cop_payments::REFUND).moves_money(),
        row(get(), "/v1/cop/balance", Read, "getCopBalance", balance::READ_COP).tool(),
        row(get(), "/v1/cop/balance/transactions", Read, "listCopMovements", balance::COP_TRANSACTIONS).tool(),
        row(get(), "/v1/cop/payouts", Read, "listCopPayouts", cop_payouts::LIST).tool(),
        row(get(), "/v1/cop/payouts/:id", Read, "getCopPayout", cop_payouts::READ).tool(),
        test(post(), "/v1/test/cop/payments/:id/pay", Manage, "playCopBuyerPaying", cop_payments::PLAY_PAYING),
        test(post(), "/v1/test/cop/payments/:id/decline", Manage, "playCopBuyerDeclining", cop_payments::PLAY_DECLINING),
        row(post(), "/v1/webhooks", Manage, "createWebhook", webhooks::REGISTER),
        row(get(), "/v1/webhooks", Read, "listWebhooks", webhooks::LIST),
        row(get(), "/v1/webhooks/:id", Read, "getWebhook", webhooks::READ),
        row(patch(), "/v1/webhooks/:id", Manage, "updateWebhook", webhooks::UPDATE),
        row(delete(), "/v1/webhooks/:id", Manage, "deleteWebhook", webhooks::DELETE),
        row(post(), "/v1/webhooks/:id/rotate-secret", Manage, "rotateWebhookSecret", webhooks::ROTATE_SECRET),
        row(get(), "/v1/webhooks/:id/deliveries", Read, "listDeliveries", webhooks::DELIVERIES),
        row(post(), "/v1/events/:id/resend", Manage, "resendEvent", webhooks::RESEND),
        row(post(), "/v1/notifications/test", Manage, "sendTestNotification", webhooks::TEST),
        row(post(), "/v1/keys", Keys, "createKey", keys::CREATE).of_platform(),
        row(get(), "/v1/keys", Keys, "listKeys", keys::LIST),
        row(get(), "/v1/keys/:id", Keys, "getKey", keys::READ).for_any_key(),
        row(patch(), "/v1/keys/:id", Keys, "updateKey", keys::UPDATE).of_platform(),
        row(delete(), "/v1/keys/:id", Keys, "revokeKey", keys::REVOKE).of_platform(),
        row(get(), "/v1/approvals", Keys, "listApprovals", approvals::LIST),
        row(get(), "/v1/approvals/:id", Keys, "getApproval", approvals::READ).for_any_key().tool(),
        row(post(), "/v1/approvals/:id/approve", Keys, approvals::APPROVE_OPERATION, approvals::APPROVE),
        row(post(), "/v1/approvals/:id/reject", Keys, "rejectCall", approvals::REJECT),
        row(get(), "/v1/quote", Read, "getQuote", reference::QUOTE).tool(),
        row(get(), "/v1/search", Read, "search", search::SEARCH).tool(),
        row(get(), "/v1/requests/:requestId", Read, "getRequest", search::REQUEST).tool(),
    ]
}

/// The chapters in reading order.
pub fn chapters() -> Vec<Chapter> {
    vec![
        payments::chapter(),
        balance::chapter(),
        statements::chapter(),
        merchants::chapter(),
        payouts::chapter(),
        streams::chapter(),
        chargebacks::chapter(),
        conversions::chapter(),
        crypto::chapter(),
        cop_payments::chapter(),
        products::chapter(),
        sessions::chapter(),
        checkout::chapter(),
        events::chapter(),
        webhooks::chapter(),
        keys::chapter(),
        approvals::chapter(),
        reference::chapter(),
        search::chapter(),
        public::chapter(),
        testing::chapter(),
        reference::health(),
    ]
}
