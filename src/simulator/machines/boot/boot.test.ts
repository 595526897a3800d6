import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { bootingCloud } from '../testing/booting-cloud.ts';

const config = (text: string): string => `#cloud-config\n${text}`;

describe('a server with user data', () => {
  it.each<[string, string | Uint8Array, Record<string, string>]>([
    ['a cloud-config', config('write_files:\n  - {path: /a, content: "hi"}\n'), { '/a': 'hi' }],
    ['a compressed one', gzipSync(config('write_files:\n  - {path: /a, content: hi}\n')), { '/a': 'hi' }],
    [
      'files in every encoding, appended to, and deferred',
      config(`write_files:
  - {path: /b64, encoding: b64, content: aGVsbG8=}
  - {path: /gz, encoding: gz+b64, content: ${gzipSync('packed').toString('base64')}}
  - {path: /log, content: "one\\n"}
  - {path: /log, content: "two\\n", append: true}
  - {path: /of-ops, content: late, owner: 'ops:ops', defer: true}
users: [{name: ops}]
`),
      { '/b64': 'hello', '/gz': 'packed', '/log': 'one\ntwo\n', '/of-ops': 'late' },
    ],
    ['a shell script', '#!/bin/bash\nset -eu\necho "$(hostname)" > /name\n', { '/name': 'node-1\n' }],
    [
      'commands as text and as words, before and after the files',
      config(`bootcmd: ['[ -f /f ] && echo too late > /early || echo early > /early']
write_files: [{path: /f, content: x}]
runcmd:
  - [sh, -c, 'echo "$1" > /words', _, "it's me"]
  - cat /f /early > /both
`),
      { '/words': "it's me\n", '/both': 'xearly\n' },
    ],
    [
      'templates',
      `## template: jinja
#cloud-config
write_files:
  - path: /names
    content: |
      {{ local_hostname }} {{ v1.instance_id | upper }} {{ ds.meta_data.name }} {{ ds.meta_data.meta.role | default('none') }}
      {% if v1.cloud_name == 'openstack' %}cloud{% else %}none{% endif %} {# not shown #}.
      {% raw %}{{ kept }}{% endraw %} too
`,
      {
        '/names': expect.stringMatching(/^node-1 [0-9A-F-]{36} node-1 none\ncloud \.\n\{\{ kept \}\} too\n$/) as string,
      },
    ],
    [
      'several parts',
      [
        'Content-Type: multipart/mixed; boundary="XX"',
        'MIME-Version: 1.0',
        '',
        '--XX',
        'Content-Type: text/cloud-config',
        '',
        config('write_files: [{path: /one, content: a}]\nntp: {servers: [t.example.com]}'),
        '--XX',
        'Content-Type: text/x-shellscript; charset="utf-8"',
        'Content-Transfer-Encoding: base64',
        'Content-Disposition: attachment; filename="go.sh"',
        '',
        Buffer.from('#!/bin/sh\ncat /one > /two\n').toString('base64'),
        '--XX--',
        '',
      ].join('\n'),
      { '/one': 'a', '/two': 'a', '/etc/chrony/chrony.conf': 'server t.example.com iburst\n' },
    ],
    [
      'users, mounts and a host name',
      config(`hostname: other.example.com
users:
  - default
  - {name: ops, sudo: 'ALL=(ALL) NOPASSWD:ALL', ssh_authorized_keys: [ssh-ed25519 AAAA ops]}
mounts: [[LABEL=etcd, /var/lib/etcd]]
runcmd: ['hostname > /name']
`),
      {
        '/name': 'other\n',
        '/home/ops/.ssh/authorized_keys': 'ssh-ed25519 AAAA ops\n',
        '/etc/sudoers.d/90-cloud-init-users': 'ops ALL=(ALL) NOPASSWD:ALL\n',
        '/etc/fstab': expect.stringContaining('LABEL=etcd\t/var/lib/etcd\tauto\t') as string,
      },
    ],
  ])('does what %s says', async (_name, userData, files) => {
    const cloud = await bootingCloud();
    const id = await cloud.bootServer(userData, { name: 'node-1' });
    const found = Object.fromEntries(Object.keys(files).map((path) => [path, cloud.file(id, path)]));
    expect(found).toEqual(files);
    const console = await cloud.console(id);
    expect(console).not.toContain('WARNING');
    expect(console).toMatch(/Cloud-init v\. .* finished at .* Datasource DataSourceOpenStackLocal .*\n/);
    expect(console).toMatch(/ login: $/);
  });

  it.each<[string, string | Uint8Array, RegExp]>([
    [
      'YAML that is none',
      config('runcmd:\n  - "unclosed\n'),
      /Failed loading yaml blob\. Invalid format at line \d+ column \d+: "/,
    ],
    ['YAML with a wrong indent', config('a:\n  b: 1\n c: 2\n'), /Failed at merging in cloud config part from part-001/],
    ['a list where a dictionary must be', config('- a\n'), /root types, but got <class 'list'> instead/],
    ['commands that are no list', config('runcmd: kubeadm init\n'), /runcmd: 'kubeadm init' is not of type 'array'/],
    ['files without a path', config('write_files: [{content: x}]\n'), /write_files\.0: 'path' is a required property/],
    ['an unknown key', config('runcmds: [a]\n'), /Additional properties are not allowed \('runcmds' was unexpected\)/],
    [
      'a file of somebody who is not there',
      config('write_files: [{path: /a, owner: "ops:ops"}]\n'),
      /name not found: 'ops'/,
    ],
    [
      'content that cannot be unpacked',
      config('write_files: [{path: /a, encoding: gz+b64, content: eA==}]\n'),
      /Running module write_files .* failed/,
    ],
    ['a command that does not exist', config('runcmd: [nosuch --now]\n'), /nosuch: command not found/],
    ['a script that fails', '#!/bin/sh\nexit 3\n', /Runparts: 1 failures \(part-001\) in 1 attempted commands/],
    ['a script with a syntax error', '#!/bin/sh\nif true; then\n', /line \d+: syntax error: unexpected end of file/],
    [
      'a template that is broken',
      '## template: jinja\n#cloud-config\na: {{ x\n',
      /Unable to parse Jinja template due to syntax error/,
    ],
    [
      'a template with an unknown variable',
      '## template: jinja\n#cloud-config\nhostname: "{{ nosuch }}"\n',
      /Could not render jinja template variables in file 'part-001': 'nosuch'/,
    ],
    ['something else', 'hello world\n', /Unhandled non-multipart \(text\/x-not-multipart\) userdata: 'b'hello world/],
    ['something encoded once too often', Buffer.from(config('a: 1')).toString('base64'), /Unhandled non-multipart/],
    ['an include', '#include\nhttp://example.com/x\n', /Failed to fetch the URLs of an include part/],
    ['a damaged archive', Buffer.concat([gzipSync('x'.repeat(200)).subarray(0, 20)]), /Failed decompressing user data/],
  ])('reports on its console what is wrong with %s and boots all the same', async (_name, userData, expected) => {
    const cloud = await bootingCloud();
    const id = await cloud.bootServer(userData);
    const console = await cloud.console(id);
    expect(console).toMatch(expected);
    expect(console).toMatch(/ login: $/);
  });

  it('boots without user data', async () => {
    const cloud = await bootingCloud();
    const console = await cloud.console(await cloud.bootServer());
    expect(console).toContain('Linux version');
    expect(console).toMatch(/finished at/);
  });

  it('does not stop at a failing command, as a shell does not', async () => {
    const cloud = await bootingCloud();
    const id = await cloud.bootServer(config('runcmd: ["false", "kubeadm join", "echo ok > /ok"]\n'));
    expect([cloud.file(id, '/ok'), cloud.ran]).toEqual(['ok\n', ['s: kubeadm join']]);
  });
});

