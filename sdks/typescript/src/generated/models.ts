// The objects of the API. Written by sdks/generate from the server's description: change that, not this.

import type { Amount, DecimalString } from '../money.js';

export interface C2pRequest {
  /** US dollars, at most 2 decimals. Either this or `vesAmount`. */
  usdAmount?: Amount | null;
  /**
   * Bolívares, at most 2 decimals: what the payer pays, to the cent. Either this or `usdAmount`, which is then
   * what it is at the BCV rate.
   */
  vesAmount?: Amount | null;
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  debtorId: string;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  debtorCellPhone: string;
  debtorBankCode: number;
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
}

export interface C2pCharge {
  intentId: string;
  /** US dollars, at most 2 decimals. Either this or `vesAmount`. */
  usdAmount?: Amount | null;
  /**
   * Bolívares, at most 2 decimals: what the payer pays, to the cent. Either this or `usdAmount`, which is then
   * what it is at the BCV rate.
   */
  vesAmount?: Amount | null;
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  debtorId: string;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  debtorCellPhone: string;
  debtorBankCode: number;
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
  /** The payer's code, 6 to 8 digits, as a string. */
  token: string;
  /** The seller of a marketplace sale. */
  merchantId?: string | null;
  /** What you keep of the sale, in percent, at most 4 decimals; needs `merchantId`. */
  applicationFeePercent?: Amount | null;
}

export interface C2pIntent {
  intentId: string;
  /** True when the payer's bank sends a code by SMS; false when the payer makes it in the app. */
  otpRequested: boolean;
  status: 'PENDING';
  usdAmount: DecimalString;
  vesAmount: DecimalString;
  bcvRate: DecimalString;
  expiresAt: string | null;
  externalRef: string;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
}

export interface C2pPayment {
  id: string;
  /** Equal to `id`; of C2P the `intentId` too. */
  paymentId: string;
  object: 'payment';
  /** Null of payments in pesos and in USDT; of one through a checkout session, the session's id. */
  externalRef: string | null;
  /** The number of this payment among those under its `externalRef`, from 1. */
  attempt: number;
  status: 'PENDING' | 'COMPLETED' | 'FAILED' | 'CANCELED' | 'REVERSED' | (string & {});
  method: 'C2P' | 'VPOS' | 'DEBIT' | 'PAGO_MOVIL' | 'COP' | 'USDT' | (string & {});
  /** The bank's code, when it failed, such as `AM04` (insufficient funds) or `TKCM` (wrong key). */
  failureCode: string | null;
  cancelReason: 'superseded' | 'expired' | (string & {}) | null;
  usdAmount: DecimalString | null;
  vesAmount: DecimalString | null;
  bcvRate: DecimalString | null;
  /** Null until completed. */
  feeVes: DecimalString | null;
  /** `vesAmount` less `feeVes`; null until completed. */
  netVes: DecimalString | null;
  merchantId: string | null;
  applicationFeePercent: DecimalString | null;
  applicationFeeVes: DecimalString | null;
  sellerNetVes: DecimalString | null;
  /** Four digits; see `GET /v1/banks`. */
  debtorBankCode: string | null;
  /** Masked: `V***678`. */
  debtorId: string | null;
  /** Masked: `0414***4567`. */
  debtorCellPhone: string | null;
  cardLast4: string | null;
  cardBrand: 'visa' | 'mastercard' | 'amex' | 'diners' | 'discover' | 'jcb' | 'unionpay' | 'maestro' | 'unknown' | (string & {}) | null;
  bankReference: string | null;
  /** While a bank is being asked; see `GET /v1/payments/operations/{id}`. */
  operationId: string | null;
  description: string | null;
  /** The checkout session through which it was paid. */
  checkoutSessionId: string | null;
  /** Of the checkout session; of a payment in pesos its own. */
  reference: string | null;
  /** The session through which it was paid. */
  checkoutSession: C2pPaymentCheckoutSession | null;
  reversedAt: string | null;
  reversalRef: string | null;
  reversalType: 'reversal' | 'chargeback' | 'refund' | (string & {}) | null;
  chargebacks: PaymentChargeback[];
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  expiresAt: string | null;
  completedAt: string | null;
  /** The end of the hold. */
  availableAt: string | null;
  /** With members of their own, of payments in pesos and in USDT. */
  currency?: 'COP' | 'USDT' | (string & {});
  /** What came. */
  amountUsdt?: DecimalString;
  /** Of the transfer that completed it. */
  txHash?: string;
  sellerNetUsdt?: DecimalString | null;
  channel?: string;
  amountCop?: number;
  feeCop?: number | null;
  netCop?: number | null;
  applicationFeeCop?: number | null;
  sellerNetCop?: number | null;
  metadata?: Record<string, unknown> | null;
  /** With `copRate`, of what was paid through a checkout session. */
  amountUsd?: DecimalString;
  copRate?: string | null;
  copMarketRate?: string | null;
  /** Equal to `id`. */
  intentId: string;
  otpRequested: boolean;
}

/** The session through which it was paid. */
export interface C2pPaymentCheckoutSession {
  id: string;
  reference: string | null;
  metadata: Record<string, unknown>;
}

export interface CardCharge {
  /** US dollars, at most 2 decimals. Either this or `vesAmount`. */
  usdAmount?: Amount | null;
  /**
   * Bolívares, at most 2 decimals: what the payer pays, to the cent. Either this or `usdAmount`, which is then
   * what it is at the BCV rate.
   */
  vesAmount?: Amount | null;
  card: Card | CardToken;
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
  description?: string | null;
  /** The seller of a marketplace sale. */
  merchantId?: string | null;
  /** What you keep of the sale, in percent, at most 4 decimals; needs `merchantId`. */
  applicationFeePercent?: Amount | null;
}

export interface Card {
  /** 13 to 19 digits that pass the Luhn check. */
  number: string;
  expMonth: number;
  expYear: number;
  cvv: string;
  holderName: string;
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  holderId: string;
}

export interface CardToken {
  /** Of a card that a checkout page took from its holder. */
  token: string;
}

export interface DebitOtpRequest {
  /** Four digits; see `GET /v1/banks`. */
  banco: string;
  /** Bolívares, at most 2 decimals. */
  monto: Amount;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  telefono: string;
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  cedula: string;
}

export interface DebitOtp {
  requested: boolean;
  operationId: string;
  expiresAt: string;
  failureCode: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
}

export interface DebitCharge {
  /** Four digits; see `GET /v1/banks`. */
  banco: string;
  /** Bolívares, at most 2 decimals. */
  monto: Amount;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  telefono: string;
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  cedula: string;
  nombre: string;
  /** The code of the payer's bank, 4 to 8 digits, as a string. */
  otp: string;
  concepto: string;
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
}

export interface PagoMovilAccount {
  /** Four digits; see `GET /v1/banks`. */
  bankCode: string | null;
  phone: string | null;
  identification: string | null;
}

export interface PagoMovilVerification {
  /** US dollars, at most 2 decimals. Either this or `vesAmount`. */
  usdAmount?: Amount | null;
  /**
   * Bolívares, at most 2 decimals: what the payer pays, to the cent. Either this or `usdAmount`, which is then
   * what it is at the BCV rate.
   */
  vesAmount?: Amount | null;
  /** The digits of the reference that the payer knows; leading zeros tell nothing. */
  reference: string;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  phone: string;
  /** Four digits; see `GET /v1/banks`. */
  bankCode: string;
  /** The transfer's day in Caracas: not in the future, at most 30 days ago. */
  date: string;
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  debtorId: string;
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
}

export interface Payment {
  id: string;
  /** Equal to `id`; of C2P the `intentId` too. */
  paymentId: string;
  object: 'payment';
  /** Null of payments in pesos and in USDT; of one through a checkout session, the session's id. */
  externalRef: string | null;
  /** The number of this payment among those under its `externalRef`, from 1. */
  attempt: number;
  status: 'PENDING' | 'COMPLETED' | 'FAILED' | 'CANCELED' | 'REVERSED' | (string & {});
  method: 'C2P' | 'VPOS' | 'DEBIT' | 'PAGO_MOVIL' | 'COP' | 'USDT' | (string & {});
  /** The bank's code, when it failed, such as `AM04` (insufficient funds) or `TKCM` (wrong key). */
  failureCode: string | null;
  cancelReason: 'superseded' | 'expired' | (string & {}) | null;
  usdAmount: DecimalString | null;
  vesAmount: DecimalString | null;
  bcvRate: DecimalString | null;
  /** Null until completed. */
  feeVes: DecimalString | null;
  /** `vesAmount` less `feeVes`; null until completed. */
  netVes: DecimalString | null;
  merchantId: string | null;
  applicationFeePercent: DecimalString | null;
  applicationFeeVes: DecimalString | null;
  sellerNetVes: DecimalString | null;
  /** Four digits; see `GET /v1/banks`. */
  debtorBankCode: string | null;
  /** Masked: `V***678`. */
  debtorId: string | null;
  /** Masked: `0414***4567`. */
  debtorCellPhone: string | null;
  cardLast4: string | null;
  cardBrand: 'visa' | 'mastercard' | 'amex' | 'diners' | 'discover' | 'jcb' | 'unionpay' | 'maestro' | 'unknown' | (string & {}) | null;
  bankReference: string | null;
  /** While a bank is being asked; see `GET /v1/payments/operations/{id}`. */
  operationId: string | null;
  description: string | null;
  /** The checkout session through which it was paid. */
  checkoutSessionId: string | null;
  /** Of the checkout session; of a payment in pesos its own. */
  reference: string | null;
  /** The session through which it was paid. */
  checkoutSession: PaymentCheckoutSession | null;
  reversedAt: string | null;
  reversalRef: string | null;
  reversalType: 'reversal' | 'chargeback' | 'refund' | (string & {}) | null;
  chargebacks: PaymentChargeback[];
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  expiresAt: string | null;
  completedAt: string | null;
  /** The end of the hold. */
  availableAt: string | null;
  /** With members of their own, of payments in pesos and in USDT. */
  currency?: 'COP' | 'USDT' | (string & {});
  /** What came. */
  amountUsdt?: DecimalString;
  /** Of the transfer that completed it. */
  txHash?: string;
  sellerNetUsdt?: DecimalString | null;
  channel?: string;
  amountCop?: number;
  feeCop?: number | null;
  netCop?: number | null;
  applicationFeeCop?: number | null;
  sellerNetCop?: number | null;
  metadata?: Record<string, unknown> | null;
  /** With `copRate`, of what was paid through a checkout session. */
  amountUsd?: DecimalString;
  copRate?: string | null;
  copMarketRate?: string | null;
}

