import { builtInAnnotation, EndpointSlices, type ExtensionConfig, Pods } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { ignoreNotFound } from '../../../machinery/index.ts';

/**
 * Tells whether Capstan itself serves an extension: its Service leads to placeholder Pods, as after an installation of
 * the stack operator's chart. Those do not answer; the built-in handlers act instead.
 */
export async function isServedByBuiltIn(
  client: Client,
  { spec }: ExtensionConfig,
  signal: AbortSignal,
): Promise<boolean> {
  const { service } = spec.clientConfig;
  if (!service) return false;
  const { namespace, name } = service;
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const slices = await client.list(EndpointSlices, { namespace, labelSelector, signal });
  for (const { targetRef } of slices.items.flatMap(({ endpoints }) => endpoints ?? [])) {
    if (targetRef?.kind !== 'Pod' || targetRef.name === undefined) continue;
    const pod = await client.get(Pods, { namespace, name: targetRef.name }, { signal }).catch(ignoreNotFound);
    if (pod?.metadata.annotations?.[builtInAnnotation] !== undefined) return true;
  }
  return false;
}
