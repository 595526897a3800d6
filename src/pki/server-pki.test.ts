import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../machinery/index.ts';
import { isMatchingPair, parseCertificate } from './certificate.ts';
import { writeFileAtomic } from './files.ts';
import { ensureServerPki } from './server-pki.ts';

const day = 24 * 60 * 60 * 1000;
let root: string;
let directory: string;
let clock: ManualClock;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'capstan-pki-'));
  directory = join(root, 'pki');
  clock = new ManualClock(Date.UTC(2026, 0, 1));
});
afterEach(() => rm(root, { recursive: true, force: true, maxRetries: 3 }));

const ensure = (hosts = ['localhost', '127.0.0.1']) => ensureServerPki({ directory, hosts, clock });

describe('ensureServerPki', () => {
  it('creates everything once and only reads it afterwards', async () => {
    const first = await ensure();
    expect(first.written.length).toBe(8);
    expect(parseCertificate(first.admin.certificate).subject).toEqual({
      commonName: 'kubernetes-admin',
      organizations: ['system:masters'],
    });
    expect(parseCertificate(first.server.certificate)).toMatchObject({
      dnsNames: ['localhost'],
      ipAddresses: ['127.0.0.1'],
    });
    for (const pair of [first.server, first.admin]) {
      expect(isMatchingPair(pair.certificate, pair.privateKey, first.authority.certificate)).toBe(true);
    }
    const second = await ensure();
    expect(second).toEqual({ ...first, written: [] });
  });

  it('makes private keys readable by the owner only and leaves no temporary files', async () => {
    await ensure();
    const files = await readdir(directory);
    expect(files.sort()).toEqual([
      'admin.crt',
      'admin.key',
      'apiserver.crt',
      'apiserver.key',
      'ca.crt',
      'ca.key',
      'sa.key',
      'sa.pub',
    ]);
    for (const file of files.filter((name) => name.endsWith('.key'))) {
      expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600);
    }
  });

  it('reissues only the serving certificate for a new host', async () => {
    const first = await ensure();
    const second = await ensure(['localhost', '127.0.0.1', '10.1.2.3', '0:0:0:0:0:0:0:1']);
    expect(second.written.map((path) => path.slice(directory.length + 1)).sort()).toEqual([
      'apiserver.crt',
      'apiserver.key',
    ]);
    expect(second.authority).toEqual(first.authority);
    expect((await ensure(['localhost', '::1'])).written).toEqual([]);
  });

  it('renews leaf certificates when less than 30 days are left', async () => {
    const first = await ensure();
    await clock.advance(334 * day);
    expect((await ensure()).written).toEqual([]);
    await clock.advance(2 * day);
    const renewed = await ensure();
    expect(renewed.authority).toEqual(first.authority);
    expect(renewed.written.length).toBe(4);
    expect(parseCertificate(renewed.admin.certificate).notAfter).toBe(clock.now() + 365 * day);
  });

  it('completes what a crash left unfinished', async () => {
    const first = await ensure();
    await rm(join(directory, 'ca.crt'));
    const second = await ensure();
    expect(second.authority.privateKey).toBe(first.authority.privateKey);
    expect(isMatchingPair(second.server.certificate, second.server.privateKey, second.authority.certificate)).toBe(
      true,
    );
  });

  it.each(['ca.key', 'sa.key'])('refuses to start over a damaged %s', async (file) => {
    await ensure();
    await writeFile(join(directory, file), 'rubbish');
    await expect(ensure()).rejects.toMatchObject({ code: 'CAP_PKI_DAMAGED', hint: expect.stringContaining('backup') });
  });

  it('writes nothing any more once it has failed', async () => {
    await ensure();
    await writeFile(join(directory, 'sa.key'), 'rubbish');
    // another host needs another certificate
    await expect(ensure(['localhost', 'other.example.com'])).rejects.toMatchObject({ code: 'CAP_PKI_DAMAGED' });
    const names = await readdir(directory);
    expect(names.filter((name) => name.startsWith('.'))).toEqual([]);
    expect(parseCertificate(await readFile(join(directory, 'apiserver.crt'), 'utf8')).dnsNames).toContain(
      'other.example.com',
    );
  });
});

describe('writeFileAtomic', () => {
  it('replaces content and mode', async () => {
    const path = join(root, 'deep/er/file');
    await writeFileAtomic(path, 'one', 0o644);
    await writeFileAtomic(path, 'two', 0o600);
    expect(await readFile(path, 'utf8')).toBe('two');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(root, 'deep/er'))).toEqual(['file']);
  });
});
