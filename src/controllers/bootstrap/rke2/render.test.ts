import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Cluster, RKE2ConfigSpec, RKE2ServerConfig } from '../../../api/index.ts';
import { refuseUnknownProfile } from './commands.ts';
import { configFile, encryptionFile, manifestFiles, referencedFiles } from './files.ts';
import { renderRKE2 } from './render.ts';
import { agentSettings, type ResolvedReferences, serverSettings } from './settings.ts';

const cluster = {
  metadata: { name: 'c1' },
  spec: {
    controlPlaneEndpoint: { host: '203.0.113.7', port: 6443 },
    clusterNetwork: { pods: { cidrBlocks: ['10.42.0.0/16'] }, services: { cidrBlocks: ['10.43.0.0/16'] } },
  },
} as Cluster;
const input = (
  spec: RKE2ConfigSpec,
  server: RKE2ServerConfig = {},
  more: { join?: string; references?: ResolvedReferences } = {},
) => ({ spec, server, cluster, machineName: 'm1', token: 'secret', references: {}, ...more });
const version = 'v1.34.2+rke2r1';

describe('the settings of rke2', () => {
  it('of the first server contain no server, and the endpoint as a certificate name', () => {
    expect(serverSettings(input({}, { tlsSan: ['api.example.org', '203.0.113.7'], cni: 'cilium' }))).toEqual({
      token: 'secret',
      cni: ['cilium'],
      'cluster-cidr': '10.42.0.0/16',
      'service-cidr': '10.43.0.0/16',
      'tls-san': ['api.example.org', '203.0.113.7'],
    });
  });

  it('of an agent omit server settings', () => {
    const server: RKE2ServerConfig = { cni: 'cilium', cloudProviderName: 'external' };
    const spec: RKE2ConfigSpec = {
      agentConfig: {
        nodeName: 'pool-',
        nodeLabels: ['a=b'],
        nodeTaints: ['c=d:NoSchedule'],
        kubelet: { extraArgs: ['provider-id=openstack:///{{ instance_id }}'] },
      },
    };
    expect(agentSettings(input(spec, server, { join: 'https://203.0.113.7:9345' }))).toEqual({
      server: 'https://203.0.113.7:9345',
      token: 'secret',
      'node-name': 'pool-m1',
      'cloud-provider-name': 'external',
      'node-label': ['a=b'],
      'node-taint': ['c=d:NoSchedule'],
      'kubelet-arg': ['provider-id=openstack:///{{ instance_id }}'],
    });
  });

  it('disable components, and run Multus before the network plugin', () => {
    const server: RKE2ServerConfig = {
      cni: 'calico',
      cniMultusEnable: true,
      disableComponents: {
        kubernetesComponents: ['cloudController', 'scheduler', 'kubeProxy'],
        pluginComponents: ['rke2-ingress-nginx'],
      },
      kubeAPIServer: { extraArgs: ['v=2'], extraEnv: { B: '2', A: '1' }, extraMounts: { '/a': '/b' } },
    };
    expect(serverSettings(input({}, server))).toMatchObject({
      cni: ['multus', 'calico'],
      disable: ['rke2-ingress-nginx'],
      'disable-cloud-controller': true,
      'disable-kube-proxy': true,
      'disable-scheduler': true,
      'kube-apiserver-arg': ['v=2'],
      'kube-apiserver-extra-env': ['A=1', 'B=2'],
      'kube-apiserver-extra-mount': ['/a:/b'],
    });
  });

  it('copy etcd snapshots to an object store, verifying its certificate by default', () => {
    const server = (enforceSslVerify?: boolean): RKE2ServerConfig => ({
      etcd: {
        backupConfig: {
          scheduleCron: '0 */6 * * *',
          retention: '7',
          s3: { endpoint: 's3.example.org', bucket: 'b', ...(enforceSslVerify !== undefined && { enforceSslVerify }) },
        },
      },
    });
    const references = { s3: { accessKey: 'id', secretKey: 'key' }, s3Authority: 'pem' };
    const settings = serverSettings(input({}, server(), { references }));
    expect(settings).toMatchObject({
      'etcd-s3': true,
      'etcd-s3-endpoint': 's3.example.org',
      'etcd-s3-access-key': 'id',
      'etcd-s3-secret-key': 'key',
      'etcd-s3-endpoint-ca': '/etc/rancher/rke2/etcd-s3-ca.crt',
      'etcd-snapshot-retention': 7,
      'etcd-snapshot-schedule-cron': '0 */6 * * *',
    });
    expect(settings).not.toHaveProperty('etcd-s3-skip-ssl-verify');
    expect(serverSettings(input({}, server(false)))).toMatchObject({ 'etcd-s3-skip-ssl-verify': true });
  });
});

