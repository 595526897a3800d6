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

/** What a machine shows of its server. */
export interface ServerReport {
  readonly verdict: Verdict;
  /** the server is ACTIVE: it has been provided */
  readonly isActive: boolean;
}

/** Judges a machine by the object of its server. */
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

/** What kubelet and cloud controller call the server. The region is part of it only where the machine itself names one. */
export function providerIdOf(machine: OpenStackMachine, instanceId: string): string {
  return `openstack://${machine.spec.identityRef?.region ?? ''}/${instanceId}`;
}

/** Copies to a machine's draft what its server has become. */
export function takeFromServer(draft: OpenStackMachine, server: OpenStackServer | undefined, isActive: boolean): void {
  const { instanceID, addresses } = server?.status ?? {};
  const status = { ...draft.status };
  if (instanceID !== undefined) status.instanceID = instanceID;
  if (addresses && !deepEqual(addresses, status.addresses)) status.addresses = addresses;
  if (isActive && instanceID !== undefined) {
    // a provider ID is given once: what it names is what the machine is
    draft.spec.providerID ??= providerIdOf(draft, instanceID);
    status.initialization = { ...status.initialization, provisioned: true };
  }
  draft.status = status;
}

/** Workers never speak to the cloud themselves: whether the credentials work is what their server found. */
export function authenticationOf(server: OpenStackServer | undefined): Verdict | undefined {
  const condition = server && conditionOf(server as { status?: object }, authenticationCondition);
  return condition && { status: condition.status, reason: condition.reason, message: condition.message ?? '' };
}
