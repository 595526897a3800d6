import type { IdentityReference } from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import type { ControllerDefinition } from '../../../runtime/index.ts';
import type { RehearsedObjects } from '../../shared/index.ts';
import { openStackClusterController } from '../cluster/cluster-controller.ts';
import type { CloudAccess } from '../common/clouds.ts';
import type { InfrastructureDependencies } from '../common/dependencies.ts';
import { CloudFault } from '../common/outcomes.ts';
import { openStackMachineController } from '../machine/machine-controller.ts';
import type { LookupCache } from '../server/lookup-cache.ts';
import { openStackServerController } from '../server/server-controller.ts';

/** Runs the infrastructure controllers one reconcile at a time. */
export interface InfrastructureRehearsal {
  /** returns the obstacle, in the controller's message */
  cluster(key: ObjectKey): Promise<string | undefined>;
  machine(key: ObjectKey): Promise<string | undefined>;
  server(key: ObjectKey): Promise<string | undefined>;
}

export interface InfrastructureRehearsalOptions {
  readonly objects: RehearsedObjects;
  /** shared by all clusters of a plan */
  readonly lookups: LookupCache;
  /** throws a CloudFault if the credentials are unusable */
  access(identity: IdentityReference, namespace: string): Promise<CloudAccess>;
}

/** Runs the real controllers on objects in memory, with clouds that only record changes. */
export function rehearseInfrastructure({
  objects,
  lookups,
  access,
}: InfrastructureRehearsalOptions): InfrastructureRehearsal {
  const { client, cache, clock, context } = objects;
  const dependencies: InfrastructureDependencies = {
    client,
    clock,
    random: context.random,
    cache,
    lookups,
    clouds: { access, rotationSource: () => ({ start: () => {} }), run: async () => {} },
  };
  const run = (definition: ControllerDefinition) => {
    definition.setup?.(cache);
    return async (key: ObjectKey): Promise<string | undefined> => {
      try {
        await definition.reconcile(context, key);
        return undefined;
      } catch (error) {
        if (error instanceof CloudFault) return error.message;
        throw error;
      }
    };
  };
  return {
    cluster: run(openStackClusterController(dependencies)),
    machine: run(openStackMachineController(dependencies)),
    server: run(openStackServerController(dependencies)),
  };
}
