/** What can go wrong, as classes. Programs branch on the class, or on `code`, never on the message. */

/** The root of everything that this library throws by itself, misuse aside. */
export class PasarelaError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A delivery that is not from the gateway, was changed on its way, or was not sent just now. Answer it with 400 and do nothing. */
export class SignatureError extends PasarelaError {}

/**
 * No whole answer came: the address is wrong, the network is down, or it took too long. `outcomeUnknown` says whether
 * the request may have been carried out. Then do not guess: call again with the same `idempotencyKey`, or ask
 * `client.reference.getIdempotencyKey`.
 */
export class ConnectionFailed extends PasarelaError {
  readonly outcomeUnknown: boolean;
  readonly idempotencyKey: string | undefined;
  /** Why no answer came, such as `no answer: ECONNREFUSED`. */
  readonly reason: string;

  constructor(message: string, about: { outcomeUnknown: boolean; idempotencyKey: string | undefined; reason?: string; cause?: unknown }) {
    super(message, { cause: about.cause });
    this.outcomeUnknown = about.outcomeUnknown;
    this.reason = about.reason ?? message;
    this.idempotencyKey = about.idempotencyKey;
  }
}

/** A member of the request that is not right. */
export interface BadField {
  /** Dotted, with index: `card.number`, `items[3].monto`. */
  field: string;
  message: string;
}

export interface Refusal {
  status: number;
  body: unknown;
  requestId: string | undefined;
  retryAfter: number | undefined;
  idempotencyKey: string | undefined;
}

/** The gateway said no. A payment that a bank declined is no error: it is a payment with `status` `"FAILED"`. */
export class ApiError extends PasarelaError {
  readonly status: number;
  /** The stable code, such as `insufficient_balance`. The public calls have none: there it is the text of the status. */
  readonly code: string;
  /** What support needs to find the request. */
  readonly requestId: string | undefined;
  /** The address of the page about the code, of all but the public calls. */
  readonly docs: string | undefined;
  /** Every bad field at once, of `invalid_data`. */
  readonly fields: readonly BadField[];
  /** The fields that differ, of `external_ref_conflict`. */
  readonly differs: readonly string[];
  /** What the reference was used for, of `external_ref_conflict`. */
  readonly existingId: string | undefined;
  /** The whole answer, for members of single codes, such as `availableVes` of `insufficient_balance`. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Seconds after which to ask again, if the gateway said. */
  readonly retryAfter: number | undefined;
  readonly idempotencyKey: string | undefined;

  constructor(refusal: Refusal) {
    const body = (typeof refusal.body === 'object' && refusal.body !== null ? refusal.body : {}) as Record<string, unknown>;
    const code = typeof body['error'] === 'string' ? body['error'] : `http_${refusal.status}`;
    const fields = (Array.isArray(body['fields']) ? body['fields'] : []) as BadField[];
    const differs = (Array.isArray(body['differs']) ? body['differs'] : []) as string[];
    const requestId = refusal.requestId ?? (body['requestId'] as string | undefined);
    const said = [body['message'] ?? `the answer was ${refusal.status}`].flat().join('; ');
    const more = [...fields.map(({ field, message }) => `${field}: ${message}`), ...differs.filter((name) => !said.includes(name)).map((name) => `differs: ${name}`)];
    const text = [said, ...more.filter((one) => !said.includes(one))].join('; '); // nothing twice
    super(`${refusal.status} ${code}: ${text} (request ${requestId})`);
    this.status = refusal.status;
    this.code = code;
    this.requestId = requestId;
    this.docs = body['docs'] as string | undefined;
    this.fields = fields;
    this.differs = differs;
    this.existingId = body['existingId'] as string | undefined;
    this.body = body;
    this.retryAfter = refusal.retryAfter;
    this.idempotencyKey = refusal.idempotencyKey;
  }

  /** Whether the request may have been carried out all the same. Then call again with the same `idempotencyKey`. */
  get outcomeUnknown(): boolean {
    return [500, 502, 504].includes(this.status) || ['storage_unavailable', 'http_503'].includes(this.code);
  }

  /** An error of the class that its status has. */
  static of(refusal: Refusal): ApiError {
    return new (BY_STATUS[refusal.status] ?? (refusal.status >= 500 ? Unavailable : ApiError))(refusal);
  }
}

/** 400, 413 or 415: the request is not right. `fields` names every bad one. */
export class InvalidRequest extends ApiError {}
/** 401: no key, an unknown, revoked or expired one. */
export class Unauthorized extends ApiError {}
/** 403: the key or the account may not do this. */
export class Forbidden extends ApiError {}
/** 404: no such object for this key. */
export class NotFound extends ApiError {}
/** 409 or 410: it is not as the request supposes. Of `external_ref_conflict`, `differs` and `existingId` say more. */
export class Conflict extends ApiError {}
/** 422: a rule says no, such as `insufficient_balance`. */
export class Refused extends ApiError {}
/** 429: too much at once; nothing was done. */
export class RateLimited extends ApiError {}
/** 500 and above. `outcomeUnknown` says whether it may have happened. */
export class Unavailable extends ApiError {}

const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidRequest,
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  410: Conflict,
  413: InvalidRequest,
  415: InvalidRequest,
  422: Refused,
  429: RateLimited,
};
