<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

/** What the data of an event is, by the event's name: kinds of Json. */
final class EventData
{
    public const KINDS = [
        'conversion.created' => '@Conversion',
        'conversion.completed' => '@Conversion',
        'conversion.canceled' => '@Conversion',
        'crypto_payout.completed' => '@CryptoPayout',
        'crypto_payout.failed' => '@CryptoPayout',
        'crypto_deposit.completed' => '@CryptoDeposit',
        'payment.completed' => '@Payment|CopPaymentEvent',
        'payment.failed' => '@Payment|CopPaymentEvent',
        'payment.canceled' => '@Payment|CopPaymentEvent',
        'payment.reversed' => '@Payment|CopPaymentEvent|PaymentReversedData3',
        'payment.chargeback' => '@ChargebackEvent',
        'payment.chargeback_closed' => '@ChargebackEvent',
        'payout.completed' => '@PayoutCompletedData|PayoutCompletedData2|PayoutCompletedData3',
        'payout.failed' => '@PayoutFailedData|PayoutFailedData2|PayoutFailedData3',
        'merchant.verified' => '@MerchantEvent',
        'merchant.rejected' => '@MerchantRejectedData',
        'merchant.deactivated' => '@MerchantEvent',
        'merchant.reactivated' => '@MerchantEvent',
        'merchant.balance.updated' => '@MerchantBalanceUpdatedData',
        'tenant.live_status_changed' => '@TenantLiveStatusChangedData',
        'test.reset' => '@TestResetData',
    ];
}
