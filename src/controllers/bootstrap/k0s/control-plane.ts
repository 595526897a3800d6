import { type BootstrapFile, parseK0sVersion, Secrets } from '../../../api/index.ts';
import { workersMayRun } from '../../../hosting/index.ts';
import { ignoreNotFound } from '../../../machinery/index.ts';
import { at, authorityFromSecret, numberAt, type ProviderObject, textAt } from '../../shared/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';
import { ingressFiles } from './ingress.ts';
import type { K0sWorkerConfigScope } from './scope.ts';

const defaultIngressPort = 443;

/** What a worker needs to know about its control plane. */
export interface ControlPlaneFacts {
  /** running version; undefined while unknown */
  version: string | undefined;
  /** host and port of the API behind an Ingress */
  ingress: { host: string; port: number } | undefined;
}

export async function readControlPlane(scope: K0sWorkerConfigScope): Promise<ControlPlaneFacts> {
  const { cluster, context, follower } = scope;
  const reference = cluster.spec.controlPlaneRef;
  const found =
    reference &&
    (await follower.get(reference, cluster.metadata.namespace ?? '', {
      client: context.client,
      signal: context.signal,
    }));
  return {
    version: found && textAt(found.object, 'status', 'version'),
    ingress: reference?.kind === 'K0smotronControlPlane' && found ? ingressOf(found) : undefined,
  };
}

function ingressOf({ object }: ProviderObject): ControlPlaneFacts['ingress'] {
  if (at(object, 'spec', 'ingress') === undefined) return undefined;
  const host = textAt(object, 'spec', 'ingress', 'apiHost');
  return host === undefined
    ? undefined
    : { host, port: numberAt(object, 'spec', 'ingress', 'port') ?? defaultIngressPort };
}

/** Refuses versions newer than the control plane: a kubelet must not be newer than its API server. */
export function refuseNewerThanControlPlane(version: string, controlPlaneVersion: string | undefined): void {
  if (controlPlaneVersion === undefined || !parseK0sVersion(version) || !parseK0sVersion(controlPlaneVersion)) return;
  if (workersMayRun(controlPlaneVersion, version)) return;
  throw new BootstrapInputError(
    `k0s ${version} is newer than the control plane, which runs ${controlPlaneVersion}; ` +
      'upgrade the control plane first, or lower spec.version',
    { mayHeal: true },
  );
}

/** Reads the certificate of the node proxies from the Secret of the control plane. */
export async function readIngressFiles(scope: K0sWorkerConfigScope, authority: string): Promise<BootstrapFile[]> {
  const { cluster, context } = scope;
  const { name = '', namespace = '' } = cluster.metadata;
  const key = { namespace, name: `${name}-ingress-haproxy` };
  const secret = await context.client.get(Secrets, key, { signal: context.signal }).catch(ignoreNotFound);
  const serving = authorityFromSecret(secret);
  if (!serving) {
    const state = secret ? 'has no tls.crt and tls.key' : 'does not exist';
    throw new BootstrapInputError(`Secret ${namespace}/${key.name} ${state}; it is made by the control plane`, {
      mayHeal: true,
    });
  }
  return ingressFiles(authority, serving);
}
