import { gatewayGroup, ownDefinitions } from '../../api/index.ts';
import type { ResourceDefinition } from '../../machinery/index.ts';

/**
 * Kinds that an installation adds to a Kubernetes. Kinds of the Gateway API are excluded, because the installed gateway
 * decides about their version.
 */
export const installedDefinitions: readonly ResourceDefinition[] = ownDefinitions.filter(
  ({ group }) => group !== gatewayGroup,
);
