import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type TarEntry, tar } from '../../src/artifacts/testing/tar.ts';

export interface ImageConfig {
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly env: readonly string[];
  readonly workingDirectory: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Image {
  /** the whole name, tag included */
  readonly name: string;
  /** Go's name of the processor, as images have it */
  readonly architecture: string;
  readonly config: ImageConfig;
  /** from the lowest to the topmost */
  readonly layers: readonly { readonly comment: string; readonly entries: readonly TarEntry[] }[];
}

export interface OciArchive {
  readonly bytes: Uint8Array;
  /** of the manifest: what a registry knows the image by */
  readonly digest: string;
}

/** No clock in an image: the same content has the same digest whenever it is made. */
const created = '1970-01-01T00:00:00Z';

interface Blob {
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/** An image as one file in the OCI layout, which `ctr images import`, `skopeo` and `podman load` read. */
export function ociArchive({ name, architecture, config, layers }: Image): OciArchive {
  const packed = layers.map(({ comment, entries }) => {
    const plain = tar(entries);
    return { comment, diffId: digestOf(plain), blob: blobOf(gzipSync(plain, { level: 9 })) };
  });
  const configBlob = jsonBlob({
    created,
    architecture,
    os: 'linux',
    config: {
      User: config.user,
      Env: config.env,
      Entrypoint: config.entrypoint,
      WorkingDir: config.workingDirectory,
      Labels: config.labels,
    },
    rootfs: { type: 'layers', diff_ids: packed.map(({ diffId }) => diffId) },
    history: packed.map(({ comment }) => ({ created, created_by: 'capstan image', comment })),
  });
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: descriptor('application/vnd.oci.image.config.v1+json', configBlob),
    layers: packed.map(({ blob }) => descriptor('application/vnd.oci.image.layer.v1.tar+gzip', blob)),
    annotations: config.labels,
  });
  const tag = name.slice(name.lastIndexOf(':') + 1);
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...descriptor('application/vnd.oci.image.manifest.v1+json', manifest),
        platform: { architecture, os: 'linux' },
        annotations: { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': tag },
      },
    ],
  };
  const blobs = [...packed.map(({ blob }) => blob), configBlob, manifest];
  const bytes = tar([
    { path: 'oci-layout', content: JSON.stringify({ imageLayoutVersion: '1.0.0' }) },
    { path: 'index.json', content: JSON.stringify(index) },
    { path: 'blobs/', type: '5', mode: 0o755 },
    { path: 'blobs/sha256/', type: '5', mode: 0o755 },
    ...blobs.map(({ digest, bytes: content }) => ({ path: `blobs/${digest.replace(':', '/')}`, content })),
  ]);
  return { bytes, digest: manifest.digest };
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function blobOf(bytes: Uint8Array): Blob {
  return { digest: digestOf(bytes), bytes };
}

function jsonBlob(value: object): Blob {
  return blobOf(Buffer.from(JSON.stringify(value)));
}

function descriptor(mediaType: string, { digest, bytes }: Blob): object {
  return { mediaType, digest, size: bytes.length };
}
