import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { containerFiles, type MountedVolume } from './container-files.ts';
import { diskTree, memoryTree } from './file-tree.ts';

const base = mkdtempSync(join(tmpdir(), 'podhost-files-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const file = (text: string) => ({ content: Buffer.from(text), mode: 0o644 });

describe('the files of a container', () => {
  const data = memoryTree();
  const volumes: Record<string, MountedVolume> = {
    keys: {
      kind: 'files',
      files: new Map([
        ['ca.crt', file('CA')],
        ['sub/b', file('B')],
      ]),
    },
    data: { kind: 'tree', tree: data },
  };
  const files = containerFiles(
    [
      { volume: 'keys', path: '/etc/pki', readOnly: true },
      { volume: 'data', path: '/var/lib/etcd', subPath: 'member-0', readOnly: false },
      { volume: 'keys', path: '/var/lib/etcd/ca.crt', subPath: 'ca.crt', readOnly: true },
      { volume: 'data', path: '/read', readOnly: true },
    ],
    (name) => volumes[name],
  );

  it('are its own, with mounts over them, the deepest mount first', () => {
    files.write('/tmp/x', '1');
    files.write('/var/lib/etcd/wal/0', '2');
    expect(data.read('member-0/wal/0')).toBe('2');
    expect(files.read('/var/lib/etcd/ca.crt')).toBe('CA');
    expect(files.read('/etc/pki/../pki//ca.crt')).toBe('CA');
    expect(files.read('/read/member-0/wal/0')).toBe('2');
    expect(files.list('/')).toEqual([
      '/etc/pki/ca.crt',
      '/etc/pki/sub/b',
      '/read/member-0/wal/0',
      '/tmp/x',
      '/var/lib/etcd/ca.crt',
      '/var/lib/etcd/wal/0',
    ]);
    expect(files.list('/etc/pki/s')).toEqual(['/etc/pki/sub/b']);
  });

  it.each(['/etc/pki/new', '/read/x', '/var/lib/etcd/ca.crt'])('cannot be written at %s', (path) => {
    expect(() => files.write(path, 'x')).toThrow(expect.objectContaining({ code: 'EROFS' }));
  });

  it('are deleted with their directory', () => {
    files.write('/var/lib/etcd/wal/1', '3');
    files.remove('/var/lib/etcd/wal');
    expect(files.list('/var/lib/etcd/wal')).toEqual([]);
  });
});

describe('a directory on disk', () => {
  it('is found again as it was, without half-written files', () => {
    const root = join(base, 'volume');
    const tree = diskTree(root);
    tree.write('member/id', 'abc');
    tree.write('gone', 'x');
    tree.remove('gone');
    writeFileSync(join(root, 'member', 'wal.unfinished~'), 'half');
    const again = diskTree(root);
    expect([...again.paths()]).toEqual(['member/id']);
    expect(again.read('member/id')).toBe('abc');
    expect([...diskTree(root).paths()]).toEqual(['member/id']);
  });

  it('cannot be left', () => {
    expect(() => diskTree(join(base, 'v')).write('../../escape', 'x')).toThrow(/leads out/);
  });
});
