import { EndpointSlices, Services } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import type { FindService } from './transport.ts';

/**
 * Finds the endpoints of a Service port, as API servers do for webhooks. A ClusterIP is not reachable from outside of
 * its cluster network.
 */
export function serviceFinder(client: Client): FindService {
  return async ({ namespace, name, port }, signal) => {
    const { spec } = await client.get(Services, { namespace, name }, { signal });
    if (spec?.type === 'ExternalName' && spec.externalName !== undefined) return { host: spec.externalName, port };
    const servicePort = spec?.ports?.find((candidate) => candidate.port === port);
    if (!servicePort) throw new Error(`Service ${namespace}/${name} has no port ${port}`);
    const slices = await client.list(EndpointSlices, {
      namespace,
      labelSelector: `kubernetes.io/service-name=${name}`,
      signal,
    });
    for (const slice of slices.items) {
      const target = slice.ports?.find((candidate) => (candidate.name ?? '') === (servicePort.name ?? ''))?.port;
      const endpoint = slice.endpoints?.find(({ conditions }) => conditions?.ready !== false);
      const host = endpoint?.addresses?.[0];
      if (host !== undefined && target !== undefined) return { host, port: target };
    }
    throw new Error(`Service ${namespace}/${name} has no ready endpoints`);
  };
}
