import {
  compareKubernetesVersions,
  k0sVersionOf,
  kubernetesVersionOfK0s,
  type Pod,
  parseImage,
  parseKubernetesVersion,
  withLeadingV,
} from '../../../api/index.ts';
import type { PlaneSpec } from '../../../hosting/index.ts';
import type { CacheReader } from '../../../runtime/index.ts';
import { readDeployment, readStatefulSet, type SetSight } from './sets.ts';

/** Returns the set whose Pods count as the control plane: k0s controllers or API servers. */
export function seeControlPlane(
  cache: CacheReader,
  desired: Pick<PlaneSpec, 'layout' | 'naming' | 'identity'>,
): SetSight | undefined {
  const key = { namespace: desired.identity.namespace, name: desired.naming.controlPlane };
  return desired.layout === 'k0s' ? readStatefulSet(cache, key) : readDeployment(cache, key);
}

/** Returns the lowest version in a ready Pod, in the format of the spec; undefined if none is ready. */
export function runningVersionOf(desired: Pick<PlaneSpec, 'layout'>, { pods }: SetSight): string | undefined {
  let lowest: string | undefined;
  for (const { pod, isReady, isTerminating } of pods) {
    if (!isReady || isTerminating) continue;
    const version = versionOfPod(desired, pod);
    if (version === undefined) continue;
    if (lowest === undefined || isOlder(version, lowest)) lowest = version;
  }
  return lowest;
}

const mainContainers = ['kube-apiserver', 'apiserver', 'api-server', 'controller'];

function versionOfPod({ layout }: Pick<PlaneSpec, 'layout'>, { spec }: Pod): string | undefined {
  const containers = spec?.containers ?? [];
  const main = containers.find(({ name }) => mainContainers.includes(name)) ?? containers[0];
  const tag = main?.image === undefined ? undefined : parseImage(main.image).tag;
  if (tag === undefined) return undefined;
  return layout === 'k0s' ? k0sVersionOf(tag) : withLeadingV(tag.replaceAll('_', '+'));
}

function isOlder(a: string, b: string): boolean {
  const left = parseKubernetesVersion(withLeadingV(kubernetesVersionOfK0s(a)));
  const right = parseKubernetesVersion(withLeadingV(kubernetesVersionOfK0s(b)));
  return left !== undefined && right !== undefined && compareKubernetesVersions(left, right) < 0;
}
