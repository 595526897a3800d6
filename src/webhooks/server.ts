import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { CapstanError, errorMessage, type JsonObject, jsonText, parseJson } from '../machinery/index.ts';
import type { CertificateAndKey } from '../pki/index.ts';
import type { Logger } from '../runtime/index.ts';
import { type AdmissionOptions, mutate, validate } from './admission.ts';
import { admissionReviewOf, parseAdmissionReview } from './admission-review.ts';
import { webhookPaths } from './configurations.ts';
import { convertReview } from './conversion-review.ts';
import { BadReviewError } from './review.ts';

export interface WebhookServerOptions extends AdmissionOptions {
  host: string;
  /** 0 chooses a free port */
  port: number;
  certificate: CertificateAndKey;
  log: Logger;
}

export interface WebhookServer {
  readonly port: number;
  /** for new connections */
  setCertificate(certificate: CertificateAndKey): void;
  /** stops accepting and waits for running reviews, up to the deadline */
  close(deadlineMs: number): Promise<void>;
}

const mebibyte = 1024 * 1024;
/** An API server accepts objects of up to 3 MiB, and a review may contain two. */
const maxAdmissionBytes = 8 * mebibyte;
/** A list in an old version is one review. */
const maxConversionBytes = 64 * mebibyte;
/** total size of bodies being read */
const maxBytesInFlight = 128 * mebibyte;
const requestTimeoutMs = 30_000;
const headersTimeoutMs = 10_000;

/** A request answered with a code other than 200. */
class RefusedRequest extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { log, clock } = options;
  let bytesInFlight = 0;

  const readBody = async (request: IncomingMessage, limit: number): Promise<unknown> => {
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        size += chunk.length;
        bytesInFlight += chunk.length;
        if (size > limit) throw new RefusedRequest(413, `a review may have ${limit} bytes here`);
        if (bytesInFlight > maxBytesInFlight) throw new RefusedRequest(503, 'too many reviews at once');
        chunks.push(chunk);
      }
    } finally {
      bytesInFlight -= size;
    }
    try {
      return parseJson(Buffer.concat(chunks, size).toString('utf8'));
    } catch (error) {
      throw new RefusedRequest(400, `the body is no review: ${errorMessage(error)}`);
    }
  };

  const review = async (request: IncomingMessage): Promise<JsonObject> => {
    const path = (request.url ?? '').split('?', 1)[0];
    if (request.method !== 'POST') throw new RefusedRequest(405, 'reviews are posted');
    switch (path) {
      case webhookPaths.mutate:
      case webhookPaths.validate: {
        const asked = parseAdmissionReview(await readBody(request, maxAdmissionBytes));
        const answer = path === webhookPaths.mutate ? mutate : validate;
        return admissionReviewOf(asked, await answer(asked, options));
      }
      case webhookPaths.convert:
        return await convertReview(await readBody(request, maxConversionBytes), options.kinds, giveWay);
      default:
        throw new RefusedRequest(404, 'there is no such webhook');
    }
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const body = jsonText(await review(request));
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
        .end(body);
    } catch (error) {
      const code = error instanceof RefusedRequest ? error.code : error instanceof BadReviewError ? 400 : 500;
      if (code === 500) log.error('A review failed', { path: request.url, error });
      if (response.headersSent || response.destroyed) return;
      // An unread body would be parsed as the next request.
      response.writeHead(code, { 'content-type': 'text/plain', connection: 'close' });
      response.end(code === 500 ? 'internal error' : errorMessage(error));
    }
  };

  const server = createServer(
    {
      cert: options.certificate.certificate,
      key: options.certificate.privateKey,
      minVersion: 'TLSv1.2',
      requestTimeout: requestTimeoutMs,
      headersTimeout: headersTimeoutMs,
      keepAliveTimeout: 90_000,
      connectionsCheckingInterval: 5000,
    },
    (request, response) => void answer(request, response),
  );
  server.on('tlsClientError', (error) => log.debug('A client of the webhooks did not get through', { error }));
  await bind(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    setCertificate: ({ certificate, privateKey }) => server.setSecureContext({ cert: certificate, key: privateKey }),
    async close(deadlineMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const cancel = clock.after(deadlineMs, () => server.closeAllConnections());
      await closed;
      cancel();
    },
  };
}

/** Yields to other work. */
function giveWay(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function bind(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new CapstanError('CAP_LISTEN_FAILED', `the webhooks cannot listen on ${host}:${port}: ${errorMessage(cause)}`, {
          hint: 'choose another port with --webhook-port; 0 takes a free one',
          cause,
        }),
      ),
    );
    server.listen(port, host, () => resolve());
  });
}
