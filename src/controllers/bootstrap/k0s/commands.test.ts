import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { K0sWorkerConfigSpec } from '../../../api/index.ts';
import { tokenPath, workerArguments, workerCommands, workerVersion } from './commands.ts';

const commands = (spec: K0sWorkerConfigSpec, version = 'v1.32.6+k0s.0'): string[] =>
  workerCommands({ spec, machineName: 'm', version, ingress: [] });

describe('arguments of k0s install worker', () => {
  const label = '--labels=k0smotron.io/machine-name=m';
  const hostname = '--hostname-override=m';

  it.each<[string, string[] | undefined, string[]]>([
    ['nothing of the user', undefined, [label, `--kubelet-extra-args="${hostname}"`]],
    [
      'plain flags, in order',
      ['--debug=true', '--a'],
      [label, '--debug=true', '--a', `--kubelet-extra-args="${hostname}"`],
    ],
    [
      'flags of the kubelet in double quotes',
      ['--kubelet-extra-args="--cloud-provider=external"'],
      [label, `--kubelet-extra-args="${hostname} --cloud-provider=external"`],
    ],
    [
      'flags of the kubelet in single quotes, behind a space',
      ["--kubelet-extra-args '--v=4 --x=y'", '--debug'],
      [label, '--debug', `--kubelet-extra-args="${hostname} --v=4 --x=y"`],
    ],
    [
      'several of them',
      ['--kubelet-extra-args=--v=4', '--kubelet-extra-args=--x=y'],
      [label, `--kubelet-extra-args="${hostname} --v=4 --x=y"`],
    ],
    [
      'the value as an entry of its own',
      ['--kubelet-extra-args', '--v=4', '--debug'],
      [label, '--debug', `--kubelet-extra-args="${hostname} --v=4"`],
    ],
    ['an empty value', ['--kubelet-extra-args=""'], [label, `--kubelet-extra-args="${hostname}"`]],
    [
      'a flag that only begins alike',
      ['--kubelet-extra-argsx=1'],
      [label, '--kubelet-extra-argsx=1', `--kubelet-extra-args="${hostname}"`],
    ],
  ])('%s', (_, args, expected) => {
    expect(workerArguments({ ...(args && { args }) }, 'm')).toEqual(expected);
  });

  it('leave the node name to the system with useSystemHostname', () => {
    expect(workerArguments({ useSystemHostname: true }, 'm')).toEqual([label]);
    expect(workerArguments({ useSystemHostname: true, args: ['--kubelet-extra-args=--v=2'] }, 'm')).toEqual([
      label,
      '--kubelet-extra-args="--v=2"',
    ]);
  });

  it('omit the machine label when its value is not a valid label', () => {
    expect(workerArguments({ useSystemHostname: true }, 'm'.repeat(64))).toEqual([]);
  });

  it('keep every plain flag and contain one kubelet flag', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constant('--kubelet-extra-args=--v=1'), fc.stringMatching(/^--[a-j]$/))),
        (args) => {
          const result = workerArguments({ args }, 'm');
          const isKubelet = (text: string): boolean => text.startsWith('--kubelet-extra-args');
          expect(result.filter(isKubelet)).toHaveLength(1);
          expect(result.filter((text) => !isKubelet(text)).slice(1)).toEqual(args.filter((text) => !isKubelet(text)));
        },
      ),
    );
  });
});

describe('the commands of a k0s worker', () => {
  it('run in the documented order', () => {
    const [before, download, install, start, behind, sentinel] = commands({
      preK0sCommands: ['before'],
      postK0sCommands: ['behind'],
    });
    expect(before).toBe('before');
    expect(download).toBe(
      'curl -sSfL --retry 5 https://get.k0s.sh | K0S_INSTALL_PATH=/usr/local/bin K0S_VERSION=v1.32.6+k0s.0 sh',
    );
    expect(install).toMatch(/^\/usr\/local\/bin\/k0s install worker --token-file \/etc\/k0s.token --labels=/);
    expect(start).toContain('systemctl start k0sworker');
    expect(behind).toBe('behind');
    expect(sentinel).toBe('mkdir -p /run/cluster-api && touch /run/cluster-api/bootstrap-success.complete');
  });

  it.each<[string, K0sWorkerConfigSpec, string, string[]]>([
    ['an image that has k0s', { preInstalledK0s: true }, '', []],
    ['the newest version', {}, '', ['curl -sSfL --retry 5 https://get.k0s.sh | K0S_INSTALL_PATH=/usr/local/bin sh']],
    [
      'another place',
      { downloadURL: 'https://mirror.example/k0s', k0sInstallDir: '/opt/bin' },
      'v1',
      ['curl -sSfL --retry 5 https://mirror.example/k0s -o /opt/bin/k0s', 'chmod +x /opt/bin/k0s'],
    ],
    [
      'a registry',
      { downloadURL: 'oci://registry.example/k0s@sha256:abc' },
      'v1',
      [
        'export HOME=/root',
        'oras blob fetch --output /usr/local/bin/k0s registry.example/k0s@sha256:abc',
        'chmod +x /usr/local/bin/k0s',
      ],
    ],
  ])('get k0s from %s', (_, spec, version, expected) => {
    const all = commands(spec, version);
    expect(all.slice(0, all.length - 3)).toEqual(expected);
  });

  it.each(['ftp://mirror.example/k0s', 'not an address'])('are refused with the downloadURL %j', (downloadURL) => {
    expect(() => commands({ downloadURL })).toThrow(/^spec.downloadURL: .* http, https or oci$/);
  });
});

it.each([
  [undefined, 'v1.32.6', 'v1.32.6+k0s.0'],
  ['v1.32.6+k0s.1', 'v1.31.0', 'v1.32.6+k0s.1'],
  ['1.32.6-k0s.2', undefined, 'v1.32.6+k0s.2'],
  ['', undefined, ''],
])('k0s version for the config version %j on a machine of %j is %j', (version, machine, expected) => {
  expect(workerVersion({ ...(version !== undefined && { version }) }, machine)).toBe(expected);
});

it('the token path is below the working directory', () => {
  expect(tokenPath({ workingDir: '/var/k0s/' })).toBe('/var/k0s/k0s.token');
});
