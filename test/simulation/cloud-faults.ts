import { Clusters, Machines } from '../../src/api/index.ts';
import { collect } from '../../src/openstack/index.ts';
import type { FaultEffect, FaultRule } from '../../src/simulator/index.ts';
import { type Story, type Teller, tell } from './actions.ts';
import type { ClusterSpec } from './cluster-manifests.ts';

/** Faults of requests; with some of them the work is done. */
const requestFaults: readonly FaultEffect[] = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 503 },
  { kind: 'status', status: 429, retryAfter: 2 },
  { kind: 'reset', workDone: false },
  { kind: 'reset', workDone: true },
  { kind: 'gateway-timeout' },
  { kind: 'hang', workDone: true, holdMs: 90_000 },
  { kind: 'latency', ms: [50, 3_000] },
  { kind: 'expired-token' },
];

/** Injects faults into the cloud. Each kind occurs randomly until it is removed. */
export function injectCloudFaults(story: Teller): void {
  const { system, random } = story;
  for (const [index, effect] of requestFaults.entries()) {
    if (random.next() < 0.5) continue;
    const rule: FaultRule = {
      id: `fault-${index}`,
      // The observer of the simulation is an administrator without faults.
      when: { project: 'demo' },
      probability: 0.01 + random.next() * 0.06,
      seed: Math.floor(random.next() * 2 ** 31),
      effect,
    };
    system.cloud.operator.faults.set(rule);
    tell(story, `fault: ${JSON.stringify(effect)} in ${((rule.probability ?? 1) * 100).toFixed(0)} % of requests`);
  }
  if (random.next() < 0.4) {
    const message = 'No valid host was found. There are not enough hosts available.';
    system.cloud.operator.faults.set({
      id: 'no-host',
      when: { operation: 'server.build', project: 'demo' },
      count: 1,
      effect: { kind: 'error', message },
    });
    tell(story, 'fault: one server finds no host');
  }
  if (system.line && random.next() < 0.7) {
    system.faults.probability = 0.01 + random.next() * 0.05;
    tell(story, `fault: of ${(system.faults.probability * 100).toFixed(0)} % of requests to the management API`);
  }
}

export function clearCloudFaults(story: Teller): void {
  story.system.cloud.operator.faults.clear();
  story.system.faults.probability = 0;
  tell(story, 'no more faults');
}

/** A fault of the installation, with its target already chosen. */
export interface InjectedFault {
  readonly what: string;
  land(): void | Promise<void>;
}

/** Injects faults of single resources, caused by people or hardware without a request to the controllers. */
export async function strike(story: Story): Promise<void> {
  const blows = [
    ...onControllers(story),
    ...(await onServers(story)),
    ...(await onControlPlanes(story)),
    ...(await onAddresses(story)),
    ...(await onRules(story)),
    ...(await onQuota(story)),
  ];
  await injectFaultWith(story, blows[Math.floor(story.random.next() * blows.length)]!);
}

export async function injectFaultWith(story: Teller, { what, land }: InjectedFault): Promise<void> {
  tell(story, what);
  try {
    await land();
  } catch (error) {
    tell(story, `  (it was too late for that: ${error instanceof Error ? error.message : String(error)})`);
  }
}

export function onControllers(story: Teller): InjectedFault[] {
  const { system } = story;
  const { faults } = system;
  return [
    { what: 'the controllers crash', land: () => system.crashSoon(40) },
    { what: 'the controllers crash later', land: () => system.crashSoon(200) },
    {
      what: 'the management API loses some answers and refuses some writes for a while',
      land() {
        faults.probability = 0.05;
        system.clock.after(30_000, () => {
          faults.probability = 0;
        });
      },
    },
    ...(system.line
      ? [
          {
            what: 'the management API restarts',
            land: () => system.line?.restart(1_000 + story.random.next() * 20_000),
          },
        ]
      : []),
    {
      what: 'all tokens end',
      land: async () => system.cloud.operator.expireTokens(await system.tenant.projectId()),
    },
  ];
}

