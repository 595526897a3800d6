import { createServer, type TLSSocket } from 'node:tls';
import { type Clock, errorMessage } from '../../../machinery/index.ts';
import type { CertificateAndKey } from '../../../pki/index.ts';
import type { Logger } from '../../../runtime/index.ts';
import { hashOfKey } from './authority.ts';
import { listen } from './listen.ts';
import { agentOrganization, agentProtocol, linkTimes } from './names.ts';
import { Session } from './session.ts';

export interface AgentServerOptions {
  readonly host: string;
  readonly port: number;
  readonly authority: CertificateAndKey;
  readonly serving: CertificateAndKey;
  /** uid of the parent's kube-system namespace */
  readonly parent: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** hash of the key that authenticates a cluster; undefined if a cluster of that name may not dial */
  keyOf(cluster: string): Promise<string | undefined>;
  /** a session was opened, accepted or lost */
  onChange(session: Session): void;
}

/** Server that clusters dial. Security: identity comes from the client certificate alone, never from messages. */
export interface AgentServer {
  readonly port: number;
  session(cluster: string): Session | undefined;
  setCertificate(serving: CertificateAndKey): void;
  close(): Promise<void>;
}

const maxConnections = 4_096;

export async function startAgentServer(options: AgentServerOptions): Promise<AgentServer> {
  const { authority, serving, parent, clock, log, keyOf, onChange } = options;
  const sessions = new Map<string, Session>();

  const accept = async (socket: TLSSocket): Promise<void> => {
    const known = identityOf(socket);
    if (known === undefined || socket.alpnProtocol !== agentProtocol) return void socket.destroy();
    const { cluster, keyHash } = known;
    // do not buffer data of an unauthenticated client
    socket.pause();
    const wanted = await keyOf(cluster);
    if (socket.destroyed) return;
    const session: Session = new Session(socket, {
      cluster,
      keyHash,
      parent,
      clock,
      onChange: () => {
        if (sessions.get(cluster) !== session) return;
        if (!session.isOpen && socket.destroyed) sessions.delete(cluster);
        onChange(session);
      },
    });
    if (wanted !== keyHash) {
      log.info('An agent was not let in', { cluster });
      const reason =
        wanted === undefined
          ? `this parent has no LatticeCluster ${cluster}`
          : 'another certificate has taken the place of this one';
      return await session.refuse(reason);
    }
    // a cluster that dials again has lost its old stream
    const before = sessions.get(cluster);
    sessions.set(cluster, session);
    before?.close();
    session.start();
  };

  const server = createServer(
    {
      cert: serving.certificate,
      key: serving.privateKey,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.3',
      ALPNProtocols: [agentProtocol],
      handshakeTimeout: linkTimes.connectMs,
    },
    (socket) => {
      socket.on('error', () => {});
      socket.setKeepAlive(true, linkTimes.heartbeatMs);
      accept(socket).catch((error: unknown) => {
        socket.destroy();
        log.warn('An agent could not be let in', { problem: errorMessage(error) });
      });
    },
  );
  server.maxConnections = maxConnections;
  server.on('tlsClientError', (error) => log.debug('An agent did not get through', { error }));
  const port = await listen(server, options, '--agent-listen');
  return {
    port,
    session: (cluster) => sessions.get(cluster),
    setCertificate: ({ certificate, privateKey }) =>
      server.setSecureContext({ cert: certificate, key: privateKey, ca: authority.certificate }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of sessions.values()) session.close();
      }),
  };
}

/** Reads the identity from the client certificate, which this parent's CA has signed. */
function identityOf(socket: TLSSocket): { cluster: string; keyHash: string } | undefined {
  const shown = socket.getPeerX509Certificate();
  if (!socket.authorized || shown === undefined) return undefined;
  const { CN, O } = socket.getPeerCertificate().subject;
  if (typeof CN !== 'string' || O !== agentOrganization) return undefined;
  return { cluster: CN, keyHash: hashOfKey(shown.publicKey) };
}
