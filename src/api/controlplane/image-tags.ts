import { type FieldError, fieldError, type ObjectMeta } from '../../machinery/index.ts';
import type { KubeadmClusterConfiguration } from '../bootstrap/types.ts';

/** If present, the user manages CoreDNS. */
export const skipCoreDnsAnnotation = 'controlplane.cluster.x-k8s.io/skip-coredns';
export const skipKubeProxyAnnotation = 'controlplane.cluster.x-k8s.io/skip-kube-proxy';

const imageTag = /^\w[\w.-]{0,127}$/;
const taggedVersion = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:[-_+].*)?$/;

type Numbers = readonly [number, number, number];

/** Reads the leading numbers of a version: `v1.8.6`, `1.8` and `1.8.0_build.1` are valid. */
function numbersOf(tag: string): Numbers | undefined {
  const match = taggedVersion.exec(tag);
  if (match === null) return undefined;
  return [Number(match[1]), Number(match[2] ?? 0), Number(match[3] ?? 0)];
}

export function validateImageTags(cluster: KubeadmClusterConfiguration | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const tags = { 'dns.imageTag': cluster?.dns?.imageTag, 'etcd.local.imageTag': cluster?.etcd?.local?.imageTag };
  for (const [name, tag] of Object.entries(tags)) {
    if (tag !== undefined && !imageTag.test(tag)) {
      errors.push(fieldError.forbidden(`${path}.${name}`, `tag ${tag} is invalid`));
    }
  }
  const dns = cluster?.dns?.imageTag;
  if (dns !== undefined && numbersOf(dns) === undefined) {
    errors.push(fieldError.invalid(`${path}.dns.imageTag`, dns, 'failed to parse CoreDNS version'));
  }
  return errors;
}

/** The configuration of CoreDNS can be migrated to newer versions only. */
export function validateCoreDnsChange(
  cluster: KubeadmClusterConfiguration | undefined,
  old: KubeadmClusterConfiguration | undefined,
  { annotations }: ObjectMeta,
  path: string,
): FieldError[] {
  const to = numbersOf(cluster?.dns?.imageTag ?? '');
  const from = numbersOf(old?.dns?.imageTag ?? '');
  if (to === undefined || from === undefined || annotations?.[skipCoreDnsAnnotation] !== undefined) return [];
  const difference = to[0] - from[0] || to[1] - from[1] || to[2] - from[2];
  if (difference >= 0) return [];
  const problem = `cannot migrate CoreDNS up to '${to.join('.')}' from '${from.join('.')}': it is a lower version`;
  return [fieldError.forbidden(`${path}.dns.imageTag`, problem)];
}