describe('the files of rke2', () => {
  it('lie at the paths that the settings name', () => {
    const references = { auditPolicy: 'policy', datastore: { endpoint: 'mysql://', authority: 'ca' } };
    const files = referencedFiles(references, { cisProfile: 'cis' });
    expect(files.map(({ path, permissions }) => `${path} ${permissions}`)).toEqual([
      '/etc/rancher/rke2/audit-policy.yaml 0640',
      '/etc/rancher/rke2/datastore-ca.crt 0640',
      '/opt/rke2-cis-script.sh 0700',
    ]);
  });

  it('lie below the data directory', () => {
    const agent = { dataDir: '/data' };
    expect(manifestFiles([['a.yaml', 'x']], agent)[0]?.path).toBe('/data/server/manifests/a.yaml');
    expect(encryptionFile({ secretsEncryption: { provider: 'secretbox' } }, 'k', agent)[0]).toMatchObject({
      path: '/data/server/cred/encryption-config.json',
      permissions: '0400',
      content: expect.stringContaining('"secretbox"'),
    });
  });
});

describe('the user data of rke2', () => {
  const spec: RKE2ConfigSpec = { preRKE2Commands: ['echo before'], postRKE2Commands: ['echo after'] };
  const files = [configFile({ token: 'secret' })];
  const commands = (more: RKE2ConfigSpec, role: 'server' | 'agent' = 'server'): string[] =>
    parse(renderRKE2({ role, version, spec: { ...spec, ...more }, files }).text).runcmd;

  it('installs and starts rke2, and only then writes the success file', () => {
    expect(commands({})).toEqual([
      'echo before',
      `curl -sfL https://get.rke2.io | INSTALL_RKE2_VERSION="${version}" INSTALL_RKE2_TYPE="server" sh -s -`,
      'systemctl mask rke2-agent.service || true',
      'systemctl enable rke2-server.service',
      'systemctl start rke2-server.service && mkdir -p /run/cluster-api && echo success > /run/cluster-api/bootstrap-success.complete',
      'echo after',
    ]);
  });

  it('restores a snapshot before rke2 starts, and does not start rke2 without it', () => {
    const restored = (snapshot: string): string[] =>
      parse(renderRKE2({ role: 'server', version, spec, files, snapshot }).text).runcmd;
    const [, , restore, , , start] = restored('etcd-snapshot-a-1');
    expect(restore).toMatch(
      /rke2 server --cluster-reset --cluster-reset-restore-path=etcd-snapshot-a-1 \|\| \{ .*exit 1; \}$/,
    );
    expect(start).toMatch(/^systemctl start rke2-server/);
    expect(() => restored('a; reboot')).toThrow('names no snapshot');
  });

  it('installs rke2 from the image of an air-gapped machine after verifying checksums', () => {
    const [, check, install] = commands({ agentConfig: { airGapped: true, airGappedChecksum: 'abc' } }, 'agent');
    expect(check).toMatch(/sha256sum \/opt\/rke2-artifacts\/sha256sum\*\.txt .* = "abc" \|\| \{ .* exit 1; \}/);
    expect(install).toBe('INSTALL_RKE2_ARTIFACT_PATH=/opt/rke2-artifacts INSTALL_RKE2_TYPE="agent" sh /opt/install.sh');
  });

  it('runs the CIS profile script before rke2 starts', () => {
    const all = commands({ agentConfig: { cisProfile: 'cis' } });
    expect(all.indexOf('/opt/rke2-cis-script.sh')).toBe(2);
  });

  it('includes cloud-init modules of the user, by name or as one document', () => {
    const text = (additionalUserData: object): Record<string, unknown> =>
      parse(renderRKE2({ role: 'agent', version, spec: { agentConfig: { additionalUserData } }, files }).text);
    expect(text({ data: { users: '- name: me\n' } })['users']).toEqual([{ name: 'me' }]);
    expect(text({ config: 'timezone: UTC\n' })['timezone']).toBe('UTC');
    expect(() => text({ config: '- a list' })).toThrow('is not a map');
  });

  it('contains a unit and a script in Ignition format', () => {
    const rendered = renderRKE2({ role: 'agent', version, spec: { agentConfig: { format: 'ignition' } }, files });
    const document = JSON.parse(rendered.text);
    expect(document.systemd.units.map((unit: { name: string }) => unit.name)).toEqual(['rke2-install.service']);
    expect(document.storage.files.map((file: { path: string }) => file.path)).toEqual([
      '/etc/rancher/rke2/config.yaml',
      '/etc/rke2-install.sh',
    ]);
  });
});

describe('the CIS profile of rke2', () => {
  it.each([
    ['v1.24.0+rke2r1', 'cis-1.6'],
    [version, 'cis'],
    [version, 'cis-1.23'],
  ] as const)('of release %s may be %s', (release, cisProfile) => {
    expect(() => refuseUnknownProfile(release, { cisProfile })).not.toThrow();
  });

  it('is refused when the release does not support it', () => {
    expect(() => refuseUnknownProfile(version, { cisProfile: 'cis-1.6' })).toThrow('write cis');
  });
});
