import { compareKubernetesVersions, Deployments, parseImage, parseKubernetesVersion } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { ApiStatusError } from '../../machinery/index.ts';
import type { Finding } from '../doctor/findings.ts';

// Minimum versions for management clusters.
const leastKubernetes = 'v1.28.0';
export const leastClusterApi = 'v1.10.0';
const leastCertManager = 'v1.18.0';

/** Returns false if one of them is no valid version. */
export function isOlder(version: string, than: string): boolean {
  const [a, b] = [parseKubernetesVersion(version), parseKubernetesVersion(than)];
  return a !== undefined && b !== undefined && compareKubernetesVersions(a, b) < 0;
}

export function checkKubernetes(version: string): Finding {
  const check = 'kubernetes';
  if (!isOlder(version, leastKubernetes))
    return { check, status: 'ok', detail: version || 'a version it does not say' };
  const detail = `${version} is older than ${leastKubernetes}; upgrade the management cluster first`;
  return { check, status: 'failed', detail };
}

const controllerImage = /(^|\/)cert-manager-controller$/;

/** Built-in providers do not need cert-manager, but others may. */
export async function checkCertManager(client: Client, signal: AbortSignal): Promise<Finding> {
  const check = 'cert-manager';
  try {
    for (const { metadata, spec } of (await client.list(Deployments, { signal })).items) {
      for (const { image = '' } of spec?.template?.spec?.containers ?? []) {
        const { repository, tag = '' } = parseImage(image);
        if (!controllerImage.test(repository)) continue;
        const where = `${tag} in ${metadata.namespace ?? ''}`;
        if (!isOlder(tag, leastCertManager)) return { check, status: 'ok', detail: where };
        const detail = `${where} is older than ${leastCertManager}, which other providers may need; upgrade it`;
        return { check, status: 'warning', detail };
      }
    }
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.code !== 403) throw error;
    return { check, status: 'skipped', detail: 'you may not list Deployments here' };
  }
  return { check, status: 'ok', detail: 'not installed, and not needed: Capstan signs certificates itself' };
}
