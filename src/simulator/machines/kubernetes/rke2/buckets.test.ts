import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Buckets } from './buckets.ts';

const access = { endpoint: 's3.example.com', bucket: 'b', folder: 'a/folder', accessKey: 'k', secretKey: 's' };

describe('the object stores of rke2', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'capstan-buckets-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('keep objects of a folder when the cloud is opened again', async () => {
    const first = new Buckets(directory);
    await first.put(access, 'x', 'one');
    await first.put(access, 'y', 'two');
    await first.put({ ...access, folder: '' }, 'z', 'three');
    first.remove(access, 'x');
    const second = new Buckets(directory);
    expect(second.names(access)).toEqual(['y']);
    expect(second.get(access, 'y')).toBe('two');
    expect(second.names({ ...access, folder: '' })).toEqual(['a/folder/y', 'z']);
  });

  it('belong to the credentials of their first use', async () => {
    const buckets = new Buckets();
    await buckets.put(access, 'x', 'one');
    expect(() => buckets.get({ ...access, secretKey: 'other' }, 'x')).toThrow('Access Denied');
    expect(() => buckets.get({ ...access, accessKey: '' }, 'x')).toThrow('Access Denied');
    expect(() => buckets.get({ ...access, bucket: '' }, 'x')).toThrow('bucket name was not set');
    expect(buckets.get({ ...access, endpoint: 'elsewhere' }, 'x')).toBeUndefined();
  });
});
