import { tar } from '../../src/artifacts/testing/tar.ts';
import { type ImageContent, ociImage } from './oci-image.ts';

export interface Image extends ImageContent {
  /** full name including the tag */
  readonly name: string;
}

export interface OciArchive {
  readonly bytes: Uint8Array;
  /** digest of the manifest, which identifies the image in a registry */
  readonly digest: string;
}

/** Builds an image as one file in the OCI layout, which `ctr images import`, `skopeo` and `podman load` read. */
export function ociArchive(image: Image): OciArchive {
  const { name, architecture } = image;
  const { manifest, blobs } = ociImage(image);
  const tag = name.slice(name.lastIndexOf(':') + 1);
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...manifest,
        platform: { architecture, os: 'linux' },
        annotations: { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': tag },
      },
    ],
  };
  const bytes = tar([
    { path: 'oci-layout', content: JSON.stringify({ imageLayoutVersion: '1.0.0' }) },
    { path: 'index.json', content: JSON.stringify(index) },
    { path: 'blobs/', type: '5', mode: 0o755 },
    { path: 'blobs/sha256/', type: '5', mode: 0o755 },
    ...blobs.map(({ digest, bytes: content }) => ({ path: `blobs/${digest.replace(':', '/')}`, content })),
  ]);
  return { bytes, digest: manifest.digest };
}
