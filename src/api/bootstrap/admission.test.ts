import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../machinery/index.ts';
import { created, make, refusedBySchema, updated } from '../admission.test-support.ts';

const config = (spec: JsonObject) => make('KubeadmConfig', spec);
const join = (joinConfiguration: JsonObject): JsonObject => ({ joinConfiguration });
const init = (initConfiguration: JsonObject): JsonObject => ({ initConfiguration });
const cluster = (clusterConfiguration: JsonObject): JsonObject => ({ clusterConfiguration });

describe('a KubeadmConfig that upstream refuses', () => {
  it.each<[string, JsonObject, string[]]>([
    [
      'two sources of one file',
      { files: [{ path: '/a', content: 'x', contentFrom: { secret: { name: 's', key: 'k' } } }] },
      ['spec.files[0]: Invalid value: '],
    ],
    [
      'one path twice',
      {
        files: [
          { path: '/a', content: 'x' },
          { path: '/a', content: 'y' },
        ],
      },
      ['spec.files[1].path: Invalid value: "/a": path property must be unique among all files'],
    ],
    [
      'two sources of one password',
      { users: [{ name: 'u', passwd: 'hash', passwdFrom: { secret: { name: 's', key: 'k' } } }] },
      ['spec.users[0]: Invalid value: '],
    ],
    [
      'Ignition fields without its format',
      { ignition: { containerLinuxConfig: { strict: true } } },
      ['spec.format: Invalid value: "": must be set to "ignition" if spec.ignition is set'],
    ],
    [
      'what Ignition does not know',
      {
        format: 'ignition',
        bootCommands: ['x'],
        users: [{ name: 'u', inactive: true }],
        files: [{ path: '/a', encoding: 'gzip', content: 'x' }],
        diskSetup: {
          partitions: [{ device: '/dev/vdb', layout: true, tableType: 'mbr' }],
          filesystems: [{ device: '/dev/vdb', filesystem: 'ext4', partition: 'auto', replaceFS: 'ntfs' }],
        },
      },
      [
        'spec.users[0].inactive: Forbidden: not supported when spec.format is set to: "ignition"',
        'spec.files[0].encoding: Forbidden: not supported when spec.format is set to: "ignition"',
        'spec.bootCommands: Forbidden: not supported when spec.format is set to: "ignition"',
        'spec.diskSetup.partitions[0].tableType: Invalid value: "mbr": only partition type "gpt" is supported when spec.format is set to "ignition"',
        'spec.diskSetup.filesystems[0].replaceFS: Forbidden: not supported when spec.format is set to: "ignition"',
        'spec.diskSetup.filesystems[0].partition: Forbidden: not supported when spec.format is set to: "ignition"',
      ],
    ],
    [
      'more than a whole disk',
      { diskSetup: { partitions: [{ device: 'd', diskLayout: [{ percentage: 60 }, { percentage: 50 }] }] } },
      [
        'spec.diskSetup.partitions[0].diskLayout: Invalid value: 110: the sum of all partition percentages must not be greater than 100',
      ],
    ],
  ])('is validated with %s', (_, spec, expected) => {
    expect(created(config(spec))).toEqual(expected.map((text) => expect.stringContaining(text)));
  });
});

