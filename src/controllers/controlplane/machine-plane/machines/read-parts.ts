import type { ContractReference } from '../../../../api/index.ts';
import type { UnstructuredObject } from '../../../../machinery/index.ts';
import { ContractError } from '../../../shared/index.ts';
import { rolloutReasons } from '../decisions/rollout.ts';
import { type ControlPlaneScope, nameOf } from '../scope.ts';

type PartsScope = Pick<
  ControlPlaneScope,
  'context' | 'follower' | 'provider' | 'controlPlane' | 'machines' | 'configs' | 'infrastructure' | 'outdated'
>;

/** Reads bootstrap configs and infrastructure of the machines, and determines which machines are outdated. */
export async function readParts(scope: PartsScope): Promise<undefined> {
  const { context, provider, controlPlane } = scope;
  const configs = new Map<string, UnstructuredObject>();
  const infrastructure = new Map<string, UnstructuredObject>();
  const outdated = new Map<string, readonly string[]>();
  for (const machine of scope.machines) {
    const name = nameOf(machine);
    const { configRef } = machine.spec.bootstrap;
    const config = configRef?.kind === provider.configs.kind ? await read(scope, configRef) : undefined;
    const infra = await read(scope, machine.spec.infrastructureRef);
    if (config) configs.set(name, config);
    if (infra) infrastructure.set(name, infra);
    const reasons = rolloutReasons({
      provider,
      controlPlane,
      machine,
      config,
      infrastructure: infra,
      nowMs: context.clock.now(),
    });
    if (reasons.length > 0) outdated.set(name, reasons);
  }
  scope.configs = configs;
  scope.infrastructure = infrastructure;
  scope.outdated = outdated;
}

async function read(
  { context, follower, controlPlane }: PartsScope,
  reference: ContractReference,
): Promise<UnstructuredObject | undefined> {
  const { client, signal } = context;
  try {
    return (await follower.get(reference, controlPlane.metadata.namespace ?? '', { client, signal }))?.object;
  } catch (error) {
    // a kind that was uninstalled has no objects left
    if (error instanceof ContractError && error.notInstalled) return undefined;
    throw error;
  }
}