async function onServers(story: Story): Promise<InjectedFault[]> {
  const { system, specs } = story;
  const { operator } = system.cloud;
  const servers = await collect(system.admin.compute.servers.list({ allTenants: true }));
  const ownerOf = (server: string): ClusterSpec | undefined =>
    specs.find(({ name }) => server.startsWith(`${name}-md-`));
  return servers
    .filter(({ name }) => ownerOf(name) !== undefined)
    .slice(0, 2)
    .flatMap(({ id, name }) => [
      { what: `worker ${name} is deleted in the cloud`, land: () => operator.deleteServer(id) },
      // A stopped machine is replaced only with a health check.
      ...(ownerOf(name)?.healthCheck === true
        ? [{ what: `worker ${name} is stopped in the cloud`, land: () => operator.stopServer(id) }]
        : []),
    ]);
}

/** Faults of control planes: one of three machines is lost, but never a second one, which would lose the quorum. */
async function onControlPlanes(story: Story): Promise<InjectedFault[]> {
  const { system, specs } = story;
  if (story.hasLostControlPlane) return [];
  const { items } = await system.client.list(Machines, {});
  return specs.flatMap(({ name, controlPlanes }) => {
    const own = items.filter(
      ({ metadata, spec }) =>
        spec.clusterName === name && metadata.labels?.['cluster.x-k8s.io/control-plane'] !== undefined,
    );
    const isWhole =
      own.length === 3 &&
      own.every(({ metadata, status }) => !metadata.deletionTimestamp && status?.phase === 'Running');
    const id = own[0]?.spec.providerID?.split('/').at(-1);
    if (controlPlanes !== 3 || !isWhole || id === undefined) return [];
    const land = (): void => {
      story.hasLostControlPlane = true;
      system.cloud.operator.deleteServer(id);
    };
    return [{ what: `control plane machine ${own[0]?.metadata.name} is deleted in the cloud`, land }];
  });
}

/** A detached address must return to its port. */
async function onAddresses(story: Story): Promise<InjectedFault[]> {
  const { system, specs } = story;
  const floating = await collect(system.admin.network.floatingIps.list());
  const { items } = await system.client.list(Clusters, {});
  return items.flatMap(({ metadata, spec }) => {
    const host = spec.controlPlaneEndpoint?.host;
    const one = floating.find(({ address, portId }) => address === host && portId !== undefined);
    if (!one || !specs.some(({ name }) => name === metadata.name)) return [];
    const what = `somebody takes ${host} from the control plane of ${metadata.name}`;
    return [{ what, land: () => system.cloud.operator.moveFloatingIp(one.id, null) }];
  });
}

/** Deleted security group rules and router interfaces must be recreated. */
async function onRules({ system }: Story): Promise<InjectedFault[]> {
  const groups = await collect(system.admin.network.securityGroups.list());
  const blows = groups
    .filter(({ name }) => name.startsWith('k8s-cluster-'))
    .slice(0, 1)
    .map(({ id, name }) => ({
      what: `somebody deletes a rule of ${name}`,
      async land() {
        const [rule] = await collect(system.admin.network.securityGroupRules.list({ securityGroupId: id }));
        if (rule) await system.admin.network.securityGroupRules.delete(rule.id);
      },
    }));
  return blows;
}

async function onQuota({ system }: Story): Promise<InjectedFault[]> {
  const project = await system.tenant.projectId();
  const { operator } = system.cloud;
  return [
    {
      what: 'there is no more quota for servers and ports, for two minutes',
      land() {
        operator.setQuota('compute', project, { instances: 0 });
        operator.setQuota('network', project, { port: 0 });
        system.clock.after(120_000, () => {
          operator.setQuota('compute', project, { instances: 1_000 });
          operator.setQuota('network', project, { port: 10_000 });
        });
      },
    },
  ];
}
