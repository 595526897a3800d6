import { openPartsOf } from '../../../api/index.ts';
import { collect, type Network } from '../../../openstack/index.ts';
import { resolveNetwork } from '../common/filters.ts';
import { attempt, UnusableInput, type Wait } from '../common/outcomes.ts';
import { type ClusterScope, statusOf } from './scope.ts';
import { tagsOf } from './tags.ts';

/** Finds the external network: the specified one, the only one, or none. */
export async function reconcileExternalNetwork(scope: ClusterScope): Promise<Wait | undefined> {
  const { spec } = scope.draft;
  const status = statusOf(scope);
  if (spec.enableExternalNetwork === false) {
    delete status.externalNetwork;
    return undefined;
  }
  // a changed spec is honored until something was created from it
  if (status.externalNetwork?.id && !openPartsOf(scope.original).outside) return undefined;
  const found = await attempt('the external network could not be found', 'NetworkCreateFailed', () => find(scope));
  if (found) status.externalNetwork = { name: found.name, id: found.id, ...tagsOf(found) };
  else delete status.externalNetwork;
  return undefined;
}

async function find(scope: ClusterScope): Promise<Network | undefined> {
  const { access, lookups, draft } = scope;
  const { openstack } = access;
  const { externalNetwork } = draft.spec;
  if (externalNetwork) {
    const key = `external network ${JSON.stringify(externalNetwork)}`;
    return lookups.get(openstack, key, () =>
      resolveNetwork(openstack, externalNetwork, { field: 'spec.externalNetwork', external: true }),
    );
  }
  const all = await lookups.get(openstack, 'external networks', () =>
    collect(openstack.network.networks.list({ external: true })),
  );
  if (all.length <= 1) return all[0];
  const names = all.map(({ name, id }) => `${name} (${id})`).join(', ');
  throw new UnusableInput(
    `spec.externalNetwork is not set and there are ${all.length} external networks: ${names}; name one of them`,
  );
}
