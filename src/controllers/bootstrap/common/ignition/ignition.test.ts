import { describe, expect, it } from 'vitest';
import { systemdPathName } from './encode.ts';
import { encodeIgnition, ignitionContent, mergeIgnition, readAdditionalConfig } from './index.ts';

describe('the name of a mount unit', () => {
  it.each([
    ['/var/lib/etcd', 'var-lib-etcd'],
    ['/var/lib/my-data/', 'var-lib-my\\x2ddata'],
    ['//mnt//a b', 'mnt-a\\x20b'],
    ['/.hidden', '\\x2ehidden'],
    ['/', '-'],
  ])('of the path %s is %s', (path, name) => {
    expect(systemdPathName(path)).toBe(name);
  });
});

describe('Ignition content', () => {
  it('overwrites files of the image, and merges a file with its appended content', () => {
    const files = [
      { path: '/etc/motd', content: 'a b', owner: 'root:wheel', permissions: '0640' },
      { path: '/etc/motd', content: 'AAEC', encoding: 'base64' as const, append: true },
    ];
    expect(mergeIgnition(ignitionContent({ files }), {}).files).toEqual([
      {
        path: '/etc/motd',
        overwrite: true,
        contents: { source: 'data:,a%20b' },
        mode: 0o640,
        user: { name: 'root' },
        group: { name: 'wheel' },
        append: [{ source: 'data:;base64,AAEC' }],
      },
    ]);
  });

  it('mounts file systems by their label', () => {
    const diskSetup = { filesystems: [{ device: '/dev/vdb1', filesystem: 'ext4', label: 'data' }] };
    const { units } = ignitionContent({ files: [], diskSetup, mounts: [['data', '/data', 'noatime', 'nofail']] });
    expect(units).toEqual([
      { name: 'data.mount', enabled: true, contents: expect.stringContaining('What=/dev/vdb1\n') },
    ]);
    expect(units?.[0]?.contents).toContain('Options=noatime,nofail\n');
  });

  it.each([
    [
      'several shares of a disk',
      { diskSetup: { partitions: [{ device: '/dev/vdb', diskLayout: [{ percentage: 50 }, { percentage: 50 }] }] } },
      '/dev/vdb',
    ],
    ['a mount without a directory', { mounts: [['data']] }, 'spec.mounts [data]'],
  ])('refuses %s, which it cannot express', (_, content, named) => {
    expect(() => ignitionContent({ files: [], ...content })).toThrow(named);
  });

  it('omits empty sections', () => {
    expect(JSON.parse(encodeIgnition({ files: [] }))).toEqual({ ignition: { version: '3.3.0' } });
  });
});

describe('additional Ignition configuration', () => {
  const content = (lines: string[], strict = true) =>
    readAdditionalConfig(lines.join('\n'), { field: 'spec.x', strict }).content;

  it('gives the same content from the older format and from Butane', () => {
    const older = content([
      'storage:',
      '  files:',
      '  - {filesystem: root, path: /a, mode: 0644, contents: {inline: x}}',
    ]);
    const butane = content([
      'variant: flatcar',
      'version: 1.0.0',
      'storage:',
      '  files:',
      '  - {path: /a, mode: 0644, contents: {inline: x}}',
    ]);
    expect(older).toEqual({ files: [{ path: '/a', mode: 0o644, contents: { source: 'data:,x' } }] });
    expect(butane).toEqual(older);
  });

  it('may contain bytes, remote files with a hash, sizes and network units', () => {
    const read = content([
      'storage:',
      '  files:',
      '  - {path: /b, contents: {inline: !!binary AAEC}}',
      '  - {path: /r, contents: {remote: {url: "https://e/x", verification: {hash: {function: sha512, sum: ab}}}}}',
      '  disks:',
      '  - {device: /dev/vdb, wipe_table: true, partitions: [{label: a, size: 2GiB}]}',
      'networkd:',
      '  units: [{name: a.network, contents: x}]',
    ]);
    expect(read.files).toEqual([
      { path: '/b', contents: { source: 'data:;base64,AAEC' } },
      { path: '/r', contents: { source: 'https://e/x', verification: { hash: 'sha512-ab' } } },
      { path: '/etc/systemd/network/a.network', mode: 0o644, overwrite: true, contents: { source: 'data:,x' } },
    ]);
    expect(read.disks).toEqual([{ device: '/dev/vdb', wipeTable: true, partitions: [{ label: 'a', sizeMiB: 2048 }] }]);
  });

  it('extends generated units by name and overrides them', () => {
    const generated = {
      units: [{ name: 'k.service', enabled: true, contents: 'x', dropins: [{ name: 'a', contents: '1' }] }],
    };
    const added = content([
      'systemd:',
      '  units:',
      '  - name: k.service',
      '    enabled: false',
      '    dropins: [{name: b, contents: "2"}]',
    ]);
    expect(mergeIgnition(generated, added).units).toEqual([
      {
        name: 'k.service',
        enabled: false,
        contents: 'x',
        dropins: [
          { name: 'a', contents: '1' },
          { name: 'b', contents: '2' },
        ],
      },
    ]);
  });

  it('causes warnings for unknown fields, and errors in strict mode', () => {
    const text = 'storage:\n  files:\n  - {path: /a, colour: blue}\nshelves: {}\n';
    expect(readAdditionalConfig(text, { field: 'spec.x', strict: false }).warnings).toEqual([
      'spec.x: section shelves is not known',
      'spec.x: storage.files[0].colour is not known',
    ]);
    expect(() => readAdditionalConfig(text, { field: 'spec.x', strict: true })).toThrow(
      'spec.x: section shelves is not known; storage.files[0].colour is not known',
    );
  });

  it.each([
    ['etcd: {version: 3}', 'section etcd is not supported'],
    ['- a', 'it is not a map'],
    ['a: [', 'spec.x: '],
    ['storage: {files: {}}', 'storage.files is not a list'],
    ['storage: {files: [{path: /a, contents: {local: x}}]}', 'use inline'],
    ['storage: {files: [{path: /a, filesystem: data}]}', 'only root can be written to'],
    ['storage: {disks: [{device: /d, partitions: [{size: big}]}]}', 'partition size "big"'],
  ])('%j is refused with a message of its own', (text, reason) => {
    expect(() => readAdditionalConfig(text, { field: 'spec.x', strict: false })).toThrow(reason);
  });
});
