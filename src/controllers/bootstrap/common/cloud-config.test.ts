import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { renderCloudConfig } from './cloud-config.ts';

const read = (text: string): Record<string, unknown> => parse(text, { version: '1.1' }) as Record<string, unknown>;

describe('a cloud-config', () => {
  it('begins with the header lines of cloud-init in their order', () => {
    expect(renderCloudConfig({ files: [], commands: [] }).split('\n').slice(0, 2)).toEqual([
      '## template: jinja',
      '#cloud-config',
    ]);
  });

  it('keeps file contents and commands exactly', () => {
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
    'keeps the quotes of the expression %s, which is rendered before YAML is parsed',
    (command) => {
      const text = renderCloudConfig({ files: [], commands: [command] });
      expect(text).toContain(command);
      expect(read(text)['runcmd']).toEqual([command]);
    },
  );

  it('omits sections that are not set', () => {
    expect(Object.keys(read(renderCloudConfig({ files: [], commands: ['x'] })))).toEqual(['write_files', 'runcmd']);
  });

  it('expires the account of an inactive user', () => {
    const users = [
      { name: 'a', inactive: true },
      { name: 'b', inactive: false },
    ];
    expect(read(renderCloudConfig({ files: [], commands: [], users }))['users']).toEqual([
      { name: 'a', expiredate: '1970-01-02' },
      { name: 'b' },
    ]);
  });

  it('writes partition types as fdisk numbers and keeps GUIDs', () => {
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
