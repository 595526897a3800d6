import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readTar } from '../../src/template/charts/tar.ts';
import { type Image, ociArchive } from './oci-archive.ts';

const image: Image = {
  name: 'registry.example.org/capstan:1.2.3',
  architecture: 'amd64',
  config: { user: '65532:65532', entrypoint: ['/run'], env: [], workingDirectory: '/', labels: {} },
  layers: [{ comment: 'one', entries: [{ path: 'run', content: 'hello', mode: 0o755 }] }],
};

describe('an OCI archive', () => {
  const { bytes, digest } = ociArchive(image);
  const files = new Map([...readTar(bytes)].map(({ path, content }) => [path, content]));
  const json = (path: string) => JSON.parse(Buffer.from(files.get(path) ?? []).toString());
  const blob = ({ digest: name, size }: { digest: string; size: number }): Uint8Array => {
    const content = files.get(`blobs/${name.replace(':', '/')}`) ?? new Uint8Array();
    expect(content.length).toBe(size);
    expect(`sha256:${createHash('sha256').update(content).digest('hex')}`).toBe(name);
    return content;
  };

  it('leads from the index by digests to the manifest, its configuration and every layer', () => {
    const [entry] = json('index.json').manifests;
    expect(entry).toMatchObject({ digest, annotations: { 'io.containerd.image.name': image.name } });
    const manifest = JSON.parse(Buffer.from(blob(entry)).toString());
    const config = JSON.parse(Buffer.from(blob(manifest.config)).toString());
    expect(config.config).toMatchObject({ User: '65532:65532', Entrypoint: ['/run'] });
    const layer = gunzipSync(blob(manifest.layers[0]));
    expect(config.rootfs.diff_ids).toEqual([`sha256:${createHash('sha256').update(layer).digest('hex')}`]);
    expect([...readTar(layer)].map(({ path, content }) => [path, Buffer.from(content).toString()])).toEqual([
      ['run', 'hello'],
    ]);
  });

  it('has the same bytes for the same content, and another digest when a file mode differs', () => {
    expect(Buffer.compare(ociArchive(image).bytes, bytes)).toBe(0);
    const entries = [{ path: 'run', content: 'hello', mode: 0o644 }];
    expect(ociArchive({ ...image, layers: [{ comment: 'one', entries }] }).digest).not.toBe(digest);
  });
});
