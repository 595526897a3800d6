import type { AdmissionStep } from '../apiserver/index.ts';
import type { Client } from '../client/index.ts';
import { type TopologyAdmission, topologyAdmission } from '../controllers/index.ts';
import type { Clock } from '../machinery/index.ts';
import { stackAdmission } from './stack-admission.ts';
import { classPatienceMs, topologySteps } from './topology-admission.ts';

/**
 * Validation of our kinds that reads other objects, the same in the embedded API and in webhooks. The check for classes of
 * other namespaces comes first, so that refused users learn nothing about a class.
 */
export function ownAdmission(client: () => Client, clock: Clock): AdmissionStep[] {
  let topologies: TopologyAdmission | undefined;
  return [
    ...topologySteps(() => {
      topologies ??= topologyAdmission({ client: client(), clock, classPatienceMs });
      return topologies;
    }),
    ...stackAdmission(client),
  ];
}
