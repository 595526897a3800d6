import { isIP } from 'node:net';
import { type LatticeCluster, LatticeClusters, Secrets } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import {
  asJson,
  CapstanError,
  type Clock,
  errorMessage,
  formatTime,
  formatYaml,
  ignoreNotFound,
  isAlreadyExists,
  type KubeObject,
} from '../../../machinery/index.ts';
import { type CertificateAndKey, parseCertificate } from '../../../pki/index.ts';
import type { CacheReader, ExternalSource, Logger, ReconcileContext } from '../../../runtime/index.ts';
import { clusterId, readSecret, type Verdict } from '../../shared/index.ts';
import { latticeFieldManager } from '../names.ts';
import { ensureAccessNamespace } from '../self/access-namespace.ts';
import { objectInside, refuseOtherParent } from '../self/inside.ts';
import { isInside, managesItself } from '../self/stage.ts';
import { type AgentServer, startAgentServer } from './agent-server.ts';
import { ensureAuthority, serverCertificate } from './authority.ts';
import { type BootstrapServer, startBootstrapServer } from './bootstrap-server.ts';
import {
  type Enrolment,
  enrolmentOf,
  forgetEnrolment,
  judgeToken,
  readEnrolment,
  renewToken,
  useToken,
} from './enrolment.ts';
import { endpointsOf, exposeCell, portsOf, unexposeCell } from './exposure.ts';
import { agentCredentialsKey, enrolmentKey, newTokenAnnotation, parentConfigKey } from './names.ts';
import { type CellEndpoint, certificateFacts, configOf, configSecret, credentialsOf } from './parent-config.ts';
import { publishPlace, withdrawPlace } from './place.ts';
import type { Session } from './session.ts';

/** Where this process listens for clusters. */
export interface CellPlace {
  readonly bootstrap: { readonly host: string; readonly port: number };
  readonly agents: { readonly host: string; readonly port: number };
  /** host that clusters dial; default the listen address */
  readonly host?: string;
  /** address of this Pod; clusters then dial a Service */
  readonly podAddress?: string;
  /** ports of the Pod, if different from the listen ports */
  readonly podPorts?: { readonly bootstrap: number; readonly agents: number };
  /** called with the actual ports */
  onListening?(ports: { bootstrap: number; agents: number }): void;
}

export interface CellOptions {
  readonly client: Client;
  readonly cache: CacheReader;
  readonly clock: Clock;
  readonly log: Logger;
  readonly place: CellPlace;
  /** objects of a Capstan installation */
  installation(image: string | undefined, signal: AbortSignal): Promise<readonly KubeObject[]>;
}

interface Open {
  readonly parent: string;
  readonly authority: CertificateAndKey;
  readonly bootstrap: BootstrapServer;
  readonly agents: AgentServer;
  hosts: string;
  certificateEnd: number;
}

/** State of a cluster's link. */
interface Link {
  /** last config sent to the cluster */
  told: string;
  lastHeardAt?: number;
  refusal?: string;
  /** time when the stream was closed because it did not lead to the cluster */
  doubtedAt?: number;
}

const by = { fieldManager: latticeFieldManager };
const renewalMs = 30 * 24 * 3_600_000;
const doubtMs = 60_000;

/** Endpoints of a parent. They exist while it has a self-managed LatticeCluster. */
export class Cell {
  readonly #options: CellOptions;
  readonly #links = new Map<string, Link>();
  readonly #listeners = new Set<(cluster: string) => void>();
  readonly #stop = new AbortController();
  #opening: Promise<Open> | undefined;
  #open: Open | undefined;
  #endpoint: CellEndpoint | undefined;
  #problem: Verdict | undefined;

  constructor(options: CellOptions) {
    this.#options = options;
  }

  /** Enqueues a LatticeCluster when its cluster connects or disconnects. */
  readonly source: ExternalSource = {
    start: ({ enqueue, signal }) => {
      const listener = (name: string): void => enqueue({ name });
      this.#listeners.add(listener);
      signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
    },
  };

