import type { BootstrapFile, BootstrapFormat, K0sWorkerConfigSpec } from '../../../api/index.ts';
import { type BootstrapToken, k0sJoinToken } from '../../shared/index.ts';
import { type CloudConfig, renderCloudConfig } from '../common/cloud-config.ts';
import {
  encodeIgnition,
  ignitionContent,
  ignitionFile,
  mergeIgnition,
  readAdditionalConfig,
} from '../common/ignition/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';
import { tokenPath, workerCommands } from './commands.ts';
import { withCustomUserData } from './custom-user-data.ts';
import { ingressCommands } from './ingress.ts';

/** Inputs of the user data of a worker. */
export interface WorkerUserData {
  spec: K0sWorkerConfigSpec;
  machineName: string;
  /** k0s version; empty for the newest release */
  version: string;
  token: BootstrapToken;
  /** https:// URL of the API server */
  server: string;
  /** CA certificate of the API server, PEM */
  authority: string;
  /** user-defined files with resolved content */
  files: readonly BootstrapFile[];
  /** proxy files for an API server behind an Ingress; absent without one */
  ingressFiles?: readonly BootstrapFile[];
  customUserData?: string;
}

export interface RenderedWorker {
  format: BootstrapFormat;
  text: string;
  /** settings that were left out, with the reason */
  warnings: readonly string[];
}

/** Renders the user data of a k0s worker. */
export function renderWorker(data: WorkerUserData): RenderedWorker {
  const { type = 'cloud-config', platform = 'linux' } = data.spec.provisioner ?? {};
  if (platform !== 'linux') {
    throw new BootstrapInputError(`spec.provisioner.platform: ${platform} machines are not supported; use linux`);
  }
  const content = machineContent(data);
  switch (type) {
    case 'cloud-config':
      return { format: type, text: cloudConfig(content, data.customUserData), warnings: [] };
    case 'ignition':
      return { format: type, ...ignition(content, data) };
    default:
      throw new BootstrapInputError(
        `spec.provisioner.type: ${type} is for Windows machines, which are not supported; use cloud-config or ignition`,
      );
  }
}

function machineContent(data: WorkerUserData): CloudConfig {
  const { spec, token, server, authority, ingressFiles } = data;
  const joinToken = k0sJoinToken({ role: 'worker', token, server, authority });
  return {
    files: [{ path: tokenPath(spec), permissions: '0600', content: joinToken }, ...data.files, ...(ingressFiles ?? [])],
    commands: workerCommands({ ...data, ingress: ingressFiles ? ingressCommands : [] }),
  };
}

function cloudConfig(content: CloudConfig, customUserData: string | undefined): string {
  return customUserData === undefined ? renderCloudConfig(content) : withCustomUserData(content, customUserData);
}

const scriptPath = '/etc/k0s-bootstrap.sh';
/** outside of /run, so it survives reboots: the worker is installed once */
const donePath = '/etc/k0s-bootstrap.done';

const bootstrapUnit = [
  '[Unit]',
  'Description=k0s bootstrap',
  `ConditionPathExists=!${donePath}`,
  'Wants=network-online.target',
  'After=network-online.target',
  '[Service]',
  'Type=oneshot',
  `ExecStart=/bin/sh ${scriptPath}`,
  'RemainAfterExit=true',
  '[Install]',
  'WantedBy=multi-user.target',
  '',
].join('\n');

/** Ignition runs no commands; a systemd unit runs them once as a script. */
function ignition(content: CloudConfig, data: WorkerUserData): Omit<RenderedWorker, 'format'> {
  const { ignition: desired, customUserDataRef } = data.spec.provisioner ?? {};
  const script = ['#!/bin/sh', 'set -e', ...content.commands, `touch ${donePath}`, ''].join('\n');
  const generated = mergeIgnition(ignitionContent({ files: content.files }), {
    units: [{ name: 'k0s-bootstrap.service', enabled: true, contents: bootstrapUnit }],
    files: [ignitionFile(scriptPath, 0o700, script)],
  });
  const warnings = customUserDataRef
    ? ['spec.provisioner.customUserDataRef is for cloud-config and was left out; use ignition.additionalConfig']
    : [];
  if (!desired?.additionalConfig) return { text: encodeIgnition(generated), warnings };
  const field = 'spec.provisioner.ignition.additionalConfig';
  const additional = readAdditionalConfig(desired.additionalConfig, { field, strict: false });
  return {
    text: encodeIgnition(mergeIgnition(generated, additional.content)),
    warnings: [...warnings, ...additional.warnings],
  };
}
