import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { builtinDefinitions, builtinSchema, ownDefinitions, protobufRegistry } from '../api/index.ts';
import {
  type ApiServer,
  type AuditSink,
  createApiServer,
  createAuditor,
  fileAuditSink,
  type Listener,
  loopbackUser,
  type OidcOptions,
  openObjectStore,
  type PodAttacher,
  type PodConnector,
  type PodExecutor,
  type PodLogSource,
  type StoredObject,
  secretSealer,
} from '../apiserver/index.ts';
import { CapstanError, statusError, systemClock, systemRandom } from '../machinery/index.ts';
import { ensureServerPki, type ServerPki } from '../pki/index.ts';
import type { Logger } from '../runtime/index.ts';
import { lmdbEngine, type Store } from '../store/index.ts';
import { renewCertificates } from './certificate-renewal.ts';
import { prepareDataDirectory } from './data-directory.ts';
import { ownAdmission } from './own-admission.ts';
import { refuseHalfRestored } from './recovery/restore.ts';
import { advertisedHost, servingHosts } from './serving-hosts.ts';
import { keptSelector } from './stand-ins/kept-selector.ts';

export interface ManagementApiOptions {
  dataDirectory: string;
  listen: { host: string; port: number };
  /** key file to seal Secrets on disk, outside the data directory */
  encryptionKeyFile: string;
  auditLog?: string;
  serviceCidr?: string;
  /** additional names and addresses of the serving certificate */
  tlsSans?: readonly string[];
  /** paths that may be read without credentials */
  anonymousPaths?: readonly string[];
  /** issuer for user logins */
  oidc?: OidcOptions;
  /** called when the administrator's certificate was renewed */
  onRenewed?(pki: ServerPki): Promise<void>;
  /** whether this process runs Pods; `pods.attach` is called when they are ready */
  runsPods?: boolean;
  log: Logger;
}

/** Connections to Pods of this process. */
export interface PodAccess {
  readonly podLogs: PodLogSource;
  readonly podConnector: PodConnector;
  readonly podExecutor: PodExecutor;
  readonly podAttacher: PodAttacher;
}

export interface ManagementApi {
  server: ApiServer;
  store: Store<StoredObject>;
  pki: ServerPki;
  listener: Listener;
  url: string;
  /** sets the connections once Pods run */
  attachPods(access: PodAccess): void;
  stop(): Promise<void>;
}

const serviceAccountIssuer = 'https://kubernetes.default.svc';

