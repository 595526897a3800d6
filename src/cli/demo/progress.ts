import type { ClusterObjects } from '../describe/cluster-objects.ts';
import { type AnyObject, at, numberAt, objectsAt, textAt } from '../describe/fields.ts';

export interface Stage {
  readonly title: string;
  readonly done: boolean;
  /** current state, or what is missing */
  readonly detail: string;
}

/** Computes the stages of a cluster in the usual order. */
export function stagesOf({ cluster, objects }: ClusterObjects): Stage[] {
  const machines = objects.filter(({ kind }) => kind === 'Machine');
  const deployments = objects.filter(({ kind }) => kind === 'MachineDeployment');
  const wanted = sum(deployments, (one) => numberAt(one, 'spec', 'replicas') ?? 1);
  const available = sum(deployments, (one) => numberAt(one, 'status', 'availableReplicas') ?? 0);
  const count = (passes: (machine: AnyObject) => boolean): number => machines.filter(passes).length;
  const counted = (title: string, passes: (machine: AnyObject) => boolean): Stage => ({
    title,
    done: wanted > 0 && count(passes) >= wanted,
    detail: `${count(passes)} of ${wanted}`,
  });
  const host = textAt(cluster, 'spec', 'controlPlaneEndpoint', 'host');
  const port = numberAt(cluster, 'spec', 'controlPlaneEndpoint', 'port');
  return [
    {
      title: 'control plane has an address',
      done: host !== undefined,
      detail: host === undefined ? 'waiting for its Service' : `https://${host}:${port ?? 443}`,
    },
    flag('network and security groups exist', cluster, 'infrastructureProvisioned', 'waiting for OpenStack'),
    flag('control plane answers', cluster, 'controlPlaneInitialized', 'waiting for its Pods'),
    counted('workers have a server', (machine) => textAt(machine, 'spec', 'providerID') !== undefined),
    counted('workers have joined', (machine) => textAt(machine, 'status', 'nodeRef', 'name') !== undefined),
    counted('nodes are Ready', (machine) => hasTrue(machine, 'NodeReady')),
    {
      title: 'all is available',
      done: wanted > 0 && available >= wanted && hasTrue(cluster, 'Available'),
      detail: `${available} of ${wanted} workers`,
    },
  ];
}

export const isComplete = (stages: readonly Stage[]): boolean => stages.every(({ done }) => done);

function flag(title: string, cluster: AnyObject, field: string, missing: string): Stage {
  const done = at(cluster, 'status', 'initialization', field) === true;
  return { title, done, detail: done ? '' : missing };
}

function hasTrue(object: AnyObject, type: string): boolean {
  const conditions = objectsAt(object, 'status', 'conditions') ?? [];
  return conditions.some((one) => textAt(one, 'type') === type && textAt(one, 'status') === 'True');
}

function sum(objects: readonly AnyObject[], value: (object: AnyObject) => number): number {
  return objects.reduce((total, object) => total + value(object), 0);
}
