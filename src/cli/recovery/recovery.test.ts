import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { secretSealer } from '../../apiserver/index.ts';
import { systemClock } from '../../machinery/index.ts';
import { ensureServerPki } from '../../pki/index.ts';
import { type ArchiveSecret, lmdbEngine, lockDirectory } from '../../store/index.ts';
import { createArchive } from './create.ts';
import { refuseHalfRestored, restoreArchive } from './restore.ts';

const secret: ArchiveSecret = { kind: 'key', key: randomBytes(32) };
const other: ArchiveSecret = { kind: 'key', key: randomBytes(32) };

describe('the archive of a management API', () => {
  let home = '';
  const at = (...parts: string[]): string => join(home, ...parts);
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  const engineIn = (directory: string): ReturnType<typeof lmdbEngine> =>
    lmdbEngine({ directory: join(directory, 'store') });
  const archive = (): Parameters<typeof createArchive>[2] => ({
    dataDirectory: at('data'),
    encryptionKeyFile: at('key'),
    storeBackup: at('store.bak'),
    live: true,
    server: 'https://192.0.2.1:6443',
    version: '1.2.3',
    createdAt: '2026-01-01T00:00:00Z',
  });
  const restored = (overrides: Partial<Parameters<typeof restoreArchive>[0]> = {}): ReturnType<typeof restoreArchive> =>
    restoreArchive({
      archive: at('archive'),
      dataDirectory: at('there', 'data'),
      encryptionKeyFile: at('there', 'key'),
      secret,
      force: false,
      ...overrides,
    });
  const volume = { metadata: { name: 'far' }, spec: { nfs: {}, claimRef: { namespace: 'a', name: 'c' } } };

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'capstan-recovery-'));
    await ensureServerPki({ directory: at('data', 'pki'), hosts: ['localhost'], clock: systemClock });
    const sealer = await secretSealer({ keyFile: at('key') });
    const engine = await engineIn(at('data'));
    await engine.load(() => {});
    const key = '/core/secrets/default/s';
    const records = [
      { key, value: Buffer.from(sealer.seal(key, Buffer.from('hidden'))) },
      { key: '/core/persistentvolumes/far', value: Buffer.from(JSON.stringify(volume)) },
    ];
    await engine.commit(
      records.map((record, index) => ({ type: 'put', ...record, revision: index + 1, createRevision: index + 1 })),
    );
    await engine.backup(at('store.bak'));
    await engine.close();
    await put(at('data', 'pods', 'volumes', 'pvc-1', 'member', 'wal'), 'written');
    await put(at('data', 'pods', 'logs', 'x'), 'noise');
    await put(at('data', 'pods', 'etcd', 'old', 'data.mdb'), 'pages');
    await createArchive(at('archive'), secret, archive());
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it('reports what it does not contain', async () => {
    const { missing, records } = await createArchive(at('archive'), secret, archive());
    expect(records).toBe(2);
    expect(missing).toEqual([
      expect.stringContaining('PersistentVolume far (claim a/c)'),
      expect.stringContaining('pods/etcd/old/data.mdb: stop the server'),
    ]);
    const stopped = await createArchive(at('archive'), secret, { ...archive(), live: false });
    expect(stopped.missing).toHaveLength(1);
  });

  it('restores authorities, sealed Secrets with their key, and volumes elsewhere', async () => {
    const { manifest, records } = await restored();
    expect(records).toBe(2);
    expect(manifest.server).toBe('https://192.0.2.1:6443');
    for (const file of ['pki/ca.key', 'pki/ca.crt', 'pki/sa.key', 'pki/admin.crt', 'pods/volumes/pvc-1/member/wal']) {
      expect(await readFile(at('there', 'data', file), 'utf8'), file).toBe(await readFile(at('data', file), 'utf8'));
    }
    expect((await readdir(at('there', 'data'))).sort()).toEqual(['pki', 'pods', 'store']);
    const sealer = await secretSealer({ keyFile: at('there', 'key') });
    const engine = await engineIn(at('there', 'data'));
    const opened: string[] = [];
    await engine.load((key, bytes) => {
      if (key.includes('secrets')) opened.push(Buffer.from(sealer.open(key, bytes)).toString());
    });
    await engine.close();
    expect(opened).toEqual(['hidden']);
  });

  it('is not created when the key does not open the Secrets', async () => {
    await rm(at('key'));
    await secretSealer({ keyFile: at('key') });
    await expect(createArchive(at('second'), secret, archive())).rejects.toMatchObject({
      code: 'CAP_SEALING_KEY_MISSING',
    });
    expect((await readdir(home)).includes('second')).toBe(false);
  });

  it.each<[string, string, () => Promise<Parameters<typeof restored>[0]>]>([
    ['a wrong key', 'CAP_ARCHIVE_SECRET', async () => ({ secret: other })],
    [
      'half of it',
      'CAP_BACKUP_DAMAGED',
      async () => {
        const whole = await readFile(at('archive'));
        await writeFile(at('half'), whole.subarray(0, whole.length / 2));
        return { archive: at('half') };
      },
    ],
    [
      'a directory that is not empty',
      'CAP_STORE_NOT_EMPTY',
      async () => {
        await put(at('there', 'data', 'mine'), 'x');
        return {};
      },
    ],
    [
      'another sealing key',
      'CAP_STORE_NOT_EMPTY',
      async () => {
        await put(at('there', 'key'), 'mine');
        return {};
      },
    ],
    [
      'a directory that is served',
      'CAP_STORE_LOCKED',
      async () => {
        await lockDirectory(at('there', 'data', 'store'));
        return { force: true };
      },
    ],
  ])('is refused with %s, and nothing changes', async (_what, code, prepare) => {
    const overrides = await prepare();
    const before = await readdir(at('there', 'data')).catch(() => []);
    await expect(restored(overrides)).rejects.toMatchObject({ code });
    expect(await readdir(at('there', 'data')).catch(() => [])).toEqual(before);
    if (code === 'CAP_STORE_LOCKED') return;
    expect(await readFile(at('there', 'key'), 'utf8').catch(() => 'none')).toMatch(/^(?:none|mine)$/);
  });

  it('replaces existing data when forced, and keeps the existing key in a copy', async () => {
    await put(at('there', 'data', 'mine'), 'x');
    await put(at('there', 'key'), 'mine');
    await restored({ force: true });
    expect((await readdir(at('there', 'data'))).sort()).toEqual(['pki', 'pods', 'store']);
    expect(await readFile(at('there', 'key.replaced'), 'utf8')).toBe('mine');
  });

  it('leaves old data when killed while unpacking, and a refused directory when killed later', async () => {
    const data = at('there', 'data');
    await put(join(data, 'restoring', 'new', 'pki', 'ca.key'), 'half');
    await refuseHalfRestored(data);
    await put(join(data, 'restoring', 'swapping'), '');
    await put(join(data, 'pki', 'ca.key'), 'half');
    await expect(refuseHalfRestored(data)).rejects.toMatchObject({ code: 'CAP_RESTORE_UNFINISHED' });
    await expect(restored({ secret: other })).rejects.toMatchObject({ code: 'CAP_ARCHIVE_SECRET' });
    await expect(refuseHalfRestored(data)).rejects.toMatchObject({ code: 'CAP_RESTORE_UNFINISHED' });
    await restored();
    await refuseHalfRestored(data);
    expect((await readdir(data)).sort()).toEqual(['pki', 'pods', 'store']);
    expect(await readFile(join(data, 'pki', 'ca.key'), 'utf8')).toBe(
      await readFile(at('data', 'pki', 'ca.key'), 'utf8'),
    );
  });
});
