import { expect } from 'vitest';
import type { OpenStackShell } from '../../../e2e/openstack-command/openstack-shell.ts';
import { eventually } from '../../../support/eventually.ts';

const available = { status: 'available' };

/** Resources of another owner in the project, which must not be touched. */
export interface Foreign {
  readonly keyName: string;
  /** returns all their details, to compare before and after */
  look(): Promise<Record<string, unknown>>;
}

/** Resource kind of the openstack command, and id. */
export type Belonging = readonly [kind: string, id: string];

/** Creates a resource with the openstack command and returns its id. */
export async function make(openstack: OpenStackShell, ...args: string[]): Promise<string> {
  return (await openstack.json<{ id: string }>(...args)).id;
}

/** Returns all details of resources, as shown by the openstack command. */
export async function look(openstack: OpenStackShell, things: readonly Belonging[]): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  for (const [kind, id] of things) seen[`${kind} ${id}`] = await openstack.json(...kind.split(' '), 'show', id);
  return seen;
}

/** Creates one resource of each kind with the names that the cluster's resources will have. */
export async function makeForeign(openstack: OpenStackShell, namespace: string, cluster: string): Promise<Foreign> {
  const base = `${namespace}-${cluster}`;
  const keyName = `${namespace}-key`;
  // Without a given key it creates one and prints the private key.
  await openstack.run('keypair', 'create', keyName);
  const networkName = `k8s-clusterapi-cluster-${base}`;
  const network = await make(openstack, 'network', 'create', networkName);
  const range = ['--network', network, '--subnet-range', '192.0.2.0/24'];
  const subnet = await make(openstack, 'subnet', 'create', networkName, ...range);
  const router = await make(openstack, 'router', 'create', networkName);
  const group = await make(openstack, 'security', 'group', 'create', `k8s-cluster-${base}-secgroup-worker`);
  const floatingIp = await make(openstack, 'floating', 'ip', 'create', 'public');
  const port = await make(openstack, 'port', 'create', `${cluster}-0`, '--network', network);
  const volume = await make(openstack, 'volume', 'create', `${cluster}-root`, '--size', '1');
  // A volume changes while it is being created.
  await eventually(async () => expect(await openstack.json('volume', 'show', volume)).toMatchObject(available), 60_000);
  const things: readonly Belonging[] = [
    ['volume', volume],
    ['port', port],
    ['floating ip', floatingIp],
    ['security group', group],
    ['router', router],
    ['subnet', subnet],
    ['network', network],
    ['keypair', keyName],
  ];
  return { keyName, look: () => look(openstack, things) };
}
