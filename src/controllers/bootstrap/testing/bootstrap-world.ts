import { parse } from 'yaml';
import { type Machine, Machines, type Secret, Secrets } from '../../../api/index.ts';
import { type KubeObject, ManualClock, type Resource } from '../../../machinery/index.ts';
import { createAuthority } from '../../../pki/index.ts';
import { controlPlaneLabel } from '../../shared/index.ts';
import { FakeMachines, infrastructureGroup } from '../../testing/provider-kinds.ts';
import { by, createCluster, createWorld, type World, type WorldOptions } from '../../testing/world.ts';
import { setupBootstrapControllers } from '../setup.ts';

// Test world with the bootstrap controllers, and helpers for its tests.

export const minute = 60_000;
export const hour: number = 60 * minute;
/** World of the running test; set by `start`. */
export let world: World;

export async function start(options: WorldOptions & { tokenTtlMs?: number } = {}): Promise<void> {
  const { tokenTtlMs, ...rest } = options;
  const more = { ...(tokenTtlMs !== undefined && { tokenTtlMs }) };
  world = await createWorld({
    ...rest,
    extend: (manager, given) => setupBootstrapControllers(manager, { ...given, ...more }),
  });
}

/** Starts a world with a cluster that machines can join. */
export async function startJoinable(options: Parameters<typeof start>[0] = {}): Promise<Secret> {
  await start(options);
  await createCluster(world);
  return bringAuthority();
}

export interface BootstrapMachineSpec<T extends KubeObject> {
  resource: Resource<T>;
  config: T;
  controlPlane?: boolean;
  version?: string;
}

/** Creates a machine with a configuration and infrastructure of the same name. */
export async function createMachineWith<T extends KubeObject>(
  name: string,
  { resource, config, controlPlane, version }: BootstrapMachineSpec<T>,
): Promise<void> {
  const { client, namespace } = world;
  const labels = { 'cluster.x-k8s.io/cluster-name': 'c1', ...(controlPlane && { [controlPlaneLabel]: '' }) };
  await client.create(resource, config, by);
  await client.create(
    FakeMachines,
    { apiVersion: `${infrastructureGroup}/v1`, kind: 'FakeMachine', metadata: { name, namespace }, spec: {} },
    by,
  );
  await client.create(
    Machines,
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Machine',
      metadata: { name, namespace, labels },
      spec: {
        clusterName: 'c1',
        ...(version !== undefined && { version }),
        bootstrap: { configRef: { apiGroup: resource.group, kind: resource.kind, name } },
        infrastructureRef: { apiGroup: infrastructureGroup, kind: 'FakeMachine', name },
      },
    },
    by,
  );
}

/** Stores a CA as an external control plane provider would. */
export async function bringAuthority(data: Record<string, string> | undefined = undefined): Promise<Secret> {
  const pair = await createAuthority({ commonName: 'kubernetes', clock: new ManualClock() });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return world.client.create(
    Secrets,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'c1-ca', namespace: world.namespace },
      type: 'Opaque',
      data: data ?? { 'tls.crt': base64(pair.certificate), 'tls.key': base64(pair.privateKey) },
    },
    by,
  );
}

export const machine = async (name: string): Promise<Machine> => (await world.find(Machines, name))!;
export const textOf = (secret: Secret | undefined, key: string): string =>
  Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8');

export async function userData(name: string): Promise<string> {
  return textOf(await world.find(Secrets, name), 'value');
}

export async function fileOf(name: string, path: string): Promise<string | undefined> {
  const { write_files: files } = parse(await userData(name)) as { write_files: { path: string; content: string }[] };
  return files.find((file) => file.path === path)?.content;
}

export async function tokens(): Promise<Secret[]> {
  const { items } = await world.workload.list(Secrets, { namespace: 'kube-system' });
  return items.filter(({ type }) => type === 'bootstrap.kubernetes.io/token');
}