  /** Returns the session of a cluster that has accepted it. */
  session(cluster: string): Session | undefined {
    const session = this.#open?.agents.session(cluster);
    return session?.isOpen === true ? session : undefined;
  }

  drop(cluster: string): void {
    this.#open?.agents.session(cluster)?.close();
  }

  /**
   * Closes a stream that does not lead to the cluster; the next request takes another way until the cluster connects
   * again. That happens at once, and finds the same fault if the stream was not the cause, so not every failure closes
   * the stream.
   */
  doubt(cluster: string): void {
    const link = this.#link(cluster);
    const now = this.#options.clock.now();
    if (link.doubtedAt !== undefined && now - link.doubtedAt < doubtMs) return;
    link.doubtedAt = now;
    this.drop(cluster);
  }

  /** Listens and determines the externally reachable host; obstacles are in the verdict. */
  async ensure(context: ReconcileContext): Promise<void> {
    const { client, signal } = context;
    try {
      this.#opening ??= this.#begin();
      const open = await this.#opening;
      const endpoints = endpointsOf(this.#inside());
      const { place } = this.#options;
      const listening = { bootstrap: open.bootstrap.port, agents: open.agents.port };
      const isPod = place.podAddress !== undefined;
      const ports = isPod ? portsOf(endpoints) : listening;
      const host = isPod
        ? await exposeCell(
            client,
            endpoints,
            { address: place.podAddress ?? '', ...(place.podPorts ?? listening) },
            signal,
          )
        : (place.host ?? place.agents.host);
      if (host === undefined) {
        this.#endpoint = undefined;
        this.#problem = {
          status: 'False',
          reason: 'WaitingForEndpoint',
          message: 'Service lattice-system/lattice-cell has no address yet; meanwhile the parent dials the cluster',
        };
        return;
      }
      await this.#certify(open, [host, place.agents.host, place.bootstrap.host]);
      const { authority } = open;
      this.#endpoint = {
        host,
        bootstrapPort: ports.bootstrap,
        agentPort: ports.agents,
        authority: authority.certificate,
      };
      this.#problem = undefined;
      await publishPlace(client, this.#endpoint, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#opening = this.#open === undefined ? undefined : this.#opening;
      this.#endpoint = undefined;
      this.#problem = {
        status: 'False',
        reason: 'NotListening',
        message: `${errorMessage(error)}; meanwhile the parent dials the cluster`,
      };
    }
  }

  /**
   * Sends a cluster the location of its parent, with a token if it has no valid certificate. Uses any available route.
   */
  async enrol(context: ReconcileContext, draft: LatticeCluster, child: Client): Promise<void> {
    const { client, clock, signal } = context;
    const { name = '', annotations = {} } = draft.metadata;
    const endpoint = this.#endpoint;
    const open = this.#open;
    const isWanted = annotations[newTokenAnnotation] !== undefined;
    if (endpoint === undefined || open === undefined) return;
    const link = this.#link(name);
    const telling = JSON.stringify(endpoint);
    if (this.session(name) && link.told === telling && !isWanted) return;
    const { parent } = open;
    const live = await child.get(Secrets, parentConfigKey, { signal }).catch(ignoreNotFound);
    const inside = await child.get(LatticeClusters, { name }, { signal }).catch(ignoreNotFound);
    const known = configOf(live);
    if (inside) await refuseOtherParent(client, inside, signal);
    else if (known !== undefined && known.parent !== parent) throw otherParent(name, known.parent);
    const shown = credentialsOf(await child.get(Secrets, agentCredentialsKey, { signal }).catch(ignoreNotFound));
    const facts = certificateFacts(shown.certificate, endpoint.authority);
    const enrolment = await readEnrolment(client, name, signal);
    const isKnown =
      facts !== undefined && facts.keyHash === enrolment?.keyHash && facts.notAfter - clock.now() > renewalMs;
    let token = known?.token ?? '';
    const isGood = judgeToken(enrolment, { token, nowMs: clock.now() }) === 'good';
    if (isWanted || (!isKnown && !isGood)) {
      ({ token } = await renewToken(client, name, { clock, signal }));
    }
    const wanted = configSecret({ ...endpoint, cluster: name, parent, token });
    if (JSON.stringify(live?.data) !== JSON.stringify(wanted.data)) {
      await ensureAccessNamespace(child, signal);
      if (live) await child.update(Secrets, { ...live, data: wanted.data ?? {} }, { ...by, signal });
      else {
        await child.create(Secrets, wanted, { ...by, signal }).catch((error: unknown) => {
          // created concurrently; the next reconcile reads it
          if (!isAlreadyExists(error)) throw error;
        });
      }
    }
    link.told = telling;
    if (!isWanted) return;
    const { [newTokenAnnotation]: _, ...others } = annotations;
    draft.metadata.annotations = others;
  }

  /** Reports the route to the cluster and when it was last heard from. */
  verdict(name: string): Verdict {
    const session = this.session(name);
    if (session) {
      const { openedAt, skew } = session;
      const clock =
        skew === undefined
          ? ''
          : `; its clock is ${Math.abs(skew)} s ${skew < 0 ? 'behind' : 'ahead'}: set the clocks of its machines`;
      return {
        status: 'True',
        reason: 'Connected',
        message: `the cluster dialled in at ${formatTime(openedAt)}${clock}`,
      };
    }
    if (this.#problem) return this.#problem;
    const link = this.#links.get(name);
    const endpoint = this.#endpoint;
    if (link?.refusal !== undefined) return { status: 'False', reason: 'Refused', message: link.refusal };
    const heard = link?.lastHeardAt;
    if (heard !== undefined) {
      const message = `the cluster was last heard at ${formatTime(heard)}; meanwhile the parent dials it`;
      return { status: 'False', reason: 'Disconnected', message };
    }
    const where = endpoint === undefined ? '' : ` ${shownHost(endpoint.host)}:${endpoint.agentPort}`;
    const hint =
      endpoint !== undefined && isLoopback(endpoint.host)
        ? ', which only simulated machines reach (--agent-listen names another address)'
        : '';
    const message = `waits until the cluster dials${where}${hint}; meanwhile the parent dials the cluster`;
    return { status: 'False', reason: 'WaitingForAgent', message };
  }

  /** Removes a deleted cluster; with the last one, also the endpoints and their Service. */
  async release({ client, cache, signal }: ReconcileContext, name: string): Promise<void> {
    this.drop(name);
    this.#links.delete(name);
    await forgetEnrolment(client, name, signal);
    const others = cache
      .lister(LatticeClusters)
      .list({ filter: (other) => other.metadata.name !== name && managesItself(other) });
    if (others.length > 0) return;
    if (this.#options.place.podAddress !== undefined) await unexposeCell(client, signal);
    await withdrawPlace(client, signal);
    await this.#shut();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#shut();
  }

  async #shut(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    this.#open = undefined;
    this.#endpoint = undefined;
    const open = await opening?.catch(() => undefined);
    await Promise.all([open?.agents.close(), open?.bootstrap.close()]);
  }

  #link(name: string): Link {
    const found = this.#links.get(name) ?? { told: '' };
    this.#links.set(name, found);
    return found;
  }

  #inside(): LatticeCluster | undefined {
    return this.#options.cache.lister(LatticeClusters).list({ filter: isInside })[0];
  }

  /** Not tied to the reconcile that came first, because others wait for the same result. */
  async #begin(): Promise<Open> {
    const { client, cache, clock, log, place } = this.#options;
    const { signal } = this.#stop;
    const parent = await clusterId(client, signal);
    const authority = await ensureAuthority(client, clock, signal);
    const serving = await serverCertificate(authority, [place.agents.host], clock);
    // reads from the cache, so that unauthenticated requests are cheap
    const enrolled = async (cluster: string): Promise<Enrolment | undefined> =>
      cache.lister(LatticeClusters).get({ name: cluster }) &&
      enrolmentOf(await readSecret({ client, cache, signal }, enrolmentKey(cluster)));
    const common = { authority, serving, clock, log };
    const bootstrap = await startBootstrapServer({
      ...common,
      ...place.bootstrap,
      enrolmentOf: enrolled,
      use: async (cluster, keyHash, token) => {
        const enrolment = await readEnrolment(client, cluster, signal);
        const verdict = judgeToken(enrolment, { token, keyHash, nowMs: clock.now() });
        if (verdict !== 'good' || !enrolment) return verdict;
        await useToken(client, cluster, { enrolment, keyHash, signal });
        // a session with the previous key must reconnect with the new certificate
        if (this.#open?.agents.session(cluster)?.keyHash !== keyHash) this.drop(cluster);
        return verdict;
      },
      manifests: (cluster, token) => this.#manifests(cluster, token),
    });
    let agents: AgentServer | undefined;
    try {
      agents = await startAgentServer({
        ...common,
        ...place.agents,
        parent,
        keyOf: async (cluster) => {
          if (cache.lister(LatticeClusters).get({ name: cluster }) === undefined) return undefined;
          return (await readEnrolment(client, cluster, signal))?.keyHash;
        },
        onChange: (session) => this.#changed(session),
      });
      place.onListening?.({ bootstrap: bootstrap.port, agents: agents.port });
    } catch (error) {
      await Promise.all([bootstrap.close(), agents?.close()]);
      throw error;
    }
    log.info('Listening for clusters', { bootstrap: bootstrap.port, agents: agents.port });
    const certificateEnd = parseCertificate(serving.certificate).notAfter;
    this.#open = { parent, authority, bootstrap, agents, hosts: place.agents.host, certificateEnd };
    return this.#open;
  }

  #changed({ cluster, isOpen, lastHeardAt, refusal }: Session): void {
    const link = this.#link(cluster);
    if (refusal !== undefined) link.refusal = refusal;
    else {
      link.lastHeardAt = lastHeardAt;
      if (isOpen) delete link.refusal;
    }
    for (const listener of this.#listeners) listener(cluster);
  }

  async #certify(open: Open, names: readonly string[]): Promise<void> {
    const { clock } = this.#options;
    const unique = [...new Set(names)].filter((name) => name !== '0.0.0.0' && name !== '::');
    const hosts = unique.join(' ');
    if (open.hosts === hosts && open.certificateEnd - clock.now() > renewalMs) return;
    const serving = await serverCertificate(open.authority, unique, clock);
    open.bootstrap.setCertificate(serving);
    open.agents.setCertificate(serving);
    open.hosts = hosts;
    open.certificateEnd = parseCertificate(serving.certificate).notAfter;
  }

  async #manifests(name: string, token: string): Promise<string> {
    const { client, cache, installation } = this.#options;
    const { signal } = this.#stop;
    const cluster = cache.lister(LatticeClusters).get({ name });
    if (cluster === undefined || this.#endpoint === undefined || this.#open === undefined) {
      throw new CapstanError('CAP_LATTICE_LINK', `there is no LatticeCluster ${name}, or no endpoint yet`);
    }
    const { parent } = this.#open;
    const objects: KubeObject[] = [
      ...(await installation(cluster.metadata.annotations?.['lattice.dev/image'], signal)),
      await objectInside(client, cluster, signal),
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: parentConfigKey.namespace } },
      configSecret({ ...this.#endpoint, cluster: name, parent, token }),
    ];
    return objects.map((object) => `---\n${formatYaml(asJson(object))}`).join('');
  }
}

const shownHost = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host);

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');

const otherParent = (name: string, parent: string): CapstanError =>
  new CapstanError(
    'CAP_LATTICE_LINK',
    `cluster ${name} belongs to another parent, whose kube-system has the uid ${parent}`,
    {
      hint: `delete Secret ${parentConfigKey.namespace}/${parentConfigKey.name} in the cluster if that parent is gone`,
    },
  );
