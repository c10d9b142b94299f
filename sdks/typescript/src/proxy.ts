/** A `fetch` through a proxy, over Node's own http: as much of it as this library needs. Node's global one has no setting for a proxy. */

import http from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import * as shared from './generated/shared.js';

/** The code of an error that says: the proxy opened no tunnel, so nothing was sent. */
export const NO_TUNNEL = 'PROXY_NO_TUNNEL';

/** Makes a request of Node's own. */
export type Requester = (url: URL, options: http.RequestOptions) => http.ClientRequest;

export const direct: Requester = (url, options) => (url.protocol === 'https:' ? https : http).request(url, options);

/** https goes through a tunnel that the proxy opens; http is asked of the proxy itself. Connections are kept. */
export function through(address: string): Requester {
  const proxy = proxyOf(address);
  const [plain, secure] = [new http.Agent({ keepAlive: true, timeout: IDLE_MS }), new TunnelAgent(proxy)];
  return (url, options) => {
    if (url.protocol === 'https:') return https.request(url, { ...options, agent: secure, opening: options.signal } as https.RequestOptions);
    const headers = { ...(options.headers as Record<string, string>), host: url.host, ...proxy.headers };
    return http.request({ ...options, agent: plain, host: proxy.host, port: proxy.port, path: url.href, headers });
  };
}

export function proxied(requested: Requester): typeof fetch {
  return (input, init = {}) => {
    const url = new URL(String(input));
    const headers = { ...(init.headers as Record<string, string>) };
    const method = init.method ?? 'GET';
    // Without a length Node would send a write without a body in chunks.
    if (init.body === undefined && method !== 'GET') headers['content-length'] = '0';
    const options = { method, headers, ...(init.signal ? { signal: init.signal } : {}) };
    return new Promise((resolve, reject) => {
      // A request without a connection yet is not ended by its signal: nobody would wait for the tunnel any less.
      const give = () => reject(request.socket ? init.signal?.reason : noTunnel(shared.TOOK_TOO_LONG));
      init.signal?.addEventListener('abort', give, { once: true });
      const request = requested(url, options);
      request.on('error', reject).on('response', (response) => {
        const parts: Uint8Array[] = [];
        response.on('error', reject).on('data', (part: Uint8Array) => parts.push(part)).on('end', () => resolve(answerOf(response, Buffer.concat(parts))));
      });
      request.end(init.body as string | undefined);
    });
  };
}

/** The gateway closes a connection after 75 idle seconds. */
const IDLE_MS = 45_000;

interface Proxy {
  host: string;
  port: number;
  headers: Record<string, string>;
}

function proxyOf(address: string): Proxy {
  const { protocol, hostname, port, username, password, pathname, search, hash } = parsed(address);
  if (protocol !== 'http:' || !hostname || pathname !== '/' || search || hash) throw new TypeError(shared.PROXY);
  const user = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80), headers: username ? { 'proxy-authorization': `Basic ${user}` } : {} };
}

/** Node 18 has no `URL.canParse` at first, and what `new URL` throws quotes the address with its password. */
function parsed(address: string): URL {
  try {
    return new URL(address);
  } catch {
    return {} as URL;
  }
}

/** The error that says that nothing was sent. */
function noTunnel(reason: unknown): Error {
  return Object.assign(new Error(shared.NO_TUNNEL(String(reason))), { code: NO_TUNNEL });
}

/** What ends the opening of a tunnel: an agent is not told of a request's own `signal`. */
interface Opening {
  opening?: AbortSignal | null;
}

/** Connections through tunnels of a proxy. */
class TunnelAgent extends https.Agent {
  constructor(private readonly proxy: Proxy) {
    super({ keepAlive: true, timeout: IDLE_MS });
  }

  override createConnection(options: https.RequestOptions, done?: (error: Error | null, socket: tls.TLSSocket) => void): undefined {
    const { host, port, headers } = this.proxy;
    const target = `${options.host?.includes(':') ? `[${options.host}]` : options.host}:${options.port}`;
    const fail = (reason: unknown) => done?.(noTunnel(reason), undefined as never);
    const { opening } = options as Opening;
    http
      .request({ host, port, method: 'CONNECT', path: target, headers: { ...headers, host: target }, agent: false, ...(opening ? { signal: opening } : {}) })
      .on('connect', (response, socket) => {
        if (response.statusCode === 200) done?.(null, tls.connect({ ...(options as tls.ConnectionOptions), socket }));
        else { socket.destroy(); fail(response.statusCode); }
      })
      .on('error', (error: NodeJS.ErrnoException) => fail(error.code))
      .end();
    return undefined;
  }
}

function answerOf(response: http.IncomingMessage, body: Uint8Array<ArrayBuffer>): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) headers.set(name, [value ?? ''].flat().join(', '));
  const status = response.statusCode ?? 502;
  return new Response([204, 205, 304].includes(status) ? null : body, { status, headers });
}
