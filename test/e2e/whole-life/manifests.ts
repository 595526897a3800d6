import { parseAllDocuments, stringify } from 'yaml';

/** The fields of a document that are changed here. */
interface ManifestObject {
  kind: string;
  metadata: { name: string };
  spec: Record<string, unknown>;
}

/** Returns the manifest with another initial Kubernetes version and shorter timeouts of health checks. */
export function beginWith(text: string, versions: { printed: string; first: string }): string {
  return text
    .replaceAll(versions.printed, versions.first)
    .replaceAll('timeoutSeconds: 300', 'timeoutSeconds: 2')
    .replaceAll('timeout: 300s', 'timeout: 2s');
}

/**
 * Returns the manifests of an upgrade: machine templates with new names, and references to them with the new version.
 */
export function upgradeOf(
  text: string,
  versions: { first: string; next: string },
): Record<'controlPlane' | 'workers', string> {
  const objects = parseAllDocuments(text).map((document) => document.toJS() as ManifestObject);
  const renew = (kinds: readonly string[]): string =>
    objects
      .filter(({ kind }) => kinds.includes(kind))
      .map((object) => {
        const renamed = JSON.stringify(object)
          .replaceAll(versions.first, versions.next)
          .replace(/("kind":"OpenStackMachineTemplate","name":"[^"]+)"/g, '$1-next"');
        const next = JSON.parse(renamed) as ManifestObject;
        if (next.kind === 'OpenStackMachineTemplate') next.metadata.name += '-next';
        return stringify(next);
      })
      .join('---\n');
  return {
    controlPlane: renew(['OpenStackMachineTemplate', 'KubeadmControlPlane']),
    workers: renew(['MachineDeployment']),
  };
}
