import { formatStackVersion, parseKubernetesVersion, parseStackVersion, type StackId } from '../../../api/index.ts';
import { readMapping, readText } from './documents.ts';
import { StackReleaseError } from './release-error.ts';

/** Content of metadata.yaml. */
export interface ReleaseMetadata {
  /** with patch and leading v */
  readonly kubernetesVersion: string;
  /** version of the add-ons in dotted form */
  readonly addonVersion: string;
  readonly nodeImageVersion: string | undefined;
}

export const metadataFile = 'metadata.yaml';

/** Parses metadata.yaml and checks that it matches the release. Stacks without node images have no version of them. */
export function readMetadata(text: string, id: StackId): ReleaseMetadata {
  const mapping = readMapping(metadataFile, text);
  const versionAt = (...path: string[]): string | undefined => {
    const given = readText(metadataFile, mapping, ...path);
    if (given === undefined) return undefined;
    const version = parseStackVersion(given);
    if (version === undefined)
      throw new StackReleaseError(`${metadataFile}: ${path.join('.')}: ${given} is no version`);
    return formatStackVersion(version);
  };
  const own = versionAt('versions', 'clusterStack');
  if (own !== formatStackVersion(id.version)) {
    const found = own === undefined ? 'names no version of the stack' : `is of version ${own}`;
    throw new StackReleaseError(`${metadataFile} ${found}, but the release is ${formatStackVersion(id.version)}`);
  }
  const kubernetesVersion = readText(metadataFile, mapping, 'versions', 'kubernetes');
  const parsed = kubernetesVersion === undefined ? undefined : parseKubernetesVersion(kubernetesVersion);
  if (kubernetesVersion === undefined || parsed === undefined) {
    throw new StackReleaseError(`${metadataFile}: versions.kubernetes must be a version such as v1.33.6`);
  }
  if (`${parsed.major}.${parsed.minor}` !== id.kubernetesVersion) {
    throw new StackReleaseError(
      `${metadataFile}: versions.kubernetes is ${kubernetesVersion}, but the release is of Kubernetes ${id.kubernetesVersion}`,
    );
  }
  const addonVersion = versionAt('versions', 'components', 'clusterAddon');
  if (addonVersion === undefined)
    throw new StackReleaseError(`${metadataFile}: versions.components.clusterAddon is missing`);
  return {
    kubernetesVersion,
    addonVersion,
    nodeImageVersion: versionAt('versions', 'components', 'nodeImage'),
  };
}