describe('a restarted machine', () => {
  const userData = config(`write_files: [{path: /etc/greeter, content: '80'}]
bootcmd: ['echo x >> /boots']
runcmd: ['kubeadm init', 'echo up > /run/state', 'echo x >> /runs']
`);

  it.each(['soft reboot', 'hard reboot', 'stop and start', 'stop and start by the operator', 'rescue and unrescue'])(
    'after %s runs its services but not its user data',
    async (way) => {
      const cloud = await bootingCloud();
      const id = await cloud.bootServer(userData);
      expect(cloud.ran).toEqual(['s: kubeadm init', 's: greeter']);
      const act = async (action: Record<string, unknown>): Promise<void> => {
        const { status } = await cloud.nova('POST', `/servers/${id}/action`, action);
        expect(status).toBeLessThan(300);
        await cloud.clock.advance(5_000);
      };
      if (way === 'soft reboot') await act({ reboot: { type: 'SOFT' } });
      if (way === 'hard reboot') await act({ reboot: { type: 'HARD' } });
      if (way === 'stop and start') {
        await act({ 'os-stop': null });
        expect(cloud.cloud.machines!.running(id)).toBeUndefined();
        await act({ 'os-start': null });
      }
      if (way === 'stop and start by the operator') {
        cloud.cloud.operator.stopServer(id);
        cloud.cloud.operator.startServer(id);
      }
      if (way === 'rescue and unrescue') {
        await act({ rescue: {} });
        expect(cloud.cloud.machines!.running(id)).toBeUndefined();
        await act({ unrescue: null });
      }
      await cloud.clock.advance(30_000);
      expect(cloud.ran).toEqual(['s: kubeadm init', 's: greeter', 's: greeter']);
      // Boot commands run at every boot. Files below /run do not survive it.
      expect([cloud.file(id, '/boots'), cloud.file(id, '/runs'), cloud.file(id, '/run/state')]).toEqual([
        'x\nx\n',
        'x\n',
        undefined,
      ]);
      expect((await cloud.console(id)).match(/Linux version/g)).toHaveLength(2);
    },
  );

  it('keeps its state after suspend or pause', async () => {
    const cloud = await bootingCloud();
    const id = await cloud.bootServer(userData);
    for (const [down, up] of [
      ['suspend', 'resume'],
      ['pause', 'unpause'],
    ] as const) {
      await cloud.nova('POST', `/servers/${id}/action`, { [down]: null });
      await cloud.clock.advance(2_000);
      expect(cloud.cloud.machines!.running(id)).toBeUndefined();
      await cloud.nova('POST', `/servers/${id}/action`, { [up]: null });
      await cloud.clock.advance(2_000);
    }
    expect(cloud.ran).toEqual(['s: kubeadm init', 's: greeter', 's: greeter', 's: greeter']);
    expect((await cloud.console(id)).match(/Linux version/g)).toHaveLength(1);
  });

  it('does not repeat a first boot that was cut short', async () => {
    const cloud = await bootingCloud();
    const id = await cloud.makeServer({
      user_data: Buffer.from(config('runcmd: [sleep 60, "echo no > /no"]')).toString('base64'),
    });
    await cloud.clock.advance(20_000);
    await cloud.nova('POST', `/servers/${id}/action`, { reboot: { type: 'HARD' } });
    await cloud.clock.advance(120_000);
    expect(cloud.file(id, '/no')).toBeUndefined();
    expect(await cloud.console(id)).toMatch(/ login: $/);
  });

  it('starts from nothing when it was rebuilt', async () => {
    const cloud = await bootingCloud();
    const id = await cloud.bootServer(userData);
    await cloud.nova('POST', `/servers/${id}/action`, { rebuild: { imageRef: cloud.imageId } });
    await cloud.clock.advance(30_000);
    expect(cloud.ran).toEqual(['s: kubeadm init', 's: greeter', `forget ${id}`, 's: kubeadm init', 's: greeter']);
    expect(cloud.file(id, '/boots')).toBe('x\n');
  });

  it('is forgotten when it is deleted, during its boot or later', async () => {
    const cloud = await bootingCloud();
    const early = await cloud.makeServer({ user_data: Buffer.from(userData).toString('base64') });
    await cloud.clock.advance(3_000);
    expect(cloud.machine(early).disk.list('/')).toEqual([]);
    await cloud.nova('DELETE', `/servers/${early}`);
    const late = await cloud.bootServer(userData);
    await cloud.nova('DELETE', `/servers/${late}`);
    await cloud.clock.advance(30_000);
    expect(cloud.ran.filter((line) => line.startsWith('forget'))).toEqual([`forget ${early}`, `forget ${late}`]);
    expect(cloud.cloud.core.services.compute.disks.paths(late)).toEqual([]);
    expect(cloud.clock.untilNext()).toBeUndefined();
  });
});

