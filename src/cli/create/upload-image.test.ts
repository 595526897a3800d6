import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../machinery/index.ts';
import type { Image, Images } from '../../openstack/index.ts';
import { uploadImage } from './upload-image.ts';

/** A fake glance with one image that may be stored incorrectly. */
function glance(wrong: Partial<Image> | Error = {}) {
  const seen = { deleted: [] as string[], bytes: Buffer.alloc(0) };
  let image: Partial<Image> | undefined;
  const images: Pick<Images, 'list' | 'create' | 'upload' | 'get' | 'delete'> = {
    async *list() {
      if (image) yield image as Image;
    },
    async create({ name }) {
      image = { id: 'i1', name, status: 'queued' };
      return image as Image;
    },
    async upload(_id, content) {
      for await (const chunk of content as AsyncIterable<Uint8Array>) seen.bytes = Buffer.concat([seen.bytes, chunk]);
      if (wrong instanceof Error) throw wrong;
      const value = createHash('sha512').update(seen.bytes).digest('hex');
      image = { ...image, status: 'active', size: seen.bytes.length, hash: { algorithm: 'sha512', value }, ...wrong };
    },
    async get() {
      return image as Image;
    },
    async delete(id) {
      seen.deleted.push(id);
      image = undefined;
      return true;
    },
  };
  return { images: images as Images, seen };
}

describe('an image upload', () => {
  let directory: string;
  let file: string;
  const content = Buffer.alloc(3_000_000, 'disk');
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'capstan-upload-'));
    file = join(directory, 'disk.img');
    await writeFile(file, content);
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const spec = { name: 'node', diskFormat: 'raw', containerFormat: 'bare' };
  const from = (images: Images, onProgress?: (sent: number, total: number) => void) =>
    uploadImage(
      { images, clock: systemClock, signal: new AbortController().signal, ...(onProgress && { onProgress }) },
      spec,
      file,
    );

  it('sends every byte and reports progress', async () => {
    const { images, seen } = glance();
    const told: number[] = [];
    expect(await from(images, (sent) => void told.push(sent))).toMatchObject({ id: 'i1', status: 'active' });
    expect(seen.bytes.equals(content)).toBe(true);
    expect(told.length).toBeGreaterThan(1);
    expect(told.at(-1)).toBe(content.length);
    await expect(from(images)).rejects.toThrow('has an image "node" (i1, active)');
    expect(seen.deleted).toEqual([]);
  });

  it.each<[string, Partial<Image> | Error, RegExp]>([
    ['has another hash', { hash: { algorithm: 'sha512', value: 'ff' } }, /another content .* sha512 differs/],
    ['has another hash of a kind we did not expect', { hash: { algorithm: 'sha256', value: 'ff' } }, /sha256 differs/],
    ['has another checksum and no hash', { hash: undefined, checksum: 'ff' }, /md5 differs/],
    ['is cut off', { size: 17 }, /has 17 bytes of .*, which has 3000000/],
    ['is not taken', { status: 'queued' }, /did not take the content: the image is queued/],
    ['breaks off', new Error('connection reset'), /connection reset/],
  ])('leaves no image behind when it %s', async (_, wrong, says) => {
    const { images, seen } = glance(wrong);
    await expect(from(images)).rejects.toThrow(says);
    expect(seen.deleted).toEqual(['i1']);
  });

  it('accepts a hash of an unknown algorithm', async () => {
    const { images } = glance({ hash: { algorithm: 'blake9', value: 'x' } });
    expect(await from(images)).toMatchObject({ status: 'active' });
  });
});
