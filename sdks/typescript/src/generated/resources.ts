// One method per call of the API. Written by sdks/generate from the server's description: change that, not this.

import type {
  AccountCredit,
  AccountCreditBatch,
  ApprovalsListParams,
  ApprovedCall,
  Balance,
  BalanceGetParams,
  BalanceListMovementsParams,
  Bank,
  C2pCharge,
  C2pIntent,
  C2pPayment,
  C2pRequest,
  CardCharge,
  Change,
  Chargeback,
  ChargebackOutcome,
  ChargebacksListParams,
  CheckoutAddress,
  CheckoutC2p,
  CheckoutCard,
  CheckoutCop,
  CheckoutDebtor,
  CheckoutPageGetStateParams,
  CheckoutPagoMovil,
  CheckoutSession,
  CheckoutSessionsListParams,
  CheckoutState,
  CheckoutUsdt,
  ClockMove,
  CollectionMethodList,
  Conversion,
  ConversionQuote,
  ConversionSettings,
  ConversionSettingsChange,
  ConversionsListParams,
  CopBalance,
  CopListMovementsParams,
  CopListPayoutsParams,
  CopOtp,
  CopPayment,
  CopPayout,
  CryptoBalance,
  CryptoDeposit,
  CryptoNetworkList,
  CryptoPayout,
  DebitCharge,
  DebitOtp,
  DebitOtpRequest,
  DeletePaymentLinkResult,
  DeleteProductResult,
  DeleteWebhookResult,
  DeletedMerchant,
  Deliveries,
  Delivery,
  DepositAddress,
  DryRun,
  Event,
  EventsListParams,
  FeeEstimate,
  FeeSchedule,
  FindingSearchParams,
  FoundList,
  GetHealthResult,
  GetReadinessResult,
  IdempotencyKey,
  InstantPayout,
  Key,
  KeyChange,
  KeyList,
  KeyWithRemaining,
  KeysRevokeParams,
  LinkQuantity,
  ListedCheckoutSession,
  LoggedRequest,
  MadeCardToken,
  MadeKey,
  MandateApproval,
  Merchant,
  MerchantBalance,
  MerchantPayout,
  MerchantPayoutBatch,
  MerchantUpdate,
  MerchantsGetStatementParams,
  MerchantsListMovementsParams,
  MerchantsListParams,
  Movement,
  NewChargeback,
  NewCheckoutSession,
  NewConversion,
  NewConversionQuote,
  NewCopPayment,
  NewCryptoPayout,
  NewDepositAddress,
  NewKey,
  NewMerchant,
  NewPaymentLink,
  NewPayoutAccount,
  NewPayoutMethod,
  NewProduct,
  NewWebhook,
  NewlySignedWebhook,
  OpenedTestAccount,
  Operation,
  PagoMovilAccount,
  PagoMovilQuote,
  PagoMovilVerification,
  Payment,
  PaymentLink,
  PaymentLinkChange,
  PaymentLinkList,
  PaymentsGetReceiptParams,
  PaymentsListParams,
  Payout,
  PayoutAccount,
  PayoutBatch,
  PayoutMethod,
  PayoutMethodList,
  PayoutsListParams,
  PhoneCredit,
  PhoneCreditBatch,
  Product,
  ProductChange,
  ProductsListParams,
  Quote,
  Rate,
  RateHistory,
  RatesEstimateWithdrawalFeeParams,
  RatesGetLatestRateParams,
  RatesGetPagoMovilQuoteParams,
  RatesGetRateHistoryParams,
  RatesGetWithdrawalFeeScheduleParams,
  ReferenceGetIdempotencyKeyParams,
  Rejection,
  RevokedKey,
  SecretRotation,
  SeenAmounts,
  StartPayoutAccountVerificationResult,
  StartVerificationResult,
  Statement,
  StatementsGetParams,
  TestClock,
  TestDeliveries,
  TestDeposit,
  TestFund,
  TestReset,
  UsdtListMovementsParams,
  UsdtListPayoutsParams,
  Webhook,
  WebhookChange,
  WebhookList,
  WebhooksListDeliveriesParams,
} from './models.js';
import type { Amount } from '../money.js';
import type { Listing } from '../pages.js';
import type { CallOptions, DryRunOptions, KeyedOptions, Session } from '../session.js';

/**
 * Collecting from a payer in Venezuela: C2P (a one-time code of the payer's bank), card, immediate debit, and
 * transfers that the payer made by Pago Móvil. What is collected is held for 24 hours, then available.
 */
export class PaymentsResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Request a C2P intent.
   *
   * Fixes the price in bolívares at the BCV rate for 15 minutes, and has the payer's bank send a code if it does
   * so (`otpRequested`); otherwise the payer makes the key in the app of the bank. A newer request under the same
   * `externalRef` takes the place of the pending one.
   *
   * Needs the scope `collect`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `external_ref_conflict`,
   * `payment_in_progress`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`.
   */
  requestC2p(params: C2pRequest, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  requestC2p(params: C2pRequest, options?: KeyedOptions): Promise<C2pPayment | C2pIntent>;
  requestC2p(params: C2pRequest, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<C2pPayment | C2pIntent | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payments/c2p/request', body: { model: 'C2pRequest', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'C2pPayment|C2pIntent', options);
  }

  /**
   * Charge a C2P intent.
   *
   * Repeats the details of the request and brings the payer's code. The bank is called once: what it says is in
   * `status` (`COMPLETED` or `FAILED` with `failureCode`). While the bank is silent the answer is 202 and the
   * payment `PENDING`; the server asks the bank until it knows, and never charges twice.
   *
   * Needs the scope `collect`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `charge_in_progress`, `intent_canceled`,
   * `intent_completed`, `intent_failed`, `intent_mismatch`, `merchant_inactive`, `not_found`,
   * `rail_not_configured`, `rail_unavailable`.
   */
  executeC2p(params: C2pCharge, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  executeC2p(params: C2pCharge, options?: KeyedOptions): Promise<Payment>;
  executeC2p(params: C2pCharge, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Payment | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payments/c2p', body: { model: 'C2pCharge', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Payment', options);
  }

  /**
   * List payments.
   *
   * Needs the scope `read`.
   */
  list(params: PaymentsListParams = {}, options: CallOptions = {}): Listing<Payment> {
    return this.#session.list({ method: 'GET', path: '/v1/payments', query: { ...params } }, 'Payment', options);
  }

  /**
   * Read a payment.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  get(id: string, options: CallOptions = {}): Promise<Payment> {
    return this.#session.model({ method: 'GET', path: '/v1/payments/{id}', parts: [id] }, 'Payment', options);
  }

  /**
   * Read the newest payment under a reference.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getByRef(externalRef: string, options: CallOptions = {}): Promise<Payment> {
    return this.#session.model({ method: 'GET', path: '/v1/payments/by-ref/{externalRef}', parts: [externalRef] }, 'Payment', options);
  }

  /**
   * Read an operation with a bank.
   *
   * What became of a call to a bank: the `operationId` of a payment, a payout or a debit code leads here.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getOperation(id: string, options: CallOptions = {}): Promise<Operation> {
    return this.#session.model({ method: 'GET', path: '/v1/payments/operations/{id}', parts: [id] }, 'Operation', options);
  }

  /**
   * The receipt of a payment.
   *
   * For the payer: a page to print, or a PDF by `Accept: application/pdf`. It names the shop (settings
   * `shop.name`, `shop.rif`), the payer's bank, the method, the amounts, the rate, the references and the date
   * with its zone; the payer is masked.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`, `payment_not_completed`.
   */
  getReceipt(id: string, params: PaymentsGetReceiptParams = {}, media: 'text/html' | 'application/pdf' = 'text/html', options: CallOptions = {}): Promise<Uint8Array> {
    return this.#session.download({ method: 'GET', path: '/v1/payments/{id}/receipt', parts: [id], query: { ...params }, accept: media }, options);
  }

  /**
   * Reverse a C2P payment.
   *
   * Within 24 hours of completion. The fee comes back. The money is taken from the hold of this sale, then from
   * what is available; of a marketplace sale the seller's part from the seller.
   *
   * Needs the scope `collect`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `insufficient_balance`, `mandate_exceeded`,
   * `not_found`, `not_reversible`, `payment_not_completed`, `rail_not_configured`, `rail_unavailable`,
   * `reversal_in_progress`, `reversal_refused`, `reversal_window_expired`, `too_many_attempts`.
   */
  reverse(id: string, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  reverse(id: string, options?: KeyedOptions): Promise<Payment>;
  reverse(id: string, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Payment | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payments/{id}/reverse', parts: [id], keyed: true }, options.dryRun ? 'DryRun' : 'Payment', options);
  }

  /**
   * Charge a card.
   *
   * Of the card only brand and last four digits are ever stored or logged. After an attempt that failed the same
   * `externalRef` takes another card, or the same one with a new Idempotency-Key. In place of the card `card` may
   * have the `token` that a checkout page made of it (`payCheckoutCard`): then no server of yours sees a card. A
   * token is of your account and mode, is charged once, and lasts 15 minutes; it does not outlive the server that
   * made it. A refusal (4xx, or 503 other than `storage_unavailable`) leaves it good, a decline has used it.
   *
   * Needs the scope `collect`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `card_token_gone`, `external_ref_conflict`,
   * `merchant_inactive`, `not_found`, `payment_in_progress`, `rail_not_configured`, `rail_unavailable`,
   * `rate_unavailable`.
   */
  chargeCard(params: CardCharge, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  chargeCard(params: CardCharge, options?: KeyedOptions): Promise<Payment>;
  chargeCard(params: CardCharge, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Payment | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payments/vpos', body: { model: 'CardCharge', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Payment', options);
  }

  /**
   * Have the payer's bank send a debit code.
   *
   * Needs the scope `collect`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `otp_refused`, `rail_not_configured`,
   * `rail_unavailable`.
   */
  requestDebitOtp(params: DebitOtpRequest, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  requestDebitOtp(params: DebitOtpRequest, options?: KeyedOptions): Promise<DebitOtp>;
  requestDebitOtp(params: DebitOtpRequest, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<DebitOtp | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payments/debit/otp', body: { model: 'DebitOtpRequest', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'DebitOtp', options);
  }

  /**
   * Debit an account with the payer's code.
   *
   * `monto` is in bolívares; `usdAmount` of the payment is what it is at the BCV rate. After an attempt that
   * failed the same `externalRef` takes another code.
   *
   * Needs the scope `collect`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `external_ref_conflict`,
   * `payment_in_progress`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`.
   */
  chargeDebit(params: DebitCharge, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  chargeDebit(params: DebitCharge, options?: KeyedOptions): Promise<Payment>;
  chargeDebit(params: DebitCharge, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Payment | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payments/debit', body: { model: 'DebitCharge', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Payment', options);
  }

  /**
   * Verify a Pago Móvil transfer.
   *
   * Looks for a transfer that the payer made to you. A transfer (bank, day, full reference) pays for one thing.
   * One that was not found is looked for again at each call, as a new attempt.
   *
   * Needs the scope `collect`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `charge_in_progress`,
   * `external_ref_conflict`, `payment_in_progress`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`,
   * `reference_already_used`.
   */
  verifyPagoMovil(params: PagoMovilVerification, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  verifyPagoMovil(params: PagoMovilVerification, options?: KeyedOptions): Promise<Payment>;
  verifyPagoMovil(params: PagoMovilVerification, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Payment | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payments/pago-movil/verify', body: { model: 'PagoMovilVerification', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Payment', options);
  }

  /**
   * Read the account that buyers send a Pago Móvil to.
   *
   * The setting `shop.pagoMovil`, which an operator makes.
   *
   * Needs the scope `read`.
   */
  getPagoMovilAccount(options: CallOptions = {}): Promise<PagoMovilAccount> {
    return this.#session.model({ method: 'GET', path: '/v1/payments/pago-movil/account' }, 'PagoMovilAccount', options);
  }

  /**
   * List the ways in which the account can collect.
   *
   * Needs the scope `read`.
   */
  listMethods(options: CallOptions = {}): Promise<CollectionMethodList> {
    return this.#session.model({ method: 'GET', path: '/v1/payment-methods' }, 'CollectionMethodList', options);
  }
}

/**
 * The balance, what of it is held, and every movement behind it: the sum of `amountVes` over all movements is
 * `ledgerNetVes`, and `ledgerNetVes` less `reserveVes` and `heldVes` is `availableVes`, always.
 */
export class BalanceResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Read the balance, now or as it was.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  get(params: BalanceGetParams = {}, options: CallOptions = {}): Promise<Balance> {
    return this.#session.model({ method: 'GET', path: '/v1/balance', query: { ...params } }, 'Balance', options);
  }

  /**
   * List movements.
   *
   * Needs the scope `read`.
   */
  listMovements(params: BalanceListMovementsParams = {}, options: CallOptions = {}): Listing<Movement> {
    return this.#session.list({ method: 'GET', path: '/v1/balance/transactions', query: { ...params } }, 'Movement', options);
  }
}

