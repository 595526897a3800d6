import {
  type Cluster,
  compareKubernetesVersions,
  type KubernetesVersion,
  type MachineSet,
  parseKubernetesVersion,
  skipPreflightChecksAnnotation,
  upgradeStepAnnotation,
  withLeadingV,
} from '../../../api/index.ts';
import { must, type UnstructuredObject } from '../../../machinery/index.ts';
import {
  at,
  type Conditioned,
  isFalse,
  type ProviderObject,
  textAt,
  versionAcceptedCondition,
} from '../../shared/index.ts';

type Check = 'KubeadmVersionSkew' | 'KubernetesVersionSkew' | 'ControlPlaneIsStable' | 'ControlPlaneVersionSkew';

const maxMinorSkew = 3;

/** Lists the reasons why a set must not create machines now; empty if it may. */
export function preflightProblems(
  cluster: Cluster,
  set: MachineSet,
  controlPlane: ProviderObject | undefined,
): string[] {
  const skipped = (set.metadata.annotations?.[skipPreflightChecksAnnotation] ?? '')
    .split(',')
    .map((name) => name.trim());
  const reference = cluster.spec.controlPlaneRef;
  if (!reference || skipped.includes('All')) return [];
  if (!controlPlane) return [`${reference.kind} ${cluster.metadata.namespace}/${reference.name} does not exist`];
  const { object } = controlPlane;
  const wanted = versionWanted(object);
  // version skew cannot be checked without a control plane version
  if (wanted === undefined) return [];
  const problems: string[] = [];
  const report = (check: Check, problem: string | undefined): void => {
    if (problem !== undefined && !skipped.includes(check))
      problems.push(`${problem} ("${check}" preflight check failed)`);
  };
  report('ControlPlaneIsStable', instability(cluster, object, wanted));
  const setVersion = set.spec.template.spec.version;
  const own = setVersion === undefined ? undefined : parseKubernetesVersion(withLeadingV(setVersion));
  const theirs = parseKubernetesVersion(withLeadingV(wanted));
  if (setVersion === undefined || !own || !theirs) return problems;
  report('KubernetesVersionSkew', skew(own, theirs));
  const { configRef } = set.spec.template.spec.bootstrap;
  if (configRef?.kind === 'KubeadmConfigTemplate' && configRef.apiGroup === 'bootstrap.cluster.x-k8s.io') {
    report(
      'KubeadmVersionSkew',
      own.minor === theirs.minor
        ? undefined
        : `${versions(own, theirs)} do not conform to kubeadm version skew policy as kubeadm only supports joining with the same major+minor version as the control plane`,
    );
  }
  if (cluster.spec.topology && setVersion !== wanted) {
    report(
      'ControlPlaneVersionSkew',
      `MachineSet version (${setVersion}) is not yet the same as the ControlPlane version (${wanted}), waiting for version to be propagated to the MachineSet`,
    );
  }
  return problems;
}

/**
 * Returns the version the control plane is heading to. While it does not accept a requested version yet, that is the
 * running version, and workers stay at it.
 */
function versionWanted(controlPlane: UnstructuredObject): string | undefined {
  const wanted = textAt(controlPlane, 'spec', 'version');
  if (wanted === undefined || !isFalse(controlPlane as Conditioned, versionAcceptedCondition)) return wanted;
  const known = (text: string): KubernetesVersion | undefined => parseKubernetesVersion(withLeadingV(text));
  const [lowest] = reportedVersions(controlPlane)
    .filter((text) => known(text))
    .toSorted((one, other) =>
      compareKubernetesVersions(must(known(one), 'known(one)'), must(known(other), 'known(other)')),
    );
  return lowest ?? wanted;
}

function instability(cluster: Cluster, controlPlane: UnstructuredObject, wanted: string): string | undefined {
  const who = `${controlPlane.kind} ${controlPlane.metadata.namespace}/${controlPlane.metadata.name}`;
  const { topology } = cluster.spec;
  const step = cluster.metadata.annotations?.[upgradeStepAnnotation];
  if (topology && topology.version !== wanted && step !== wanted) {
    return `${who} has a pending version upgrade to ${step || topology.version}`;
  }
  const reported = reportedVersions(controlPlane);
  if (reported.length === 0) return `${who} is provisioning`;
  const goal = parseKubernetesVersion(withLeadingV(wanted));
  const behind = reported.some((text) => {
    const version = parseKubernetesVersion(withLeadingV(text));
    return goal && version && compareKubernetesVersions(version, goal) < 0;
  });
  return behind ? `${who} is upgrading` : undefined;
}

function reportedVersions(controlPlane: UnstructuredObject): string[] {
  const list = at(controlPlane, 'status', 'versions');
  const versions = Array.isArray(list)
    ? list.flatMap((entry) => textAt({ ...controlPlane, spec: entry }, 'spec', 'version') ?? [])
    : [];
  const single = textAt(controlPlane, 'status', 'version');
  return versions.length > 0 ? versions : single === undefined ? [] : [single];
}

function skew(own: KubernetesVersion, theirs: KubernetesVersion): string | undefined {
  const policy = `${versions(own, theirs)} do not conform to the kubernetes version skew policy as MachineSet version is`;
  if (own.minor > theirs.minor) return `${policy} higher than ControlPlane version`;
  if (own.minor < theirs.minor - maxMinorSkew) {
    return `${policy} more than ${maxMinorSkew} minor versions older than the ControlPlane version`;
  }
  return undefined;
}

function versions(own: KubernetesVersion, theirs: KubernetesVersion): string {
  return `MachineSet version (${text(own)}) and ControlPlane version (${text(theirs)})`;
}

const text = ({ major, minor, patch, suffix }: KubernetesVersion): string => `${major}.${minor}.${patch}${suffix}`;