describe('a KubeadmConfig that kubeadm would refuse on the machine', () => {
  const discovery = 'spec.joinConfiguration.discovery';
  it.each<[string, JsonObject, string[]]>([
    [
      'a token of another form, without telling it',
      init({ bootstrapTokens: [{ token: 'secret', ttlSeconds: 1, expires: '2030-01-01T00:00:00Z' }] }),
      [
        'spec.initConfiguration.bootstrapTokens[0].token: Invalid value: "******"',
        'spec.initConfiguration.bootstrapTokens[0].expires: Invalid value',
      ],
    ],
    [
      'usages and groups of tokens that do not exist',
      init({ bootstrapTokens: [{ token: 'abcdef.0123456789abcdef', usages: ['all'], groups: ['system:masters'] }] }),
      [
        'spec.initConfiguration.bootstrapTokens[0].usages[0]: Unsupported value: "all"',
        'spec.initConfiguration.bootstrapTokens[0].groups[0]: Invalid value: "system:masters"',
      ],
    ],
    [
      'names no certificate can have',
      cluster({
        apiServer: { certSANs: ['api.example.com', '*.example.com', '192.0.2.1', 'under_score'] },
        etcd: { local: { serverCertSANs: ['-'], peerCertSANs: ['ok'] } },
      }),
      [
        'spec.clusterConfiguration.apiServer.certSANs[3]: Invalid value: "under_score"',
        'spec.clusterConfiguration.etcd.local.serverCertSANs[0]: Invalid value: "-"',
      ],
    ],
    [
      'an outside etcd without TLS',
      cluster({
        etcd: { external: { endpoints: ['http://192.0.2.1:2379'], caFile: 'ca', certFile: '/c', keyFile: '/k' } },
      }),
      [
        'spec.clusterConfiguration.etcd.external.endpoints[0]: Invalid value: "http://192.0.2.1:2379": must be a URL with the scheme https',
        'spec.clusterConfiguration.etcd.external.caFile: Invalid value: "ca": must be an absolute path',
      ],
    ],
    [
      'paths that lead nowhere',
      { ...cluster({ certificatesDir: 'pki', etcd: { local: { dataDir: 'data' } } }), ...join({ caCertPath: 'ca' }) },
      [
        'spec.clusterConfiguration.certificatesDir: Invalid value: "pki": must be an absolute path',
        'spec.clusterConfiguration.etcd.local.dataDir: Invalid value: "data": must be an absolute path',
        'spec.joinConfiguration.caCertPath: Invalid value: "ca": must be an absolute path',
      ],
    ],
    [
      'an endpoint that is none',
      {
        ...init({ localAPIEndpoint: { advertiseAddress: 'here', bindPort: 70000 } }),
        ...join({ controlPlane: { localAPIEndpoint: { advertiseAddress: '1.2.3' } } }),
      },
      [
        'spec.initConfiguration.localAPIEndpoint.advertiseAddress: Invalid value: "here": must be a valid IP address',
        'spec.initConfiguration.localAPIEndpoint.bindPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
        'spec.joinConfiguration.controlPlane.localAPIEndpoint.advertiseAddress: Invalid value: "1.2.3": must be a valid IP address',
      ],
    ],
    [
      'a taint without a known effect and all checks beside one',
      join({
        nodeRegistration: { taints: [{ key: 'k', effect: 'No' }], ignorePreflightErrors: ['Swap', 'All'] },
      }),
      [
        'spec.joinConfiguration.nodeRegistration.taints[0].effect: Unsupported value: "No"',
        'spec.joinConfiguration.nodeRegistration.ignorePreflightErrors: Invalid value',
      ],
    ],
    [
      'two ways to find the cluster',
      join({
        discovery: {
          bootstrapToken: { token: 'bad', caCertHashes: ['sha256:12'] },
          tlsBootstrapToken: 'bad',
          file: {
            kubeConfigPath: '/k',
            kubeConfig: { user: { authProvider: { name: 'a' }, exec: { command: 'c' } } },
          },
        },
      }),
      [
        `${discovery}: Forbidden: bootstrapToken and file cannot both be set`,
        `${discovery}.file.kubeConfig.user: Invalid value: ["authProvider","exec"]: only one of authProvider or exec must be defined`,
        `${discovery}.bootstrapToken.token: Invalid value: "******"`,
        `${discovery}.tlsBootstrapToken: Invalid value: "******"`,
        `${discovery}.bootstrapToken.caCertHashes[0]: Invalid value: "sha256:12"`,
      ],
    ],
  ])('is validated with %s', (_, spec, expected) => {
    expect(created(config(spec))).toEqual(expected.map((text) => expect.stringContaining(text)));
  });

  it('accepts expressions that only the machine can fill in', () => {
    const spec = {
      ...init({
        localAPIEndpoint: { advertiseAddress: '{{ ds.meta_data.local_ipv4 }}' },
        nodeRegistration: { name: '{{ local_hostname }}' },
      }),
      ...cluster({ apiServer: { certSANs: ['$API_NAME'] } }),
    };
    expect(created(config(spec))).toEqual([]);
  });
});

describe('a stored KubeadmConfig that is invalid', () => {
  const broken = config({
    files: [
      { path: '/a', content: 'x' },
      { path: '/a', content: 'y' },
    ],
  });

  it('accepts new labels and removed finalizers although its spec is invalid', () => {
    expect(updated({ ...broken, metadata: { ...broken.metadata, labels: { a: 'b' } } }, broken)).toEqual([]);
  });

  it('is validated again when its spec changes', () => {
    const changed = config({ ...(broken.spec as JsonObject), format: 'cloud-config' });
    expect(updated(changed, broken)).toHaveLength(1);
  });
});

describe('a KubeadmConfigTemplate', () => {
  it('is checked like the configurations made from it, including its labels', () => {
    const template = make('KubeadmConfigTemplate', {
      template: { metadata: { labels: { 'a b': 'c' } }, spec: cluster({ certificatesDir: 'pki' }) },
    });
    const problems = created(template);
    expect(problems[0]).toContain('spec.template.spec.clusterConfiguration.certificatesDir: Invalid value');
    expect(problems[1]).toContain('spec.template.metadata.labels: Invalid value: "a b"');
  });
});

describe('the rules of the published schema', () => {
  const args = [
    { name: 'v', value: '1' },
    { name: 'v', value: '2' },
  ];
  it.each<[string, JsonObject, string[]]>([
    [
      'refuse one argument twice',
      { ...cluster({ scheduler: { extraArgs: args } }), ...init({ nodeRegistration: { kubeletExtraArgs: args } }) },
      ['extraArgs name must be unique', 'kubeletExtraArgs name must be unique'],
    ],
    [
      'require one form of disk layout',
      {
        diskSetup: {
          partitions: [
            { device: 'a' },
            { device: 'b', layout: true, diskLayout: [{ percentage: 1 }] },
            { device: 'c', diskLayout: [{ percentage: 1, partitionType: 'LVM' }] },
          ],
        },
      },
      ['exactly one of the fields in [layout diskLayout]', 'exactly one of the fields in [layout diskLayout]'],
    ],
    [
      'know the types of partitions',
      { diskSetup: { partitions: [{ device: 'a', diskLayout: [{ percentage: 1, partitionType: 'BeFS' }] }] } },
      ['partitionType must be one of Linux'],
    ],
  ])('%s', (_, spec, expected) => {
    expect(refusedBySchema(config(spec))).toEqual(expected.map((text) => expect.stringContaining(text)));
  });
});
