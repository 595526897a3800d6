import { asTyped, isNotFound, must, type UnstructuredObject } from '../../machinery/index.ts';
import type { Authorizer } from '../auth/index.ts';
import type { PodSpec, VolumeSpec } from '../pods/pod-spec.ts';
import type { AdmissionRequest } from './types.ts';

/** Reads an object or throws a 404. `plural` is followed by `.group` outside the core group. */
type Find = (plural: string, namespace: string | undefined, name: string) => UnstructuredObject;

interface TokenRequest {
  spec?: {
    audiences?: string[];
    boundObjectRef?: { apiVersion?: string; kind?: string; name?: string; uid?: string };
  };
}

/**
 * Returns why a node may not get a token. Tokens are limited to accounts of pods on the node and to audiences these
 * pods use.
 */
export function tokenObjection(
  node: string,
  request: AdmissionRequest,
  authorizer: Authorizer,
  find: Find,
): string | undefined {
  const { spec } = asTyped<TokenRequest>(must(request.object, 'request.object'));
  const { apiVersion, kind, name, uid } = spec?.boundObjectRef ?? {};
  if (apiVersion !== 'v1' || kind !== 'Pod' || !name) return 'node requested token not bound to a pod';
  if (!uid) return 'node requested token with a pod binding without a uid';
  const pod = find('pods', request.target.namespace, name);
  if (uid !== pod.metadata.uid) {
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  }
  if ((pod.spec as PodSpec | undefined)?.nodeName !== node) {
    return 'node requested token bound to a pod scheduled on a different node';
  }
  const [audience = '', ...others] = spec?.audiences ?? [];
  if (others.length > 0) return 'node may only request 0 or 1 audiences';
  return audienceObjection(request, pod, audience, authorizer, find);
}

function audienceObjection(
  { caller, target }: AdmissionRequest,
  pod: UnstructuredObject,
  audience: string,
  authorizer: Authorizer,
  find: Find,
): string | undefined {
  const { volumes = [] } = (pod.spec ?? {}) as PodSpec;
  if (volumes.some((volume) => asksFor(volume, audience, pod, find))) return undefined;
  const { decision } = authorizer.authorize({
    user: caller.user,
    verb: 'request-serviceaccounts-token-audience',
    namespace: target.namespace ?? '',
    group: '',
    version: 'v1',
    resource: audience,
    subresource: '',
    name: target.name,
    path: '',
    resourceRequest: true,
  });
  if (decision === 'allow') return undefined;
  return `audience ${JSON.stringify(audience)} not found in pod spec volume, ${caller.user.name} is not authorized to request tokens for this audience`;
}

function asksFor(volume: VolumeSpec, audience: string, pod: UnstructuredObject, find: Find): boolean {
  const projects = volume.projected?.sources?.some(
    ({ serviceAccountToken }) => serviceAccountToken && (serviceAccountToken.audience ?? '') === audience,
  );
  if (projects) return true;
  const driver = driverOf(volume, pod, find);
  if (driver === undefined) return false;
  const { tokenRequests = [] } = (optional(() => find('csidrivers.storage.k8s.io', undefined, driver))?.spec ?? {}) as {
    tokenRequests?: { audience?: string }[];
  };
  return tokenRequests.some((wanted) => (wanted.audience ?? '') === audience);
}

/** Returns the CSI driver of a volume, which may request tokens for the pod. */
function driverOf(volume: VolumeSpec, pod: UnstructuredObject, find: Find): string | undefined {
  if (volume.csi) return volume.csi.driver;
  const claimName =
    volume.persistentVolumeClaim?.claimName ??
    (volume.ephemeral === undefined ? undefined : `${pod.metadata.name}-${volume.name}`);
  if (claimName === undefined) return undefined;
  const claim = optional(() => find('persistentvolumeclaims', pod.metadata.namespace, claimName));
  const { volumeName } = (claim?.spec ?? {}) as { volumeName?: string };
  if (!volumeName) return undefined;
  const { csi } = (optional(() => find('persistentvolumes', undefined, volumeName))?.spec ?? {}) as {
    csi?: { driver?: string };
  };
  return csi?.driver;
}

function optional(read: () => UnstructuredObject): UnstructuredObject | undefined {
  try {
    return read();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return undefined;
  }
}
