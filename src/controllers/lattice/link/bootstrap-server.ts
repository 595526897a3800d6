import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type Clock, isConflict } from '../../../machinery/index.ts';
import { type CertificateAndKey, parseCsr } from '../../../pki/index.ts';
import type { Logger } from '../../../runtime/index.ts';
import { agentCertificate, hashOfKey, isForAgent } from './authority.ts';
import { type Enrolment, judgeToken, type TokenVerdict } from './enrolment.ts';
import { MessageTooLargeError, readMessage } from './json-body.ts';
import { listen } from './listen.ts';
import { agentOrganization, linkTimes } from './names.ts';

export interface BootstrapServerOptions {
  readonly host: string;
  readonly port: number;
  readonly authority: CertificateAndKey;
  readonly serving: CertificateAndKey;
  readonly clock: Clock;
  readonly log: Logger;
  /** enrollment of a cluster; called for unauthenticated requests, so it must be cheap */
  enrolmentOf(cluster: string): Promise<Enrolment | undefined>;
  /** recorded before the certificate is sent */
  use(cluster: string, keyHash: string, token: string): Promise<TokenVerdict>;
  /** manifests that make a cluster manage itself, as YAML */
  manifests(cluster: string, token: string): Promise<string>;
}

export interface BootstrapServer {
  readonly port: number;
  setCertificate(serving: CertificateAndKey): void;
  close(): Promise<void>;
}

const maxConnections = 512;
const pathPattern = /^\/api\/clusters\/([a-z0-9][a-z0-9.-]{0,62})\/(manifests|csr)$/;

class Refused extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const refusals: Readonly<Record<Exclude<TokenVerdict, 'good'>, readonly [code: number, message: string]>> = {
  unknown: [401, 'the token is not good for this cluster'],
  expired: [401, 'the token has expired; the annotation lattice.dev/new-token on the LatticeCluster makes another'],
  used: [409, 'the token was used already; the annotation lattice.dev/new-token on the LatticeCluster makes another'],
};

/** Serves clusters that have a token what they need to dial. */
export async function startBootstrapServer(options: BootstrapServerOptions): Promise<BootstrapServer> {
  const { authority, serving, clock, log } = options;

  const answer = async (request: IncomingMessage): Promise<{ type: string; body: string }> => {
    const [, cluster = '', what] = pathPattern.exec((request.url ?? '').split('?', 1)[0] ?? '') ?? [];
    if (what === undefined) throw new Refused(404, 'there is nothing here');
    if (request.method !== (what === 'csr' ? 'POST' : 'GET')) throw new Refused(405, 'this method does nothing here');
    const token = /^Bearer ([\w-]{1,128})$/.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) throw new Refused(401, 'a bearer token is needed');
    return what === 'csr'
      ? { type: 'application/x-pem-file', body: await certificateFor(cluster, token, await readMessage(request)) }
      : { type: 'application/yaml', body: await manifestsFor(cluster, token) };
  };

  const insist = (verdict: TokenVerdict): void => {
    if (verdict !== 'good') throw new Refused(...refusals[verdict]);
  };

  const manifestsFor = async (cluster: string, token: string): Promise<string> => {
    insist(judgeToken(await options.enrolmentOf(cluster), { token, nowMs: clock.now() }));
    return await options.manifests(cluster, token);
  };

  const certificateFor = async (cluster: string, token: string, pem: string): Promise<string> => {
    // check the token first: an unauthenticated request must not cost a signature
    if (judgeToken(await options.enrolmentOf(cluster), { token, nowMs: clock.now() }) === 'unknown') insist('unknown');
    const csr = await parseCsr(pem).catch(() => {
      throw new Refused(400, 'the body is no signing request');
    });
    if (!isForAgent(csr, cluster)) {
      throw new Refused(403, `the request is to be for CN=${cluster}, O=${agentOrganization} and nothing else`);
    }
    insist(await options.use(cluster, hashOfKey(csr.publicKey), token));
    log.info('A cluster got its certificate', { cluster });
    return agentCertificate(authority, csr, clock);
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const { type, body } = await answer(request);
      response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
    } catch (error) {
      const code = codeOf(error);
      if (code === 500) log.error('A request of a cluster failed', { error });
      if (response.headersSent || response.destroyed) return;
      const message = code === 500 || !(error instanceof Error) ? 'internal error' : error.message;
      // close the connection: an unread body would be parsed as the next request
      response.writeHead(code, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify({ error: message }));
    }
  };

  const server = createServer(
    {
      cert: serving.certificate,
      key: serving.privateKey,
      minVersion: 'TLSv1.2',
      requestTimeout: linkTimes.connectMs,
      headersTimeout: linkTimes.connectMs / 2,
      handshakeTimeout: linkTimes.connectMs,
      keepAliveTimeout: 5_000,
      connectionsCheckingInterval: 2_000,
    },
    (request, response) => void serve(request, response),
  );
  server.maxConnections = maxConnections;
  server.on('tlsClientError', (error) => log.debug('A cluster did not get through', { error }));
  const port = await listen(server, options, '--bootstrap-listen');
  return {
    port,
    setCertificate: ({ certificate, privateKey }) => server.setSecureContext({ cert: certificate, key: privateKey }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function codeOf(error: unknown): number {
  if (error instanceof Refused) return error.code;
  if (error instanceof MessageTooLargeError) return 413;
  // concurrent use of a token: one caller must retry
  return isConflict(error) ? 409 : 500;
}
