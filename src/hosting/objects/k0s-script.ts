import type { PlaneSpec } from '../spec.ts';
import { flagName } from './flags.ts';
import { kinePlaceholder } from './k0s-config.ts';

export const configVariable = 'K0SMOTRON_K0S_YAML';
export const kineVariable = 'K0SMOTRON_KINE_DATASOURCE_URL';
const configFile = '/etc/k0s/k0s.yaml';

/** Builds `k0s controller` with the user's flags, plus required flags that the user does not set. */
export function k0sCommand({ k0s, exposure }: PlaneSpec): string[] {
  const flags = k0s?.flags ?? [];
  const given = new Set(flags.map(flagName));
  const disabled = flags.filter((flag) => flagName(flag) === 'disable-components');
  const withIngress = exposure.ingress !== undefined;
  return [
    'k0s',
    'controller',
    ...flags.filter((flag) => !withIngress || !disabled.includes(flag)),
    // only the proxy on each node knows the API address
    ...(withIngress
      ? [`--disable-components=${[...disabled.map((flag) => flag.split('=')[1]), 'endpoint-reconciler'].join(',')}`]
      : []),
    ...(given.has('config') ? [] : [`--config=${configFile}`]),
    ...(given.has('enable-dynamic-config') ? [] : ['--enable-dynamic-config']),
  ];
}

/** Shell script that writes the Pod's inputs to files and then executes k0s. */
export function entryScript(desired: PlaneSpec): string {
  const { dataStore } = desired;
  const source = dataStore.kind === 'k0s' ? dataStore.source.type : undefined;
  return [
    '#!/bin/sh',
    'set -eu',
    'mkdir -p /etc/k0s',
    `printf '%s\\n' "$${configVariable}" > ${configFile}`,
    ...(source === 'kine-secret'
      ? [
          '# characters that sed would understand stay what they are',
          `address=$(printf '%s' "$${kineVariable}" | sed 's/[&|\\\\]/\\\\&/g')`,
          `sed -i "s|${kinePlaceholder}|$address|" ${configFile}`,
        ]
      : []),
    `exec ${k0sCommand(desired).map(quoted).join(' ')}`,
    '',
  ].join('\n');
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
