import { kindConditions, ownDefinitions } from '../../src/api/index.ts';
import type { Condition, KubeObject, Resource, ResourceDefinition } from '../../src/machinery/index.ts';
import { InvariantViolation } from './broken-promise.ts';
import type { System } from './system.ts';

interface WithConditions extends KubeObject {
  status?: { conditions?: Condition[]; deprecated?: { v1beta1?: { conditions?: Condition[] } } };
}

/**
 * Excludes Gateways, whose conditions come from their own standard, and addresses and images, whose conditions come
 * from their providers.
 */
const ours = ownDefinitions.filter(({ plural, group }) => `${plural}.${group}` in kindConditions);

const resourceOf = ({
  group,
  kind,
  plural,
  namespaced,
  storageVersion,
}: ResourceDefinition): Resource<WithConditions> => ({
  group,
  version: storageVersion,
  kind,
  plural,
  namespaced,
});

/** Checks that the reference documents every condition. */
export async function checkConditions({ client }: System): Promise<void> {
  for (const definition of ours) {
    const resource = `${definition.plural}.${definition.group}`;
    const { conditions, legacy = [] } = kindConditions[resource]!;
    for (const { status } of (await client.list(resourceOf(definition), {})).items) {
      const unlisted = [
        ...(status?.conditions ?? []).filter(({ type }) => !(conditions as string[]).includes(type)),
        ...(status?.deprecated?.v1beta1?.conditions ?? []).filter(({ type }) => !(legacy as string[]).includes(type)),
      ];
      if (unlisted.length === 0) continue;
      const types = unlisted.map(({ type }) => type).join(', ');
      throw new InvariantViolation('every condition is listed in src/api/conditions.ts', `${resource} has ${types}`);
    }
  }
}
