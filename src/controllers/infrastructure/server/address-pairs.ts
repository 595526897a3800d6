import { deepEqual } from '../../../machinery/index.ts';
import { openStackErrorReason } from '../common/conditions.ts';
import { attempt } from '../common/outcomes.ts';
import { addressPairs } from './desired.ts';
import { type ServerScope, updateStatus } from './scope.ts';

/** Updates allowed address pairs, the only port field that may change during a server's life. */
export async function applyAddressPairs(scope: ServerScope): Promise<void> {
  const { server, cloud, context } = scope;
  const { resolved, resources } = server.status ?? {};
  for (const [index, wanted] of server.spec.ports.entries()) {
    const made = server.status?.resolved?.ports?.[index];
    const id = resources?.ports?.[index]?.id;
    if (!resolved || !made || id === undefined || wanted.enablePortSecurity === false) continue;
    if (deepEqual(wanted.allowedAddressPairs ?? [], made.allowedAddressPairs ?? [])) continue;
    await attempt(`Allowed address pairs of port ${made.name} (${id}) cannot be set`, openStackErrorReason, () =>
      cloud.openstack.network.ports.update(
        id,
        { allowedAddressPairs: addressPairs(wanted) ?? [] },
        { signal: context.signal },
      ),
    );
    const { allowedAddressPairs: _, ...port } = made;
    const ports = (server.status?.resolved?.ports ?? []).with(index, {
      ...port,
      ...(wanted.allowedAddressPairs && { allowedAddressPairs: wanted.allowedAddressPairs }),
    });
    updateStatus(server, { resolved: { ...server.status?.resolved, ports } });
  }
}
