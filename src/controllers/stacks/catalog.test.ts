import { describe, expect, it } from 'vitest';
import { classNameOf, parseStackId } from '../../api/index.ts';
import { ManualClock, must } from '../../machinery/index.ts';
import { createStackCatalog } from './catalog.ts';
import type { ReleaseFiles } from './release/documents.ts';
import { SourcePendingError } from './source/patience.ts';
import type { ReleaseSource } from './source/types.ts';
import { releaseFiles } from './testing/release-files.ts';

const name = 'openstack-slow-1-33-v1';
const id = must(parseStackId(name), 'an id');
const stages = { 'cni/templates/x.yaml': 'a: b' };
const files = releaseFiles({ id: name, kubernetes: 'v1.33.6', stages });
const { signal } = new AbortController();

const sourceOf = (over: Partial<ReleaseSource>): ReleaseSource => ({
  name: 'somewhere',
  pollMs: 300_000,
  isPinned: true,
  chart: async () => new Map(),
  tags: async () => [name],
  files: async () => files,
  ...over,
});

/** Files that arrive on demand. */
function later(): { promise: Promise<ReleaseFiles>; resolve: (arrived: ReleaseFiles) => void } {
  let resolve: (arrived: ReleaseFiles) => void = () => {};
  const promise = new Promise<ReleaseFiles>((arrived) => {
    resolve = arrived;
  });
  return { promise, resolve };
}

describe('a slow source of releases', () => {
  it('blocks nobody: it continues, and later callers get its result', async () => {
    const clock = new ManualClock();
    const { promise, resolve } = later();
    let asked = 0;
    const source = sourceOf({
      files: () => {
        asked++;
        return promise;
      },
    });
    const catalog = createStackCatalog({ sources: [source], clock });
    const first = catalog.release(id, signal).catch((error: unknown) => error);
    await clock.advance(5_000);
    expect(await first).toBeInstanceOf(SourcePendingError);
    expect(String(await first)).toContain(`release ${name} is still being fetched`);
    const second = catalog.release(id, signal);
    resolve(files);
    expect((await second).id).toEqual(id);
    expect(asked).toBe(1);
  });

  it('is awaited until the caller aborts, and serves other callers', async () => {
    const clock = new ManualClock();
    const { promise, resolve } = later();
    const catalog = createStackCatalog({ sources: [sourceOf({ files: () => promise })], clock });
    const leaving = new AbortController();
    const left = catalog.release(id, leaving.signal).catch((error: unknown) => error);
    const stays = catalog.release(id, signal);
    leaving.abort(new Error('the program stops'));
    expect(String(await left)).toContain('the program stops');
    resolve(files);
    expect((await stays).id).toEqual(id);
  });

  it('does not hide the releases of other sources', async () => {
    const clock = new ManualClock();
    const refuses = sourceOf({
      name: 'a registry',
      tags: async () => {
        throw new Error('401: it wants credentials');
      },
    });
    const silent = sourceOf({ name: 'a page', tags: () => new Promise(() => {}) });
    const catalog = createStackCatalog({ sources: [refuses, silent, sourceOf({})], clock });
    const listing = catalog.list(signal);
    await clock.advance(5_000);
    const { ids, failures } = await listing;
    expect(ids.map(classNameOf)).toEqual([name]);
    expect(failures.map(({ source, error }) => `${source}: ${error}`)).toEqual([
      expect.stringContaining('a registry: Error: 401: it wants credentials'),
      expect.stringContaining('a page: SourcePendingError: the list of a page is still being fetched'),
    ]);
  });
});
