import { ConfigMaps, SubjectAccessReviews } from '../../api/index.ts';
import { type KubeletCaller, type KubeletEndpoint, startKubeletEndpoint } from '../../apiserver/index.ts';
import { type Client, formatKey } from '../../client/index.ts';
import { asUnstructured, type Clock, isForbidden, isNotFound } from '../../machinery/index.ts';
import { createAuthority, issueCertificate } from '../../pki/index.ts';
import type { PodHost } from '../../podhost/index.ts';
import type { Logger } from '../../runtime/index.ts';

/** Published CA bundle of clients that call extension servers. */
const authentication = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
/** Port of kubelets; every simulated node has its own address. */
const kubeletPort = 10_250;
/** Cache time of access reviews. */
const rightsMs = 60_000;
const maxRemembered = 1_000;

export interface KubeletOptions {
  /** client that reads the CA bundle and creates access reviews */
  readonly provider: Client;
  readonly host: PodHost;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Serves logs, sessions and port forwarding of the node's Pods to the API server and other authorized users. Undefined
 * if no client could be authenticated.
 */
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

/** As with every kubelet, permission for the proxy subresource of the node is required. */
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
