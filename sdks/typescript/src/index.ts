/** Client of the payments gateway Pasarela. `Pasarela` is where to begin. */

export { Pasarela, type ClientOptions } from './client.js';
export * from './errors.js';
export type * from './generated/models.js';
export { VERSION } from './generated/version.js';
export * as money from './money.js';
export type { Amount, DecimalString } from './money.js';
export { Listing, Page } from './pages.js';
export { waitMs, worthRepeating, POLICY, type Outcome, type Policy } from './retries.js';
export { responseOf, type CallOptions, type DryRunOptions, type KeyedOptions, type LogFields, type Logger, type RawOptions, type ResponseInfo } from './session.js';
export type { StreamCall, StreamCalls, StreamOptions, StreamOutcome } from './streams.js';
export { signWebhook, verifyWebhook, type HeaderSource, type SignOptions, type WebhookEvent, type WebhookOptions } from './webhooks.js';
