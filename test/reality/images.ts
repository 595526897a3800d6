import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type ImageContent, ociImage } from '../../scripts/image/oci-image.ts';
import { parseImage } from '../../src/api/index.ts';
import type { TarEntry } from '../../src/artifacts/testing/index.ts';
import { kubernetesImages } from '../../src/hosting/index.ts';
import { konnectivityTag, planeEtcdVersion, type RealityPrograms } from './programs.ts';

/** An image with one program, at the path of the published image. */
interface ImageSpec {
  readonly reference: string;
  readonly program: string;
  /** path in the image */
  readonly path: string;
  /** the published image has a file capability for ports below 1024 */
  readonly bindsLowPorts?: boolean;
}

/** Images on disk: blobs by digest, and a manifest per reference. */
export interface ImageStore {
  /** `repository:tag`, with the registry host -> digest of the manifest */
  readonly manifests: ReadonlyMap<string, string>;
  pathOf(digest: string): string;
}

/** Image of the container that holds the namespaces of a Pod. */
export const pauseImage = 'registry.k8s.io/pause:3.10';

/** Images of HostedControlPlane and KamajiControlPlane, with their published names and tags. */
export function imageSpecs(programs: RealityPrograms): ImageSpec[] {
  const inPath = (program: string): string => `usr/local/bin/${basename(program)}`;
  const ofVersions = [...programs.planes].flatMap(([version, plane]): ImageSpec[] => {
    const usual = kubernetesImages(version);
    const apiServer = plane['kube-apiserver'];
    const others = { controllerManager: plane['kube-controller-manager'], scheduler: plane['kube-scheduler'] };
    return [
      { reference: usual.apiServer, program: apiServer, path: inPath(apiServer), bindsLowPorts: true },
      { reference: usual.controllerManager, program: others.controllerManager, path: inPath(others.controllerManager) },
      { reference: usual.scheduler, program: others.scheduler, path: inPath(others.scheduler) },
    ];
  });
  const { repository: tunnel } = parseImage(kubernetesImages('1.34.0').konnectivityServer);
  return [
    ...ofVersions,
    { reference: `${tunnel}:${konnectivityTag}`, program: programs.konnectivity, path: 'proxy-server' },
    {
      reference: `registry.k8s.io/etcd:${planeEtcdVersion}-0`,
      program: programs.etcd,
      path: inPath(programs.etcd),
    },
    { reference: pauseImage, program: programs.pause, path: 'pause' },
  ];
}

/** Writes the images into a directory. */
export async function writeImages(directory: string, images: readonly ImageSpec[]): Promise<ImageStore> {
  await mkdir(directory, { recursive: true });
  const pathOf = (digest: string): string => join(directory, digest.replace(':', '-'));
  const manifests = new Map<string, string>();
  for (const image of images) {
    // Large programs are read once, locally, so compression would take longer than it saves.
    const { manifest, blobs } = ociImage(await contentOf(image), { compress: false });
    for (const { digest, bytes } of blobs) await writeFile(pathOf(digest), bytes);
    manifests.set(image.reference, manifest.digest);
  }
  return { manifests, pathOf };
}

/** The program, its parent directories, and a few files of every base image. */
async function filesOf({ program, path, bindsLowPorts }: ImageSpec): Promise<TarEntry[]> {
  const parents = path.split('/').slice(0, -1);
  const directory = (name: string, mode = 0o755): TarEntry => ({ path: `${name}/`, type: '5', mode });
  return [
    ...parents.map((_, index) => directory(parents.slice(0, index + 1).join('/'))),
    directory('tmp', 0o1777),
    directory('etc'),
    { path: 'etc/passwd', content: 'root:x:0:0:root:/root:/sbin/nologin\n' },
    {
      path,
      content: await readFile(program),
      mode: 0o755,
      ...(bindsLowPorts && { attributes: { 'security.capability': bindServiceCapability() } }),
    },
  ];
}

/** Returns cap_net_bind_service, permitted and effective, as a file capability (version 2, little endian). */
function bindServiceCapability(): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.writeUInt32LE(0x02_00_00_01, 0);
  bytes.writeUInt32LE(1 << 10, 4);
  return bytes;
}

async function contentOf(image: ImageSpec): Promise<ImageContent> {
  return {
    architecture: 'amd64',
    config: {
      entrypoint: [`/${image.path}`],
      env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    },
    layers: [{ comment: image.reference, entries: await filesOf(image) }],
  };
}
