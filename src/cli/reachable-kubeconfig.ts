import { Gateways, Ingresses, TlsRoutes } from '../api/index.ts';
import type { Client } from '../client/index.ts';
import { isForbidden, isNotFound } from '../machinery/index.ts';
import { throughGateway } from './demo/workload-kubeconfig.ts';

/** Names of this ending lead to the computer that asks, if anywhere, and not to a Gateway or Ingress. */
const unresolvable = /\.localhost$/;

/**
 * A kubeconfig that works as it is: an API behind a Gateway or Ingress whose name nobody resolves is asked for, under that name,
 * at the address of the Gateway or Ingress. Others stay as they are.
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

/** A management API may not serve the kind, or not let everybody see it. */
async function orNothing(address: Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await address;
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return undefined;
    throw error;
  }
}
