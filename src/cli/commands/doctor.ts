import { homedir } from 'node:os';
import { formatJson, formatYaml } from '../../machinery/index.ts';
import { connect, loadClouds } from '../../openstack/index.ts';
import type { CommandContext } from '../context.ts';
import { checkCloud } from '../doctor/cloud-checks.ts';
import { hasFailed, renderFindings } from '../doctor/findings.ts';

export interface DoctorOptions {
  cloud?: string;
  region?: string;
  without?: string[];
  output: 'text' | 'json' | 'yaml';
}

/** Checks whether a cloud has what clusters need, and says what to do where it has not. */
export async function doctor(options: DoctorOptions, context: CommandContext): Promise<number> {
  const clouds = await loadClouds({ env: context.env, cwd: process.cwd(), home: homedir() });
  for (const warning of clouds.warnings) context.stderr(`capstan: warning: ${warning}\n`);
  const config = await clouds.cloud(options.cloud, { region: options.region });
  for (const warning of config.warnings) context.stderr(`capstan: warning: ${warning}\n`);
  const cloud = connect(config, { env: context.env });
  try {
    const findings = await checkCloud(cloud, { without: options.without ?? [], signal: context.signal });
    if (options.output === 'json') context.stdout(formatJson({ findings }));
    else if (options.output === 'yaml')
      context.stdout(formatYaml({ findings: findings.map((finding) => ({ ...finding })) }));
    else context.stdout(renderFindings(findings));
    return hasFailed(findings) ? 1 : 0;
  } finally {
    await cloud.close();
  }
}
