import { connect, createServer, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { Namespaces, Secrets } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { type Clock, ignoreNotFound, ManualClock, seededRandom, systemClock } from '../../../machinery/index.ts';
import { nullLogger } from '../../../runtime/index.ts';
import { type MemoryClient, memoryClient } from '../../../runtime/testkit/index.ts';
import { Agent } from '../link/agent.ts';
import { type AgentServer, startAgentServer } from '../link/agent-server.ts';
import { ensureAuthority, serverCertificate } from '../link/authority.ts';
import { type BootstrapServer, startBootstrapServer } from '../link/bootstrap-server.ts';
import { enrolmentOf, judgeToken, keepToken, newToken, readEnrolment, useToken } from '../link/enrolment.ts';
import { enrolmentKey } from '../link/names.ts';
import type { ParentConfig } from '../link/parent-config.ts';
import type { Session } from '../link/session.ts';

const signal = new AbortController().signal;
const host = '127.0.0.1';

export const parentUid = 'uid-of-the-parent';

/** Endpoints of a parent on loopback, and clusters that dial them. Their API echoes. */
export interface LinkWorld {
  readonly parent: MemoryClient;
  readonly bootstrap: BootstrapServer;
  readonly agents: AgentServer;
  readonly authority: string;
  /** creates a token and returns the cluster's config */
  invite(cluster: string, clock?: Clock): Promise<ParentConfig>;
  /** agent in a cluster */
  agent(options?: { ownParent?: string; clock?: Clock; child?: Client }): { agent: Agent; child: Client };
  stop(): Promise<void>;
}

/** Builds a clock with a constant offset. */
export function clockOff(ms: number): Clock {
  return {
    now: () => systemClock.now() + ms,
    monotonic: () => systemClock.monotonic(),
    after: (delay, callback) => systemClock.after(delay, callback),
  };
}

export async function createLinkWorld(onChange: (session: Session) => void = () => {}): Promise<LinkWorld> {
  const parent = newClient();
  const clock = systemClock;
  const authority = await ensureAuthority(parent, clock, signal);
  const serving = await serverCertificate(authority, [host], clock);
  const common = { authority, serving, clock, log: nullLogger, host, port: 0 };
  const bootstrap = await startBootstrapServer({
    ...common,
    enrolmentOf: async (cluster) => enrolmentOf(cached.get(cluster)),
    async use(cluster, keyHash, token) {
      const enrolment = await readEnrolment(parent, cluster, signal);
      const verdict = judgeToken(enrolment, { token, keyHash, nowMs: clock.now() });
      if (verdict === 'good' && enrolment) await useToken(parent, cluster, { enrolment, keyHash, signal });
      return verdict;
    },
    manifests: async (cluster) => `kind: LatticeCluster\nname: ${cluster}\n`,
  });
  const cached = new Map<string, Awaited<ReturnType<typeof parent.get<never>>>>();
  const agents = await startAgentServer({
    ...common,
    parent: parentUid,
    keyOf: async (cluster) => (await readEnrolment(parent, cluster, signal))?.keyHash,
    onChange,
  });
  const echo = await echoServer();
  const running: Agent[] = [];
  return {
    parent,
    bootstrap,
    agents,
    authority: authority.certificate,
    async invite(cluster, madeBy = clock) {
      const token = newToken();
      await keepToken(parent, cluster, { token, nowMs: madeBy.now(), signal });
      const secret = await parent.get(Secrets, enrolmentKey(cluster)).catch(ignoreNotFound);
      cached.set(cluster, secret as never);
      return {
        host,
        bootstrapPort: bootstrap.port,
        agentPort: agents.port,
        authority: authority.certificate,
        cluster,
        parent: parentUid,
        token,
      };
    },
    agent({ ownParent, clock: own = clock, child = newClient() } = {}) {
      const agent = new Agent({
        client: child,
        clock: own,
        random: seededRandom(3),
        log: nullLogger,
        dials: {
          parent: async (to, port) => await opened(to, port),
          api: () => opened(host, (echo.address() as { port: number }).port),
        },
        ownParent: () => ownParent,
        onChange: () => {},
      });
      running.push(agent);
      return { agent, child };
    },
    async stop() {
      for (const agent of running) agent.stop();
      await Promise.all([bootstrap.close(), agents.close()]);
      await new Promise((resolve) => echo.close(resolve));
    },
  };
}

function newClient(): MemoryClient {
  const client = memoryClient({ clock: new ManualClock(0), random: seededRandom(5) });
  for (const name of ['kube-system', 'lattice-system']) {
    client.seed(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  return client;
}

function opened(to: string, port: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, to);
    socket.once('error', reject).once('connect', () => resolve(socket));
  });
}

function echoServer(): Promise<Server> {
  const server = createServer((socket) => void socket.on('error', () => {}).pipe(socket));
  return new Promise((resolve) => {
    server.listen(0, host, () => resolve(server));
  });
}
