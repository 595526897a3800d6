import type { MachineDeployment, MachineSet, MachineTemplate } from '../../../api/index.ts';
import { deepEqual, parseRfc3339 } from '../../../machinery/index.ts';
import { kindWithoutTemplate } from '../../shared/index.ts';

/**
 * Lists differences between templates that require new machines, one line each. Labels, annotations, timeouts,
 * readiness gates, taints and minReadySeconds are updated in place and do not count.
 */
export function templateDifferences(current: MachineTemplate, desired: MachineTemplate): string[] {
  const differences: string[] = [];
  const now = current.spec;
  const wanted = desired.spec;
  if ((now.version ?? '') !== (wanted.version ?? '')) {
    differences.push(`Version ${now.version ?? ''}, ${wanted.version ?? ''} required`);
  }
  if (!deepEqual(now.bootstrap, wanted.bootstrap)) {
    differences.push(
      now.bootstrap.configRef
        ? `${kindWithoutTemplate(now.bootstrap.configRef.kind)} is not up-to-date`
        : `spec.bootstrap.dataSecretName ${now.bootstrap.dataSecretName ?? 'nil'}, ${wanted.bootstrap.dataSecretName ?? 'nil'} required`,
    );
  }
  if (!deepEqual(now.infrastructureRef, wanted.infrastructureRef)) {
    differences.push(`${kindWithoutTemplate(now.infrastructureRef.kind)} is not up-to-date`);
  }
  if ((now.failureDomain ?? '') !== (wanted.failureDomain ?? '')) {
    differences.push(`Failure domain ${now.failureDomain ?? ''}, ${wanted.failureDomain ?? ''} required`);
  }
  return differences;
}

/** Returns spec.rollout.after in milliseconds; older machine sets are outdated then. Undefined when not set. */
export function rolloutAfter(deployment: MachineDeployment): number | undefined {
  const { after } = deployment.spec.rollout ?? {};
  return after === undefined ? undefined : parseRfc3339(after);
}

/** Tells whether spec.rollout.after has passed and the set is older than it. */
export function isRolloutExpired(deployment: MachineDeployment, set: MachineSet, nowMs: number): boolean {
  const after = rolloutAfter(deployment);
  const created = parseRfc3339(set.metadata.creationTimestamp ?? '');
  return after !== undefined && after <= nowMs && created !== undefined && created < after;
}
