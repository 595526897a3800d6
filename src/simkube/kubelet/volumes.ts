import {
  type PersistentVolume,
  type Pod,
  type ProjectedSource,
  ServiceAccounts,
  type Volume as VolumeSpec,
} from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { errorMessage, type KubeObject, parseRfc3339 } from '../../machinery/index.ts';
import type { PodBackend, Volume, VolumeFile } from '../containers/types.ts';
import { claimDirectory } from './claim-directory.ts';
import type { PodContext } from './downward.ts';
import { downwardFiles, MountError, objectFiles } from './files.ts';
import type { ObjectLookup } from './lookup.ts';

export interface VolumeParts {
  readonly client: Client;
  readonly lookup: ObjectLookup;
  readonly backend: PodBackend;
  /** directory of a CSI volume; throws the reason why it cannot be mounted; absent: no CSI drivers */
  readonly csiDirectory?: (volume: PersistentVolume) => Promise<string>;
}

/** Volumes of a Pod, and when to rebuild them without an object change, because tokens expire. */
export interface ResolvedVolumes {
  readonly volumes: readonly Volume[];
  readonly renewAt?: number;
}

interface Gathering {
  readonly pod: Pod;
  readonly around: PodContext;
  readonly parts: VolumeParts;
  readonly now: number;
  renewAt: number;
}

const fileMode = 0o644;
const mebibyte = 1024 * 1024;

/** Builds all volumes of a Pod. Throws MountError in a kubelet's words if something is missing. */
export async function resolveVolumes(
  pod: Pod,
  around: PodContext,
  parts: VolumeParts,
  now: number,
): Promise<ResolvedVolumes> {
  const gathering: Gathering = { pod, around, parts, now, renewAt: Number.POSITIVE_INFINITY };
  const volumes: Volume[] = [];
  for (const spec of pod.spec.volumes ?? []) {
    try {
      volumes.push(await resolveVolume(spec, gathering));
    } catch (error) {
      if (!(error instanceof MountError)) throw error;
      throw new MountError(`MountVolume.SetUp failed for volume "${spec.name}" : ${error.message}`);
    }
  }
  const { renewAt } = gathering;
  return { volumes, ...(renewAt !== Number.POSITIVE_INFINITY && { renewAt }) };
}

async function resolveVolume(spec: VolumeSpec, gathering: Gathering): Promise<Volume> {
  const { name, secret, configMap, downwardAPI, projected, emptyDir, hostPath, persistentVolumeClaim, ephemeral } =
    spec;
  const { pod, around, parts } = gathering;
  if (secret) {
    const { secretName, ...settings } = secret;
    return filesVolume(name, await secretFiles({ ...settings, name: secretName ?? '' }, secret.defaultMode, gathering));
  }
  if (configMap) return filesVolume(name, await configMapFiles(configMap, configMap.defaultMode, gathering));
  if (downwardAPI) {
    const mode = downwardAPI.defaultMode ?? fileMode;
    return filesVolume(name, downwardFiles(pod, downwardAPI.items ?? [], mode, around));
  }
  if (projected) return filesVolume(name, await projectedFiles(projected, gathering));
  if (persistentVolumeClaim) return claimVolume(name, persistentVolumeClaim.claimName, gathering);
  if (ephemeral) return claimVolume(name, `${pod.metadata.name}-${name}`, gathering);
  if (emptyDir) return directoryVolume(name, emptyDirName(pod, name), parts);
  // The node of a simulated Pod has no files of its own. Pods with the same path share a directory.
  if (hostPath) return directoryVolume(name, `host${hostPath.path}`, parts);
  const source = Object.keys(spec).find((key) => key !== 'name');
  throw new MountError(`volumes of type ${source} cannot be mounted on this node`);
}

/** Directory name of an emptyDir, which is deleted with its Pod. */
export function emptyDirName(pod: Pod, volume: string): string {
  return `pod-${pod.metadata.uid}-${volume}`;
}

function filesVolume(name: string, files: ReadonlyMap<string, VolumeFile>): Volume {
  return { kind: 'files', name, files };
}

async function directoryVolume(name: string, directoryName: string, { backend }: VolumeParts): Promise<Volume> {
  const directory = await backend.createDirectory(directoryName, { capacityBytes: 1024 * mebibyte });
  return { kind: 'directory', name, directory };
}

interface KeysSpec {
  readonly name?: string;
  readonly items?: { key: string; path: string; mode?: number }[];
  readonly optional?: boolean;
}

