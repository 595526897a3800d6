import {
  type Cluster,
  type ClusterStackRelease,
  classNameOf,
  compareStackVersions,
  minorDistance,
  parseStackId,
  type StackId,
  unsafeVersionAnnotation,
} from '../../../api/index.ts';
import { type FieldError, fieldError } from '../../../machinery/index.ts';
import { stackUseOf } from '../uses.ts';

export interface RuleResult {
  readonly errors: readonly FieldError[];
  readonly warnings: readonly string[];
}

const nothing: RuleResult = { errors: [], warnings: [] };
const versionPath = 'spec.topology.version';
const classPath = 'spec.topology.classRef.name';

/**
 * Checks a Cluster with a stack's class: it must have the release's Kubernetes version and stay with its stack. Other
 * Clusters are ignored.
 */
export async function checkCluster(
  cluster: Cluster,
  old: Cluster | undefined,
  releasesIn: (namespace: string) => Promise<readonly ClusterStackRelease[]>,
): Promise<RuleResult> {
  const { topology } = cluster.spec ?? {};
  const use = stackUseOf(cluster);
  if (use === undefined || topology === undefined) return nothing;
  const before = old?.spec?.topology;
  const isSame =
    before?.version === topology.version &&
    before.classRef?.name === topology.classRef.name &&
    before.classRef?.namespace === topology.classRef.namespace;
  // an existing Cluster can always be changed otherwise, and deleted
  if (isSame || cluster.metadata.deletionTimestamp !== undefined) return nothing;
  const releases = await releasesIn(use.namespace);
  const from = before?.classRef?.name === undefined ? undefined : parseStackId(before.classRef.name);
  const errors = from === undefined ? [] : checkStep(from, use.id, releases);
  if (errors.length > 0) return { errors, warnings: [] };
  const release = releases.find(({ metadata }) => metadata.name === use.release);
  const expected = release?.status?.kubernetesVersion;
  if (expected === undefined) {
    const what =
      release === undefined
        ? `there is no ClusterStackRelease ${use.release} in namespace ${use.namespace}`
        : `ClusterStackRelease ${use.release} does not know its version of Kubernetes yet`;
    return { errors: [], warnings: [`${versionPath} cannot be checked: ${what}`] };
  }
  if (topology.version === expected) return nothing;
  if (cluster.metadata.annotations?.[unsafeVersionAnnotation] !== undefined) return nothing;
  const targets = from === undefined ? '' : otherTargets(from, use.id, releases);
  return {
    errors: [
      fieldError.invalid(
        versionPath,
        topology.version,
        `class ${topology.classRef.name} expects Kubernetes version ${expected}, but got ${topology.version}${targets}`,
      ),
    ],
    warnings: [],
  };
}

/** Checks a class change: same stack, and the same or next Kubernetes minor version. */
function checkStep(from: StackId, to: StackId, releases: readonly ClusterStackRelease[]): FieldError[] {
  const name = classNameOf(to);
  const refuse = (problem: string): FieldError[] => [
    fieldError.invalid(classPath, name, `${problem}${otherTargets(from, to, releases)}`),
  ];
  if (from.provider !== to.provider) {
    return refuse(`provider name must not change. Got ${to.provider}, want ${from.provider}`);
  }
  if (from.name !== to.name) return refuse(`cluster stack name must not change. Got ${to.name}, want ${from.name}`);
  const distance = minorDistance(from, to);
  if (distance === 0 || distance === 1) return [];
  const direction = distance !== undefined && distance < 0 ? 'a downgrade' : 'a jump';
  return refuse(
    `${direction} from Kubernetes ${from.kubernetesVersion} to ${to.kubernetesVersion}: it must be the same minor or the next`,
  );
}

/** Lists alternatives for the message. */
function otherTargets(from: StackId, refused: StackId, releases: readonly ClusterStackRelease[]): string {
  const allowed = releases
    .flatMap(({ metadata, status }) => {
      const id = parseStackId(metadata.name ?? '');
      const version = status?.kubernetesVersion;
      if (id === undefined || version === undefined || status?.ready !== true) return [];
      if (id.provider !== from.provider || id.name !== from.name) return [];
      // the current class
      if (classNameOf(id) === classNameOf(from)) return [];
      const distance = minorDistance(from, id);
      return distance === 0 || distance === 1 ? [{ id, version }] : [];
    })
    .sort((a, b) => (minorDistance(b.id, a.id) ?? 0) || compareStackVersions(a.id.version, b.id.version))
    .map(({ id, version }) => `class ${classNameOf(id)} with version ${version}`);
  if (allowed.length === 0) {
    const next = nextMinor(from.kubernetesVersion);
    return next === undefined
      ? ''
      : `; to upgrade, ask for a release of Kubernetes ${next} with a ClusterStack in the namespace of the class, then change class and version together`;
  }
  const cure = classNameOf(refused) === classNameOf(from) ? '; to upgrade, change class and version together' : '';
  return `${cure}; possible: ${allowed.slice(0, 5).join(', ')}`;
}

function nextMinor(version: string): string | undefined {
  const [major, minor] = version.split('.').map(Number);
  return major === undefined || minor === undefined ? undefined : `${major}.${minor + 1}`;
}