/** The session through which it was paid. */
export interface PaymentCheckoutSession {
  id: string;
  reference: string | null;
  metadata: Record<string, unknown>;
}

export interface PaymentChargeback {
  chargebackId: string;
  status: 'open' | 'won' | 'lost' | (string & {});
  amountVes: DecimalString;
  feeVes: DecimalString;
  reason: 'fraud' | 'not_recognized' | 'not_received' | 'duplicate' | 'other' | (string & {});
  bankDebitedAt: string;
}

export interface Operation {
  operationId: string;
  kind: 'charge' | 'debit' | 'verification' | 'reversal' | 'otp' | 'credit' | 'collection' | 'refund' | (string & {});
  status: 'pending' | 'completed' | 'failed' | (string & {});
  /** The bank's code, when it failed. */
  code: string | null;
  /** The bank's reference. */
  reference: string | null;
  /**
   * The bank said both that it was done and that it was not. No money moved by the second word; the operator
   * clears it up with the bank.
   */
  contradicted: boolean;
  paymentId: string | null;
  payoutId: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface CollectionMethod {
  method: 'C2P' | 'VPOS' | 'DEBIT' | 'PAGO_MOVIL' | 'COP' | 'USDT' | (string & {});
  enabled: boolean;
  currency: 'VES' | 'COP' | 'USDT' | (string & {});
  /** Why it is not enabled: `rail_not_configured`, `no_bank_offers_it`, `rate_unavailable`, `cop_not_enabled`. */
  reason: string | null;
}

export interface CollectionMethodList {
  items: CollectionMethod[];
}

export interface Balance {
  /** The sum of all movements. */
  ledgerNetVes: DecimalString;
  reserveVes: DecimalString;
  /** Under a hold of 24 hours. */
  heldVes: DecimalString;
  /** When the next held amount is released. */
  nextReleaseAt: string | null;
  /** What can be paid out; below zero after a chargeback at worst. */
  availableVes: DecimalString;
  balanceHoldHours: number;
  /** Converted to USDT, less what was canceled. */
  convertedVes: DecimalString;
  /** Equal to `availableVes`. */
  platformAvailableVes: DecimalString;
  sellerPendingVes: DecimalString;
  sellerAvailableVes: DecimalString;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
}

export interface Movement {
  id: string;
  type: 'payment' | 'fee' | 'fee_reversal' | 'reversal' | 'chargeback' | 'chargeback_fee' | 'chargeback_reversal' | 'payout' | 'payout_fee' | 'payout_reversal' | 'adjustment' | 'seller_transfer' | 'seller_transfer_reversal' | 'conversion' | 'conversion_reversal' | 'PLATFORM_FEE' | 'deposit' | (string & {});
  /** Signed; negative is money out. In bolívares. */
  amountVes?: DecimalString;
  /** In pesos. */
  amountCop?: DecimalString;
  /** In USDT. */
  amountUsdt?: DecimalString;
  currency: 'VES' | 'COP' | 'USDT' | (string & {});
  paymentId: string | null;
  payoutId: string | null;
  chargebackId: string | null;
  externalRef: string | null;
  description: string;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  conversionId?: string;
  /** On a seller's balance: whose. */
  merchantId?: string;
  /** The end of the hold, while it lasts. */
  availableAt?: string;
}

export interface Statement {
  currency: 'VES' | 'COP' | 'USDT' | (string & {});
  timezone: 'America/Caracas' | 'America/Bogota' | (string & {});
  days: StatementDay[];
}

export interface StatementDay {
  date: string;
  /** The balance when the day began. */
  opening: DecimalString;
  /** Sales. Signed like all columns; negative is money out. */
  payments: DecimalString;
  /** Fees of sales, less those that came back. */
  fees: DecimalString;
  /** The operator's shares of sales through links. */
  platformFees: DecimalString;
  /** Sellers' shares of sales, less those that came back. */
  sellerTransfers: DecimalString;
  /** Sales that were given back. */
  reversals: DecimalString;
  /** Card sales that banks took back, fees of that, and what won disputes returned. */
  chargebacks: DecimalString;
  /** Money sent out, and its fees. */
  payouts: DecimalString;
  /** Payouts that failed, with their fees. */
  payoutReversals: DecimalString;
  /** Money that became USDT, less what was canceled. */
  conversions: DecimalString;
  /** USDT received. */
  deposits: DecimalString;
  /** The operator's corrections, and test money. */
  adjustments: DecimalString;
  /** `opening` and all columns: the next day's `opening`. */
  closing: DecimalString;
  movements: number;
}

export interface NewMerchant {
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
  name?: string | null;
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  identification?: string | null;
  contactEmail?: string | null;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  contactPhone?: string | null;
  /** Four digits; see `GET /v1/banks`. */
  bankCode?: string | null;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  phone?: string | null;
}

export interface MerchantUpdate {
  isActive: boolean;
}

export interface Merchant {
  merchantId: string;
  object: 'merchant';
  externalRef: string;
  name: string | null;
  identification: string | null;
  contactEmail: string | null;
  contactPhone: string | null;
  /** `shell`: no method; `verified`: at least one verified; `rejected`: the bank rejected the last one. */
  status: 'shell' | 'unverified' | 'verified' | 'rejected' | (string & {});
  isActive: boolean;
  payoutMethods: PayoutMethod[];
  /** Says so when no payout method exists. */
  message: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  updatedAt: string;
}

export interface DeletedMerchant {
  deleted: boolean;
  merchantId: string;
  externalRef: string;
}

export interface NewPayoutMethod {
  /** Four digits; see `GET /v1/banks`. */
  bankCode: string;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  phone: string;
}

export interface PayoutMethod {
  payoutMethodId: string;
  /** Equal to `payoutMethodId`. */
  identifier: string;
  /** Four digits; see `GET /v1/banks`. */
  bankCode: string;
  phone: string;
  status: 'unverified' | 'verifying' | 'verified' | (string & {});
  isDefault: boolean;
  createdAt: string;
  verifiedAt: string | null;
}

export interface PayoutMethodList {
  items: PayoutMethod[];
}

export interface MerchantBalance {
  merchantId: string;
  externalRef: string;
  pendingVes: DecimalString;
  availableVes: DecimalString;
  /** If there ever were pesos. */
  pendingCop?: DecimalString;
  availableCop?: DecimalString;
  /** If there ever were USDT. */
  pendingUsdt?: DecimalString;
  availableUsdt?: DecimalString;
  nextReleaseAt: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
}

export interface MerchantPayout {
  merchantId: string;
  /** The default method if missing. */
  payoutMethodId?: string | null;
  /** Exactly two decimals, from 0.01 to 999999999999.99. */
  monto: Amount;
  /** What the receiver reads. */
  concepto: string;
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
  /** Whether the seller's own balance pays. */
  fromMerchantBalance?: boolean | null;
}

export interface MerchantPayoutItem {
  merchantId: string;
  /** The default method if missing. */
  payoutMethodId?: string | null;
  /** Exactly two decimals, from 0.01 to 999999999999.99. */
  monto: Amount;
  /** What the receiver reads. */
  concepto: string;
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
}

export interface MerchantPayoutBatch {
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
  items: readonly MerchantPayoutItem[];
}

export interface InstantPayout {
  /** Exactly two decimals, from 0.01 to 999999999999.99. */
  monto: Amount;
  /** What the receiver reads. */
  concepto: string;
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
}

export interface PhoneCredit {
  /** Four digits; see `GET /v1/banks`. */
  banco: string;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  telefono: string;
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  cedula: string;
  /** Exactly two decimals, from 0.01 to 999999999999.99. */
  monto: Amount;
  /** What the receiver reads. */
  concepto: string;
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
}

export interface PhoneCreditBatch {
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
  items: readonly PhoneCredit[];
}

export interface AccountCredit {
  /** 20 digits with both check digits right. */
  cuenta: string;
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  cedula: string;
  nombre: string;
  /** Exactly two decimals, from 0.01 to 999999999999.99. */
  monto: Amount;
  /** What the receiver reads. */
  concepto: string;
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
}

export interface AccountCreditBatch {
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
  items: readonly AccountCredit[];
}

export interface Change {
  /** Four digits; see `GET /v1/banks`. */
  banco: string;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  telefono: string;
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  cedula: string;
  /** Exactly two decimals, from 0.01 to 999999999999.99. */
  monto: Amount;
  /** What the receiver reads. */
  concepto: string;
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
  /** The payment that it is the change of. */
  paymentId?: string | null;
}

export interface Payout {
  payoutId: string;
  object: 'payout';
  kind: 'merchant' | 'instant' | 'credit' | 'account' | 'change' | (string & {});
  status: 'pending' | 'completed' | 'failed' | (string & {});
  /** The bank's reference; null while pending. */
  reference: string | null;
  /** The bank's code, when it failed. */
  failureCode: string | null;
  externalRef: string;
  batchId: string | null;
  merchantId: string | null;
  payoutMethodId: string | null;
  merchantName: string | null;
  /** Of change: the payment. */
  paymentId: string | null;
  monto: DecimalString;
  feeVes: DecimalString;
  concepto: string;
  /** Four digits; see `GET /v1/banks`. */
  bankCode: string;
  /** Masked: an ellipsis and the last four digits. */
  destination: string;
  fromMerchantBalance: boolean;
  /** While the bank is being asked; see `GET /v1/payments/operations/{id}`. */
  operationId: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  settledAt: string | null;
}

export interface RefusedItem {
  /** Null: it is no payout. */
  payoutId: string | null;
  status: 'failed';
  reference: string | null;
  /** The code with which a single payout would have been refused. Its reference stays free. */
  failureCode: string;
  externalRef: string | null;
  merchantId: string | null;
  payoutMethodId: string | null;
  merchantName: string | null;
  monto: DecimalString | null;
  concepto: string | null;
  /** Four digits; see `GET /v1/banks`. */
  bankCode: string | null;
  destination: string | null;
  operationId: string | null;
  createdAt: string | null;
  settledAt: string | null;
  error: string;
}

export interface PayoutBatch {
  batchId: string;
  externalRef: string;
  items: (Payout | RefusedItem)[];
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
}

export interface NewPayoutAccount {
  /** Four digits; see `GET /v1/banks`. */
  bankCode: string;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  phone: string;
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  identification: string;
}

export interface PayoutAccount {
  object: 'payout_account';
  /** Four digits; see `GET /v1/banks`. */
  bankCode: string;
  phone: string;
  identification: string;
  status: 'unverified' | 'verifying' | 'verified' | (string & {});
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  updatedAt: string;
  verifiedAt: string | null;
}

export interface SeenAmounts {
  /** Exactly two decimals, at most 999999999999.99. */
  amount1: Amount;
  /** Exactly two decimals, at most 999999999999.99. */
  amount2: Amount;
}

export interface Chargeback {
  chargebackId: string;
  object: 'chargeback';
  paymentId: string;
  externalRef: string;
  status: 'open' | 'won' | 'lost' | (string & {});
  /** Null until it is closed. */
  outcome: 'won' | 'lost' | (string & {}) | null;
  amountVes: DecimalString;
  feeVes: DecimalString;
  reason: 'fraud' | 'not_recognized' | 'not_received' | 'duplicate' | 'other' | (string & {});
  bankDebitedAt: string;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  closedAt: string | null;
}

export interface NewChargeback {
  paymentId: string;
  /** All that is left of the payment if missing. */
  amountVes?: Amount | null;
  /** The account's setting if missing. */
  feeVes?: Amount | null;
  reason: 'fraud' | 'not_recognized' | 'not_received' | 'duplicate' | 'other';
  /** Now if missing. */
  bankDebitedAt?: string | Date | null;
}

export interface ChargebackOutcome {
  outcome: 'won' | 'lost';
}

export interface NewConversionQuote {
  sourceCurrency?: 'VES' | 'COP' | null;
  /** Bolívares to spend. */
  sourceAmountVes?: Amount | null;
  /** Whole pesos to spend. */
  sourceAmount?: Amount | null;
  /** USDT to receive. */
  targetAmountUsdt?: Amount | null;
}

export interface ConversionQuote {
  id: string;
  object: 'conversion_quote';
  /** What one USDT costs you, the spread included. */
  rate: DecimalString;
  marketRate: DecimalString;
  spreadPercent: DecimalString;
  rateSource: 'market';
  sourceCurrency: 'VES' | 'COP' | (string & {});
  /** In the decimals of its currency. */
  sourceAmount: DecimalString;
  /** Null of pesos. */
  sourceAmountVes: DecimalString | null;
  targetAmountUsdt: DecimalString;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  expiresAt: string;
  createdAt: string;
}

export interface NewConversion {
  quoteId: string;
  reference?: string | null;
}

export interface Conversion {
  id: string;
  object: 'conversion';
  status: 'PENDING' | 'COMPLETED' | 'CANCELED' | (string & {});
  reference: string | null;
  /** What one USDT costs you, the spread included. */
  rate: DecimalString;
  marketRate: DecimalString;
  spreadPercent: DecimalString;
  rateSource: 'market';
  sourceCurrency: 'VES' | 'COP' | (string & {});
  /** In the decimals of its currency. */
  sourceAmount: DecimalString;
  /** Null of pesos. */
  sourceAmountVes: DecimalString | null;
  targetAmountUsdt: DecimalString;
  /** `auto` when a COP payment was converted by itself. */
  origin: 'auto' | null;
  /** That payment. */
  paymentId: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  completedAt: string | null;
  canceledAt: string | null;
  /** `canceled_by_tenant`, or why it could not be fulfilled. */
  cancelReason: string | null;
}

export interface ConversionSettings {
  autoConvert: ConversionSettingsAutoConvert;
  enabledCurrencies: ('VES' | 'COP' | (string & {}))[];
  spreadPercent: ConversionSettingsSpreadPercent;
  minimumUsdt: DecimalString;
  dailyLimit: ConversionSettingsDailyLimit;
}

export interface ConversionSettingsAutoConvert {
  COP: ConversionSettingsAutoConvertCOP;
}

export interface ConversionSettingsAutoConvertCOP {
  percent: number;
}

export interface ConversionSettingsSpreadPercent {
  VES: DecimalString;
  COP: DecimalString;
}

export interface ConversionSettingsDailyLimit {
  VES: DecimalString | null;
  COP: DecimalString | null;
}

export interface ConversionSettingsChange {
  autoConvert: ConversionSettingsChangeAutoConvert;
}

export interface ConversionSettingsChangeAutoConvert {
  COP: ConversionSettingsChangeAutoConvertCOP;
}

export interface ConversionSettingsChangeAutoConvertCOP {
  percent: number;
}

export interface CryptoBalance {
  availableUsdt: DecimalString;
  heldUsdt: DecimalString;
  /** Equal to `heldUsdt`. */
  held: DecimalString;
  pendingPayoutsUsdt: DecimalString;
  nextReleaseAt: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
}

export interface CryptoNetwork {
  network: 'TRC20' | 'ERC20' | 'BEP20' | 'POLYGON' | (string & {});
  /** What a payout costs on top. */
  networkFeeUsdt: DecimalString;
  /** Blocks after which a transfer counts; null where no node is configured. */
  confirmations: number | null;
  /** Null: no minimum. */
  minDepositUsdt: DecimalString | null;
  /** Null: no minimum. */
  minPayoutUsdt: DecimalString | null;
}

export interface CryptoNetworkList {
  items: CryptoNetwork[];
}

export interface NewCryptoPayout {
  /** Exactly two decimals, from 0.01 to 999999999999.99. */
  amountUsdt: Amount;
  address: string;
  network: 'TRC20' | 'ERC20' | 'BEP20' | 'POLYGON';
  /**
   * Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what
   * is there; with another payload it is 409 `external_ref_conflict`.
   */
  externalRef: string;
}

export interface CryptoPayout {
  id: string;
  object: 'crypto_payout';
  status: 'pending_review' | 'processing' | 'completed' | 'failed' | 'rejected' | (string & {});
  amountUsdt: DecimalString;
  networkFeeUsdt: DecimalString;
  totalUsdt: DecimalString;
  address: string;
  network: 'TRC20' | 'ERC20' | 'BEP20' | 'POLYGON' | (string & {});
  txHash: string | null;
  externalRef: string;
  failureCode: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  completedAt: string | null;
}

export interface NewDepositAddress {
  customerRef: string;
  network: 'TRC20' | 'ERC20' | 'BEP20' | 'POLYGON';
  asset: 'USDT' | 'USDC';
}

export interface DepositAddress {
  id: string;
  object: 'deposit_address';
  address: string;
  network: 'TRC20' | 'ERC20' | 'BEP20' | 'POLYGON' | (string & {});
  asset: 'USDT' | 'USDC' | (string & {});
  customerRef: string;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
}

export interface TestDeposit {
  address: string;
  /** Exactly two decimals, from 0.01 to 999999999999.99. */
  amount: Amount;
  network: 'TRC20' | 'ERC20' | 'BEP20' | 'POLYGON';
  asset: 'USDT' | 'USDC';
}

export interface CryptoDeposit {
  id: string;
  object: 'crypto_deposit';
  status: 'completed';
  amountUsdt: DecimalString;
  address: string;
  depositAddressId: string;
  network: 'TRC20' | 'ERC20' | 'BEP20' | 'POLYGON' | (string & {});
  asset: 'USDT' | 'USDC' | (string & {});
  customerRef: string;
  txHash: string;
  availableAt: string;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
}

export interface NewCopPayment {
  /** Whole pesos, at least 20000. */
  amountCop: number;
  channel: 'qr' | 'push' | 'sms';
  reference?: string | null;
  /** Yours, at most 8 KiB, without control characters; it comes back as it was written. */
  metadata?: Record<string, unknown> | null;
  /** Everything of it is required for `push` and `sms`; for `sms` the document is CC, CE or TI, in live mode CC. */
  buyer?: CopBuyer | null;
}

export interface CopBuyer {
  email?: string | null;
  /** A Colombian mobile phone, with +57 in front or not. */
  phone?: string | null;
  documentType?: 'CC' | 'CE' | 'TI' | 'NIT' | 'PP' | null;
  documentNumber?: string | null;
}

export interface CopOtp {
  otp: string;
}

export interface CopPayment {
  id: string;
  object: 'cop_payment';
  /** Always 1. */
  attempt: number;
  status: 'pending' | 'completed' | 'failed' | 'canceled' | 'refunded' | (string & {});
  method: 'COP';
  channel: 'qr' | 'push' | 'sms' | (string & {});
  amountCop: number;
  /** 4.5 % and 1,500 pesos, never more than the amount; null until completed. */
  feeCop: number | null;
  netCop: number | null;
  reference: string | null;
  metadata: Record<string, unknown> | null;
  /**
   * `expired`, `rejected`, `otp_attempts_exhausted` or `processor_error`; after an operator's word, the operator's
   * code.
   */
  failureCode: string | null;
  /** What the buyer does next, while there is something. */
  next: CopPaymentNext | null;
  /** In live mode alone: what the processor or an operator is to decide, while that is open. */
  operationId?: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  expiresAt: string;
  completedAt: string | null;
  availableAt: string | null;
  refundedAt: string | null;
  /** The session through which it was paid. */
  checkoutSession?: CopPaymentCheckoutSession;
  amountUsd?: DecimalString;
  /** What the buyer pays for a dollar. */
  copRate?: DecimalString;
  /** What the market asked for one. */
  copMarketRate?: DecimalString;
}

/** What the buyer does next, while there is something. */
export interface CopPaymentNext {
  type: 'show_qr' | 'approve_in_app' | 'submit_otp' | (string & {});
  /** A PNG of the QR code, in base64; in test mode in the answer that creates the payment alone. */
  qrPngBase64?: string;
  /** The key to paste in a bank's app; as the QR code. Null in live mode, whose QR code has none. */
  transferKey?: string | null;
  phoneMasked?: string | null;
}

/** The session through which it was paid. */
export interface CopPaymentCheckoutSession {
  id: string;
  reference: string | null;
  metadata: Record<string, unknown>;
}

export interface CopBalance {
  ledgerNetCop: DecimalString;
  heldCop: DecimalString;
  nextReleaseAt: string | null;
  availableCop: DecimalString;
  balanceHoldHours: number;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
}

export interface CopPayout {
  id: string;
  /** Equal to `id`. */
  payoutId: string;
  object: 'cop_payout';
  status: 'pending' | 'completed' | 'failed' | (string & {});
  reference: string | null;
  failureCode: string | null;
  externalRef: string;
  amountCop: DecimalString;
  currency: 'COP';
  bank: string;
  /** Masked. */
  accountNumber: string;
  accountType: 'savings' | 'checking' | 'wallet' | (string & {});
  holderName: string;
  documentType: 'CC' | 'CE' | 'TI' | 'NIT' | 'PP' | (string & {});
  /** Masked. */
  documentNumber: string;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  settledAt: string | null;
}

export interface NewProduct {
  name: string;
  /** US dollars from "0.01" to "100000.00". */
  priceUsd: Amount;
  description?: string | null;
  /** https; http to loopback in test mode. Empty clears it. */
  imageUrl?: string | null;
  active?: boolean | null;
}

export interface ProductChange {
  name?: string | null;
  /** US dollars from "0.01" to "100000.00". */
  priceUsd?: Amount | null;
  description?: string | null;
  /** https; http to loopback in test mode. Empty clears it. */
  imageUrl?: string | null;
  active?: boolean | null;
}

export interface Product {
  id: string;
  object: 'product';
  name: string;
  priceUsd: DecimalString;
  description: string | null;
  imageUrl: string | null;
  active: boolean;
  links: PaymentLink[];
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  updatedAt: string;
}

export interface NewPaymentLink {
  slug?: string | null;
  allowQuantity?: boolean | null;
  maxQuantity?: number | null;
  /** https; http to loopback in test mode. Empty clears it. */
  redirectUrl?: string | null;
  merchantId?: string | null;
  applicationFeePercent?: Amount | null;
}

export interface PaymentLinkChange {
  status?: 'active' | 'disabled' | null;
  allowQuantity?: boolean | null;
  maxQuantity?: number | null;
  /** https; http to loopback in test mode. Empty clears it. */
  redirectUrl?: string | null;
}

export interface PaymentLink {
  id: string;
  object: 'payment_link';
  productId: string;
  slug: string;
  hostedCheckoutPath: string;
  status: 'active' | 'disabled' | (string & {});
  allowQuantity: boolean;
  maxQuantity: number;
  redirectUrl: string | null;
  merchantId: string | null;
  applicationFeePercent: DecimalString | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
}

export interface PaymentLinkList {
  items: PaymentLink[];
}

export interface NewCheckoutSession {
  /** US dollars, at most 2 decimals; read as the exact decimal that is written. */
  amountUsd: Amount;
  description?: string | null;
  reference?: string | null;
  /** https; http to loopback in test mode. */
  successUrl?: string | null;
  cancelUrl?: string | null;
  /** Every enabled one if empty or missing. */
  methods?: readonly ('c2p' | 'usdt' | 'cop' | 'card' | 'pago_movil')[] | null;
  /** Yours, at most 4096 bytes, without control characters. */
  metadata?: Record<string, unknown> | null;
}

export interface CheckoutSession {
  id: string;
  object: 'checkout.session';
  status: 'open' | 'paid' | 'expired' | (string & {});
  url: string;
  amountUsd: DecimalString;
  description: string | null;
  reference: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  methods: ('c2p' | 'usdt' | 'cop' | 'card' | 'pago_movil' | (string & {}))[];
  metadata: Record<string, unknown>;
  paymentLinkId: string | null;
  quantity: number | null;
  paymentId: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  expiresAt: string;
  /** Opens this session for a buyer's page, and nothing else. */
  clientSecret: string;
}

export interface ListedCheckoutSession {
  id: string;
  object: 'checkout.session';
  status: 'open' | 'paid' | 'expired' | (string & {});
  url: string;
  amountUsd: DecimalString;
  description: string | null;
  reference: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  methods: ('c2p' | 'usdt' | 'cop' | 'card' | 'pago_movil' | (string & {}))[];
  metadata: Record<string, unknown>;
  paymentLinkId: string | null;
  quantity: number | null;
  paymentId: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  expiresAt: string;
}

export interface CheckoutState {
  status: 'open' | 'processing' | 'paid' | 'expired' | (string & {});
  amountUsd: DecimalString;
  methods: CheckoutStateMethodsItem[];
  paymentId: string | null;
  /** What has come to the session's addresses. */
  receivedUsdt: DecimalString;
  /** The total in bolívares at the rate of now. */
  amountVes: DecimalString | null;
  /**
   * That total, for the calls that take it: `payCheckoutCard` charges no more, `payCheckoutPagoMovil` looks for
   * it.
   */
  quote: string | null;
  /** Where a Pago Móvil is sent to; null where none is offered. */
  pagoMovil: CheckoutStatePagoMovil | null;
  /**
   * The payment in bolívares or pesos that began last. Who lost the answer to a call sees by it whether the call
   * arrived.
   */
  newestAttempt: string | null;
  /** With `failureCode`, of an attempt. */
  attemptStatus?: 'PENDING' | 'COMPLETED' | 'FAILED' | 'CANCELED' | 'REVERSED' | (string & {});
  failureCode?: string | null;
}

export interface CheckoutStateMethodsItem {
  method: 'c2p' | 'usdt' | 'cop' | 'card' | 'pago_movil' | (string & {});
  enabled: boolean;
  reason: string | null;
  /** The total in pesos that a start now would fix. */
  amountCop: number | null;
}

/** Where a Pago Móvil is sent to; null where none is offered. */
export interface CheckoutStatePagoMovil {
  bankCode: string;
  bankName: string;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  phone: string;
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  identification: string;
  amountVes: DecimalString | null;
  /** Keeps this amount for this session: send it with the reference. */
  quote: string;
}

export interface CheckoutDebtor {
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  debtorId: string;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  debtorCellPhone: string;
  debtorBankCode: number;
}

export interface CheckoutC2p {
  intentId: string;
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  debtorId: string;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  debtorCellPhone: string;
  debtorBankCode: number;
  token: string;
}

export interface CheckoutPagoMovil {
  /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
  debtorId: string;
  /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
  debtorCellPhone: string;
  debtorBankCode: number;
  /** Its last digits, as the buyer sees them. */
  reference: string;
  date: string;
  quote?: string | null;
}

export interface CheckoutCard {
  card: Card;
  /** True: make a token and charge nothing. */
  tokenize?: boolean | null;
  /** The state's `quote`, as the buyer saw its total: no more is charged. */
  quote?: string | null;
}

export interface MadeCardToken {
  token: string;
  object: 'card_token';
  cardBrand: string;
  cardLast4: string;
  expMonth: number;
  expYear: number;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  expiresAt: string;
}

export interface CheckoutCop {
  channel: 'qr' | 'push' | 'sms';
  buyer?: CopBuyer | null;
}

export interface CheckoutUsdt {
  network: 'TRC20' | 'ERC20' | 'BEP20' | 'POLYGON';
  asset: 'USDT' | 'USDC';
}

export interface CheckoutAddress {
  address: string;
  /** What is to come. */
  amountUsdt: DecimalString;
  /** What has come, to all addresses of the session. */
  receivedUsdt: DecimalString;
  network: 'TRC20' | 'ERC20' | 'BEP20' | 'POLYGON' | (string & {});
  asset: 'USDT' | 'USDC' | (string & {});
  expiresAt: string;
}

export interface LinkQuantity {
  quantity?: number | null;
}

export interface Event {
  /** `Svc-Event-Id` of its deliveries. */
  id: string;
  sequence: number;
  event: 'payment.completed' | 'payment.failed' | 'payment.canceled' | 'payment.reversed' | 'payment.chargeback' | 'payment.chargeback_closed' | 'payout.completed' | 'payout.failed' | 'merchant.verified' | 'merchant.rejected' | 'merchant.deactivated' | 'merchant.reactivated' | 'merchant.balance.updated' | 'conversion.created' | 'conversion.completed' | 'conversion.canceled' | 'tenant.live_status_changed' | 'crypto_payout.completed' | 'crypto_payout.failed' | 'crypto_deposit.completed' | 'test.reset' | (string & {});
  /** What the event says; its members are under `webhooks`. */
  data: Record<string, unknown>;
  timestamp: string;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
}

export interface CopPaymentEvent {
  id: string;
  object: 'cop_payment';
  /** Always 1. */
  attempt: number;
  status: 'pending' | 'completed' | 'failed' | 'canceled' | 'refunded' | (string & {});
  method: 'COP';
  channel: 'qr' | 'push' | 'sms' | (string & {});
  amountCop: number;
  /** 4.5 % and 1,500 pesos, never more than the amount; null until completed. */
  feeCop: number | null;
  netCop: number | null;
  reference: string | null;
  metadata: Record<string, unknown> | null;
  /**
   * `expired`, `rejected`, `otp_attempts_exhausted` or `processor_error`; after an operator's word, the operator's
   * code.
   */
  failureCode: string | null;
  /** What the buyer does next, while there is something. */
  next: CopPaymentEventNext | null;
  /** In live mode alone: what the processor or an operator is to decide, while that is open. */
  operationId?: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  expiresAt: string;
  completedAt: string | null;
  availableAt: string | null;
  refundedAt: string | null;
  /** The session through which it was paid. */
  checkoutSession?: CopPaymentEventCheckoutSession;
  amountUsd?: DecimalString;
  /** What the buyer pays for a dollar. */
  copRate?: DecimalString;
  /** What the market asked for one. */
  copMarketRate?: DecimalString;
  paymentId: string;
  currency: 'COP';
  reversalType?: 'refund';
  reversalRef?: string | null;
  reversedAt?: string | null;
}

/** What the buyer does next, while there is something. */
export interface CopPaymentEventNext {
  type: 'show_qr' | 'approve_in_app' | 'submit_otp' | (string & {});
  /** A PNG of the QR code, in base64; in test mode in the answer that creates the payment alone. */
  qrPngBase64?: string;
  /** The key to paste in a bank's app; as the QR code. Null in live mode, whose QR code has none. */
  transferKey?: string | null;
  phoneMasked?: string | null;
}

/** The session through which it was paid. */
export interface CopPaymentEventCheckoutSession {
  id: string;
  reference: string | null;
  metadata: Record<string, unknown>;
}

export interface ChargebackEvent {
  /** The same in both events. */
  chargebackId: string;
  paymentId: string;
  externalRef: string;
  /** The number of this payment among those under its `externalRef`, from 1. */
  attempt: number;
  method: 'VPOS';
  status: 'open' | 'won' | 'lost' | (string & {});
  amountVes: DecimalString;
  feeVes: DecimalString;
  reason: 'fraud' | 'not_recognized' | 'not_received' | 'duplicate' | 'other' | (string & {});
  bankDebitedAt: string;
  paymentStatus: 'COMPLETED' | 'REVERSED' | (string & {});
  vesAmount: DecimalString;
  usdAmount: DecimalString;
  /** The movements that it made; none when the dispute is lost. */
  ledgerEntryIds: string[];
  createdAt: string;
  outcome?: 'won' | 'lost' | (string & {});
  closedAt?: string;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
}

export interface MerchantEvent {
  merchantId: string;
  object: 'merchant';
  externalRef: string;
  name: string | null;
  identification: string | null;
  contactEmail: string | null;
  contactPhone: string | null;
  /** `shell`: no method; `verified`: at least one verified; `rejected`: the bank rejected the last one. */
  status: 'shell' | 'unverified' | 'verified' | 'rejected' | (string & {});
  isActive: boolean;
  payoutMethods: PayoutMethod[];
  /** Says so when no payout method exists. */
  message: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  updatedAt: string;
  /** The method that it is about. */
  payoutMethodId?: string;
}

export interface NewWebhook {
  url: string;
  events: readonly ('payment.completed' | 'payment.failed' | 'payment.canceled' | 'payment.reversed' | 'payment.chargeback' | 'payment.chargeback_closed' | 'payout.completed' | 'payout.failed' | 'merchant.verified' | 'merchant.rejected' | 'merchant.deactivated' | 'merchant.reactivated' | 'merchant.balance.updated' | 'conversion.created' | 'conversion.completed' | 'conversion.canceled' | 'tenant.live_status_changed' | 'crypto_payout.completed' | 'crypto_payout.failed' | 'crypto_deposit.completed' | 'test.reset')[];
  retry?: 'none' | 'backoff' | null;
  signature?: 'hex' | 'timestamped' | null;
}

export interface WebhookChange {
  url?: string | null;
  events?: readonly ('payment.completed' | 'payment.failed' | 'payment.canceled' | 'payment.reversed' | 'payment.chargeback' | 'payment.chargeback_closed' | 'payout.completed' | 'payout.failed' | 'merchant.verified' | 'merchant.rejected' | 'merchant.deactivated' | 'merchant.reactivated' | 'merchant.balance.updated' | 'conversion.created' | 'conversion.completed' | 'conversion.canceled' | 'tenant.live_status_changed' | 'crypto_payout.completed' | 'crypto_payout.failed' | 'crypto_deposit.completed' | 'test.reset')[] | null;
  status?: 'enabled' | 'disabled' | null;
  retry?: 'none' | 'backoff' | null;
  signature?: 'hex' | 'timestamped' | null;
}

export interface SecretRotation {
  overlapSeconds?: number | null;
}

export interface Webhook {
  id: string;
  object: 'webhook';
  url: string;
  events: string[];
  status: 'enabled' | 'disabled' | (string & {});
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  retry: 'none' | 'backoff' | (string & {});
  signature: 'hex' | 'timestamped' | (string & {});
}

export interface NewlySignedWebhook {
  id: string;
  object: 'webhook';
  url: string;
  events: string[];
  status: 'enabled' | 'disabled' | (string & {});
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  retry: 'none' | 'backoff' | (string & {});
  signature: 'hex' | 'timestamped' | (string & {});
  /** Shown here and never again. Its whole text is the key of `Svc-Signature`. */
  secret: string;
}

export interface WebhookList {
  items: Webhook[];
}

export interface Delivery {
  id: string;
  webhookId: string;
  eventId: string;
  event: string;
  sequence: number;
  /** The number of the try. */
  attempt: number;
  status: 'pending' | 'delivered' | 'failed' | (string & {});
  httpStatus: number | null;
  latencyMs: number | null;
  error: string | null;
  createdAt: string;
  completedAt: string | null;
}

export interface Deliveries {
  eventId: string;
  deliveries: Delivery[];
}

export interface TestDeliveries {
  eventId: string;
  deliveries: TestDeliveriesDeliveriesItem[];
}

export interface TestDeliveriesDeliveriesItem {
  webhookId: string;
  status: 'pending' | 'delivered' | 'failed' | (string & {});
  httpStatus: number | null;
  error: string | null;
}

export interface NewKey {
  /** What people call it. */
  name?: string | null;
  /** What it may do. */
  scopes?: readonly ('read' | 'collect' | 'payout' | 'convert' | 'manage' | 'keys')[] | null;
  /** In the future; never if missing. */
  expiresAt?: string | Date | null;
  mandate?: Mandate | null;
}

export interface KeyChange {
  /** What people call it. */
  name?: string | null;
  /** What it may do. */
  scopes?: readonly ('read' | 'collect' | 'payout' | 'convert' | 'manage' | 'keys')[] | null;
  /** In the future; never if missing. */
  expiresAt?: string | Date | null;
  mandate?: Mandate | null;
}

export interface MadeKey {
  keyId: string;
  key: string;
  mode: 'live' | 'test' | (string & {});
  /** Its first characters. */
  prefix: string;
  /** What it may do. */
  scopes: ('read' | 'collect' | 'payout' | 'convert' | 'manage' | 'keys' | (string & {}))[];
  createdAt: string;
  expiresAt: string | null;
  /** What people call it. */
  name: string | null;
  mandate: Mandate | null;
}

export interface Key {
  keyId: string;
  mode: 'live' | 'test' | (string & {});
  /** Its first characters. */
  prefix: string;
  /** What it may do. */
  scopes: ('read' | 'collect' | 'payout' | 'convert' | 'manage' | 'keys' | (string & {}))[];
  createdAt: string;
  expiresAt: string | null;
  /** What people call it. */
  name: string | null;
  mandate: Mandate | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
  /** The key whose place it took. */
  replaces: string | null;
}

export interface Mandate {
  /** Who holds the key. */
  agent?: string | null;
  /** The most that goes out in one call, by currency. */
  perCall?: MandatePerCall | null;
  /** The most on a day in Caracas. */
  perDay?: MandatePerDay | null;
  /** The most in a month in Caracas. */
  perMonth?: MandatePerMonth | null;
  /**
   * Who may be paid: ids of merchants, accounts, phones, wallets. All that the account may pay, if it is empty or
   * missing.
   */
  payees?: readonly string[] | null;
  /** A call that takes out more waits for an approval: by currency; none does of one that is not named. */
  approvalAbove?: MandateApprovalAbove | null;
}

/** The most that goes out in one call, by currency. */
export interface MandatePerCall {
  /** At most two decimals, at most 999999999999.99. */
  VES?: Amount | null;
  COP?: number | null;
  /** At most two decimals, at most 999999999999.99. */
  USDT?: Amount | null;
}

/** The most on a day in Caracas. */
export interface MandatePerDay {
  /** At most two decimals, at most 999999999999.99. */
  VES?: Amount | null;
  COP?: number | null;
  /** At most two decimals, at most 999999999999.99. */
  USDT?: Amount | null;
}

/** The most in a month in Caracas. */
export interface MandatePerMonth {
  /** At most two decimals, at most 999999999999.99. */
  VES?: Amount | null;
  COP?: number | null;
  /** At most two decimals, at most 999999999999.99. */
  USDT?: Amount | null;
}

/** A call that takes out more waits for an approval: by currency; none does of one that is not named. */
export interface MandateApprovalAbove {
  /** At most two decimals, at most 999999999999.99. */
  VES?: Amount | null;
  COP?: number | null;
  /** At most two decimals, at most 999999999999.99. */
  USDT?: Amount | null;
}

export interface KeyWithRemaining {
  keyId: string;
  mode: 'live' | 'test' | (string & {});
  /** Its first characters. */
  prefix: string;
  /** What it may do. */
  scopes: ('read' | 'collect' | 'payout' | 'convert' | 'manage' | 'keys' | (string & {}))[];
  createdAt: string;
  expiresAt: string | null;
  /** What people call it. */
  name: string | null;
  mandate: Mandate | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
  /** The key whose place it took. */
  replaces: string | null;
  /** What its mandate lets out today and this month; not there without one. */
  remaining?: KeyWithRemainingRemaining;
}

/** What its mandate lets out today and this month; not there without one. */
export interface KeyWithRemainingRemaining {
  perDay?: KeyWithRemainingRemainingPerDay;
  perMonth?: KeyWithRemainingRemainingPerMonth;
}

export interface KeyWithRemainingRemainingPerDay {
  VES?: DecimalString;
  COP?: number;
  USDT?: DecimalString;
}

export interface KeyWithRemainingRemainingPerMonth {
  VES?: DecimalString;
  COP?: number;
  USDT?: DecimalString;
}

export interface RevokedKey {
  keyId: string;
  mode: 'live' | 'test' | (string & {});
  /** Its first characters. */
  prefix: string;
  /** What it may do. */
  scopes: ('read' | 'collect' | 'payout' | 'convert' | 'manage' | 'keys' | (string & {}))[];
  createdAt: string;
  expiresAt: string | null;
  /** What people call it. */
  name: string | null;
  mandate: Mandate | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
  /** The key whose place it took. */
  replaces: string | null;
  /** The keys that came in its place, and in theirs; oldest first. */
  successors: Key[];
}

export interface KeyList {
  items: Key[];
}

export interface AwaitingApproval {
  status: 'awaiting_approval';
  approvalId: string;
}

export interface MandateApproval {
  approvalId: string;
  status: 'awaiting_approval' | 'approved' | 'rejected' | 'expired' | (string & {});
  /** The key that asked. */
  keyId: string;
  /** Who held the key. */
  agent: string | null;
  /** What goes out, with fees. */
  amount: MandateApprovalAmount;
  /** The `operationId` of the call. */
  operation: string;
  path: string;
  /** The body of the call, as it was sent; in the list null where it is longer than 8 KiB. */
  body: unknown;
  /**
   * Where the account's own data led each payout when it was asked for, of a batch in the order of its items; null
   * where the call says so. It goes there or, when that has changed, nowhere.
   */
  destinations: (string | null)[];
  requestId: string;
  createdAt: string;
  expiresAt: string;
  decidedAt: string | null;
  /** The key that decided. */
  decidedBy: string | null;
}

/** What goes out, with fees. */
export interface MandateApprovalAmount {
  VES?: DecimalString;
  COP?: number;
  USDT?: DecimalString;
}

export interface ApprovedCall {
  approvalId: string;
  status: 'awaiting_approval' | 'approved' | 'rejected' | 'expired' | (string & {});
  /** The key that asked. */
  keyId: string;
  /** Who held the key. */
  agent: string | null;
  /** What goes out, with fees. */
  amount: ApprovedCallAmount;
  /** The `operationId` of the call. */
  operation: string;
  path: string;
  /** The body of the call, as it was sent; in the list null where it is longer than 8 KiB. */
  body: unknown;
  /**
   * Where the account's own data led each payout when it was asked for, of a batch in the order of its items; null
   * where the call says so. It goes there or, when that has changed, nowhere.
   */
  destinations: (string | null)[];
  requestId: string;
  createdAt: string;
  expiresAt: string;
  decidedAt: string | null;
  /** The key that decided. */
  decidedBy: string | null;
  /** What the call itself answers. */
  result: unknown;
}

/** What goes out, with fees. */
export interface ApprovedCallAmount {
  VES?: DecimalString;
  COP?: number;
  USDT?: DecimalString;
}

export interface Bank {
  code: string;
  name: string;
  services: ('C2P' | 'PAGO_MOVIL' | 'DEBIT' | 'CREDIT' | (string & {}))[];
  /** Null means: show the name alone. */
  logoUrl: string | null;
}

export interface DryRun {
  dryRun: boolean;
  /** The status that the call would have. */
  status: number;
  /** The body that it would have. Ids, times, keys and secrets in it are those of the rehearsal. */
  body: unknown;
  /** As `GET /v1/balance/transactions` and its kin list them. */
  movements: unknown[];
  /** As the `GET` of the balance that would move, or `/v1/balance`, would show it. */
  balance: unknown;
  /** What would be held anew. */
  holds: DryRunHoldsItem[];
  /** As `GET /v1/events` lists them. */
  events: unknown[];
  /** What banks and networks would be told. */
  orders: DryRunOrdersItem[];
}

export interface DryRunHoldsItem {
  currency: 'VES' | 'COP' | 'USDT' | (string & {});
  amount: string;
  /** Null where a bank's decision ends it. */
  availableAt: string | null;
}

export interface DryRunOrdersItem {
  rail: string;
  /** As operators see operations: `c2p`, `payout` … */
  kind: string;
  amount: string;
  currency: 'VES' | 'COP' | 'USDT' | (string & {});
}

export interface IdempotencyKey {
  key: string;
  state: 'in_progress' | 'done' | (string & {});
  method: 'POST';
  path: string;
  firstSeenAt: string;
  expiresAt: string;
  /** The kept status; null while in progress. */
  status: number | null;
  /** The kept body; null while in progress. */
  response: unknown;
  walSeq: number | null;
}

export interface Quote {
  usdAmount: DecimalString;
  bcvRate: DecimalString;
  vesAmount: DecimalString;
  medianRate: DecimalString;
  medianVesAmount: DecimalString;
  source: 'bcv';
  fetchedAt: string;
  sources: QuoteSources;
}

export interface QuoteSources {
  vexFx: QuoteSourcesVexFx;
  bank: QuoteSourcesBank | QuoteSourcesBankError;
}

export interface QuoteSourcesVexFx {
  bcvRate: DecimalString;
  fetchedAt: string;
}

export interface QuoteSourcesBank {
  bcvRate: DecimalString;
  fechavalor: string | null;
  fetchedAt: string;
}

export interface QuoteSourcesBankError {
  /** `BANK_NOT_CONFIGURED`, or `BANK_UNAVAILABLE`. */
  error: string;
}

export interface Found {
  kind: 'payment' | 'payout' | 'cop_payout' | 'crypto_payout' | 'crypto_deposit' | 'batch' | 'conversion' | 'chargeback' | 'merchant' | 'checkout_session' | 'product' | 'payment_link' | 'event' | 'webhook' | 'deposit_address' | 'payout_account' | 'otp' | 'tenant' | 'mandate_approval' | (string & {});
  id: string;
  tenantId: string | null;
  /** Null of a tenant. */
  mode: 'live' | 'test' | (string & {}) | null;
  /** As the thing's own endpoint shows it. */
  status: string | null;
  amount: DecimalString | null;
  currency: 'VES' | 'COP' | 'USDT' | 'USD' | (string & {}) | null;
  createdAt: string;
  /** What of it the text is. */
  why: 'id' | 'externalRef' | 'reference' | 'bankReference' | 'requestId' | 'txHash' | 'document' | 'phone' | 'name' | (string & {});
}

export interface FoundList {
  items: Found[];
}

export interface LoggedRequest {
  requestId: string;
  at: string;
  method: string;
  /** The template of the path, such as `/v1/payments/{id}`. */
  route: string;
  status: number;
  /** The code of the error. */
  error: string | null;
  /** The key that called. */
  keyId: string;
  ms: number;
  /** What was made or changed. */
  entityId: string | null;
}

export interface Rate {
  pair: string;
  source: string;
  method: string | null;
  price: DecimalString;
  asOf: string;
  fetchedAt: string | null;
  side: string | null;
  paymentMethod: string | null;
}

export interface RateHistory {
  pair: string;
  source: string | null;
  side: string | null;
  interval: 'hour' | 'day' | (string & {}) | null;
  aggregation: string | null;
  data: RatePoint[];
  count: number;
}

export interface RatePoint {
  pair: string;
  source: string;
  method: string | null;
  side: string | null;
  price: DecimalString;
  asOf: string;
  /** Samples in the bucket. */
  count?: number;
  /** True of a sample that was too far from the one before it, and decided nothing. */
  suspect?: boolean;
}

export interface FeeSchedule {
  policy: 'legacy_flat' | 'tiered_v1' | 'tiered_v2' | (string & {});
  minWithdrawalCents: number;
  summary: string;
  serviceFeePercent?: DecimalString;
  serviceFeeFixedCents?: number;
  networkFeeCents?: number;
  tiers?: FeeScheduleTiersItem[];
}

export interface FeeScheduleTiersItem {
  minAmountCents: number;
  maxAmountCents?: number;
  serviceFeePercent: DecimalString;
  serviceFeeFixedCents: number;
  label: string;
}

export interface FeeEstimate {
  serviceFeeCents: number;
  blockchainFeeCents: number;
  totalFeeCents: number;
  amountToReceiveCents: number;
  breakdown?: FeeEstimateBreakdown;
  feePercent?: DecimalString;
  feeFixedCents?: number;
  feeTier?: string;
  feePolicyVersion?: string;
  feeBreakdownLabel?: string;
}

export interface FeeEstimateBreakdown {
  serviceFee: DecimalString;
  blockchainFee: DecimalString;
  totalFee: DecimalString;
}

export interface PagoMovilQuote {
  exchange_rate_base: DecimalString;
  exchange_rate_offered: DecimalString;
  exchange_rate_fetched_at: string;
  margin_percent: DecimalString;
  /** Null beyond all amounts that are counted. */
  ves_estimate: DecimalString | null;
}

export interface TestClock {
  now: string;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
}

export interface TestReset {
  resetAt: string;
}

export interface ClockMove {
  /** The clock stays before the year 9000. */
  advanceSeconds: number;
}

export interface TestFund {
  currency: 'VES' | 'COP' | 'USDT';
  /** Positive, with exactly the decimals of its currency: two of VES and USDT, none of COP. */
  amount: Amount;
  /** Whether it is held for 24 hours. */
  held?: boolean | null;
  /** A seller whose balance gets it; VES alone. */
  merchantId?: string | null;
  /**
   * Whether the amount is taken away again instead: from what is available, which may go below zero. Neither with
   * `held` nor with `merchantId`.
   */
  takeBack?: boolean | null;
}

export interface OpenedTestAccount {
  testKey: OpenedTestAccountTestKey;
}

export interface OpenedTestAccountTestKey {
  keyId: string;
  key: string;
}

export interface Rejection {
  reason?: string | null;
}

export interface StartVerificationResult {
  payoutMethodId: string;
  status: 'verifying' | 'rejected' | 'unverified' | (string & {});
  attemptsLeft?: number;
  /**
   * `BE01` when the bank says that the holder is somebody else. Another code with `unverified`: the bank made no
   * deposits; `order_unfit` when it cannot be given these data, as for a phone without the document of its owner.
   */
  failureCode?: string;
  action?: 'payout_method_deleted';
}

export interface StartPayoutAccountVerificationResult {
  status: 'verifying' | 'rejected' | 'unverified' | (string & {});
  attemptsLeft?: number;
  /**
   * `BE01` when the bank says that the holder is somebody else. Another code with `unverified`: the bank made no
   * deposits; `order_unfit` when it cannot be given these data, as for a phone without the document of its owner.
   */
  failureCode?: string;
  action?: 'payout_account_deleted';
}

export interface DeleteProductResult {
  deleted: boolean;
  id: string;
}

export interface DeletePaymentLinkResult {
  deleted: boolean;
  id: string;
}

export interface DeleteWebhookResult {
  deleted: boolean;
  id: string;
}

export interface GetHealthResult {
  status: 'ok';
}

export interface GetReadinessResult {
  status: 'ready';
}

export interface PaymentReversedData3 {
  paymentId: string;
  externalRef: string;
  /** The number of this payment among those under its `externalRef`, from 1. */
  attempt: number;
  status: 'REVERSED';
  method: string;
  usdAmount: DecimalString;
  vesAmount: DecimalString;
  bcvRate: DecimalString;
  feeVes: DecimalString | null;
  netVes: DecimalString | null;
  cardLast4: string | null;
  reversedAt: string;
  reversalRef: string | null;
  reversalType: 'reversal' | 'chargeback' | (string & {});
  chargebackId?: string;
  chargebacks: PaymentChargeback[];
  createdAt: string;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
}

export interface PayoutCompletedData {
  payoutId: string;
  object: 'payout';
  kind: 'merchant' | 'instant' | 'credit' | 'account' | 'change' | (string & {});
  status: 'pending' | 'completed' | 'failed' | (string & {});
  /** The bank's reference; null while pending. */
  reference: string | null;
  /** The bank's code, when it failed. */
  failureCode: string | null;
  externalRef: string;
  batchId: string | null;
  merchantId: string | null;
  payoutMethodId: string | null;
  merchantName: string | null;
  /** Of change: the payment. */
  paymentId: string | null;
  monto: DecimalString;
  feeVes: DecimalString;
  concepto: string;
  /** Four digits; see `GET /v1/banks`. */
  bankCode: string;
  /** Masked: an ellipsis and the last four digits. */
  destination: string;
  fromMerchantBalance: boolean;
  /** While the bank is being asked; see `GET /v1/payments/operations/{id}`. */
  operationId: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  settledAt: string | null;
  currency: 'VES';
}

export interface PayoutCompletedData2 {
  id: string;
  /** Equal to `id`. */
  payoutId: string;
  object: 'cop_payout';
  status: 'pending' | 'completed' | 'failed' | (string & {});
  reference: string | null;
  failureCode: string | null;
  externalRef: string;
  amountCop: DecimalString;
  currency: 'COP';
  bank: string;
  /** Masked. */
  accountNumber: string;
  accountType: 'savings' | 'checking' | 'wallet' | (string & {});
  holderName: string;
  documentType: 'CC' | 'CE' | 'TI' | 'NIT' | 'PP' | (string & {});
  /** Masked. */
  documentNumber: string;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  settledAt: string | null;
}

export interface PayoutCompletedData3 {
  id: string;
  object: 'crypto_payout';
  status: 'pending_review' | 'processing' | 'completed' | 'failed' | 'rejected' | (string & {});
  amountUsdt: DecimalString;
  networkFeeUsdt: DecimalString;
  totalUsdt: DecimalString;
  address: string;
  network: 'TRC20' | 'ERC20' | 'BEP20' | 'POLYGON' | (string & {});
  txHash: string | null;
  externalRef: string;
  failureCode: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  completedAt: string | null;
  payoutId: string;
  currency: 'USDT';
}

export interface PayoutFailedData {
  payoutId: string;
  object: 'payout';
  kind: 'merchant' | 'instant' | 'credit' | 'account' | 'change' | (string & {});
  status: 'pending' | 'completed' | 'failed' | (string & {});
  /** The bank's reference; null while pending. */
  reference: string | null;
  /** The bank's code, when it failed. */
  failureCode: string | null;
  externalRef: string;
  batchId: string | null;
  merchantId: string | null;
  payoutMethodId: string | null;
  merchantName: string | null;
  /** Of change: the payment. */
  paymentId: string | null;
  monto: DecimalString;
  feeVes: DecimalString;
  concepto: string;
  /** Four digits; see `GET /v1/banks`. */
  bankCode: string;
  /** Masked: an ellipsis and the last four digits. */
  destination: string;
  fromMerchantBalance: boolean;
  /** While the bank is being asked; see `GET /v1/payments/operations/{id}`. */
  operationId: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  settledAt: string | null;
  currency: 'VES';
}

export interface PayoutFailedData2 {
  id: string;
  /** Equal to `id`. */
  payoutId: string;
  object: 'cop_payout';
  status: 'pending' | 'completed' | 'failed' | (string & {});
  reference: string | null;
  failureCode: string | null;
  externalRef: string;
  amountCop: DecimalString;
  currency: 'COP';
  bank: string;
  /** Masked. */
  accountNumber: string;
  accountType: 'savings' | 'checking' | 'wallet' | (string & {});
  holderName: string;
  documentType: 'CC' | 'CE' | 'TI' | 'NIT' | 'PP' | (string & {});
  /** Masked. */
  documentNumber: string;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  settledAt: string | null;
}

export interface PayoutFailedData3 {
  id: string;
  object: 'crypto_payout';
  status: 'pending_review' | 'processing' | 'completed' | 'failed' | 'rejected' | (string & {});
  amountUsdt: DecimalString;
  networkFeeUsdt: DecimalString;
  totalUsdt: DecimalString;
  address: string;
  network: 'TRC20' | 'ERC20' | 'BEP20' | 'POLYGON' | (string & {});
  txHash: string | null;
  externalRef: string;
  failureCode: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  completedAt: string | null;
  payoutId: string;
  currency: 'USDT';
}

export interface MerchantRejectedData {
  merchantId: string;
  object: 'merchant';
  externalRef: string;
  name: string | null;
  identification: string | null;
  contactEmail: string | null;
  contactPhone: string | null;
  /** `shell`: no method; `verified`: at least one verified; `rejected`: the bank rejected the last one. */
  status: 'shell' | 'unverified' | 'verified' | 'rejected' | (string & {});
  isActive: boolean;
  payoutMethods: PayoutMethod[];
  /** Says so when no payout method exists. */
  message: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
  createdAt: string;
  updatedAt: string;
  payoutMethodId: string;
  failureCode: string | null;
  reason: string;
  action: 'payout_method_deleted';
}

export interface MerchantBalanceUpdatedData {
  merchantId: string;
  externalRef: string;
  pendingVes: DecimalString;
  availableVes: DecimalString;
  pendingCop?: DecimalString;
  availableCop?: DecimalString;
  pendingUsdt?: DecimalString;
  availableUsdt?: DecimalString;
  reason: 'sale' | 'release' | 'reversal' | (string & {});
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
}

export interface TenantLiveStatusChangedData {
  tenantId: string;
  status: 'inactive' | 'active' | 'suspended' | (string & {});
  previousStatus: 'inactive' | 'active' | 'suspended' | (string & {});
  reason: string | null;
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
}

export interface TestResetData {
  /** Whether real money moves: false under a test key. */
  livemode: boolean;
}

export interface PaymentsListParams {
  status?: 'PENDING' | 'COMPLETED' | 'FAILED' | 'CANCELED' | 'REVERSED';
  method?: 'C2P' | 'VPOS' | 'DEBIT' | 'PAGO_MOVIL' | 'COP' | 'USDT';
  /** All attempts under this reference. */
  externalRef?: string;
  /** As the payment shows it, whole. */
  bankReference?: string;
  /** Of the checkout session, or of the payment in pesos. */
  reference?: string;
  /** The seller. */
  merchantId?: string;
  /** Made at this instant or later. */
  from?: string | Date;
  /** Made before this instant. */
  to?: string | Date;
  /** Of this amount or more, in its own currency. */
  minAmount?: Amount;
  /** Of this amount or less, in its own currency. */
  maxAmount?: Amount;
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface PaymentsGetReceiptParams {
  /** `es` if missing. */
  lang?: 'es' | 'en';
}

export interface BalanceGetParams {
  /** A moment of the past; what had happened until then, inclusive. */
  at?: string | Date;
}

export interface BalanceListMovementsParams {
  type?: readonly ('payment' | 'fee' | 'fee_reversal' | 'reversal' | 'chargeback' | 'chargeback_fee' | 'chargeback_reversal' | 'payout' | 'payout_fee' | 'payout_reversal' | 'adjustment' | 'seller_transfer' | 'seller_transfer_reversal' | 'conversion' | 'conversion_reversal' | 'PLATFORM_FEE' | 'deposit')[];
  paymentId?: string;
  payoutId?: string;
  /** Inclusive. */
  from?: string | Date;
  /** Exclusive. */
  to?: string | Date;
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface StatementsGetParams {
  currency: 'VES' | 'COP' | 'USDT';
  /** The first day. */
  from: string;
  /** The last day; 400 days at most. Days to come are left out. */
  to: string;
}

export interface MerchantsListParams {
  status?: 'shell' | 'unverified' | 'verified' | 'rejected';
  isActive?: boolean;
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface MerchantsListMovementsParams {
  type?: readonly ('payment' | 'fee' | 'fee_reversal' | 'reversal' | 'chargeback' | 'chargeback_fee' | 'chargeback_reversal' | 'payout' | 'payout_fee' | 'payout_reversal' | 'adjustment' | 'seller_transfer' | 'seller_transfer_reversal' | 'conversion' | 'conversion_reversal' | 'PLATFORM_FEE' | 'deposit')[];
  paymentId?: string;
  payoutId?: string;
  /** Inclusive. */
  from?: string | Date;
  /** Exclusive. */
  to?: string | Date;
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface MerchantsGetStatementParams {
  currency: 'VES' | 'COP';
  /** The first day. */
  from: string;
  /** The last day; 400 days at most. Days to come are left out. */
  to: string;
}

export interface PayoutsListParams {
  status?: 'pending' | 'completed' | 'failed';
  kind?: 'merchant' | 'instant' | 'credit' | 'account' | 'change';
  /** The seller who is paid. */
  merchantId?: string;
  externalRef?: string;
  /** Made at this instant or later. */
  from?: string | Date;
  /** Made before this instant. */
  to?: string | Date;
  /** Of this amount or more, in its own currency. */
  minAmount?: Amount;
  /** Of this amount or less, in its own currency. */
  maxAmount?: Amount;
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface ChargebacksListParams {
  status?: 'open' | 'won' | 'lost';
  /** Made at this instant or later. */
  from?: string | Date;
  /** Made before this instant. */
  to?: string | Date;
  /** Of this amount or more, in its own currency. */
  minAmount?: Amount;
  /** Of this amount or less, in its own currency. */
  maxAmount?: Amount;
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface ConversionsListParams {
  status?: 'PENDING' | 'COMPLETED' | 'CANCELED';
  sourceCurrency?: 'VES' | 'COP';
  /** Made at this instant or later. */
  from?: string | Date;
  /** Made before this instant. */
  to?: string | Date;
  /** Of this amount or more, in its own currency. */
  minAmount?: Amount;
  /** Of this amount or less, in its own currency. */
  maxAmount?: Amount;
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface UsdtListMovementsParams {
  type?: readonly ('payment' | 'fee' | 'fee_reversal' | 'reversal' | 'chargeback' | 'chargeback_fee' | 'chargeback_reversal' | 'payout' | 'payout_fee' | 'payout_reversal' | 'adjustment' | 'seller_transfer' | 'seller_transfer_reversal' | 'conversion' | 'conversion_reversal' | 'PLATFORM_FEE' | 'deposit')[];
  paymentId?: string;
  payoutId?: string;
  /** Inclusive. */
  from?: string | Date;
  /** Exclusive. */
  to?: string | Date;
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface UsdtListPayoutsParams {
  status?: 'pending_review' | 'processing' | 'completed' | 'failed' | 'rejected';
  /** Made at this instant or later. */
  from?: string | Date;
  /** Made before this instant. */
  to?: string | Date;
  /** Of this amount or more, in its own currency. */
  minAmount?: Amount;
  /** Of this amount or less, in its own currency. */
  maxAmount?: Amount;
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface CopListMovementsParams {
  type?: readonly ('payment' | 'fee' | 'fee_reversal' | 'reversal' | 'chargeback' | 'chargeback_fee' | 'chargeback_reversal' | 'payout' | 'payout_fee' | 'payout_reversal' | 'adjustment' | 'seller_transfer' | 'seller_transfer_reversal' | 'conversion' | 'conversion_reversal' | 'PLATFORM_FEE' | 'deposit')[];
  paymentId?: string;
  payoutId?: string;
  /** Inclusive. */
  from?: string | Date;
  /** Exclusive. */
  to?: string | Date;
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface CopListPayoutsParams {
  status?: 'pending' | 'completed' | 'failed';
  /** Made at this instant or later. */
  from?: string | Date;
  /** Made before this instant. */
  to?: string | Date;
  /** Of this amount or more, in its own currency. */
  minAmount?: Amount;
  /** Of this amount or less, in its own currency. */
  maxAmount?: Amount;
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface ProductsListParams {
  active?: boolean;
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface CheckoutSessionsListParams {
  status?: 'open' | 'paid' | 'expired';
  reference?: string;
  /** Made at this instant or later. */
  from?: string | Date;
  /** Made before this instant. */
  to?: string | Date;
  /** Of this amount or more, in its own currency. */
  minAmount?: Amount;
  /** Of this amount or less, in its own currency. */
  maxAmount?: Amount;
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface CheckoutPageGetStateParams {
  /** A payment of this session: the answer then says how that stands too. */
  attempt?: string;
}

export interface EventsListParams {
  /** The last sequence that you know; 0 is the beginning. */
  after?: number;
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface WebhooksListDeliveriesParams {
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface KeysRevokeParams {
  /** Whether all keys that came in its place are revoked too. */
  successors?: boolean;
}

export interface ApprovalsListParams {
  status?: 'awaiting_approval' | 'approved' | 'rejected' | 'expired';
  /** Items on a page. */
  limit?: number;
  /** The `nextCursor` of the page before, with the same filters. */
  cursor?: string;
}

export interface ReferenceGetIdempotencyKeyParams {
  /** The path that the key was used on, if it was used on several; otherwise the newest use is shown. */
  path?: string;
}

export interface FindingSearchParams {
  /** Whether documents and phones are looked for, which counts; yes if missing. */
  people?: boolean;
}

export interface RatesGetLatestRateParams {
  /** BASE/QUOTE, such as USD/VES. */
  pair?: string;
  /** `p2p`, the market, or `bcv`, the official one. Without it the freshest of all. */
  source?: string;
  /** `p2p_floor` selects the floor of the market. */
  method?: string;
  /** `BUY`, `SELL`, `FLOOR` or `OFFICIAL`. */
  side?: string;
}

export interface RatesGetRateHistoryParams {
  /** BASE/QUOTE, such as USD/VES. */
  pair?: string;
  source?: string;
  /** `BUY`, `SELL`, `FLOOR` or `OFFICIAL`. */
  side?: string;
  /** Not beside `startDate`. */
  days?: number;
  startDate?: string | Date;
  endDate?: string | Date;
  /** Single samples if missing. `auto`: samples up to 1 day, hours up to 14 days, days beyond. */
  interval?: 'hour' | 'day' | 'auto';
  aggregation?: 'avg' | 'min' | 'max' | 'first' | 'last';
  sort?: 'asc' | 'desc';
  limit?: number;
}

export interface RatesGetWithdrawalFeeScheduleParams {
  /** The tenant whose fee policy applies; the server's own if missing. */
  xTenantId?: string;
}

export interface RatesEstimateWithdrawalFeeParams {
  method?: 'PAGO_MOVIL' | 'CRYPTO_WALLET' | 'ACH' | 'PAYPAL';
  /** Of a wallet: TRC20, ERC20, BEP20 or POLYGON; TRC20 if missing. */
  network?: string;
  asset?: 'USDT' | 'USDC';
  /** The tenant whose fee policy applies; the server's own if missing. */
  xTenantId?: string;
}

export interface RatesGetPagoMovilQuoteParams {
  /** With `1` or `true` the full fee of the policy is counted, without waivers. */
  calculator?: '1' | 'true' | '0' | 'false';
  /** The tenant whose fee policy applies; the server's own if missing. */
  xTenantId?: string;
}

/** The data of each event, by its name. */
export interface EventData {
  /** A quote was accepted, or a conversion began by itself. */
  'conversion.created': Conversion;
  /** The USDT is there. */
  'conversion.completed': Conversion;
  /** A conversion was canceled, or could not be fulfilled. */
  'conversion.canceled': Conversion;
  /** USDT arrived at a wallet. */
  'crypto_payout.completed': CryptoPayout;
  /** A USDT payout failed or was rejected; the money is back. */
  'crypto_payout.failed': CryptoPayout;
  /** A customer's deposit was credited. */
  'crypto_deposit.completed': CryptoDeposit;
  /** A payment completed. */
  'payment.completed': Payment | CopPaymentEvent;
  /** A payment failed; failureCode says why. */
  'payment.failed': Payment | CopPaymentEvent;
  /** An intent was superseded or expired, or a payment in pesos was canceled. */
  'payment.canceled': Payment | CopPaymentEvent;
  /** A payment went back. */
  'payment.reversed': Payment | CopPaymentEvent | PaymentReversedData3;
  /** The bank of a cardholder took money back. */
  'payment.chargeback': ChargebackEvent;
  /** A dispute is decided. */
  'payment.chargeback_closed': ChargebackEvent;
  /** A payout is paid. */
  'payout.completed': PayoutCompletedData | PayoutCompletedData2 | PayoutCompletedData3;
  /** A payout failed; the money is back. */
  'payout.failed': PayoutFailedData | PayoutFailedData2 | PayoutFailedData3;
  /** A payout method is verified. */
  'merchant.verified': MerchantEvent;
  /** The bank says that a payout method is somebody else's; it is deleted. */
  'merchant.rejected': MerchantRejectedData;
  /** A merchant was deactivated. */
  'merchant.deactivated': MerchantEvent;
  /** A merchant was activated again. */
  'merchant.reactivated': MerchantEvent;
  /** A seller's sale was credited, released or reversed. */
  'merchant.balance.updated': MerchantBalanceUpdatedData;
  /** The operator changed what the live key may do. */
  'tenant.live_status_changed': TenantLiveStatusChangedData;
  /** The data of test mode began anew; no event of before is listed. */
  'test.reset': TestResetData;
  /** Sent by `webhooks.sendTestNotification`; it is no event. */
  'notification.test': Record<string, unknown>;
}
