import type { K0sWorkerConfigSpec } from '../../../../api/index.ts';
import { ingressFiles } from '../ingress.ts';
import { type RenderedWorker, renderWorker, type WorkerUserData } from '../render.ts';

// Typical configurations, in stored form.

export interface GoldenCase {
  name: string;
  render(): RenderedWorker;
}

/** Placeholder: rendering does not parse certificates. */
const authority = 'certificate of ca\n';

function golden(name: string, spec: K0sWorkerConfigSpec, more: Partial<WorkerUserData> = {}): GoldenCase {
  return {
    name,
    render: () =>
      renderWorker({
        spec,
        machineName: 'openstack-hcp-cluster-md-x7k2p-abcde',
        version: 'v1.32.6+k0s.0',
        token: { id: 'abcdef', secret: '0123456789abcdef' },
        server: 'https://192.0.2.10:6443',
        authority,
        files: [],
        ...more,
      }),
  };
}

const files = [
  { path: '/etc/motd', content: 'hello\n', permissions: '0644' },
  { path: '/etc/node', content: 'I am {{ ds.meta_data.local_hostname }}, "quoted"\n' },
];

export const goldenCases: readonly GoldenCase[] = [
  golden('guide-000', {
    args: ['--enable-cloud-provider', '--kubelet-extra-args="--cloud-provider=external"', '--debug=true'],
    version: 'v1.32.6+k0s.0',
  }),
  golden(
    'everything',
    {
      version: 'v1.34.2+k0s.1',
      k0sInstallDir: '/opt/bin',
      workingDir: '/opt/k0s',
      preK0sCommands: ['sysctl -w vm.max_map_count=262144', `echo 'one: two' > /etc/three`],
      postK0sCommands: ['touch /etc/ready'],
    },
    { version: 'v1.34.2+k0s.1', files },
  ),
  golden(
    'ingress',
    {},
    {
      server: 'https://kube.example.org:443',
      ingressFiles: ingressFiles(authority, { certificate: 'certificate of proxy\n', privateKey: 'key of proxy\n' }),
    },
  ),
  golden('custom-beside', {}, { customUserData: 'package_update: true\npackages: [jq]\n' }),
  golden(
    'custom-with-commands',
    { files },
    {
      customUserData:
        '#cloud-config\nruncmd:\n- echo last\n- [touch, /etc/last]\nwrite_files:\n- {path: /etc/a, content: b}\npackages: [jq]\n',
    },
  ),
  golden(
    'ignition',
    {
      preK0sCommands: ["echo 'it is mine'"],
      provisioner: {
        type: 'ignition',
        ignition: {
          variant: 'flatcar',
          version: '1.1.0',
          additionalConfig: [
            'variant: flatcar',
            'version: 1.1.0',
            'storage:',
            '  files:',
            '    - path: /etc/sysctl.d/90.conf',
            '      contents: {inline: "vm.swappiness=0\\n"}',
            '',
          ].join('\n'),
        },
      },
    },
    { files },
  ),
];
