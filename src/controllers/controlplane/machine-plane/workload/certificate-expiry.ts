import { objectKey } from '../../../../client/index.ts';
import { formatTime, ignoreNotFound } from '../../../../machinery/index.ts';
import { certificatesExpiryAnnotation, explain, fieldManager, isDeleting } from '../../../shared/index.ts';
import { type ControlPlaneScope, clusterKeyOf, isInitialized, nameOf, requeueAfter } from '../scope.ts';

const retryMs = 60_000;

/** Records the certificate expiry on each machine's config, as input for rollouts. */
export async function noteCertificateExpiry(scope: ControlPlaneScope): Promise<undefined> {
  const { context, provider, controlPlane, dependencies, configs, memory } = scope;
  if (!isInitialized(controlPlane)) return;
  for (const machine of scope.machines) {
    const node = machine.status?.nodeRef?.name;
    const config = configs.get(nameOf(machine));
    if (!config || node === undefined || isDeleting(machine)) continue;
    if (config.metadata.annotations?.[certificatesExpiryAnnotation] !== undefined) continue;
    const triedAt = memory.expiryTriedAt?.get(nameOf(machine));
    if (triedAt !== undefined && context.clock.now() - triedAt < retryMs) continue;
    memory.expiryTriedAt ??= new Map();
    memory.expiryTriedAt.set(nameOf(machine), context.clock.now());
    try {
      const target = { cluster: clusterKeyOf(scope), node, port: provider.apiServerPort(config) };
      const end = await dependencies.servingCertificate(target, context.signal);
      if (end === undefined) continue;
      const annotations = { [certificatesExpiryAnnotation]: formatTime(end) };
      await context.client
        .patch(
          provider.configs,
          objectKey(config),
          'merge',
          { metadata: { annotations } },
          { fieldManager, signal: context.signal },
        )
        .catch(ignoreNotFound);
    } catch (error) {
      if (context.signal.aborted) throw error;
      // nothing else depends on it
      context.log.info('The certificate of an API server cannot be looked at', { node, error: explain(error) });
      requeueAfter(scope, retryMs, 'the certificate of an API server');
    }
  }
}
