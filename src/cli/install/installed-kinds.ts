import { gatewayGroup, ownDefinitions } from '../../api/index.ts';
import type { ResourceDefinition } from '../../machinery/index.ts';

/**
 * The kinds brought to a Kubernetes that does not have them. Those of the Gateway API are not among them: they belong to
 * whoever installs a gateway there, in the version that gateway wants.
 */
export const installedDefinitions: readonly ResourceDefinition[] = ownDefinitions.filter(
  ({ group }) => group !== gatewayGroup,
);
