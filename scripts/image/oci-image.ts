import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type TarEntry, tar } from '../../src/artifacts/testing/tar.ts';

export interface ImageConfig {
  readonly user?: string;
  readonly entrypoint: readonly string[];
  readonly env: readonly string[];
  readonly workingDirectory?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface ImageContent {
  /** Go's name of the architecture, as used in images */
  readonly architecture: string;
  readonly config: ImageConfig;
  /** from bottom to top */
  readonly layers: readonly { readonly comment: string; readonly entries: readonly TarEntry[] }[];
}

interface Blob {
  readonly digest: string;
  readonly bytes: Uint8Array;
}

export interface OciImage {
  /** descriptor of the manifest, whose digest identifies the image in a registry */
  readonly manifest: Descriptor;
  /** layers, configuration and manifest */
  readonly blobs: readonly Blob[];
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export const manifestType = 'application/vnd.oci.image.manifest.v1+json';

/** Constant, so that the same content always has the same digest. */
const created = '1970-01-01T00:00:00Z';

/** Builds the blobs of an image in the OCI format, by digest. */
export function ociImage(
  { architecture, config, layers }: ImageContent,
  { compress = true }: { compress?: boolean } = {},
): OciImage {
  const packed = layers.map(({ comment, entries }) => {
    const plain = tar(entries);
    return { comment, diffId: digestOf(plain), blob: blobOf(compress ? gzipSync(plain, { level: 9 }) : plain) };
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
  const layerType = `application/vnd.oci.image.layer.v1.tar${compress ? '+gzip' : ''}`;
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: manifestType,
    config: descriptor('application/vnd.oci.image.config.v1+json', configBlob),
    layers: packed.map(({ blob }) => descriptor(layerType, blob)),
    annotations: config.labels,
  });
  return {
    manifest: descriptor(manifestType, manifest),
    blobs: [...packed.map(({ blob }) => blob), configBlob, manifest],
  };
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

function descriptor(mediaType: string, { digest, bytes }: Blob): Descriptor {
  return { mediaType, digest, size: bytes.length };
}
