import type { OpenStackMachine, OpenStackServer } from '../../../api/index.ts';
import { deepEqual } from '../../../machinery/index.ts';
import { conditionOf, type Verdict } from '../../shared/index.ts';
import { authenticationCondition, notReady, readyVerdict, unknown } from '../common/conditions.ts';
import {
  instanceDeletedReason,
  instanceGoneReason,
  instanceNotReadyReason,
  instanceStateErrorReason,
  instanceReadyCondition as serverCondition,
} from '../server/conditions.ts';

/** State of a server as its machine reports it. */
export interface ServerReport {
  readonly verdict: Verdict;
  /** the server is ACTIVE, so the machine counts as provisioned */
  readonly isActive: boolean;
}

/** Derives the verdict of a machine from its OpenStackServer. */
export function reportOf(server: OpenStackServer | undefined): ServerReport {
  const report = (verdict: Verdict, { isActive = false }: { isActive?: boolean } = {}): ServerReport => ({
    verdict,
    isActive,
  });
  const condition = server && conditionOf(server as { status?: object }, serverCondition);
  const said = (fallback: string): string => (condition?.message ? condition.message : fallback);
  switch (server?.status?.instanceState) {
    case 'ACTIVE':
      return report(readyVerdict, { isActive: true });
    case 'ERROR':
      return report(notReady(instanceStateErrorReason, said('The server is in ERROR')));
    case 'DELETED':
      if (condition?.reason === instanceGoneReason)
        return report(notReady(instanceGoneReason, said('The server is gone')));
      return report(notReady(instanceDeletedReason, said('The server was unexpectedly deleted')));
    case 'SOFT_DELETED':
      return report(notReady(instanceDeletedReason, said('The server was unexpectedly deleted')));
    case undefined:
    case '':
      return report(
        condition?.status === 'False'
          ? notReady(condition.reason, condition.message ?? '')
          : notReady(instanceNotReadyReason, 'The server has not been created yet'),
      );
    case 'BUILD':
      return report(notReady(instanceNotReadyReason, said('The server is being built')));
    default:
      return report(unknown(instanceNotReadyReason, said('The server is not ACTIVE')));
  }
}

/**
 * Builds the provider ID as kubelet and cloud controller do. It contains the region only if the machine specifies one.
 */
export function providerIdOf(machine: OpenStackMachine, instanceId: string): string {
  return `openstack://${machine.spec.identityRef?.region ?? ''}/${instanceId}`;
}

/** Copies the results of the server to the machine's draft. */
export function takeFromServer(draft: OpenStackMachine, server: OpenStackServer | undefined, isActive: boolean): void {
  const { instanceID, addresses } = server?.status ?? {};
  const status = { ...draft.status };
  if (instanceID !== undefined) status.instanceID = instanceID;
  if (addresses && !deepEqual(addresses, status.addresses)) status.addresses = addresses;
  if (isActive && instanceID !== undefined) {
    // set once: the provider ID is the identity of the machine
    draft.spec.providerID ??= providerIdOf(draft, instanceID);
    status.initialization = { ...status.initialization, provisioned: true };
  }
  draft.status = status;
}

/** Copies the server's condition about credentials, because workers do not access the cloud themselves. */
export function authenticationOf(server: OpenStackServer | undefined): Verdict | undefined {
  const condition = server && conditionOf(server as { status?: object }, authenticationCondition);
  return condition && { status: condition.status, reason: condition.reason, message: condition.message ?? '' };
}