describe('an Ignition image', () => {
  const flatcar = async (): Promise<Awaited<ReturnType<typeof bootingCloud>> & { flatcarId: string }> => {
    const cloud = await bootingCloud();
    const answer = await cloud.admin.request('POST', '/image/v2/images', {
      name: 'flatcar',
      visibility: 'public',
      disk_format: 'qcow2',
      container_format: 'bare',
      os_distro: 'flatcar',
    });
    const flatcarId = cloud.read(answer, 'id');
    await cloud.admin.request('PUT', `/image/v2/images/${flatcarId}/file`, 'x', {
      'content-type': 'application/octet-stream',
    });
    return { ...cloud, flatcarId };
  };
  const unit = `[Unit]
Description=kubeadm
ConditionPathExists=/etc/kubeadm.yml
[Service]
Type=oneshot
ExecStart=/bin/bash /etc/kubeadm.sh
[Install]
WantedBy=multi-user.target
`;
  const script =
    '#!/bin/bash\nset -e\nkubeadm join --config /etc/kubeadm.yml\nmkdir -p /run/cluster-api && echo success > /run/cluster-api/done\nmv /etc/kubeadm.yml /tmp/\n';
  const ignition = (version: string): string =>
    JSON.stringify({
      ignition: { version },
      passwd: { users: [{ name: 'ops', sshAuthorizedKeys: ['ssh-ed25519 AAAA ops'] }] },
      storage: {
        files: [
          {
            path: '/etc/kubeadm.sh',
            filesystem: 'root',
            mode: 0o700,
            contents: { source: `data:,${encodeURIComponent(script)}` },
          },
          {
            path: '/etc/kubeadm.yml',
            filesystem: 'root',
            contents: {
              source: `data:;base64,${gzipSync('kind: JoinConfiguration').toString('base64')}`,
              compression: 'gzip',
            },
          },
        ],
      },
      systemd: { units: [{ name: 'kubeadm.service', enabled: true, contents: unit }] },
    });

  it.each(['2.3.0', '3.3.0'])('runs the units of a config of version %s, once', async (version) => {
    const cloud = await flatcar();
    const id = await cloud.bootServer(ignition(version), { imageRef: cloud.flatcarId });
    expect(cloud.ran).toEqual(['s: kubeadm join --config /etc/kubeadm.yml']);
    expect(cloud.file(id, '/run/cluster-api/done')).toBe('success\n');
    expect(cloud.file(id, '/tmp/kubeadm.yml')).toBe('kind: JoinConfiguration');
    await cloud.nova('POST', `/servers/${id}/action`, { reboot: { type: 'HARD' } });
    await cloud.clock.advance(30_000);
    expect(cloud.ran).toHaveLength(1);
    expect(await cloud.console(id)).toContain('Condition check resulted in kubeadm being skipped');
  });

  it.each<[string, string, RegExp]>([
    ['no JSON', '{"ignition": ', /failed to acquire config: config is not valid/],
    ['no version', '{"ignition": {}}', /missing config version/],
    ['an unknown version', '{"ignition": {"version": "9.9.9"}}', /unsupported config version 9\.9\.9/],
    [
      'a path that is not absolute',
      '{"ignition": {"version": "3.3.0"}, "storage": {"files": [{"path": "x"}]}}',
      /\$\.storage\.files\.0\.path: path not absolute/,
    ],
    [
      'something to be fetched',
      '{"ignition": {"version": "3.3.0", "config": {"merge": [{"source": "https://example.com/x"}]}}}',
      /failed to fetch https:\/\/example\.com\/x/,
    ],
  ])('ends in an emergency shell with %s', async (_name, text, expected) => {
    const cloud = await flatcar();
    const console = await cloud.console(await cloud.bootServer(text, { imageRef: cloud.flatcarId }));
    expect(console).toMatch(expected);
    expect(console).toContain('Entering emergency mode');
    expect(console).not.toContain('login:');
  });

  it('refuses cloud-init user data, as cloud-init images refuse Ignition', async () => {
    const cloud = await flatcar();
    expect(await cloud.console(await cloud.bootServer(ignition('3.3.0')))).toContain('Unhandled non-multipart');
    const other = await cloud.bootServer(config('runcmd: [kubeadm join]'), { imageRef: cloud.flatcarId });
    expect(await cloud.console(other)).toContain('this image takes Ignition configs only');
    expect(cloud.ran).toEqual([]);
  });
});

