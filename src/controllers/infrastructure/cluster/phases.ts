import { isOpenStackError } from '../../../openstack/index.ts';
import { dropCondition, setVerdict } from '../../shared/index.ts';
import { notReady, openStackErrorReason, readyVerdict } from '../common/conditions.ts';
import { CloudFault, cloudFaultOf, type Wait } from '../common/outcomes.ts';
import { reconcileBastion } from './bastion.ts';
import { hasBastion } from './desired.ts';
import { reconcileEndpoint } from './endpoint.ts';
import { reconcileExternalNetwork } from './external-network.ts';
import { reconcileFailureDomains } from './failure-domains.ts';
import { reconcileNetwork } from './network.ts';
import { reconcileRouter } from './router.ts';
import { beginToMake, type ClusterScope, statusOf } from './scope.ts';
import { reconcileSecurityGroups } from './security-groups.ts';

interface Phase {
  run(scope: ClusterScope): Promise<Wait | undefined>;
  /** condition that reports the phase */
  readonly condition?: string;
}

/** In order. A phase that waits does not stop the next one; a failed phase does. */
const phases: readonly Phase[] = [
  { run: reconcileExternalNetwork, condition: 'NetworkReady' },
  { run: reconcileNetwork, condition: 'NetworkReady' },
  { run: beginToMake },
  { run: reconcileRouter, condition: 'RouterReady' },
  // before the security groups: the load balancer starts while they are created
  { run: reconcileEndpoint, condition: 'APIEndpointReady' },
  { run: reconcileSecurityGroups, condition: 'SecurityGroupsReady' },
  { run: reconcileFailureDomains },
];

/** Runs all phases of a cluster. Status and conditions are set on the draft. */
export async function runPhases(scope: ClusterScope): Promise<{ wait?: Wait | undefined; fault?: unknown }> {
  const { draft, context } = scope;
  const now = context.clock.now();
  const waits: Wait[] = [];
  for (const phase of phases) {
    const { wait, fault } = await runPhase(scope, phase, now);
    if (fault) {
      setVerdict(draft, 'Ready', notReady(openStackErrorReason, fault.message), now);
      return { fault };
    }
    if (wait) waits.push(wait);
  }
  const [first] = waits;
  setVerdict(draft, 'Ready', first ? notReady(first.reason, first.message) : readyVerdict, now);
  if (!first) statusOf(scope).initialization = { provisioned: true };
  // the cluster is usable before its bastion
  const bastion = await runPhase(scope, { run: reconcileBastion, condition: 'BastionReady' }, now);
  if (!hasBastion(draft.spec) && !bastion.wait && !bastion.fault) dropCondition(draft, 'BastionReady');
  if (bastion.fault) return bastion;
  if (bastion.wait) waits.push(bastion.wait);
  return {
    wait: waits.reduce<Wait | undefined>((best, wait) => (best && best.ms <= wait.ms ? best : wait), undefined),
  };
}

async function runPhase(
  scope: ClusterScope,
  { run, condition }: Phase,
  now: number,
): Promise<{ wait?: Wait | undefined; fault?: CloudFault }> {
  try {
    const wait = await run(scope);
    const verdict = wait ? notReady(wait.reason, wait.message) : readyVerdict;
    if (condition !== undefined) setVerdict(scope.draft, condition, verdict, now);
    return { wait };
  } catch (caught) {
    const error = isOpenStackError(caught) ? cloudFaultOf(caught, 'the cloud could not be asked') : caught;
    if (!(error instanceof CloudFault)) throw error;
    if (condition !== undefined) setVerdict(scope.draft, condition, notReady(error.reason, error.message), now);
    return { fault: error };
  }
}
