import {
  compareKubernetesVersions,
  type KubernetesVersion,
  kubernetesVersionOfK0s,
  parseKubernetesVersion,
  withLeadingV,
} from '../../api/index.ts';

/** Maximum number of minor versions that a kubelet may be behind its API server. */
const kubeletSkew = 3;
/** first minor version with this skew; before, it was smaller */
const wideSkewSince = 28;
const formerKubeletSkew = 2;

export type VersionDecision =
  | { readonly allowed: true; readonly version: string }
  | {
      readonly allowed: false;
      readonly reason: 'VersionUnknown' | 'VersionDowngrade' | 'VersionJump' | 'VersionSkew';
      readonly message: string;
    };

/**
 * Returns the version to run now: the desired one, unless it is a downgrade, skips a minor version, or is too far ahead
 * of the workers. A plane that does not run yet may start with any version.
 */
export function nextVersion(
  running: string | undefined,
  desired: string,
  kubeletVersions: readonly string[] = [],
): VersionDecision {
  const to = parsed(desired);
  if (!to) return refuse('VersionUnknown', `"${desired}" is no version of Kubernetes; write it like v1.32.6`);
  const from = running === undefined ? undefined : parsed(running);
  if (!from) return { allowed: true, version: desired };
  if (compareKubernetesVersions(to, from) < 0) {
    return refuse('VersionDowngrade', `the control plane runs ${running} and cannot go back to ${desired}`);
  }
  if (to.major !== from.major || to.minor > from.minor + 1) {
    return refuse(
      'VersionJump',
      `the control plane runs ${running} and cannot jump to ${desired}; upgrade to v${from.major}.${from.minor + 1} first`,
    );
  }
  const skew = to.minor >= wideSkewSince ? kubeletSkew : formerKubeletSkew;
  const behind = kubeletVersions.filter((version) => (parsed(version)?.minor ?? to.minor) < to.minor - skew);
  if (behind.length > 0) {
    return refuse(
      'VersionSkew',
      `${behind.length} of ${kubeletVersions.length} nodes run ${behind[0]}, too old for a control plane of ${desired}; upgrade the workers to ${running}, which the control plane runs, first`,
    );
  }
  return { allowed: true, version: desired };
}

/** Tells whether workers may run a version: not a newer minor version than the control plane. */
export function workersMayRun(controlPlane: string | undefined, workers: string): boolean {
  const plane = controlPlane === undefined ? undefined : parsed(controlPlane);
  const worker = parsed(workers);
  if (!plane || !worker) return false;
  return plane.major === worker.major && worker.minor <= plane.minor;
}

/** Ignores the k0s suffix in comparisons. */
function parsed(text: string): KubernetesVersion | undefined {
  return parseKubernetesVersion(withLeadingV(kubernetesVersionOfK0s(text)));
}

function refuse(reason: Exclude<VersionDecision, { allowed: true }>['reason'], message: string): VersionDecision {
  return { allowed: false, reason, message };
}
