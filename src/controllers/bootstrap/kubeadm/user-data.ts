import type { BootstrapFile, BootstrapFormat, KubeadmConfigSpec } from '../../../api/index.ts';
import type { KubeadmDocument } from '../../shared/index.ts';
import { renderCloudConfig } from '../common/cloud-config.ts';
import {
  encodeIgnition,
  type IgnitionContent,
  ignitionContent,
  ignitionFile,
  mergeIgnition,
  readAdditionalConfig,
} from '../common/ignition/index.ts';
import type { MachineContent } from '../common/machine-content.ts';

/** Inputs of the user data of one machine. */
export interface KubeadmUserData {
  verb: 'init' | 'join';
  /** in the order kubeadm reads them */
  documents: readonly KubeadmDocument[];
  spec: KubeadmConfigSpec;
  /** certificates first, then user-defined files, with resolved content */
  files: readonly BootstrapFile[];
  users: MachineContent['users'];
}

export interface RenderedUserData {
  format: BootstrapFormat;
  text: string;
  /** settings that were left out, with the reason */
  warnings: readonly string[];
}

/** The bootstrap success sentinel of the Cluster API contract. */
const sentinel = 'echo success > /run/cluster-api/bootstrap-success.complete';
const configPaths = { init: '/run/kubeadm/kubeadm.yaml', join: '/run/kubeadm/kubeadm-join-config.yaml' } as const;
const ignitionConfigPath = '/etc/kubeadm.yml';

export function renderUserData(data: KubeadmUserData): RenderedUserData {
  const ignored = data.documents.flatMap((document) =>
    document.ignored.map((path) => `spec.${path} does not exist in kubeadm's ${document.format} and was left out`),
  );
  if (data.spec.format !== 'ignition') return { format: 'cloud-config', text: cloudConfig(data), warnings: ignored };
  const { text, warnings } = ignition(data);
  return { format: 'ignition', text, warnings: [...ignored, ...warnings] };
}

function kubeadmCommand({ verb, spec }: KubeadmUserData, path: string): string {
  const verbosity = spec.verbosity === undefined ? '' : ` --v ${spec.verbosity}`;
  return `kubeadm ${verb} --config ${path}${verbosity}`;
}

const configText = ({ documents }: KubeadmUserData): string => documents.map(({ text }) => `---\n${text}`).join('');

function content({ spec, files, users }: KubeadmUserData): MachineContent {
  return {
    files,
    ...(users && { users }),
    ...(spec.ntp && { ntp: spec.ntp }),
    ...(spec.diskSetup && { diskSetup: spec.diskSetup }),
    ...(spec.mounts && { mounts: spec.mounts }),
  };
}

function cloudConfig(data: KubeadmUserData): string {
  const { spec, verb } = data;
  const path = configPaths[verb];
  const owned = { owner: 'root:root', permissions: '0640' };
  return renderCloudConfig({
    ...content(data),
    files: [
      ...data.files,
      { path, ...owned, content: configText(data) },
      // creates the directory of the sentinel before a command writes there
      { path: '/run/cluster-api/placeholder', ...owned, content: 'keeps this directory in place\n' },
    ],
    ...(spec.bootCommands && { bootCommands: spec.bootCommands }),
    commands: [
      ...(spec.preKubeadmCommands ?? []),
      `${kubeadmCommand(data, path)} && ${sentinel}`,
      ...(spec.postKubeadmCommands ?? []),
    ],
  });
}

/** Ignition runs no commands; a systemd unit runs a script once, as long as the kubeadm configuration file exists. */
const kubeadmUnit = [
  '[Unit]',
  'Description=kubeadm',
  '# The script moves this file away when it is done.',
  `ConditionPathExists=${ignitionConfigPath}`,
  'After=network.target',
  '[Service]',
  'Type=oneshot',
  'ExecStart=/bin/bash /etc/kubeadm.sh',
  '[Install]',
  'WantedBy=multi-user.target',
  '',
].join('\n');

function ignition(data: KubeadmUserData): { text: string; warnings: readonly string[] } {
  const { spec } = data;
  const machine = ignitionContent(content(data));
  const kubeadm: IgnitionContent = {
    units: [{ name: 'kubeadm.service', enabled: true, contents: kubeadmUnit }],
    files: [
      ignitionFile('/etc/kubeadm.sh', 0o700, kubeadmScript(data)),
      ignitionFile(ignitionConfigPath, 0o600, configText(data)),
    ],
  };
  const generated = mergeIgnition(machine, kubeadm);
  const { additionalConfig, strict } = spec.ignition?.containerLinuxConfig ?? {};
  if (additionalConfig === undefined) return { text: encodeIgnition(generated), warnings: [] };
  const additional = readAdditionalConfig(additionalConfig, {
    field: 'spec.ignition.containerLinuxConfig.additionalConfig',
    strict: strict === true,
  });
  return {
    text: encodeIgnition(mergeIgnition(generated, additional.content)),
    warnings: additional.warnings,
  };
}

function kubeadmScript(data: KubeadmUserData): string {
  const { preKubeadmCommands = [], postKubeadmCommands = [] } = data.spec;
  return [
    '#!/bin/bash',
    'set -e',
    ...preKubeadmCommands,
    kubeadmCommand(data, ignitionConfigPath),
    `mkdir -p /run/cluster-api && ${sentinel}`,
    `mv ${ignitionConfigPath} /tmp/`,
    ...postKubeadmCommands,
    '',
  ].join('\n');
}
