import { type Deployment, Deployments } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { CapstanError } from '../../machinery/index.ts';
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

function helmReleaseOf({ metadata: { labels, annotations } }: Deployment): string | undefined {
  if (labels?.['app.kubernetes.io/managed-by'] !== 'Helm') return undefined;
  return annotations?.['meta.helm.sh/release-name'] ?? 'of unknown name';
}

function refusal(what: string, hint: string): CapstanError {
  return new CapstanError('CAP_INSTALLED_ALREADY', what, { hint: `nothing was changed; ${hint}` });
}