/**
 * What moved on each day. Days are those of Caracas, and of Bogotá for pesos; midnight belongs to the new day.
 * `opening` and all columns add up to `closing`, which is the next day's `opening`. Holds and the reserve are not
 * in it.
 */
export class StatementsResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * A statement by days.
   *
   * Needs the scope `read`.
   */
  get(params: StatementsGetParams, options: CallOptions = {}): Promise<Statement> {
    return this.#session.model({ method: 'GET', path: '/v1/statements', query: { ...params } }, 'Statement', options);
  }
}

/**
 * The sellers of a marketplace and how they are paid. A payout method is verified by two micro-deposits, whose
 * amounts the seller reads from the account.
 */
export class MerchantsResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Register a merchant.
   *
   * `bankCode` and `phone` together make its first payout method; without them it is a shell. When no method is
   * left, the same reference with new ones attaches a method (200).
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `external_ref_conflict`, `mandate_payee`.
   */
  register(params: NewMerchant, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  register(params: NewMerchant, options?: KeyedOptions): Promise<Merchant>;
  register(params: NewMerchant, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Merchant | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/merchants', body: { model: 'NewMerchant', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Merchant', options);
  }

  /**
   * List merchants.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  list(params: MerchantsListParams = {}, options: CallOptions = {}): Listing<Merchant> {
    return this.#session.list({ method: 'GET', path: '/v1/merchants', query: { ...params } }, 'Merchant', options);
  }

  /**
   * Merchant by your `externalRef`.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getByRef(externalRef: string, options: CallOptions = {}): Promise<Merchant> {
    return this.#session.model({ method: 'GET', path: '/v1/merchants', query: { externalRef } }, 'Merchant', options);
  }

  /**
   * Read a merchant.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  get(id: string, options: CallOptions = {}): Promise<Merchant> {
    return this.#session.model({ method: 'GET', path: '/v1/merchants/{id}', parts: [id] }, 'Merchant', options);
  }

  /**
   * Activate or deactivate a merchant.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `mandate_payee`, `not_found`.
   */
  update(id: string, params: MerchantUpdate, options: CallOptions & DryRunOptions): Promise<DryRun>;
  update(id: string, params: MerchantUpdate, options?: CallOptions): Promise<Merchant>;
  update(id: string, params: MerchantUpdate, options: CallOptions & Partial<DryRunOptions> = {}): Promise<Merchant | DryRun> {
    return this.#session.model({ method: 'PATCH', path: '/v1/merchants/{id}', parts: [id], body: { model: 'MerchantUpdate', value: params } }, options.dryRun ? 'DryRun' : 'Merchant', options);
  }

  /**
   * Delete a merchant that was never paid.
   *
   * Frees its reference.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `merchant_has_balance`,
   * `merchant_has_payouts`, `not_found`.
   */
  delete(id: string, options: CallOptions & DryRunOptions): Promise<DryRun>;
  delete(id: string, options?: CallOptions): Promise<DeletedMerchant>;
  delete(id: string, options: CallOptions & Partial<DryRunOptions> = {}): Promise<DeletedMerchant | DryRun> {
    return this.#session.model({ method: 'DELETE', path: '/v1/merchants/{id}', parts: [id] }, options.dryRun ? 'DryRun' : 'DeletedMerchant', options);
  }

  /**
   * Add a payout method.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `mandate_payee`, `not_found`,
   * `too_many_payout_methods`.
   */
  addPayoutMethod(id: string, params: NewPayoutMethod, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  addPayoutMethod(id: string, params: NewPayoutMethod, options?: KeyedOptions): Promise<PayoutMethod>;
  addPayoutMethod(id: string, params: NewPayoutMethod, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<PayoutMethod | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/merchants/{id}/payout-methods', parts: [id], body: { model: 'NewPayoutMethod', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'PayoutMethod', options);
  }

  /**
   * List payout methods.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  listPayoutMethods(id: string, options: CallOptions = {}): Promise<PayoutMethodList> {
    return this.#session.model({ method: 'GET', path: '/v1/merchants/{id}/payout-methods', parts: [id] }, 'PayoutMethodList', options);
  }

  /**
   * Delete a payout method.
   *
   * When it was the default, the oldest verified one takes its place.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `mandate_payee`, `not_found`.
   */
  deletePayoutMethod(id: string, methodId: string, options: CallOptions & DryRunOptions): Promise<DryRun>;
  deletePayoutMethod(id: string, methodId: string, options?: CallOptions): Promise<Merchant>;
  deletePayoutMethod(id: string, methodId: string, options: CallOptions & Partial<DryRunOptions> = {}): Promise<Merchant | DryRun> {
    return this.#session.model({ method: 'DELETE', path: '/v1/merchants/{id}/payout-methods/{methodId}', parts: [id, methodId] }, options.dryRun ? 'DryRun' : 'Merchant', options);
  }

  /**
   * Make a payout method the default.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `mandate_payee`, `not_found`.
   */
  setDefaultPayoutMethod(id: string, methodId: string, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  setDefaultPayoutMethod(id: string, methodId: string, options?: KeyedOptions): Promise<PayoutMethod>;
  setDefaultPayoutMethod(id: string, methodId: string, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<PayoutMethod | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/merchants/{id}/payout-methods/{methodId}/default', parts: [id, methodId], keyed: true }, options.dryRun ? 'DryRun' : 'PayoutMethod', options);
  }

  /**
   * Send the two micro-deposits.
   *
   * They cost you nothing. When the bank says that the holder is somebody else (`BE01`), the method is deleted and
   * `merchant.rejected` is sent.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `already_verified`, `not_found`,
   * `rail_not_configured`, `rail_unavailable`, `too_many_attempts`, `verification_in_progress`,
   * `verification_locked`.
   */
  startVerification(id: string, methodId: string, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  startVerification(id: string, methodId: string, options?: KeyedOptions): Promise<StartVerificationResult>;
  startVerification(id: string, methodId: string, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<StartVerificationResult | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/merchants/{id}/payout-methods/{methodId}/verify/start', parts: [id, methodId], keyed: true }, options.dryRun ? 'DryRun' : 'StartVerificationResult', options);
  }

  /**
   * Verify a payout method by the amounts of the micro-deposits.
   *
   * In either order; three tries.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `already_verified`, `amounts_mismatch`,
   * `not_found`, `verification_locked`, `verification_not_started`.
   */
  verifyPayoutMethod(id: string, methodId: string, params: SeenAmounts, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  verifyPayoutMethod(id: string, methodId: string, params: SeenAmounts, options?: KeyedOptions): Promise<PayoutMethod>;
  verifyPayoutMethod(id: string, methodId: string, params: SeenAmounts, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<PayoutMethod | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/merchants/{id}/payout-methods/{methodId}/verify', parts: [id, methodId], body: { model: 'SeenAmounts', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'PayoutMethod', options);
  }

  /**
   * Read a merchant's balance.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getBalance(id: string, options: CallOptions = {}): Promise<MerchantBalance> {
    return this.#session.model({ method: 'GET', path: '/v1/merchants/{id}/balance', parts: [id] }, 'MerchantBalance', options);
  }

  /**
   * List the movements of a merchant's balance.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  listMovements(id: string, params: MerchantsListMovementsParams = {}, options: CallOptions = {}): Listing<Movement> {
    return this.#session.list({ method: 'GET', path: '/v1/merchants/{id}/balance/transactions', parts: [id], query: { ...params } }, 'Movement', options);
  }

  /**
   * A merchant's statement by days.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getStatement(id: string, params: MerchantsGetStatementParams, options: CallOptions = {}): Promise<Statement> {
    return this.#session.model({ method: 'GET', path: '/v1/merchants/{id}/statements', parts: [id], query: { ...params } }, 'Statement', options);
  }
}

/**
 * Money out of the balance in bolívares, to merchants, phones, accounts and yourself, single or up to 1,000 at
 * once. The debit is durable before the bank is called; if a payout fails, the money returns to the balance. The
 * same `externalRef` with the same payload never pays twice.
 */
export class PayoutsResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Pay a merchant.
   *
   * To the payout method that is named, or to the default one; it must be verified and the merchant active. With
   * `fromMerchantBalance` the seller's own balance pays.
   *
   * Needs the scope `payout`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `external_ref_conflict`,
   * `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `merchant_inactive`, `not_found`,
   * `payout_method_not_verified`, `rail_not_configured`, `too_many_attempts`.
   */
  create(params: MerchantPayout, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  create(params: MerchantPayout, options?: KeyedOptions): Promise<Payout>;
  create(params: MerchantPayout, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Payout | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payouts', body: { model: 'MerchantPayout', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Payout', options);
  }

  /**
   * List payouts.
   *
   * Needs the scope `read`.
   */
  list(params: PayoutsListParams = {}, options: CallOptions = {}): Listing<Payout> {
    return this.#session.list({ method: 'GET', path: '/v1/payouts', query: { ...params } }, 'Payout', options);
  }

  /**
   * Read a payout.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  get(id: string, options: CallOptions = {}): Promise<Payout> {
    return this.#session.model({ method: 'GET', path: '/v1/payouts/{id}', parts: [id] }, 'Payout', options);
  }

  /**
   * Read a payout by your reference.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getByRef(externalRef: string, options: CallOptions = {}): Promise<Payout> {
    return this.#session.model({ method: 'GET', path: '/v1/payouts/by-ref/{externalRef}', parts: [externalRef] }, 'Payout', options);
  }

  /**
   * Pay a phone.
   *
   * Needs the scope `payout`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `external_ref_conflict`,
   * `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `rail_not_configured`, `too_many_attempts`.
   */
  creditPhone(params: PhoneCredit, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  creditPhone(params: PhoneCredit, options?: KeyedOptions): Promise<Payout>;
  creditPhone(params: PhoneCredit, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Payout | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payments/credit', body: { model: 'PhoneCredit', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Payout', options);
  }

  /**
   * Pay a bank account.
   *
   * Needs the scope `payout`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `external_ref_conflict`,
   * `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `rail_not_configured`, `too_many_attempts`.
   */
  creditAccount(params: AccountCredit, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  creditAccount(params: AccountCredit, options?: KeyedOptions): Promise<Payout>;
  creditAccount(params: AccountCredit, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Payout | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payments/credit/account', body: { model: 'AccountCredit', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Payout', options);
  }

  /**
   * Give change to a customer.
   *
   * Needs the scope `payout`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `external_ref_conflict`,
   * `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `not_found`, `rail_not_configured`,
   * `too_many_attempts`.
   */
  giveChange(params: Change, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  giveChange(params: Change, options?: KeyedOptions): Promise<Payout>;
  giveChange(params: Change, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Payout | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payments/change', body: { model: 'Change', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Payout', options);
  }

  /**
   * Pay many merchants.
   *
   * Each item is a payout of its own with its own reference; an item that is bad or refused is answered in its
   * place and does not stop the others. The same batch again answers the same items as they are now.
   *
   * Needs the scope `payout`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `external_ref_conflict`,
   * `rail_not_configured`, `too_many_attempts`.
   */
  createBatch(params: MerchantPayoutBatch, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  createBatch(params: MerchantPayoutBatch, options?: KeyedOptions): Promise<PayoutBatch>;
  createBatch(params: MerchantPayoutBatch, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<PayoutBatch | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payouts/batch', body: { model: 'MerchantPayoutBatch', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'PayoutBatch', options);
  }

  /**
   * Read a batch.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getBatch(batchId: string, options: CallOptions = {}): Promise<PayoutBatch> {
    return this.#session.model({ method: 'GET', path: '/v1/payouts/batch/{batchId}', parts: [batchId] }, 'PayoutBatch', options);
  }

  /**
   * Pay many phones.
   *
   * Each item is a payout of its own with its own reference; an item that is bad or refused is answered in its
   * place and does not stop the others. The same batch again answers the same items as they are now.
   *
   * Needs the scope `payout`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `external_ref_conflict`,
   * `rail_not_configured`, `too_many_attempts`.
   */
  disburseCredits(params: PhoneCreditBatch, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  disburseCredits(params: PhoneCreditBatch, options?: KeyedOptions): Promise<PayoutBatch>;
  disburseCredits(params: PhoneCreditBatch, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<PayoutBatch | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payments/credit/disburse', body: { model: 'PhoneCreditBatch', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'PayoutBatch', options);
  }

  /**
   * Pay many bank accounts.
   *
   * Each item is a payout of its own with its own reference; an item that is bad or refused is answered in its
   * place and does not stop the others. The same batch again answers the same items as they are now.
   *
   * Needs the scope `payout`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `external_ref_conflict`,
   * `rail_not_configured`, `too_many_attempts`.
   */
  payAccounts(params: AccountCreditBatch, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  payAccounts(params: AccountCreditBatch, options?: KeyedOptions): Promise<PayoutBatch>;
  payAccounts(params: AccountCreditBatch, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<PayoutBatch | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payments/payouts', body: { model: 'AccountCreditBatch', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'PayoutBatch', options);
  }

  /**
   * Withdraw to your own account.
   *
   * Needs the scope `payout`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `external_ref_conflict`,
   * `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `payout_account_not_verified`,
   * `rail_not_configured`, `too_many_attempts`.
   */
  createInstant(params: InstantPayout, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  createInstant(params: InstantPayout, options?: KeyedOptions): Promise<Payout>;
  createInstant(params: InstantPayout, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Payout | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payouts/instant', body: { model: 'InstantPayout', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Payout', options);
  }

  /**
   * Set your own payout account.
   *
   * A change undoes its verification.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `mandate_payee`.
   */
  setAccount(params: NewPayoutAccount, options: CallOptions & DryRunOptions): Promise<DryRun>;
  setAccount(params: NewPayoutAccount, options?: CallOptions): Promise<PayoutAccount>;
  setAccount(params: NewPayoutAccount, options: CallOptions & Partial<DryRunOptions> = {}): Promise<PayoutAccount | DryRun> {
    return this.#session.model({ method: 'PUT', path: '/v1/payouts/account', body: { model: 'NewPayoutAccount', value: params } }, options.dryRun ? 'DryRun' : 'PayoutAccount', options);
  }

  /**
   * Read your own payout account.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getAccount(options: CallOptions = {}): Promise<PayoutAccount> {
    return this.#session.model({ method: 'GET', path: '/v1/payouts/account' }, 'PayoutAccount', options);
  }

  /**
   * Send the two micro-deposits to your own account.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `already_verified`, `not_found`,
   * `rail_not_configured`, `rail_unavailable`, `settings_changed`, `too_many_attempts`,
   * `verification_in_progress`, `verification_locked`.
   */
  startAccountVerification(options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  startAccountVerification(options?: KeyedOptions): Promise<StartPayoutAccountVerificationResult>;
  startAccountVerification(options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<StartPayoutAccountVerificationResult | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payouts/account/verify/start', keyed: true }, options.dryRun ? 'DryRun' : 'StartPayoutAccountVerificationResult', options);
  }

  /**
   * Verify your own account by the amounts of the micro-deposits.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `already_verified`, `amounts_mismatch`,
   * `not_found`, `verification_locked`, `verification_not_started`.
   */
  verifyAccount(params: SeenAmounts, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  verifyAccount(params: SeenAmounts, options?: KeyedOptions): Promise<PayoutAccount>;
  verifyAccount(params: SeenAmounts, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<PayoutAccount | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/payouts/account/verify', body: { model: 'SeenAmounts', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'PayoutAccount', options);
  }
}

/**
 * What a cardholder's bank took back of a card payment. The amount and the fee come out of the available balance,
 * which may go below zero; a dispute that is won returns both.
 */
export class ChargebacksResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * List chargebacks.
   *
   * Needs the scope `read`.
   */
  list(params: ChargebacksListParams = {}, options: CallOptions = {}): Listing<Chargeback> {
    return this.#session.list({ method: 'GET', path: '/v1/chargebacks', query: { ...params } }, 'Chargeback', options);
  }

  /**
   * Read a chargeback.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  get(id: string, options: CallOptions = {}): Promise<Chargeback> {
    return this.#session.model({ method: 'GET', path: '/v1/chargebacks/{id}', parts: [id] }, 'Chargeback', options);
  }
}

/**
 * From bolívares or pesos to USDT: a quote is a price for 60 seconds, usable once; accepting it debits at once.
 * Held money can be converted too, and the USDT is held as long.
 */
export class ConversionsResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Ask for a price.
   *
   * Exactly one amount: what is spent, or the USDT to receive. USDT is rounded down to the cent, bolívares up to
   * the cent, pesos up to the peso.
   *
   * Needs the scope `convert`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `amount_below_minimum`,
   * `conversions_not_enabled`, `invalid_amount`, `rate_unavailable`.
   */
  createQuote(params: NewConversionQuote, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  createQuote(params: NewConversionQuote, options?: KeyedOptions): Promise<ConversionQuote>;
  createQuote(params: NewConversionQuote, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<ConversionQuote | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/conversions/quotes', body: { model: 'NewConversionQuote', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'ConversionQuote', options);
  }

  /**
   * Accept a quote.
   *
   * Always send an Idempotency-Key: the same key answers the same conversion. One conversion takes from at most
   * 20,000 holds; `spendableVes` and `spendableCop` say what that comes to.
   *
   * Needs the scope `convert`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `amount_below_minimum`,
   * `conversions_not_enabled`, `daily_limit_exceeded`, `insufficient_balance`, `mandate_exceeded`, `not_found`,
   * `quote_expired`, `quote_used`, `too_many_attempts`.
   */
  create(params: NewConversion, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  create(params: NewConversion, options?: KeyedOptions): Promise<Conversion>;
  create(params: NewConversion, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Conversion | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/conversions', body: { model: 'NewConversion', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Conversion', options);
  }

  /**
   * List conversions.
   *
   * Needs the scope `read`.
   */
  list(params: ConversionsListParams = {}, options: CallOptions = {}): Listing<Conversion> {
    return this.#session.list({ method: 'GET', path: '/v1/conversions', query: { ...params } }, 'Conversion', options);
  }

  /**
   * Read the settings of conversions.
   *
   * Needs the scope `read`.
   */
  getSettings(options: CallOptions = {}): Promise<ConversionSettings> {
    return this.#session.model({ method: 'GET', path: '/v1/conversions/settings' }, 'ConversionSettings', options);
  }

  /**
   * Convert pesos automatically.
   *
   * The percentage of the net of each COP payment that is converted on completion. The other settings are the
   * operator's.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `mandate_exceeded`.
   */
  updateSettings(params: ConversionSettingsChange, options: CallOptions & DryRunOptions): Promise<DryRun>;
  updateSettings(params: ConversionSettingsChange, options?: CallOptions): Promise<ConversionSettings>;
  updateSettings(params: ConversionSettingsChange, options: CallOptions & Partial<DryRunOptions> = {}): Promise<ConversionSettings | DryRun> {
    return this.#session.model({ method: 'PATCH', path: '/v1/conversions/settings', body: { model: 'ConversionSettingsChange', value: params } }, options.dryRun ? 'DryRun' : 'ConversionSettings', options);
  }

  /**
   * Read a conversion.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  get(id: string, options: CallOptions = {}): Promise<Conversion> {
    return this.#session.model({ method: 'GET', path: '/v1/conversions/{id}', parts: [id] }, 'Conversion', options);
  }

  /**
   * Cancel a pending conversion.
   *
   * What it took is back at once, and held where it was held.
   *
   * Needs the scope `convert`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `conversion_not_cancelable`, `not_found`.
   */
  cancel(id: string, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  cancel(id: string, options?: KeyedOptions): Promise<Conversion>;
  cancel(id: string, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Conversion | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/conversions/{id}/cancel', parts: [id], keyed: true }, options.dryRun ? 'DryRun' : 'Conversion', options);
  }
}

/** The balance in USDT, payouts to wallets, and addresses through which your customers deposit stablecoins. */
export class UsdtResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * List the networks of USDT.
   *
   * Needs the scope `read`.
   */
  listNetworks(options: CallOptions = {}): Promise<CryptoNetworkList> {
    return this.#session.model({ method: 'GET', path: '/v1/crypto/networks' }, 'CryptoNetworkList', options);
  }

  /**
   * Read the balance in USDT.
   *
   * Needs the scope `read`.
   */
  getBalance(options: CallOptions = {}): Promise<CryptoBalance> {
    return this.#session.model({ method: 'GET', path: '/v1/crypto/balance' }, 'CryptoBalance', options);
  }

  /**
   * List the movements in USDT.
   *
   * Needs the scope `read`.
   */
  listMovements(params: UsdtListMovementsParams = {}, options: CallOptions = {}): Listing<Movement> {
    return this.#session.list({ method: 'GET', path: '/v1/crypto/balance/transactions', query: { ...params } }, 'Movement', options);
  }

  /**
   * Send USDT to a wallet.
   *
   * Amount and network fee are debited at once; a payout that fails or is rejected gives both back. Above the
   * account's limit an operator reviews it first. The address is checked for its network.
   *
   * Needs the scope `payout`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `external_ref_conflict`,
   * `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `rail_not_configured`, `too_many_attempts`,
   * `usdt_not_enabled`.
   */
  createPayout(params: NewCryptoPayout, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  createPayout(params: NewCryptoPayout, options?: KeyedOptions): Promise<CryptoPayout>;
  createPayout(params: NewCryptoPayout, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<CryptoPayout | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/crypto/payouts', body: { model: 'NewCryptoPayout', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'CryptoPayout', options);
  }

  /**
   * List USDT payouts.
   *
   * Needs the scope `read`.
   */
  listPayouts(params: UsdtListPayoutsParams = {}, options: CallOptions = {}): Listing<CryptoPayout> {
    return this.#session.list({ method: 'GET', path: '/v1/crypto/payouts', query: { ...params } }, 'CryptoPayout', options);
  }

  /**
   * Read a USDT payout.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getPayout(id: string, options: CallOptions = {}): Promise<CryptoPayout> {
    return this.#session.model({ method: 'GET', path: '/v1/crypto/payouts/{id}', parts: [id] }, 'CryptoPayout', options);
  }

  /**
   * Read a USDT payout by your reference.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getPayoutByRef(externalRef: string, options: CallOptions = {}): Promise<CryptoPayout> {
    return this.#session.model({ method: 'GET', path: '/v1/crypto/payouts/by-ref/{externalRef}', parts: [externalRef] }, 'CryptoPayout', options);
  }

  /**
   * Get a customer's deposit address.
   *
   * The same customer, network and asset always has the same address. A deposit is credited 1:1 under the 24-hour
   * hold.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `rail_not_configured`, `usdt_not_enabled`.
   */
  createDepositAddress(params: NewDepositAddress, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  createDepositAddress(params: NewDepositAddress, options?: KeyedOptions): Promise<DepositAddress>;
  createDepositAddress(params: NewDepositAddress, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<DepositAddress | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/crypto/deposit-addresses', body: { model: 'NewDepositAddress', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'DepositAddress', options);
  }
}

/**
 * Collecting pesos by QR or transfer key, by a push notification, or by an SMS code. What is collected is held for
 * 24 hours; a refund is for the whole amount and possible for 96 hours.
 */
export class CopResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Collect pesos.
   *
   * `next` says what the buyer does. The QR code is in this answer alone, in live mode also in those to GET.
   * Always send an Idempotency-Key: there is no externalRef here.
   *
   * Needs the scope `collect`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `amount_below_minimum`, `cop_not_enabled`,
   * `rail_not_configured`, `rail_unavailable`.
   */
  createPayment(params: NewCopPayment, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  createPayment(params: NewCopPayment, options?: KeyedOptions): Promise<CopPayment>;
  createPayment(params: NewCopPayment, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<CopPayment | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/cop/payments', body: { model: 'NewCopPayment', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'CopPayment', options);
  }

  /**
   * Read a payment in pesos.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getPayment(id: string, options: CallOptions = {}): Promise<CopPayment> {
    return this.#session.model({ method: 'GET', path: '/v1/cop/payments/{id}', parts: [id] }, 'CopPayment', options);
  }

  /**
   * Submit the buyer's SMS code.
   *
   * Five codes may be tried; when the fifth is wrong too, the payment fails with `otp_attempts_exhausted`. In live
   * mode two may be tried, and the processor says what becomes of the payment.
   *
   * Needs the scope `collect`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `channel_mismatch`, `charge_in_progress`,
   * `invalid_otp`, `not_found`, `otp_attempts_exhausted`, `payment_not_pending`, `rail_unavailable`.
   */
  submitOtp(id: string, params: CopOtp, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  submitOtp(id: string, params: CopOtp, options?: KeyedOptions): Promise<CopPayment>;
  submitOtp(id: string, params: CopOtp, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<CopPayment | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/cop/payments/{id}/otp', parts: [id], body: { model: 'CopOtp', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'CopPayment', options);
  }

  /**
   * Cancel an unpaid payment in pesos.
   *
   * Needs the scope `collect`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `charge_in_progress`, `not_found`,
   * `payment_not_pending`.
   */
  cancelPayment(id: string, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  cancelPayment(id: string, options?: KeyedOptions): Promise<CopPayment>;
  cancelPayment(id: string, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<CopPayment | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/cop/payments/{id}/cancel', parts: [id], keyed: true }, options.dryRun ? 'DryRun' : 'CopPayment', options);
  }

  /**
   * Refund a payment in pesos.
   *
   * The whole amount, within 96 hours. The fee comes back. The money is taken from the hold of this sale, then
   * from what is available, then from at most 20,000 other holds. In live mode an operator has it refunded: 202,
   * and `payment.reversed` when that is done.
   *
   * Needs the scope `collect`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `insufficient_balance`, `mandate_exceeded`,
   * `not_found`, `payment_not_completed`, `processor_unavailable`, `rail_not_configured`, `refund_in_progress`,
   * `refund_window_expired`, `too_many_attempts`.
   */
  refundPayment(id: string, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  refundPayment(id: string, options?: KeyedOptions): Promise<CopPayment>;
  refundPayment(id: string, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<CopPayment | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/cop/payments/{id}/refund', parts: [id], keyed: true }, options.dryRun ? 'DryRun' : 'CopPayment', options);
  }

  /**
   * Read the balance in pesos.
   *
   * Needs the scope `read`.
   */
  getBalance(options: CallOptions = {}): Promise<CopBalance> {
    return this.#session.model({ method: 'GET', path: '/v1/cop/balance' }, 'CopBalance', options);
  }

  /**
   * List the movements in pesos.
   *
   * Needs the scope `read`.
   */
  listMovements(params: CopListMovementsParams = {}, options: CallOptions = {}): Listing<Movement> {
    return this.#session.list({ method: 'GET', path: '/v1/cop/balance/transactions', query: { ...params } }, 'Movement', options);
  }

  /**
   * List payouts in pesos.
   *
   * They are made by the operator on request.
   *
   * Needs the scope `read`.
   */
  listPayouts(params: CopListPayoutsParams = {}, options: CallOptions = {}): Listing<CopPayout> {
    return this.#session.list({ method: 'GET', path: '/v1/cop/payouts', query: { ...params } }, 'CopPayout', options);
  }

  /**
   * Read a payout in pesos.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getPayout(id: string, options: CallOptions = {}): Promise<CopPayout> {
    return this.#session.model({ method: 'GET', path: '/v1/cop/payouts/{id}', parts: [id] }, 'CopPayout', options);
  }
}

/** What you sell, and the links under which buyers pay for it at `/pay/{slug}`. */
export class ProductsResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Create a product.
   *
   * Needs the scope `manage`.
   */
  create(params: NewProduct, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  create(params: NewProduct, options?: KeyedOptions): Promise<Product>;
  create(params: NewProduct, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Product | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/products', body: { model: 'NewProduct', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Product', options);
  }

  /**
   * List products.
   *
   * Needs the scope `read`.
   */
  list(params: ProductsListParams = {}, options: CallOptions = {}): Listing<Product> {
    return this.#session.list({ method: 'GET', path: '/v1/products', query: { ...params } }, 'Product', options);
  }

  /**
   * Read a product and its links.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  get(id: string, options: CallOptions = {}): Promise<Product> {
    return this.#session.model({ method: 'GET', path: '/v1/products/{id}', parts: [id] }, 'Product', options);
  }

  /**
   * Change a product.
   *
   * Only what is sent changes; an empty `description` or `imageUrl` clears it.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  update(id: string, params: ProductChange, options: CallOptions & DryRunOptions): Promise<DryRun>;
  update(id: string, params: ProductChange, options?: CallOptions): Promise<Product>;
  update(id: string, params: ProductChange, options: CallOptions & Partial<DryRunOptions> = {}): Promise<Product | DryRun> {
    return this.#session.model({ method: 'PATCH', path: '/v1/products/{id}', parts: [id], body: { model: 'ProductChange', value: params } }, options.dryRun ? 'DryRun' : 'Product', options);
  }

  /**
   * Delete a product and its links.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`, `product_has_sales`.
   */
  delete(id: string, options: CallOptions & DryRunOptions): Promise<DryRun>;
  delete(id: string, options?: CallOptions): Promise<DeleteProductResult>;
  delete(id: string, options: CallOptions & Partial<DryRunOptions> = {}): Promise<DeleteProductResult | DryRun> {
    return this.#session.model({ method: 'DELETE', path: '/v1/products/{id}', parts: [id] }, options.dryRun ? 'DryRun' : 'DeleteProductResult', options);
  }

  /**
   * Create a payment link.
   *
   * The slug is made from the product's name when none is sent. With `merchantId` the sale is a marketplace sale.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `merchant_inactive`, `not_found`,
   * `slug_taken`, `too_many_links`.
   */
  createLink(id: string, params: NewPaymentLink, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  createLink(id: string, params?: NewPaymentLink, options?: KeyedOptions): Promise<PaymentLink>;
  createLink(id: string, params: NewPaymentLink = {}, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<PaymentLink | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/products/{id}/links', parts: [id], body: { model: 'NewPaymentLink', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'PaymentLink', options);
  }

  /**
   * List a product's links.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  listLinks(id: string, options: CallOptions = {}): Promise<PaymentLinkList> {
    return this.#session.model({ method: 'GET', path: '/v1/products/{id}/links', parts: [id] }, 'PaymentLinkList', options);
  }

  /**
   * Read a payment link.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getLink(id: string, options: CallOptions = {}): Promise<PaymentLink> {
    return this.#session.model({ method: 'GET', path: '/v1/payment-links/{id}', parts: [id] }, 'PaymentLink', options);
  }

  /**
   * Change a payment link.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  updateLink(id: string, params: PaymentLinkChange, options: CallOptions & DryRunOptions): Promise<DryRun>;
  updateLink(id: string, params: PaymentLinkChange, options?: CallOptions): Promise<PaymentLink>;
  updateLink(id: string, params: PaymentLinkChange, options: CallOptions & Partial<DryRunOptions> = {}): Promise<PaymentLink | DryRun> {
    return this.#session.model({ method: 'PATCH', path: '/v1/payment-links/{id}', parts: [id], body: { model: 'PaymentLinkChange', value: params } }, options.dryRun ? 'DryRun' : 'PaymentLink', options);
  }

  /**
   * Delete a payment link.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`, `product_has_sales`.
   */
  deleteLink(id: string, options: CallOptions & DryRunOptions): Promise<DryRun>;
  deleteLink(id: string, options?: CallOptions): Promise<DeletePaymentLinkResult>;
  deleteLink(id: string, options: CallOptions & Partial<DryRunOptions> = {}): Promise<DeletePaymentLinkResult | DryRun> {
    return this.#session.model({ method: 'DELETE', path: '/v1/payment-links/{id}', parts: [id] }, options.dryRun ? 'DryRun' : 'DeletePaymentLinkResult', options);
  }
}

/**
 * A page on which a buyer pays once, priced in US dollars: send the buyer to `url`, or embed it with
 * `clientSecret` and `/checkout.js`.
 */
export class CheckoutSessionsResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Open a checkout session.
   *
   * Needs the scope `collect`.
   */
  create(params: NewCheckoutSession, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  create(params: NewCheckoutSession, options?: KeyedOptions): Promise<CheckoutSession>;
  create(params: NewCheckoutSession, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<CheckoutSession | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/checkout/sessions', body: { model: 'NewCheckoutSession', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'CheckoutSession', options);
  }

  /**
   * List checkout sessions.
   *
   * Needs the scope `read`.
   */
  list(params: CheckoutSessionsListParams = {}, options: CallOptions = {}): Listing<ListedCheckoutSession> {
    return this.#session.list({ method: 'GET', path: '/v1/checkout/sessions', query: { ...params } }, 'ListedCheckoutSession', options);
  }

  /**
   * Read a checkout session.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  get(id: string, options: CallOptions = {}): Promise<CheckoutSession> {
    return this.#session.model({ method: 'GET', path: '/v1/checkout/sessions/{id}', parts: [id] }, 'CheckoutSession', options);
  }
}

/**
 * The calls of a buyer's page, for those who build their own. `Authorization: Bearer <clientSecret>` opens one
 * session and nothing else. One attempt at a time: a new one supersedes what is pending. A body has at most 16
 * KiB.
 */
export class CheckoutPageResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Where the session stands.
   *
   *
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getState(id: string, clientSecret: string, params: CheckoutPageGetStateParams = {}, options: CallOptions = {}): Promise<CheckoutState> {
    return this.#session.model({ method: 'GET', path: '/checkout/{id}/state', parts: [id], query: { ...params }, secret: clientSecret }, 'CheckoutState', options);
  }

  /**
   * Begin to pay by C2P.
   *
   * At most ten in a row, and then one a minute, of a session and, on a payment link, of a client to one phone; of
   * all clients to that phone 30, and then three a minute: every one may have the payer's bank send a code.
   *
   * @throws ApiError, beside the codes that every call has with `code` `charge_in_progress`, `merchant_inactive`,
   * `method_not_offered`, `not_found`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`,
   * `session_expired`, `session_paid`.
   */
  requestC2p(id: string, clientSecret: string, params: CheckoutDebtor, options: CallOptions = {}): Promise<C2pIntent> {
    return this.#session.model({ method: 'POST', path: '/checkout/{id}/c2p/request', parts: [id], body: { model: 'CheckoutDebtor', value: params }, secret: clientSecret }, 'C2pIntent', options);
  }

  /**
   * Pay by C2P.
   *
   *
   *
   * @throws ApiError, beside the codes that every call has with `code` `charge_in_progress`, `intent_canceled`,
   * `intent_failed`, `intent_mismatch`, `merchant_inactive`, `method_not_offered`, `not_found`,
   * `rail_not_configured`, `rail_unavailable`, `rate_unavailable`, `session_expired`, `session_paid`.
   */
  payC2p(id: string, clientSecret: string, params: CheckoutC2p, options: CallOptions = {}): Promise<CheckoutState> {
    return this.#session.model({ method: 'POST', path: '/checkout/{id}/c2p', parts: [id], body: { model: 'CheckoutC2p', value: params }, secret: clientSecret }, 'CheckoutState', options);
  }

  /**
   * Pay by a Pago Móvil that the buyer made.
   *
   * The state's `pagoMovil` says where to and how much; its `quote` keeps that amount for this session, whatever
   * the rate is when the transfer is looked for. A transfer pays for one thing. At most ten tries in a row, and
   * then one a minute, of a session and of a client at one shop, together with those by card.
   *
   * @throws ApiError, beside the codes that every call has with `code` `charge_in_progress`, `merchant_inactive`,
   * `method_not_offered`, `not_found`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`,
   * `reference_already_used`, `session_expired`, `session_paid`.
   */
  payPagoMovil(id: string, clientSecret: string, params: CheckoutPagoMovil, options: CallOptions = {}): Promise<CheckoutState> {
    return this.#session.model({ method: 'POST', path: '/checkout/{id}/pago-movil', parts: [id], body: { model: 'CheckoutPagoMovil', value: params }, secret: clientSecret }, 'CheckoutState', options);
  }

  /**
   * Pay by card, or make a token of it.
   *
   * With `tokenize` nothing is charged: the answer is a token, with which `chargeCard` charges the card once,
   * within 15 minutes, for the account whose session this is. The card waits in memory alone and is zeroed after.
   * In live mode no rail takes cards.
   *
   * @throws ApiError, beside the codes that every call has with `code` `amount_changed`, `charge_in_progress`,
   * `merchant_inactive`, `method_not_offered`, `not_found`, `rail_not_configured`, `rail_unavailable`,
   * `rate_unavailable`, `session_expired`, `session_paid`.
   */
  payCard(id: string, clientSecret: string, params: CheckoutCard, options: CallOptions = {}): Promise<CheckoutState | MadeCardToken> {
    return this.#session.model({ method: 'POST', path: '/checkout/{id}/card', parts: [id], body: { model: 'CheckoutCard', value: params }, secret: clientSecret }, 'CheckoutState|MadeCardToken', options);
  }

  /**
   * Pay in pesos.
   *
   * The total is the dollars times the market's rate and 2.5 percent, rounded up to whole pesos. It is fixed by
   * this call; a new start fixes a new one. At most ten begin in a row in a session, and then one a minute; by a
   * client at one shop sixty, and then ten a minute; by push and SMS as many as of `requestCheckoutC2p` besides,
   * together with those.
   *
   * @throws ApiError, beside the codes that every call has with `code` `amount_below_minimum`,
   * `charge_in_progress`, `cop_not_enabled`, `merchant_inactive`, `method_not_offered`, `not_found`,
   * `rail_not_configured`, `rail_unavailable`, `rate_unavailable`, `session_expired`, `session_paid`.
   */
  payCop(id: string, clientSecret: string, params: CheckoutCop, options: CallOptions = {}): Promise<CopPayment> {
    return this.#session.model({ method: 'POST', path: '/checkout/{id}/cop', parts: [id], body: { model: 'CheckoutCop', value: params }, secret: clientSecret }, 'CopPayment', options);
  }

  /**
   * Submit the SMS code of a payment in pesos.
   *
   * Five codes may be tried of an attempt; when the fifth is wrong too, it fails with `otp_attempts_exhausted`,
   * and another may begin. In live mode two may be tried.
   *
   * @throws ApiError, beside the codes that every call has with `code` `channel_mismatch`, `charge_in_progress`,
   * `invalid_otp`, `merchant_inactive`, `method_not_offered`, `not_found`, `otp_attempts_exhausted`,
   * `payment_not_pending`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`, `session_expired`,
   * `session_paid`.
   */
  submitOtp(id: string, clientSecret: string, params: CopOtp, options: CallOptions = {}): Promise<CheckoutState> {
    return this.#session.model({ method: 'POST', path: '/checkout/{id}/cop/otp', parts: [id], body: { model: 'CopOtp', value: params }, secret: clientSecret }, 'CheckoutState', options);
  }

  /**
   * Pay in USDT.
   *
   * A USDT is a dollar. The session is paid when what came to its addresses reaches the amount, whatever the
   * networks.
   *
   * @throws ApiError, beside the codes that every call has with `code` `charge_in_progress`, `merchant_inactive`,
   * `method_not_offered`, `not_found`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`,
   * `session_expired`, `session_paid`, `usdt_not_enabled`.
   */
  payUsdt(id: string, clientSecret: string, params: CheckoutUsdt, options: CallOptions = {}): Promise<CheckoutAddress> {
    return this.#session.model({ method: 'POST', path: '/checkout/{id}/usdt', parts: [id], body: { model: 'CheckoutUsdt', value: params }, secret: clientSecret }, 'CheckoutAddress', options);
  }

  /**
   * Open a session of a payment link.
   *
   * What `/pay/{slug}` does for a buyer. Needs no key. A client opens at most 50 sessions of a link in a row, and
   * then one a second; all together 500, and then 20 a second. Links that are not there are counted too: `[limits]
   * misses_burst`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  openLinkSession(slug: string, params: LinkQuantity = {}, options: CallOptions = {}): Promise<CheckoutSession> {
    return this.#session.model({ method: 'POST', path: '/pay/{slug}/sessions', parts: [slug], body: { model: 'LinkQuantity', value: params }, open: true }, 'CheckoutSession', options);
  }
}

/**
 * What happened, numbered per account and mode without gaps, so that a receiver that was down can catch up with
 * certainty: `GET /v1/events?after=SEQUENCE`.
 */
export class EventsResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * List events from a number on.
   *
   * Needs the scope `read`.
   */
  list(params: EventsListParams = {}, options: CallOptions = {}): Listing<Event> {
    return this.#session.list({ method: 'GET', path: '/v1/events', query: { ...params } }, 'Event', options);
  }

  /**
   * Read an event.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  get(id: string, options: CallOptions = {}): Promise<Event> {
    return this.#session.model({ method: 'GET', path: '/v1/events/{id}', parts: [id] }, 'Event', options);
  }
}

/**
 * Where events are sent. An event is sent once to each endpoint that lists it, signed, with 10 seconds to answer
 * 2xx; duplicates are possible after a crash, so deduplicate on `webhook-id`. With `retry` `backoff` what was not
 * answered 2xx is tried again, 8 times over a day, and `Svc-Attempt` counts the tries. Verify `webhook-signature`
 * (Standard Webhooks), and refuse what was sent more than five minutes ago: `Svc-Signature` covers the body alone,
 * so a replay passes it, unless the endpoint's `signature` is `timestamped`. What was missed is in `GET
 * /v1/events`.
 */
export class WebhooksResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Register an endpoint.
   *
   * https in live mode; no private address. The signing secret is in this answer alone.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `too_many_webhooks`.
   */
  create(params: NewWebhook, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  create(params: NewWebhook, options?: KeyedOptions): Promise<NewlySignedWebhook>;
  create(params: NewWebhook, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<NewlySignedWebhook | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/webhooks', body: { model: 'NewWebhook', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'NewlySignedWebhook', options);
  }

  /**
   * List endpoints.
   *
   * Needs the scope `read`.
   */
  list(options: CallOptions = {}): Promise<WebhookList> {
    return this.#session.model({ method: 'GET', path: '/v1/webhooks' }, 'WebhookList', options);
  }

  /**
   * Read an endpoint.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  get(id: string, options: CallOptions = {}): Promise<Webhook> {
    return this.#session.model({ method: 'GET', path: '/v1/webhooks/{id}', parts: [id] }, 'Webhook', options);
  }

  /**
   * Change an endpoint.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`, `webhook_busy`.
   */
  update(id: string, params: WebhookChange, options: CallOptions & DryRunOptions): Promise<DryRun>;
  update(id: string, params: WebhookChange, options?: CallOptions): Promise<Webhook>;
  update(id: string, params: WebhookChange, options: CallOptions & Partial<DryRunOptions> = {}): Promise<Webhook | DryRun> {
    return this.#session.model({ method: 'PATCH', path: '/v1/webhooks/{id}', parts: [id], body: { model: 'WebhookChange', value: params } }, options.dryRun ? 'DryRun' : 'Webhook', options);
  }

  /**
   * Delete an endpoint.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  delete(id: string, options: CallOptions & DryRunOptions): Promise<DryRun>;
  delete(id: string, options?: CallOptions): Promise<DeleteWebhookResult>;
  delete(id: string, options: CallOptions & Partial<DryRunOptions> = {}): Promise<DeleteWebhookResult | DryRun> {
    return this.#session.model({ method: 'DELETE', path: '/v1/webhooks/{id}', parts: [id] }, options.dryRun ? 'DryRun' : 'DeleteWebhookResult', options);
  }

  /**
   * Replace an endpoint's secret.
   *
   * Deliveries from now on are signed with the new one. In the forms that bear several signatures the one before
   * signs beside it, for a day or as long as `overlapSeconds` says; 0 ends every older one.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  rotateSecret(id: string, params: SecretRotation, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  rotateSecret(id: string, params?: SecretRotation, options?: KeyedOptions): Promise<NewlySignedWebhook>;
  rotateSecret(id: string, params: SecretRotation = {}, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<NewlySignedWebhook | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/webhooks/{id}/rotate-secret', parts: [id], body: { model: 'SecretRotation', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'NewlySignedWebhook', options);
  }

  /**
   * List the deliveries of an endpoint.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  listDeliveries(id: string, params: WebhooksListDeliveriesParams = {}, options: CallOptions = {}): Listing<Delivery> {
    return this.#session.list({ method: 'GET', path: '/v1/webhooks/{id}/deliveries', parts: [id], query: { ...params } }, 'Delivery', options);
  }

  /**
   * Send an event again.
   *
   * To every enabled endpoint that lists it now, with the same `Svc-Event-Id`. An endpoint with 100 such
   * deliveries waiting is left out; 503 `overloaded` when that is all of them.
   *
   * Needs the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  resendEvent(id: string, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  resendEvent(id: string, options?: KeyedOptions): Promise<Deliveries>;
  resendEvent(id: string, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Deliveries | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/events/{id}/resend', parts: [id], keyed: true }, options.dryRun ? 'DryRun' : 'Deliveries', options);
  }

  /**
   * Send a test delivery.
   *
   * `notification.test` to every enabled endpoint of the key's mode. It is no event: it has no number and is not
   * listed. While too many tests are under way one may fail unsent; its `error` says so.
   *
   * Needs the scope `manage`.
   */
  sendTestNotification(options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  sendTestNotification(options?: KeyedOptions): Promise<TestDeliveries>;
  sendTestNotification(options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<TestDeliveries | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/notifications/test', keyed: true }, options.dryRun ? 'DryRun' : 'TestDeliveries', options);
  }
}

/**
 * The account's own API keys, in the mode of the key that asks. A key is shown once, in the answer that makes it;
 * what is kept is its SHA-256.
 */
export class KeysResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Make a key.
   *
   * It may do what its maker may, and nothing else. Without `scopes` it may all of that but `keys`. With a
   * `mandate` it takes out no more than that says.
   *
   * Needs the scope `keys`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `too_many_attempts`, `too_many_keys`.
   */
  create(params: NewKey, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  create(params?: NewKey, options?: KeyedOptions): Promise<MadeKey>;
  create(params: NewKey = {}, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<MadeKey | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/keys', body: { model: 'NewKey', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'MadeKey', options);
  }

  /**
   * List keys.
   *
   * Newest first, without their secrets; also those that work no more.
   *
   * Needs the scope `keys`.
   */
  list(options: CallOptions = {}): Promise<KeyList> {
    return this.#session.model({ method: 'GET', path: '/v1/keys' }, 'KeyList', options);
  }

  /**
   * Read a key.
   *
   * Every key reads itself; another needs the scope `keys`.
   *
   * Needs the scope `keys`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  get(id: string, options: CallOptions = {}): Promise<KeyWithRemaining> {
    return this.#session.model({ method: 'GET', path: '/v1/keys/{id}', parts: [id] }, 'KeyWithRemaining', options);
  }

  /**
   * Change a key.
   *
   * Only what is sent changes: null takes a name away, and an end. A mandate replaces the one before whole, keeps
   * what was spent, and is not taken off. One that works no more is not found.
   *
   * Needs the scope `keys`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  update(id: string, params: KeyChange, options: CallOptions & DryRunOptions): Promise<DryRun>;
  update(id: string, params: KeyChange, options?: CallOptions): Promise<Key>;
  update(id: string, params: KeyChange, options: CallOptions & Partial<DryRunOptions> = {}): Promise<Key | DryRun> {
    return this.#session.model({ method: 'PATCH', path: '/v1/keys/{id}', parts: [id], body: { model: 'KeyChange', value: params } }, options.dryRun ? 'DryRun' : 'Key', options);
  }

  /**
   * Revoke a key at once.
   *
   * Keys that came in its place work on, unless they are revoked too.
   *
   * Needs the scope `keys`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  revoke(id: string, params: KeysRevokeParams, options: CallOptions & DryRunOptions): Promise<DryRun>;
  revoke(id: string, params?: KeysRevokeParams, options?: CallOptions): Promise<RevokedKey>;
  revoke(id: string, params: KeysRevokeParams = {}, options: CallOptions & Partial<DryRunOptions> = {}): Promise<RevokedKey | DryRun> {
    return this.#session.model({ method: 'DELETE', path: '/v1/keys/{id}', parts: [id], query: { ...params } }, options.dryRun ? 'DryRun' : 'RevokedKey', options);
  }
}

/**
 * Calls of a key whose mandate has `approvalAbove`: above it they are answered 202 with `awaiting_approval`, and
 * nothing is spent or debited. Somebody of the account decides, in the portal or with a key that has the scope
 * `keys`; after 24 hours of the account's clock, or when its key is revoked, the call has expired. What is
 * approved is decided then, by the balance and the limits of then.
 */
export class ApprovalsResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * List calls that wait or waited for an approval.
   *
   * Needs the scope `keys`.
   */
  list(params: ApprovalsListParams = {}, options: CallOptions = {}): Listing<MandateApproval> {
    return this.#session.list({ method: 'GET', path: '/v1/approvals', query: { ...params } }, 'MandateApproval', options);
  }

  /**
   * Read a call that waits or waited for an approval.
   *
   * The key that asked reads its own; another needs the scope `keys`.
   *
   * Needs the scope `keys`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  get(id: string, options: CallOptions = {}): Promise<MandateApproval> {
    return this.#session.model({ method: 'GET', path: '/v1/approvals/{id}', parts: [id] }, 'MandateApproval', options);
  }

  /**
   * Approve a call, which is done now.
   *
   * What the call is refused for is answered as to the call itself; it waits on then.
   *
   * Needs the scope `keys`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `amount_below_minimum`, `approval_decided`,
   * `approval_expired`, `conversions_not_enabled`, `cop_not_enabled`, `daily_limit_exceeded`,
   * `external_ref_conflict`, `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `merchant_inactive`,
   * `not_found`, `not_reversible`, `payment_not_completed`, `payout_account_not_verified`,
   * `payout_method_not_verified`, `processor_unavailable`, `quote_expired`, `quote_used`, `rail_not_configured`,
   * `rail_unavailable`, `rate_unavailable`, `refund_in_progress`, `refund_window_expired`, `reversal_in_progress`,
   * `reversal_refused`, `reversal_window_expired`, `usdt_not_enabled`.
   */
  approve(id: string, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  approve(id: string, options?: KeyedOptions): Promise<ApprovedCall>;
  approve(id: string, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<ApprovedCall | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/approvals/{id}/approve', parts: [id], keyed: true }, options.dryRun ? 'DryRun' : 'ApprovedCall', options);
  }

  /**
   * Reject a call.
   *
   * Needs the scope `keys`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `approval_decided`, `approval_expired`,
   * `not_found`.
   */
  reject(id: string, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  reject(id: string, options?: KeyedOptions): Promise<MandateApproval>;
  reject(id: string, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<MandateApproval | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/approvals/{id}/reject', parts: [id], keyed: true }, options.dryRun ? 'DryRun' : 'MandateApproval', options);
  }
}

/** Banks, and what became of a request whose answer was lost. */
export class ReferenceResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * List the banks.
   *
   * Needs the scope `read`.
   */
  listBanks(options: CallOptions = {}): Promise<Bank[]> {
    return this.#session.model({ method: 'GET', path: '/v1/banks' }, 'Bank', options);
  }

  /**
   * Find out what became of a request.
   *
   * After a lost answer: whether the request with this Idempotency-Key happened, and what it was answered. 404
   * means that it did not happen, or more than 24 hours ago.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getIdempotencyKey(key: string, params: ReferenceGetIdempotencyKeyParams = {}, options: CallOptions = {}): Promise<IdempotencyKey> {
    return this.#session.model({ method: 'GET', path: '/v1/idempotency/{key}', parts: [key], query: { ...params } }, 'IdempotencyKey', options);
  }

  /**
   * Price dollars in bolívares at the BCV rate.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `rate_unavailable`.
   */
  getQuote(usdAmount: Amount, options: CallOptions = {}): Promise<Quote> {
    return this.#session.model({ method: 'GET', path: '/v1/quote', query: { usdAmount } }, 'Quote', options);
  }
}

/** One text leads to everything that it names, and a request's id to what became of the request. */
export class FindingResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Search by one text.
   *
   * By an id of anything, a reference of your own or of a bank, a transaction's hash, the id of a request, a
   * document or a phone of a payer or seller: always the whole text. An account whose searches for documents and
   * phones found nobody 30 times in 10 minutes has to wait: 429.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `too_many_attempts`.
   */
  search(q: string, params: FindingSearchParams = {}, options: CallOptions = {}): Promise<FoundList> {
    return this.#session.model({ method: 'GET', path: '/v1/search', query: { q, ...params } }, 'FoundList', options);
  }

  /**
   * Read what became of a request.
   *
   * Of 30 days, as far as `[requests] bytes_max` allows; of several requests with one id the newest. Bodies are
   * not kept.
   *
   * Needs the scope `read`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getRequest(requestId: string, options: CallOptions = {}): Promise<LoggedRequest> {
    return this.#session.model({ method: 'GET', path: '/v1/requests/{requestId}', parts: [requestId] }, 'LoggedRequest', options);
  }
}

/**
 * Without a key, read-only, for reference: the rate of a real operation is confirmed in the operator's own app.
 * Errors are `{statusCode, error, message}`. Browsers may call from the operator's own origins only.
 */
export class RatesResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * The latest rate of a pair.
   *
   *
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getLatestRate(params: RatesGetLatestRateParams = {}, options: CallOptions = {}): Promise<Rate> {
    return this.#session.model({ method: 'GET', path: '/api/v1/fx/latest', query: { ...params }, open: true }, 'Rate', options);
  }

  /**
   * The history of a pair.
   *
   * The window begins with `startDate`, inclusive, or so many `days` before its end, and ends before `endDate`.
   * Buckets are UTC.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getRateHistory(params: RatesGetRateHistoryParams = {}, options: CallOptions = {}): Promise<RateHistory> {
    return this.#session.model({ method: 'GET', path: '/api/v1/fx/history', query: { ...params }, open: true }, 'RateHistory', options);
  }

  /**
   * What withdrawals cost.
   *
   *
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  getWithdrawalFeeSchedule(params: RatesGetWithdrawalFeeScheduleParams = {}, options: CallOptions = {}): Promise<FeeSchedule> {
    return this.#session.model({ method: 'GET', path: '/api/v1/public/withdraw/fee-schedule', headers: { 'x-tenant-id': params.xTenantId }, open: true }, 'FeeSchedule', options);
  }

  /**
   * What a withdrawal would cost.
   *
   *
   *
   * @throws ApiError, beside the codes that every call has with `code` `invalid_amount_cents`, `invalid_asset`,
   * `invalid_method`, `invalid_network`, `not_found`.
   */
  estimateWithdrawalFee(amountCents: number, params: RatesEstimateWithdrawalFeeParams = {}, options: CallOptions = {}): Promise<FeeEstimate> {
    return this.#session.model({ method: 'GET', path: '/api/v1/public/withdraw/estimate-fee', query: { amountCents, method: params.method, network: params.network, asset: params.asset }, headers: { 'x-tenant-id': params.xTenantId }, open: true }, 'FeeEstimate', options);
  }

  /**
   * What a withdrawal by Pago Móvil would bring.
   *
   *
   *
   * @throws ApiError, beside the codes that every call has with `code` `invalid_amount_cents`, `not_found`,
   * `pago_movil_min_amount`, `rate_unavailable`.
   */
  getPagoMovilQuote(amountCents: number, params: RatesGetPagoMovilQuoteParams = {}, options: CallOptions = {}): Promise<PagoMovilQuote> {
    return this.#session.model({ method: 'GET', path: '/api/v1/public/withdraw/pago-movil-quote', query: { amountCents, calculator: params.calculator }, headers: { 'x-tenant-id': params.xTenantId }, open: true }, 'PagoMovilQuote', options);
  }
}

/**
 * A test key runs the same engine, ledger and log; only the banks are simulated. These calls move its clock, give
 * it money, and play the parts of buyers, banks and operators.
 */
export class TestResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Read the test clock.
   *
   * Test keys only, with the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `test_mode_only`.
   */
  getClock(options: CallOptions = {}): Promise<TestClock> {
    return this.#session.model({ method: 'GET', path: '/v1/test/clock' }, 'TestClock', options);
  }

  /**
   * Move the test clock forward.
   *
   * Everything that falls due meanwhile (holds, expiries, polls, retries) has happened, in its order and each at
   * its own instant, when it answers.
   *
   * Test keys only, with the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `test_mode_only`.
   */
  moveClock(params: ClockMove, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  moveClock(params: ClockMove, options?: KeyedOptions): Promise<TestClock>;
  moveClock(params: ClockMove, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<TestClock | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/test/clock', body: { model: 'ClockMove', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'TestClock', options);
  }

  /**
   * Begin the test data anew.
   *
   * Balances are zero, every list of test mode is empty and every id of before is 404; references and idempotency
   * keys are unused again, but for this call's own, and the clock is the real time again. Keys, settings, webhook
   * endpoints, a verified payout account and customers' deposit addresses stay, and so does everything of live
   * mode. What was under way at a simulated bank never comes back. Events go on numbered without a gap: the first
   * that is listed is `test.reset`.
   *
   * Test keys only, with the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `test_mode_only`.
   */
  reset(options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  reset(options?: KeyedOptions): Promise<TestReset>;
  reset(options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<TestReset | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/test/reset', keyed: true }, options.dryRun ? 'DryRun' : 'TestReset', options);
  }

  /**
   * Add test money to a balance.
   *
   * Test keys only, with the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`, `test_mode_only`.
   */
  fundBalance(params: TestFund, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  fundBalance(params: TestFund, options?: KeyedOptions): Promise<Movement>;
  fundBalance(params: TestFund, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Movement | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/test/fund', body: { model: 'TestFund', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Movement', options);
  }

  /**
   * Charge a card payment back, as the bank would.
   *
   * Test keys only, with the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `chargeback_exceeds_payment`,
   * `chargeback_not_allowed`, `not_found`, `test_mode_only`, `too_many_chargebacks`.
   */
  openChargeback(params: NewChargeback, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  openChargeback(params: NewChargeback, options?: KeyedOptions): Promise<Chargeback>;
  openChargeback(params: NewChargeback, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Chargeback | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/test/chargebacks', body: { model: 'NewChargeback', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Chargeback', options);
  }

  /**
   * Decide a dispute, as the bank would.
   *
   * Test keys only, with the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `chargeback_closed`, `not_found`,
   * `test_mode_only`.
   */
  closeChargeback(id: string, params: ChargebackOutcome, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  closeChargeback(id: string, params: ChargebackOutcome, options?: KeyedOptions): Promise<Chargeback>;
  closeChargeback(id: string, params: ChargebackOutcome, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Chargeback | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/test/chargebacks/{id}/close', parts: [id], body: { model: 'ChargebackOutcome', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Chargeback', options);
  }

  /**
   * Fulfil a pending conversion.
   *
   * Test keys only, with the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `conversion_not_cancelable`,
   * `conversion_not_pending`, `not_found`, `test_mode_only`.
   */
  fulfilConversion(id: string, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  fulfilConversion(id: string, options?: KeyedOptions): Promise<Conversion>;
  fulfilConversion(id: string, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Conversion | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/test/conversions/{id}/fulfil', parts: [id], keyed: true }, options.dryRun ? 'DryRun' : 'Conversion', options);
  }

  /**
   * Let a pending conversion fail.
   *
   * Test keys only, with the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `conversion_not_cancelable`,
   * `conversion_not_pending`, `not_found`, `test_mode_only`.
   */
  rejectConversion(id: string, params: Rejection, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  rejectConversion(id: string, params?: Rejection, options?: KeyedOptions): Promise<Conversion>;
  rejectConversion(id: string, params: Rejection = {}, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<Conversion | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/test/conversions/{id}/reject', parts: [id], body: { model: 'Rejection', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'Conversion', options);
  }

  /**
   * Deposit to an address, as a customer would.
   *
   * Test keys only, with the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`, `test_mode_only`,
   * `usdt_not_enabled`.
   */
  makeDeposit(params: TestDeposit, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  makeDeposit(params: TestDeposit, options?: KeyedOptions): Promise<CryptoDeposit>;
  makeDeposit(params: TestDeposit, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<CryptoDeposit | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/test/crypto/deposits', body: { model: 'TestDeposit', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'CryptoDeposit', options);
  }

  /**
   * Approve a USDT payout, as an operator would.
   *
   * Test keys only, with the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`, `payout_not_pending_review`,
   * `test_mode_only`.
   */
  approveCryptoPayout(id: string, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  approveCryptoPayout(id: string, options?: KeyedOptions): Promise<CryptoPayout>;
  approveCryptoPayout(id: string, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<CryptoPayout | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/test/crypto/payouts/{id}/approve', parts: [id], keyed: true }, options.dryRun ? 'DryRun' : 'CryptoPayout', options);
  }

  /**
   * Reject a USDT payout, as an operator would.
   *
   * Test keys only, with the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`, `payout_not_pending_review`,
   * `test_mode_only`.
   */
  rejectCryptoPayout(id: string, params: Rejection, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  rejectCryptoPayout(id: string, params?: Rejection, options?: KeyedOptions): Promise<CryptoPayout>;
  rejectCryptoPayout(id: string, params: Rejection = {}, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<CryptoPayout | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/test/crypto/payouts/{id}/reject', parts: [id], body: { model: 'Rejection', value: params }, keyed: true }, options.dryRun ? 'DryRun' : 'CryptoPayout', options);
  }

  /**
   * Pay in pesos, as the buyer would.
   *
   * Test keys only, with the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `charge_in_progress`, `not_found`,
   * `payment_not_pending`, `test_mode_only`.
   */
  playCopBuyerPaying(id: string, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  playCopBuyerPaying(id: string, options?: KeyedOptions): Promise<CopPayment>;
  playCopBuyerPaying(id: string, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<CopPayment | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/test/cop/payments/{id}/pay', parts: [id], keyed: true }, options.dryRun ? 'DryRun' : 'CopPayment', options);
  }

  /**
   * Decline to pay, as the buyer would.
   *
   * Test keys only, with the scope `manage`.
   *
   * @throws ApiError, beside the codes that every call has with `code` `charge_in_progress`, `not_found`,
   * `payment_not_pending`, `test_mode_only`.
   */
  playCopBuyerDeclining(id: string, options: KeyedOptions & DryRunOptions): Promise<DryRun>;
  playCopBuyerDeclining(id: string, options?: KeyedOptions): Promise<CopPayment>;
  playCopBuyerDeclining(id: string, options: KeyedOptions & Partial<DryRunOptions> = {}): Promise<CopPayment | DryRun> {
    return this.#session.model({ method: 'POST', path: '/v1/test/cop/payments/{id}/decline', parts: [id], keyed: true }, options.dryRun ? 'DryRun' : 'CopPayment', options);
  }

  /**
   * Open an account of test mode.
   *
   * Takes no key. Where the operator of the server allows it, otherwise 404. The key of the new account is shown
   * only now; there is none of live mode. Ten accounts a day from one address. An account that no call used for 24
   * hours is deleted with all that is in it, and its keys open nothing any more. Neither an `Idempotency-Key` nor
   * a dry run is taken: a repeat opens another account.
   *
   * @throws ApiError, beside the codes that every call has with `code` `not_found`.
   */
  openAccount(options: CallOptions = {}): Promise<OpenedTestAccount> {
    return this.#session.model({ method: 'POST', path: '/v1/test/accounts', open: true }, 'OpenedTestAccount', options);
  }
}

/** For load balancers and supervisors. */
export class HealthResource {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Whether the process lives. */
  get(options: CallOptions = {}): Promise<GetHealthResult> {
    return this.#session.model({ method: 'GET', path: '/healthz', open: true }, 'GetHealthResult', options);
  }

  /** Whether requests are served. */
  getReadiness(options: CallOptions = {}): Promise<GetReadinessResult> {
    return this.#session.model({ method: 'GET', path: '/readyz', open: true }, 'GetReadinessResult', options);
  }
}

/** One attribute per chapter of the reference. */
export class Resources {
  /**
   * Collecting from a payer in Venezuela: C2P (a one-time code of the payer's bank), card, immediate debit, and
   * transfers that the payer made by Pago Móvil. What is collected is held for 24 hours, then available.
   */
  readonly payments: PaymentsResource;
  /**
   * The balance, what of it is held, and every movement behind it: the sum of `amountVes` over all movements is
   * `ledgerNetVes`, and `ledgerNetVes` less `reserveVes` and `heldVes` is `availableVes`, always.
   */
  readonly balance: BalanceResource;
  /**
   * What moved on each day. Days are those of Caracas, and of Bogotá for pesos; midnight belongs to the new day.
   * `opening` and all columns add up to `closing`, which is the next day's `opening`. Holds and the reserve are
   * not in it.
   */
  readonly statements: StatementsResource;
  /**
   * The sellers of a marketplace and how they are paid. A payout method is verified by two micro-deposits, whose
   * amounts the seller reads from the account.
   */
  readonly merchants: MerchantsResource;
  /**
   * Money out of the balance in bolívares, to merchants, phones, accounts and yourself, single or up to 1,000 at
   * once. The debit is durable before the bank is called; if a payout fails, the money returns to the balance. The
   * same `externalRef` with the same payload never pays twice.
   */
  readonly payouts: PayoutsResource;
  /**
   * What a cardholder's bank took back of a card payment. The amount and the fee come out of the available
   * balance, which may go below zero; a dispute that is won returns both.
   */
  readonly chargebacks: ChargebacksResource;
  /**
   * From bolívares or pesos to USDT: a quote is a price for 60 seconds, usable once; accepting it debits at once.
   * Held money can be converted too, and the USDT is held as long.
   */
  readonly conversions: ConversionsResource;
  /** The balance in USDT, payouts to wallets, and addresses through which your customers deposit stablecoins. */
  readonly usdt: UsdtResource;
  /**
   * Collecting pesos by QR or transfer key, by a push notification, or by an SMS code. What is collected is held
   * for 24 hours; a refund is for the whole amount and possible for 96 hours.
   */
  readonly cop: CopResource;
  /** What you sell, and the links under which buyers pay for it at `/pay/{slug}`. */
  readonly products: ProductsResource;
  /**
   * A page on which a buyer pays once, priced in US dollars: send the buyer to `url`, or embed it with
   * `clientSecret` and `/checkout.js`.
   */
  readonly checkoutSessions: CheckoutSessionsResource;
  /**
   * The calls of a buyer's page, for those who build their own. `Authorization: Bearer <clientSecret>` opens one
   * session and nothing else. One attempt at a time: a new one supersedes what is pending. A body has at most 16
   * KiB.
   */
  readonly checkoutPage: CheckoutPageResource;
  /**
   * What happened, numbered per account and mode without gaps, so that a receiver that was down can catch up with
   * certainty: `GET /v1/events?after=SEQUENCE`.
   */
  readonly events: EventsResource;
  /**
   * Where events are sent. An event is sent once to each endpoint that lists it, signed, with 10 seconds to answer
   * 2xx; duplicates are possible after a crash, so deduplicate on `webhook-id`. With `retry` `backoff` what was
   * not answered 2xx is tried again, 8 times over a day, and `Svc-Attempt` counts the tries. Verify `webhook-
   * signature` (Standard Webhooks), and refuse what was sent more than five minutes ago: `Svc-Signature` covers
   * the body alone, so a replay passes it, unless the endpoint's `signature` is `timestamped`. What was missed is
   * in `GET /v1/events`.
   */
  readonly webhooks: WebhooksResource;
  /**
   * The account's own API keys, in the mode of the key that asks. A key is shown once, in the answer that makes
   * it; what is kept is its SHA-256.
   */
  readonly keys: KeysResource;
  /**
   * Calls of a key whose mandate has `approvalAbove`: above it they are answered 202 with `awaiting_approval`, and
   * nothing is spent or debited. Somebody of the account decides, in the portal or with a key that has the scope
   * `keys`; after 24 hours of the account's clock, or when its key is revoked, the call has expired. What is
   * approved is decided then, by the balance and the limits of then.
   */
  readonly approvals: ApprovalsResource;
  /** Banks, and what became of a request whose answer was lost. */
  readonly reference: ReferenceResource;
  /** One text leads to everything that it names, and a request's id to what became of the request. */
  readonly finding: FindingResource;
  /**
   * Without a key, read-only, for reference: the rate of a real operation is confirmed in the operator's own app.
   * Errors are `{statusCode, error, message}`. Browsers may call from the operator's own origins only.
   */
  readonly rates: RatesResource;
  /**
   * A test key runs the same engine, ledger and log; only the banks are simulated. These calls move its clock,
   * give it money, and play the parts of buyers, banks and operators.
   */
  readonly test: TestResource;
  /** For load balancers and supervisors. */
  readonly health: HealthResource;

  constructor(session: Session) {
    this.payments = new PaymentsResource(session);
    this.balance = new BalanceResource(session);
    this.statements = new StatementsResource(session);
    this.merchants = new MerchantsResource(session);
    this.payouts = new PayoutsResource(session);
    this.chargebacks = new ChargebacksResource(session);
    this.conversions = new ConversionsResource(session);
    this.usdt = new UsdtResource(session);
    this.cop = new CopResource(session);
    this.products = new ProductsResource(session);
    this.checkoutSessions = new CheckoutSessionsResource(session);
    this.checkoutPage = new CheckoutPageResource(session);
    this.events = new EventsResource(session);
    this.webhooks = new WebhooksResource(session);
    this.keys = new KeysResource(session);
    this.approvals = new ApprovalsResource(session);
    this.reference = new ReferenceResource(session);
    this.finding = new FindingResource(session);
    this.rates = new RatesResource(session);
    this.test = new TestResource(session);
    this.health = new HealthResource(session);
  }
}
