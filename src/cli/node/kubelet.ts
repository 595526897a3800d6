import { ConfigMaps, SubjectAccessReviews } from '../../api/index.ts';
import { type KubeletCaller, type KubeletEndpoint, startKubeletEndpoint } from '../../apiserver/index.ts';
import { type Client, formatKey } from '../../client/index.ts';
import { asUnstructured, type Clock, isForbidden, isNotFound } from '../../machinery/index.ts';
import { createAuthority, issueCertificate } from '../../pki/index.ts';
import type { PodHost } from '../../podhost/index.ts';
import type { Logger } from '../../runtime/index.ts';

/** where every Kubernetes says who vouches for those that call servers beside it */
const authentication = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
/** the port of kubelets; every simulated node has an address of its own */
const kubeletPort = 10_250;
/** how long an answer about somebody's rights is believed */
const rightsMs = 60_000;
const maxRemembered = 1_000;

export interface KubeletOptions {
  /** reads who may call, and asks what they may do */
  readonly provider: Client;
  readonly host: PodHost;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Logs, sessions and ports of the node's Pods, for the API server and whoever else may. Undefined: nobody could be let in. */
export async function startKubelet(options: KubeletOptions): Promise<KubeletEndpoint | undefined> {
  const { provider, host, nodeName, clock, signal, log } = options;
  const map = await provider.get(ConfigMaps, authentication, { signal }).catch((error: unknown) => {
    if (!isNotFound(error) && !isForbidden(error)) throw error;
    return undefined;
  });
  const clientAuthorities = map?.data?.['client-ca-file'];
  if (clientAuthorities === undefined) {
    log.warn('Logs and ports of Pods are not served: that Kubernetes does not say whose certificates it accepts', {
      expected: `client-ca-file in ConfigMap ${formatKey(authentication)}`,
    });
    return undefined;
  }
  const authority = await createAuthority({ commonName: `${nodeName}-ca`, clock });
  const certificate = await issueCertificate({
    authority,
    commonName: `system:node:${nodeName}`,
    organizations: ['system:nodes'],
    hosts: [host.address, nodeName],
    usages: ['server'],
    clock,
  });
  return await startKubeletEndpoint({
    host: host.address,
    port: kubeletPort,
    clock,
    certificate,
    clientAuthorities,
    authorize: rightsOnNode(provider, nodeName, clock),
    pods: {
      find: (namespace, name) => {
        const pod = host.findPod(namespace, name);
        return pod && asUnstructured(pod);
      },
      logs: host.podLogs,
      connect: host.podConnector,
      execute: host.podExecutor,
      attach: host.podAttacher,
    },
  });
}

/** Whoever may use the proxy of the node may ask it, as with every kubelet. */
function rightsOnNode(
  client: Client,
  nodeName: string,
  clock: Clock,
): (caller: KubeletCaller, verb: 'get' | 'create') => Promise<boolean> {
  const remembered = new Map<string, { allowed: boolean; until: number }>();
  return async ({ name, groups }, verb) => {
    const key = JSON.stringify([name, groups, verb]);
    const known = remembered.get(key);
    if (known && clock.now() < known.until) return known.allowed;
    const review = await client.create(
      SubjectAccessReviews,
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        metadata: {},
        spec: {
          user: name,
          groups: [...groups, 'system:authenticated'],
          resourceAttributes: { verb, resource: 'nodes', subresource: 'proxy', name: nodeName },
        },
      },
      { fieldManager: 'capstan' },
    );
    const allowed = review.status?.allowed === true;
    if (remembered.size >= maxRemembered) remembered.clear();
    remembered.set(key, { allowed, until: clock.now() + rightsMs });
    return allowed;
  };
}
