import { Gateways, Ingresses, TlsRoutes } from '../api/index.ts';
import type { Client } from '../client/index.ts';
import { isForbidden, isNotFound } from '../machinery/index.ts';
import { throughGateway } from './demo/workload-kubeconfig.ts';

/** Names with this suffix resolve to the local host or not at all, never to a Gateway or Ingress. */
const unresolvable = /\.localhost$/;

/**
 * Returns a kubeconfig that works without DNS: an API behind a Gateway or Ingress is connected by its address, with the
 * unresolvable host as server name. Others stay unchanged.
 */
export async function reachableKubeconfig(
  client: Client,
  namespace: string,
  kubeconfig: string,
  signal: AbortSignal,
): Promise<string> {
  const host = /^\s*server:\s*["']?https:\/\/([^:/"'\s]+)/m.exec(kubeconfig)?.[1];
  if (host === undefined || !unresolvable.test(host)) return kubeconfig;
  const where = { client, namespace, host, signal };
  const address = (await orNothing(gatewayAddress(where))) ?? (await orNothing(ingressAddress(where)));
  return address === undefined ? kubeconfig : throughGateway(kubeconfig, address);
}

interface Place {
  readonly client: Client;
  readonly namespace: string;
  readonly host: string;
  readonly signal: AbortSignal;
}

async function gatewayAddress({ client, namespace, host, signal }: Place): Promise<string | undefined> {
  const { items } = await client.list(TlsRoutes, { namespace, signal });
  const route = items.find(({ spec }) => spec.hostnames?.includes(host) === true);
  const [parent] = route?.spec.parentRefs ?? [];
  if (!parent) return undefined;
  const key = { namespace: parent.namespace ?? namespace, name: parent.name };
  return (await client.get(Gateways, key, { signal })).status?.addresses?.[0]?.value;
}

async function ingressAddress({ client, namespace, host, signal }: Place): Promise<string | undefined> {
  const { items } = await client.list(Ingresses, { namespace, signal });
  const ingress = items.find(({ spec }) => spec?.rules?.some((rule) => rule.host === host) === true);
  return ingress?.status?.loadBalancer?.ingress?.[0]?.ip;
}

/** A management API may lack the kind or deny access to it. */
async function orNothing(address: Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await address;
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return undefined;
    throw error;
  }
}
