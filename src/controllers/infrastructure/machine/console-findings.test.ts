import { describe, expect, it } from 'vitest';
import { findOnConsole } from './console-findings.ts';

describe('the console of a server', () => {
  it.each([
    ['Boot failed: not a bootable disk', 'NoBootDevice'],
    ['[    2.1] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)', 'NoBootDevice'],
    ['cp: error writing: No space left on device', 'DiskFull'],
    [
      '2026-11-18 10:00:00,000 - util.py[WARNING]: Failed loading yaml blob. Invalid format at line 3',
      'UserDataInvalid',
    ],
    ['ignition[712]: Ignition failed: config is not valid', 'UserDataInvalid'],
    [
      "url_helper.py[WARNING]: Calling 'http://169.254.169.254/openstack' failed [119/120s]: request error",
      'NoMetadata',
    ],
    ['E: Unable to locate package kubeadm', 'PackagesUnavailable'],
    ["E: Failed to fetch https://pkgs.k8s.io/  Could not resolve 'pkgs.k8s.io'", 'PackagesUnavailable'],
    ['/var/lib/cloud/instance/scripts/runcmd: line 4: kubeadm: command not found', 'ImageWithoutKubernetes'],
    ['sh: k0s: command not found', 'ImageWithoutKubernetes'],
    ['Failed to restart kubelet.service: Unit kubelet.service not found.', 'ImageWithoutKubernetes'],
    [
      'this version of kubeadm only supports deploying clusters with the control plane version >= 1.32.0. Current version: v1.30.1',
      'WrongKubernetesVersion',
    ],
    ['\t[ERROR NumCPU]: the number of available CPUs 1 is less than the required 2', 'PreflightFailed'],
    ['\t[ERROR Swap]: running with swap on is not supported', 'PreflightFailed'],
    ['could not find a JWS signature in the cluster-info ConfigMap for token ID "abcdef"', 'TokenExpired'],
    [
      'cluster CA found in cluster-info ConfigMap is invalid: none of the public keys "sha256:1" are pinned',
      'AuthorityMismatch',
    ],
    [
      'error execution phase preflight: couldn\'t validate the identity of the API Server: Get "https://203.0.113.7:6443": dial tcp 203.0.113.7:6443: i/o timeout',
      'EndpointUnreachable',
    ],
    ['dial tcp 203.0.113.7:6443: connect: connection refused', 'EndpointUnreachable'],
    ['failed to pull image "registry.k8s.io/pause:3.10": not found', 'ImagesUnavailable'],
    ['error execution phase control-plane-join/etcd: etcdserver: unhealthy cluster', 'KubeadmFailed'],
    [
      'cc_scripts_user.py[WARNING]: Failed to run module scripts-user (scripts in /var/lib/cloud/instance/scripts)',
      'CommandFailed',
    ],
  ])('with the line "%s" gives the reason %s', (line, reason) => {
    const finding = findOnConsole(`[  OK  ] Reached target Network.\n[    9.000001] ${line}\nlogin: `);
    expect(finding?.reason).toBe(reason);
    expect(finding?.message).toMatch(/^[a-z].*: ".+"; [a-z].+/);
  });

  it('gives the cause rather than its consequences', () => {
    const text = 'sh: kubeadm: command not found\nFailed running /var/lib/cloud/instance/scripts/runcmd [127]\n';
    expect(findOnConsole(text)?.reason).toBe('ImageWithoutKubernetes');
  });

  it('is shown without credentials and control characters, in one line', () => {
    const { message = '' } =
      findOnConsole(
        `error execution phase x: \u001b[31mtoken abcdef.0123456789abcdef password=hunter2 ${'a'.repeat(900)}`,
      ) ?? {};
    expect(message).not.toMatch(/0123456789abcdef|hunter2/);
    expect(message).not.toContain('\u001b');
    expect(message.length).toBeLessThan(500);
  });

  it('of a healthy machine gives no finding', () => {
    expect(findOnConsole('Ubuntu 22.04 red-1 ttyS0\n\nred-1 login: ')).toBeUndefined();
    expect(findOnConsole('')).toBeUndefined();
  });
});
