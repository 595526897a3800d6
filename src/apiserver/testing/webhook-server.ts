import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { isJsonObject, type JsonObject, systemClock } from '../../machinery/index.ts';
import { createAuthority, issueCertificate } from '../../pki/index.ts';

/**
 * Response of a test webhook: a body, an HTTP status, no response at all, an endless body, or a body that stops
 * halfway.
 */
export type WebhookAnswer = JsonObject | { httpStatus: number } | 'never' | 'endless' | 'unfinished';

/** A real HTTPS webhook on loopback with its own CA. */
export interface TestWebhook {
  readonly url: string;
  /** base64 PEM, as in webhook configurations */
  readonly caBundle: string;
  /** bodies received, in order */
  readonly received: { path: string; query: string; review: JsonObject }[];
  /** sets the handler of further requests */
  answer(handler: (review: JsonObject, path: string) => WebhookAnswer): void;
  stop(): Promise<void>;
}

export async function startTestWebhook(): Promise<TestWebhook> {
  const authority = await createAuthority({ commonName: 'webhooks', clock: systemClock });
  const leaf = await issueCertificate({
    authority,
    commonName: 'webhook',
    hosts: ['127.0.0.1', 'localhost', 'hook.default.svc'],
    usages: ['server'],
    clock: systemClock,
  });
  const received: TestWebhook['received'] = [];
  let handle: (review: JsonObject, path: string) => WebhookAnswer = () => ({});
  const server = createServer({ cert: leaf.certificate, key: leaf.privateKey }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [path = '', query = ''] = (request.url ?? '').split('?');
      const review = JSON.parse(Buffer.concat(chunks).toString('utf8')) as JsonObject;
      received.push({ path, query, review });
      const answer = handle(review, path);
      if (answer === 'never') return;
      if (answer === 'endless' || answer === 'unfinished') {
        response.writeHead(200, { 'content-type': 'application/json' });
        const piece = ' '.repeat(64 * 1024);
        const more = (): void => {
          while (answer === 'endless' && !response.destroyed && response.write(piece));
        };
        response.write('{');
        response.on('drain', more);
        more();
        return;
      }
      if (typeof answer['httpStatus'] === 'number') {
        response.writeHead(answer['httpStatus']).end('refused');
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    caBundle: Buffer.from(authority.certificate).toString('base64'),
    received,
    answer(handler) {
      received.length = 0;
      handle = handler;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function admissionAnswer(review: JsonObject, response: JsonObject): JsonObject {
  const request = isJsonObject(review['request']) ? review['request'] : {};
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: request['uid'], ...response },
  };
}

/** Builds the response of a mutating webhook with a JSON patch. */
export function patchResponse(operations: object[]): JsonObject {
  return {
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
  };
}
