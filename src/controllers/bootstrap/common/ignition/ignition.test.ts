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
  ])('of %s is %s', (path, name) => {
    expect(systemdPathName(path)).toBe(name);
  });
});

describe('Ignition content', () => {
  it('replaces files of the image, and makes one entry of a file and what is added to it', () => {
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

  it('mounts file systems by the label they are given', () => {
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
  ])('refuses %s, which cannot be said', (_, content, named) => {
    expect(() => ignitionContent({ files: [], ...content })).toThrow(named);
  });

  it('has no empty sections', () => {
    expect(JSON.parse(encodeIgnition({ files: [] }))).toEqual({ ignition: { version: '3.3.0' } });
  });
});

describe('additional configuration', () => {
  const content = (lines: string[], strict = true) =>
    readAdditionalConfig(lines.join('\n'), { field: 'spec.x', strict }).content;

  it('reads the older kind and Butane alike', () => {
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

  it('reads bytes, remote files with their hash, sizes and network units', () => {
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

  it('adds to generated units by their name, and its word is the last', () => {
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

  it('warns of what it does not know, and refuses it in strict mode', () => {
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
  ])('refuses %j in its own words', (text, reason) => {
    expect(() => readAdditionalConfig(text, { field: 'spec.x', strict: false })).toThrow(reason);
  });
});
