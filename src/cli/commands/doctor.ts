import { formatJson, formatYaml } from '../../machinery/index.ts';
import type { CommandContext } from '../context.ts';
import { checkCloud } from '../doctor/cloud-checks.ts';
import { hasFailed, renderFindings } from '../doctor/findings.ts';
import { type CloudChoiceOptions, withCloud } from '../env/with-cloud.ts';

export interface DoctorOptions extends CloudChoiceOptions {
  without?: string[];
  output: 'text' | 'json' | 'yaml';
}

/** Checks whether a cloud has what clusters need, and says what to do where it has not. */
export async function doctor(options: DoctorOptions, context: CommandContext): Promise<number> {
  return await withCloud(options, context, async (cloud) => {
    const findings = await checkCloud(cloud, { without: options.without ?? [], signal: context.signal });
    if (options.output === 'json') context.stdout(formatJson({ findings }));
    else if (options.output === 'yaml')
      context.stdout(formatYaml({ findings: findings.map((finding) => ({ ...finding })) }));
    else context.stdout(renderFindings(findings));
    return hasFailed(findings) ? 1 : 0;
  });
}
