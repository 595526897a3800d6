import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { renderCloudConfig } from './cloud-config.ts';

const read = (text: string): Record<string, unknown> => parse(text, { version: '1.1' }) as Record<string, unknown>;

describe('a cloud-config', () => {
  it('begins with the lines cloud-init looks for, in their order', () => {
    expect(renderCloudConfig({ files: [], commands: [] }).split('\n').slice(0, 2)).toEqual([
      '## template: jinja',
      '#cloud-config',
    ]);
  });

  it('keeps contents of files and commands to the letter', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('yes', '0600', ' x\n y\n', '\n', 'a\r\nb', '\t', 'it\'s "so"\\'),
    );
    fc.assert(
      fc.property(fc.array(text), text, (commands, content) => {
        const config = read(renderCloudConfig({ files: [{ path: '/x', content }], commands }));
        expect(config['runcmd']).toEqual(commands);
        expect(config['write_files']).toEqual([{ path: '/x', content }]);
      }),
    );
  });

  it.each([`echo {{ ds["a"] }} 'b'`, `echo {{ ds['a'] }} "b"`, `{% if v1['x'] == "y" %}\\n{% endif %}`])(
    'leaves the quotes of the expression %s as they are, for it is filled in before YAML is read',
    (command) => {
      const text = renderCloudConfig({ files: [], commands: [command] });
      expect(text).toContain(command);
      expect(read(text)['runcmd']).toEqual([command]);
    },
  );

  it('leaves out the sections nobody asked for', () => {
    expect(Object.keys(read(renderCloudConfig({ files: [], commands: ['x'] })))).toEqual(['write_files', 'runcmd']);
  });

  it('lets nobody in as a user that is inactive', () => {
    const users = [
      { name: 'a', inactive: true },
      { name: 'b', inactive: false },
    ];
    expect(read(renderCloudConfig({ files: [], commands: [], users }))['users']).toEqual([
      { name: 'a', expiredate: '1970-01-02' },
      { name: 'b' },
    ]);
  });

  it('says partition types in the numbers of fdisk, and GUIDs as they are', () => {
    const guid = '0FC63DAF-8483-4772-8E79-3D69D8477DE4';
    const diskLayout = ['Linux', 'LVM', 'NTFS', guid].map((partitionType) => ({ percentage: 25, partitionType }));
    const diskSetup = { partitions: [{ device: '/dev/vdb', diskLayout }] };
    expect(read(renderCloudConfig({ files: [], commands: [], diskSetup }))['disk_setup']).toEqual({
      '/dev/vdb': {
        layout: [
          [25, 83],
          [25, '8e'],
          [25, '07'],
          [25, guid],
        ],
      },
    });
  });
});