async function secretFiles(
  desired: KeysSpec,
  mode = fileMode,
  { pod, parts }: Gathering,
): Promise<Map<string, VolumeFile>> {
  const found = await parts.lookup.secret(pod.metadata.namespace ?? '', desired.name ?? '');
  return filesOf(found, desired, mode, 'secret');
}

async function configMapFiles(
  desired: KeysSpec,
  mode = fileMode,
  { pod, parts }: Gathering,
): Promise<Map<string, VolumeFile>> {
  const found = await parts.lookup.configMap(pod.metadata.namespace ?? '', desired.name ?? '');
  return filesOf(found, desired, mode, 'configmap');
}

function filesOf(
  object: Parameters<typeof objectFiles>[0] | undefined,
  { name, items, optional = false }: KeysSpec,
  mode: number,
  kind: string,
): Map<string, VolumeFile> {
  if (object) return objectFiles(object, { ...(items && { items }), mode, optional });
  if (optional) return new Map();
  throw new MountError(`${kind} "${name}" not found`);
}

async function projectedFiles(
  { sources = [], defaultMode = fileMode }: NonNullable<VolumeSpec['projected']>,
  gathering: Gathering,
): Promise<Map<string, VolumeFile>> {
  const files = new Map<string, VolumeFile>();
  for (const source of sources) {
    for (const [path, file] of await sourceFiles(source, defaultMode, gathering)) files.set(path, file);
  }
  return files;
}

async function sourceFiles(
  { secret, configMap, downwardAPI, serviceAccountToken }: ProjectedSource,
  mode: number,
  gathering: Gathering,
): Promise<ReadonlyMap<string, VolumeFile>> {
  if (secret) return secretFiles(secret, mode, gathering);
  if (configMap) return configMapFiles(configMap, mode, gathering);
  if (downwardAPI) return downwardFiles(gathering.pod, downwardAPI.items ?? [], mode, gathering.around);
  if (!serviceAccountToken) return new Map();
  const token = await accountToken(serviceAccountToken, gathering);
  return new Map([[serviceAccountToken.path, { content: Buffer.from(token, 'utf8'), mode: 0o600 }]]);
}

interface TokenRequest extends KubeObject {
  spec: {
    audiences: string[];
    expirationSeconds: number;
    boundObjectRef: { apiVersion: string; kind: string; name: string; uid: string };
  };
  status?: { token: string; expirationTimestamp: string };
}

async function accountToken(
  desired: NonNullable<ProjectedSource['serviceAccountToken']>,
  gathering: Gathering,
): Promise<string> {
  const { pod, parts, now } = gathering;
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  const request: TokenRequest = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {},
    spec: {
      audiences: desired.audience ? [desired.audience] : [],
      expirationSeconds: desired.expirationSeconds ?? 3600,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    },
  };
  const account = { namespace, name: pod.spec.serviceAccountName || 'default' };
  const answer = await parts.client.createSubresource(ServiceAccounts, account, 'token', request, {
    fieldManager: 'kubelet',
  });
  const expiresAt = parseRfc3339(answer.status?.expirationTimestamp ?? '') ?? now + 3_600_000;
  // Renewed after four fifths of the lifetime, like a kubelet.
  gathering.renewAt = Math.min(gathering.renewAt, now + (expiresAt - now) * 0.8);
  return answer.status?.token ?? '';
}

async function driverDirectory(volume: PersistentVolume, { csiDirectory }: VolumeParts): Promise<string | undefined> {
  if (!volume.spec.csi || !csiDirectory) return undefined;
  try {
    return await csiDirectory(volume);
  } catch (error) {
    throw new MountError(errorMessage(error));
  }
}

async function claimVolume(name: string, claimName: string, { pod, parts }: Gathering): Promise<Volume> {
  const claim = await parts.lookup.claim(pod.metadata.namespace ?? '', claimName);
  if (!claim) throw new MountError(`persistentvolumeclaim "${claimName}" not found`);
  const { volumeName } = claim.spec;
  if (!volumeName || claim.status?.phase !== 'Bound') {
    throw new MountError(`persistentvolumeclaim "${claimName}" is not bound`);
  }
  const volume = await parts.lookup.volume(volumeName);
  const directory = volume && (claimDirectory(volume) ?? (await driverDirectory(volume, parts)));
  if (!volume) throw new MountError(`persistentvolume "${volumeName}" of claim "${claimName}" not found`);
  if (!directory) throw new MountError(`persistentvolume "${volumeName}" is of a type this node cannot mount`);
  return { kind: 'directory', name, directory: await parts.backend.createDirectory(directory, { capacityBytes: 0 }) };
}
