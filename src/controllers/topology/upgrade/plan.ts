import { compareKubernetesVersions, type KubernetesVersion, parseKubernetesVersion } from '../../../api/index.ts';

/** Remaining versions of an upgrade, in order; the last is the target. Empty if there is nothing to upgrade. */
export interface UpgradePlan {
  readonly controlPlane: readonly string[];
  readonly workers: readonly string[];
}

/** Inputs of an upgrade plan. */
export interface UpgradeQuestion {
  readonly desired: string;
  readonly controlPlane: string;
  /** lowest version of workers; absent without workers */
  readonly workers?: string | undefined;
}

/** No plan is possible, or an extension's plan is invalid. */
export class UpgradePlanError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UpgradePlanError';
  }
}

/** Maximum number of minor versions that workers may be behind the control plane. */
const maxSkew = 3;

function read(version: string, what: string): KubernetesVersion {
  const parsed = parseKubernetesVersion(version);
  if (!parsed) throw new UpgradePlanError(`${what} "${version}" is not a version`);
  return parsed;
}

const isSame = (a: string, b: string): boolean => a === b;

/** Control plane steps if the class lists no versions: at most one minor version. */
export function oneMinorSteps({ desired, controlPlane }: UpgradeQuestion): string[] {
  if (isSame(desired, controlPlane)) return [];
  const to = read(desired, 'version');
  const from = read(controlPlane, 'version of the control plane');
  if (to.major !== from.major || to.minor > from.minor + 1) {
    throw new UpgradePlanError(
      `there is no upgrade path from ${controlPlane} to ${desired}: upgrades go one minor version at a time, unless the ClusterClass lists ` +
        'spec.kubernetesVersions',
    );
  }
  return [desired];
}

/**
 * Control plane steps through the versions of a class: the newest of each intermediate minor version, then the target.
 */
export function listedSteps(versions: readonly string[], { desired, controlPlane }: UpgradeQuestion): string[] {
  if (isSame(desired, controlPlane)) return [];
  const from = read(controlPlane, 'version of the control plane');
  const to = read(desired, 'version');
  const steps: string[] = [];
  let minor = from.minor;
  for (const version of versions) {
    const parsed = read(version, 'spec.kubernetesVersions has');
    if (compareKubernetesVersions(parsed, from) <= 0 || compareKubernetesVersions(parsed, to) >= 0) continue;
    // skip patch releases of the current and the target minor version
    if (parsed.minor === from.minor || parsed.minor === to.minor) continue;
    if (parsed.minor === minor) steps.pop();
    steps.push(version);
    minor = parsed.minor;
  }
  return [...steps, desired];
}

/**
 * Validates the control plane steps and adds those of the workers, which skip minor versions as far as the version skew
 * allows.
 */
export function completePlan(
  question: UpgradeQuestion,
  controlPlane: readonly string[],
  planned: readonly string[] = [],
): UpgradePlan {
  checkSteps(question, controlPlane);
  const { workers, desired } = question;
  if (workers === undefined || isSame(workers, desired)) return { controlPlane, workers: [] };
  const steps = planned.length > 0 ? planned : workerSteps(question, controlPlane);
  const known = new Set([question.controlPlane, ...controlPlane]);
  for (const step of steps) {
    if (known.has(step)) continue;
    throw new UpgradePlanError(`the upgrade plan of the workers has ${step}, which the control plane never has`);
  }
  if (steps.at(-1) !== desired) {
    throw new UpgradePlanError(`the upgrade plan of the workers ends with ${steps.at(-1)} instead of ${desired}`);
  }
  return { controlPlane, workers: steps };
}

function checkSteps({ controlPlane, desired }: UpgradeQuestion, steps: readonly string[]): void {
  let current = controlPlane;
  for (const step of steps) {
    const from = read(current, 'version');
    const to = read(step, 'version of the upgrade plan');
    if (compareKubernetesVersions(to, from) < 0 || isSame(step, current)) {
      throw new UpgradePlanError(`the upgrade plan goes from ${current} to ${step}, which is not newer`);
    }
    if (to.minor > from.minor + 1) {
      throw new UpgradePlanError(
        `there is no way from ${current} to ${step}: the versions between them are missing, one of each minor is needed`,
      );
    }
    current = step;
  }
  if (!isSame(current, desired)) {
    throw new UpgradePlanError(`the upgrade plan of the control plane ends with ${current} instead of ${desired}`);
  }
}

function workerSteps(
  { controlPlane, desired, workers = desired }: UpgradeQuestion,
  steps: readonly string[],
): string[] {
  const byMinor = new Map([controlPlane, ...steps].map((version) => [read(version, 'version').minor, version]));
  const first = read(workers, 'version of the workers').minor;
  const last = read(desired, 'version').minor;
  const result: string[] = [];
  for (let minor = first + maxSkew; minor < last; minor += maxSkew) {
    const version = byMinor.get(minor);
    if (version === undefined) {
      throw new UpgradePlanError(
        `workers of ${workers} must pass 1.${minor} on the way to ${desired}, which no step has`,
      );
    }
    result.push(version);
  }
  return [...result, desired];
}

export function lowestVersion(versions: readonly string[]): string | undefined {
  return [...versions].sort((a, b) => {
    const [left, right] = [parseKubernetesVersion(a), parseKubernetesVersion(b)];
    return left && right ? compareKubernetesVersions(left, right) : 0;
  })[0];
}
