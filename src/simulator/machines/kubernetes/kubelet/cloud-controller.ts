import { type Pod, ServiceAccounts } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { type KubeObject, sleep } from '../../../../machinery/index.ts';
import { type CloudView, runCloudController } from '../../../../simkube/index.ts';
import type { RunningMachine } from '../../types.ts';

export interface CloudControllerPodOptions {
  readonly machine: RunningMachine;
  readonly cloud: CloudView;
  /** with the credentials of the kubelet; throws while the API cannot be reached */
  client(): Client;
  /** with a token of a service account */
  clientOf(token: string): Client;
}

const tokenSeconds = 86_400;
const retryMs = 5_000;

/** Runs what is in a Pod of the cloud controller manager, with the rights of its service account, until the signal aborts. */
export async function runCloudControllerPod(
  pod: Pod,
  options: CloudControllerPodOptions,
  signal: AbortSignal,
): Promise<void> {
  const { machine, cloud } = options;
  const { clock, random } = machine;
  const identity = `${pod.metadata.name}_${pod.metadata.uid}`;
  while (!signal.aborted) {
    const until = new AbortController();
    const end = (): void => until.abort();
    signal.addEventListener('abort', end, { once: true });
    // A token is replaced when four fifths of its time are over, as kubelets do.
    const cancel = clock.after(tokenSeconds * 800, end);
    try {
      const token = await requestToken(options.client(), pod);
      await runCloudController({ client: options.clientOf(token), cloud, clock, random, identity }, until.signal);
    } catch {
      // The API cannot be reached, or does not let it lead: as a container that ended, it is started again.
      await sleep(clock, retryMs, signal).catch(() => undefined);
    } finally {
      cancel();
      signal.removeEventListener('abort', end);
      until.abort();
    }
  }
}

interface TokenRequest extends KubeObject {
  readonly spec: object;
  readonly status?: { readonly token?: string };
}

/** The token a kubelet mounts into a Pod of its node. */
async function requestToken(client: Client, { metadata, spec }: Pod): Promise<string> {
  const { namespace = '', name = '', uid = '' } = metadata;
  const desired: TokenRequest = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {},
    spec: { expirationSeconds: tokenSeconds, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } },
  };
  const account = { namespace, name: spec.serviceAccountName ?? 'default' };
  const answer = await client.createSubresource(ServiceAccounts, account, 'token', desired, {
    fieldManager: 'kubelet',
  });
  const token = answer.status?.token;
  if (token === undefined) throw new Error(`no token for service account ${namespace}/${account.name}`);
  return token;
}
