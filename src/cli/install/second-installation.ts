import { type Deployment, Deployments } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { CapstanError } from '../../machinery/index.ts';
import type { Connection } from '../connection.ts';
import { controllersKey } from './workload.ts';

const labelSelector = 'app.kubernetes.io/part-of=capstan,app.kubernetes.io/name=capstan';

/**
 * Refuses a second installation. Both would lead with a lease in their own namespace and overwrite each other's
 * webhooks. Helm must upgrade the installations it created.
 */
export async function refuseSecondInstallation(client: Client, signal: AbortSignal): Promise<void> {
  const { items } = await client.list(Deployments, { labelSelector, signal });
  for (const deployment of items) {
    const { namespace = '', name = '' } = deployment.metadata;
    if (namespace !== controllersKey.namespace || name !== controllersKey.name) {
      throw refusal(
        `Capstan is installed in the namespace ${namespace} already (Deployment ${name})`,
        'take that one away first',
      );
    }
    const release = helmReleaseOf(deployment);
    if (release !== undefined) {
      throw refusal(
        `Capstan was installed by Helm as the release ${release}`,
        'upgrade it with `helm upgrade`, or take it away with `helm uninstall` first; clusters stay',
      );
    }
  }
}

/**
 * Refuses an API of `capstan up`, which runs the controllers itself: it cannot reach webhooks in Pods, so after an
 * installation nobody could write an object.
 */
export async function refuseEmbedded({ serverVersion, where }: Connection, signal: AbortSignal): Promise<void> {
  if (!(await serverVersion(signal)).endsWith('+capstan')) return;
  throw refusal(
    `${where} is the management API of \`capstan up\`, which runs the controllers itself`,
    'name another Kubernetes with --kubeconfig or --context',
  );
}

function helmReleaseOf({ metadata: { labels, annotations } }: Deployment): string | undefined {
  if (labels?.['app.kubernetes.io/managed-by'] !== 'Helm') return undefined;
  return annotations?.['meta.helm.sh/release-name'] ?? 'of unknown name';
}

function refusal(what: string, hint: string): CapstanError {
  return new CapstanError('CAP_INSTALLED_ALREADY', what, { hint: `nothing was changed; ${hint}` });
}
