import { parseDocument } from 'yaml';
import type { BootstrapFile, BootstrapFormat, RKE2AdditionalUserData, RKE2ConfigSpec } from '../../../api/index.ts';
import { isJsonObject } from '../../../machinery/index.ts';
import { renderCloudConfig } from '../common/cloud-config.ts';
import {
  encodeIgnition,
  ignitionContent,
  ignitionFile,
  mergeIgnition,
  readAdditionalConfig,
} from '../common/ignition/index.ts';
import { BootstrapInputError, type MachineContent } from '../common/machine-content.ts';
import { installCommands, type MachineRole, restoreCommands, startCommands } from './commands.ts';
import { filePaths } from './paths.ts';

export interface RKE2UserData {
  role: MachineRole;
  version: string;
  spec: RKE2ConfigSpec;
  /** in the order they are written, with resolved content */
  files: readonly BootstrapFile[];
  /** name of the snapshot that the first server starts from */
  snapshot?: string;
}

export interface RenderedRKE2 {
  format: BootstrapFormat;
  text: string;
  /** settings that were left out, with the reason */
  warnings: readonly string[];
}

/** Renders the user data of an rke2 server or agent. */
export function renderRKE2(data: RKE2UserData): RenderedRKE2 {
  const { format = 'cloud-config' } = data.spec.agentConfig ?? {};
  return format === 'ignition' ? ignition(data) : { format, text: cloudConfig(data), warnings: [] };
}

function content({ files, spec }: RKE2UserData): MachineContent {
  const { enabled, servers } = spec.agentConfig?.ntp ?? {};
  const isWanted = enabled === true || (enabled === undefined && servers !== undefined);
  return { files, ...(isWanted && { ntp: { enabled: true, ...(servers && { servers }) } }) };
}

function commands({ role, version, spec, snapshot }: RKE2UserData): string[] {
  const { preRKE2Commands = [], postRKE2Commands = [], agentConfig = {} } = spec;
  return [
    ...preRKE2Commands,
    ...installCommands(role, version, agentConfig),
    ...restoreCommands(snapshot),
    ...startCommands(role),
    ...postRKE2Commands,
  ];
}

function cloudConfig(data: RKE2UserData): string {
  const besides = additionalCloudConfig(data.spec.agentConfig?.additionalUserData);
  return renderCloudConfig({ ...content(data), commands: commands(data) }, besides);
}

/** Returns the user's cloud-init modules, given as one document or by name. */
function additionalCloudConfig(additional: RKE2AdditionalUserData | undefined): Record<string, unknown> {
  const field = 'spec.agentConfig.additionalUserData';
  if (additional?.config !== undefined) {
    const value = yamlOf(additional.config, `${field}.config`) ?? {};
    if (!isJsonObject(value)) throw new BootstrapInputError(`${field}.config: is not a map of modules of cloud-init`);
    return value;
  }
  const modules: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(additional?.data ?? {})) {
    modules[name] = yamlOf(text, `${field}.data[${name}]`);
  }
  return modules;
}

function yamlOf(text: string, field: string): unknown {
  // aliases could expand a small text into a huge document
  const document = parseDocument(text, { version: '1.1' });
  const problem = document.errors[0];
  if (problem) throw new BootstrapInputError(`${field}: is not YAML: ${problem.message}`);
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new BootstrapInputError(`${field}: has too many aliases`, { cause: error });
  }
}

/** outside of /run, so it survives reboots: rke2 is installed once */
const donePath = '/etc/cluster-api/bootstrap-success.complete';

const installUnit = [
  '[Unit]',
  'Description=rke2 installation',
  `ConditionPathExists=!${donePath}`,
  'Wants=network-online.target',
  'After=network-online.target',
  '[Service]',
  'Type=oneshot',
  `ExecStart=/bin/sh ${filePaths.ignitionScript}`,
  'RemainAfterExit=true',
  '[Install]',
  'WantedBy=multi-user.target',
  '',
].join('\n');

/** Ignition runs no commands; a systemd unit runs them once as a script. */
function ignition(data: RKE2UserData): RenderedRKE2 {
  const format = 'ignition';
  const done = `mkdir -p /etc/cluster-api && touch ${donePath}`;
  const script = ['#!/bin/sh', 'set -e', ...commands(data), done, ''].join('\n');
  const generated = mergeIgnition(ignitionContent(content(data)), {
    units: [{ name: 'rke2-install.service', enabled: true, contents: installUnit }],
    files: [ignitionFile(filePaths.ignitionScript, 0o700, script)],
  });
  const { config, strict, data: modules } = data.spec.agentConfig?.additionalUserData ?? {};
  const warnings = modules
    ? ['spec.agentConfig.additionalUserData.data is for cloud-config and was left out; use config']
    : [];
  if (!config) return { format, text: encodeIgnition(generated), warnings };
  const field = 'spec.agentConfig.additionalUserData.config';
  const additional = readAdditionalConfig(config, { field, strict: strict === true });
  return {
    format,
    text: encodeIgnition(mergeIgnition(generated, additional.content)),
    warnings: [...warnings, ...additional.warnings],
  };
}
