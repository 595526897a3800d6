import { CapstanError, formatJson, formatYaml } from '../../machinery/index.ts';
import { type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { checkCloud } from '../doctor/cloud-checks.ts';
import { checkCluster } from '../doctor/cluster/check-cluster.ts';
import { type Finding, hasFailed, renderFindings } from '../doctor/findings.ts';
import { type CloudChoiceOptions, withCloud } from '../env/with-cloud.ts';

export interface DoctorOptions extends CloudChoiceOptions, ConnectionOptions {
  without?: string[];
  output: 'text' | 'json' | 'yaml';
}

/** Checks whether a cloud or a cluster meets all requirements and suggests fixes. */
export async function doctor(
  options: DoctorOptions,
  context: CommandContext,
  [what, name]: readonly [string | undefined, string | undefined],
): Promise<number> {
  const findings =
    what === undefined ? await ofCloud(options, context) : await ofCluster(options, context, [what, name]);
  if (options.output === 'json') context.stdout(formatJson({ findings }));
  else if (options.output === 'yaml')
    context.stdout(formatYaml({ findings: findings.map((finding) => ({ ...finding })) }));
  else context.stdout(renderFindings(findings));
  return hasFailed(findings) ? 1 : 0;
}

async function ofCloud(options: DoctorOptions, context: CommandContext): Promise<Finding[]> {
  return await withCloud(options, context, (cloud) =>
    checkCloud(cloud, { without: options.without ?? [], signal: context.signal }),
  );
}

async function ofCluster(
  options: DoctorOptions,
  context: CommandContext,
  [what, name]: readonly [string, string | undefined],
): Promise<Finding[]> {
  if (what !== 'cluster' || name === undefined) {
    const said = what === 'cluster' ? 'name the cluster' : `cannot check "${what}"`;
    throw new CapstanError('CAP_USAGE', `doctor: ${said}`, {
      hint: 'use capstan doctor cluster NAME, or capstan doctor --cloud NAME for a cloud',
    });
  }
  return await withConnection(options, context, (connection) => checkCluster(connection, context, name));
}
