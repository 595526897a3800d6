import { PersistentVolumeClaims } from '../../../../api/index.ts';
import { claimName, type EtcdMember, type EtcdStep, maxEtcdMembers, memberName } from '../../../../hosting/index.ts';
import type { Verdict } from '../../../shared/index.ts';
import { problemOfSet } from '../sets.ts';
import type { EtcdReport } from '../types.ts';
import type { EtcdScope } from './drive.ts';
import type { EtcdAnswers, EtcdSight } from './observe.ts';

// Condition texts of an etcd.

/** Returns the verdict about an etcd and what it waits for. */
export function verdictOf(seen: {
  step: EtcdStep;
  sight: EtcdSight;
  answers: EtcdAnswers;
  isRunning: boolean;
  isAsleep: boolean;
  wanted: number;
  unbound: string | undefined;
}): Verdict {
  const { step, sight, answers, wanted } = seen;
  if (seen.isAsleep && step.kind === 'wait') return { status: 'False', reason: step.reason, message: step.message };
  if (seen.isAsleep) return { status: 'True', reason: 'Hibernated', message: 'etcd hibernates; its volumes are kept' };
  if (seen.isRunning) return { status: 'True', reason: 'Available' };
  const problem = sight.set && problemOfSet(sight.set);
  const ready = sight.pods.filter((pod) => pod.ready).length;
  const details = [seen.unbound ?? problem, ...answers.problems.slice(0, 1)]
    .filter((text) => text !== undefined)
    .join('; ');
  const suffix = details === '' ? '' : `; ${details}`;
  if (step.kind === 'wait') return { status: 'False', reason: step.reason, message: `${step.message}${suffix}` };
  return {
    status: 'False',
    reason: 'EtcdNotReady',
    message: `${ready} of ${wanted} members of etcd are ready${suffix}`,
  };
}

/** Finds a claim that is not bound. Its member stays pending, and the Pod does not report the reason. */
export function unboundClaim({ context, desired }: EtcdScope): string | undefined {
  for (let index = 0; index < maxEtcdMembers; index++) {
    const key = {
      namespace: desired.identity.namespace,
      name: claimName(desired.naming, memberName(desired.naming, index)),
    };
    const claim = context.cache.lister(PersistentVolumeClaims).get(key);
    if (claim?.status?.phase !== 'Pending') continue;
    const { storageClassName } = claim.spec ?? {};
    const why =
      (storageClassName ?? '') === ''
        ? 'no StorageClass is the default one; name one for the volumes of etcd, or make one the default'
        : `StorageClass ${storageClassName} has not made a volume; look at the events of the claim`;
    return `PersistentVolumeClaim ${key.name} is not bound: ${why}`;
  }
  return undefined;
}

export function reportOf(
  scope: EtcdScope,
  sight: EtcdSight,
  members: readonly EtcdMember[],
  isServing: boolean,
): EtcdReport {
  const largest = (of: (member: EtcdMember) => number | undefined): number | undefined => {
    const sizes = members.map(of).filter((size) => size !== undefined);
    return sizes.length === 0 ? undefined : Math.max(...sizes);
  };
  const dbSizeBytes = largest(({ dbSize }) => dbSize);
  const dbSizeInUseBytes = largest(({ dbSizeInUse }) => dbSizeInUse);
  const version = members
    .map((member) => member.version)
    .filter((text) => text !== undefined)
    .sort()[0];
  const { cache } = scope.context;
  const { namespace } = scope.desired.identity;
  const [first] = sight.claims.keys();
  const claim =
    first === undefined
      ? undefined
      : cache.lister(PersistentVolumeClaims).get({ namespace, name: claimName(scope.desired.naming, first) });
  const volumeSize = claim?.status?.capacity?.['storage'] ?? claim?.spec?.resources?.requests?.['storage'];
  return {
    members: members.length,
    ready: sight.pods.filter(({ ready }) => ready).length,
    hasQuorum: isServing,
    ...(version !== undefined && { version }),
    ...(dbSizeBytes !== undefined && { dbSizeBytes }),
    ...(dbSizeInUseBytes !== undefined && { dbSizeInUseBytes }),
    ...(volumeSize !== undefined && { volumeSize }),
    ...(scope.lastDefragmentedMs !== undefined && { lastDefragmentationMs: scope.lastDefragmentedMs }),
  };
}
