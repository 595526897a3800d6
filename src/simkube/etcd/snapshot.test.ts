import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { simulatedSnapshotKeys, snapshotLines } from './snapshot.ts';

function snapshotOf(entries: readonly { key: string; value: string }[]): Buffer {
  const content = { clusterId: 'c', revision: 7, entries: entries.map((entry) => ({ prefix: '/a', ...entry })) };
  return Buffer.from(snapshotLines(content));
}

/** The same file with other lines and a matching hash. */
function withLines(...lines: string[]): Buffer {
  const text = `${['CAPSTAN-SIMULATED-ETCD-SNAPSHOT 1', '{}', ...lines].join('\n')}\n`;
  return Buffer.from(`${text}${createHash('sha256').update(text).digest('hex')}\n`);
}

describe('the keys of a snapshot', () => {
  it('are the keys that were written', async () => {
    const keys = await simulatedSnapshotKeys(snapshotOf([{ key: '/b', value: 'ü\n"' }]));
    expect(keys?.map(({ key, value }) => [key.toString(), value.toString()])).toEqual([['/a/b', 'ü\n"']]);
    expect(await simulatedSnapshotKeys(snapshotOf([]))).toEqual([]);
  });

  it('are absent in any other file', async () => {
    expect(await simulatedSnapshotKeys(Buffer.from('something else'))).toBeUndefined();
    expect(await simulatedSnapshotKeys(Buffer.alloc(0))).toBeUndefined();
  });

  it.each([
    ['was cut off', snapshotOf([{ key: '/b', value: 'v' }]).subarray(0, -20)],
    ['ends after its first line', Buffer.from('CAPSTAN-SIMULATED-ETCD-SNAPSHOT 1\n')],
    ['has a line that is no key', withLines('{"a":1}')],
    ['has a line without an end', withLines(JSON.stringify(['', 'k', 'x'.repeat(11 * 1024 ** 2)]))],
  ])('are refused when the file %s', async (_what, file) => {
    await expect(simulatedSnapshotKeys(file)).rejects.toThrow(SyntaxError);
  });

  it('are read in small steps, so that others are served meanwhile', async () => {
    const file = snapshotOf(Array.from({ length: 16 }, (_, at) => ({ key: `/${at}`, value: 'x'.repeat(512 * 1024) })));
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    expect(await simulatedSnapshotKeys(file)).toHaveLength(16);
    isOver = true;
    // 8 MiB are hashed and parsed one MiB at a time.
    expect(turns).toBeGreaterThanOrEqual(12);
  });
});