/** Opens the data directory and serves the management API on it. */
export async function startManagementApi(options: ManagementApiOptions): Promise<ManagementApi> {
  const { dataDirectory, log } = options;
  await prepareDataDirectory(dataDirectory);
  await refuseHalfRestored(dataDirectory);
  const engine = await lmdbEngine({ directory: storeDirectory(dataDirectory) });
  const closers: (() => Promise<void>)[] = [() => engine.close()];
  try {
    const { tlsSans = [], listen } = options;
    const ensurePki = (): Promise<ServerPki> =>
      ensureServerPki({
        directory: join(dataDirectory, 'pki'),
        hosts: servingHosts(listen.host, tlsSans),
        clock: systemClock,
      });
    const [pki, sealer] = await Promise.all([ensurePki(), secretSealer({ keyFile: options.encryptionKeyFile })]);
    const store = await openObjectStore({ engine, sealer });
    closers[0] = () => store.close();
    let auditSink: AuditSink | undefined;
    if (options.auditLog !== undefined) {
      const sink = await fileAuditSink({ path: options.auditLog });
      closers.unshift(() => sink.close());
      auditSink = sink;
    }
    let pods: PodAccess | undefined;
    const server: ApiServer = await createApiServer({
      store,
      definitions: [...builtinDefinitions, ...ownDefinitions],
      metaSchema: builtinSchema,
      protobuf: protobufRegistry,
      access: {
        mode: 'RBAC',
        // Without Pods in this process, kubelets may join as nodes.
        nodes: !options.runsPods,
        clientCa: pki.authority.certificate,
        serviceAccounts: { issuer: serviceAccountIssuer, signingKeyPem: pki.serviceAccountKeys.privateKey },
        ...(options.anonymousPaths && { anonymousPaths: options.anonymousPaths }),
        ...(options.oidc && {
          oidc: { ...options.oidc, onError: (message) => log.warn('Sign-in by OIDC does not work', { message }) },
        }),
      },
      ...(auditSink && { auditor: createAuditor({ sink: auditSink, clock: systemClock, random: systemRandom }) }),
      ...(options.serviceCidr !== undefined && { serviceCidr: options.serviceCidr }),
      ...(options.runsPods && podHooks(() => pods)),
      admission: () => [
        ...(options.runsPods ? [keptSelector] : []),
        ...ownAdmission(() => server.localClient(loopbackUser), systemClock),
      ],
      onError: (error, what) => {
        // A bug or disk error, whose report needs the stack trace.
        const stack = error instanceof Error ? error.stack : undefined;
        log.error('Request failed unexpectedly', { what, error, ...(stack !== undefined && { stack }) });
      },
    });
    closers.unshift(() => server.stop());
    const listener = await server.listen({ ...listen, tls: servingTls(pki) });
    const url = `https://${formatHost(advertisedHost(listener.host, tlsSans))}:${listener.port}`;
    const stopRenewal = renewCertificates({
      clock: systemClock,
      log,
      current: pki,
      ensure: ensurePki,
      onRenewed: async (renewed) => {
        Object.assign(pki, { server: renewed.server, admin: renewed.admin });
        server.setCertificate(servingTls(renewed));
        await options.onRenewed?.(renewed);
      },
    });
    closers.unshift(async () => stopRenewal());
    const attachPods = (access: PodAccess): void => {
      pods = access;
    };
    return { server, store, pki, listener, url, attachPods, stop: () => closeAll(closers) };
  } catch (error) {
    await closeAll(closers).catch(() => {});
    throw error;
  }
}

/** The server exists before Pods run; until then, Pods are unreachable. */
function podHooks(access: () => PodAccess | undefined): PodAccess {
  const running = (): PodAccess => {
    const found = access();
    if (!found) throw statusError.serviceUnavailable('the host of pods is still starting');
    return found;
  };
  return {
    podLogs: (pod, options) => running().podLogs(pod, options),
    podConnector: async (pod, port) => running().podConnector(pod, port),
    podExecutor: async (pod, command) => running().podExecutor(pod, command),
    podAttacher: async (pod, session) => running().podAttacher(pod, session),
  };
}

async function closeAll(closers: readonly (() => Promise<void>)[]): Promise<void> {
  for (const close of closers) await close();
}

export function storeDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'store');
}

function servingTls({ server, authority }: ServerPki): { cert: string; key: string; clientCa: string } {
  return { cert: server.certificate, key: server.privateKey, clientCa: authority.certificate };
}

function formatHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** Parses "127.0.0.1:6443", "[::1]:0", ":6443" or a port. */
export function parseListenAddress(text: string, flag = '--listen'): { host: string; port: number } {
  const match = /^(?:(?:\[([^\]]+)\]|([^:[]*)):)?(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || !(port <= 65535)) {
    throw new CapstanError('CAP_USAGE', `${flag}: "${text}" is not an address`, {
      hint: 'write HOST:PORT, for example 127.0.0.1:6443, or 127.0.0.1:0 for a free port',
    });
  }
  const host = match[1] ?? match[2] ?? '';
  return { host: host === '' ? (text.startsWith(':') ? '0.0.0.0' : '127.0.0.1') : host, port };
}

type Environment = Readonly<Record<string, string | undefined>>;

export function defaultDataDirectory(env: Environment): string {
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'capstan');
}

/** Each data directory has a key elsewhere, so that a copy of the directory does not contain the key. */
export function defaultEncryptionKeyFile(env: Environment, dataDirectory: string): string {
  const id = createHash('sha256').update(resolve(dataDirectory)).digest('hex').slice(0, 16);
  return join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'capstan', 'keys', `${id}.key`);
}
