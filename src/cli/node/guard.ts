import { join } from 'node:path';
import { Leases, Nodes, SubjectAccessReviews, type Taint } from '../../api/index.ts';
import type { UserInfo } from '../../apiserver/index.ts';
import type { Client } from '../../client/index.ts';
import {
  CapstanError,
  type Clock,
  errorMessage,
  ignoreNotFound,
  isForbidden,
  isNotFound,
  type Random,
} from '../../machinery/index.ts';
import { readIfPresent, writeFileAtomic } from '../../pki/index.ts';
import { simulatedLabels } from '../../podhost/index.ts';

const [simulatedLabel = ''] = Object.keys(simulatedLabels);

/** Returns the machine id of the node in this directory, which persists across restarts. */
export async function machineIdIn(directory: string, random: Random): Promise<string> {
  const file = join(directory, 'machine-id');
  const known = (await readIfPresent(file))?.trim();
  if (known) return known;
  const id = random.uuid().replaceAll('-', '');
  await writeFileAtomic(file, `${id}\n`, 0o644);
  return id;
}

/** Throws if the node exists: a real one, or a simulated one that is still alive elsewhere. */
export async function refuseTaken(
  administrator: Client,
  node: { name: string; machineId: string },
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const { name, machineId } = node;
  const found = await administrator.get(Nodes, { name }, { signal }).catch(ignoreNotFound);
  if (!found) return;
  if (found.metadata.labels?.[simulatedLabel] !== 'true') {
    throw new CapstanError(
      'CAP_NODE_REFUSED',
      `there is a node ${name} in that Kubernetes, and it is not a simulated one`,
      {
        hint: 'choose another name with --name',
      },
    );
  }
  if (found.status?.nodeInfo?.machineID === machineId) return;
  const lease = await administrator
    .get(Leases, { namespace: 'kube-node-lease', name }, { signal })
    .catch(ignoreNotFound);
  const { renewTime, leaseDurationSeconds = 0 } = lease?.spec ?? {};
  if (clock.now() > Date.parse(renewTime ?? '') + leaseDurationSeconds * 1000 || renewTime === undefined) return;
  throw new CapstanError(
    'CAP_NODE_REFUSED',
    `node ${name} is run by another program, which renewed its lease at ${renewTime}`,
    {
      hint: `choose another name with --name, or wait ${leaseDurationSeconds} s after that program has ended`,
    },
  );
}

/** Returns taints that keep Pods of real nodes away from simulated nodes, where they would only appear to run. */
export async function usualTaints(administrator: Client, signal: AbortSignal): Promise<Taint[]> {
  const { items } = await administrator.list(Nodes, { signal });
  const hasReal = items.some(({ metadata }) => metadata.labels?.[simulatedLabel] !== 'true');
  return hasReal ? [{ key: simulatedLabel, value: 'true', effect: 'NoSchedule' }] : [];
}

/** Throws early if the account for volumes lacks permissions, because Pods would wait for them forever. */
export async function requireRights(administrator: Client, account: UserInfo, signal: AbortSignal): Promise<void> {
  const review = await administrator.create(
    SubjectAccessReviews,
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: {
        user: account.name,
        groups: [...account.groups],
        resourceAttributes: { verb: 'create', resource: 'persistentvolumes' },
      },
    },
    { fieldManager: 'capstan', signal },
  );
  if (review.status?.allowed === true) return;
  throw new CapstanError('CAP_NODE_REFUSED', 'the account of simulated nodes has no permissions in that Kubernetes', {
    hint: 'start once with --install, or apply what `capstan node --simulated --install --dry-run` prints',
  });
}

/** Requires the Node authorizer, which grants nodes their permissions and which nearly every Kubernetes has. */
export async function requireNodeAuthorizer(node: Client, name: string, signal: AbortSignal): Promise<void> {
  try {
    await node.get(Nodes, { name }, { signal });
  } catch (error) {
    if (isNotFound(error)) return;
    if (!isForbidden(error)) throw error;
    throw new CapstanError(
      'CAP_NODE_REFUSED',
      `that Kubernetes does not let nodes read themselves: ${errorMessage(error)}`,
      {
        hint: 'start its API server with --authorization-mode=Node,RBAC, and use a kubeconfig that may impersonate nodes',
        cause: error,
      },
    );
  }
}