describe("user data of Capstan's generator", () => {
  const directory = new URL('../../../controllers/bootstrap/kubeadm/testdata/', import.meta.url);
  // These contain a `yes` that never ends, and are meant for real machines.
  const files = readdirSync(directory).filter((name) => name.endsWith('-init.yaml') && name.startsWith('nothing'));
  it.each(files)('%s ends with the success file', async (name) => {
    const cloud = await bootingCloud();
    const id = await cloud.bootServer(readFileSync(new URL(name, directory)));
    expect(cloud.file(id, '/run/cluster-api/bootstrap-success.complete')).toBe('success\n');
    expect(await cloud.console(id)).not.toContain('WARNING');
  });
});

describe('time of simulated machines', () => {
  it('passes for many boots at once without leftover work', async () => {
    const cloud = await bootingCloud({ timings: { 'machine.boot': [9_000, 11_000] } });
    await cloud.admin.request('PUT', `/compute/v2.1/os-quota-sets/${cloud.user.projectId}`, {
      quota_set: { instances: 200, cores: 200, ram: 300_000 },
    });
    for (let i = 0; i < 50; i++) {
      await cloud.makeServer({
        name: `n${i}`,
        user_data: Buffer.from(config('runcmd: [kubeadm join]')).toString('base64'),
      });
    }
    await cloud.clock.advance(60_000);
    expect(cloud.ran).toHaveLength(50);
    expect(cloud.clock.untilNext()).toBeUndefined();
  });

  it('is the same for the same seed', async () => {
    const history = async (): Promise<string> => {
      const cloud = await bootingCloud({ seed: 5 });
      return cloud.console(await cloud.bootServer(config('runcmd: [kubeadm join]')));
    };
    expect(await history()).toBe(await history());
  });
});
