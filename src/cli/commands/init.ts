import { formatJson, formatYaml } from '../../machinery/index.ts';
import { type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { hasFailed, renderFindings } from '../doctor/findings.ts';
import { checkManagement } from '../init/management-checks.ts';
import { type ProviderFlags, wantedProviders } from '../init/wanted-providers.ts';

export interface InitOptions extends ConnectionOptions, ProviderFlags {
  output: 'text' | 'json' | 'yaml';
}

/** Checks whether the API has the requested providers and everything else that clusters need. */
export async function init(options: InitOptions, context: CommandContext): Promise<number> {
  return await withConnection(options, context, async ({ client, serverVersion }) => {
    const findings = await checkManagement(client, wantedProviders(options), {
      nowMs: context.clock.now(),
      serverVersion: await serverVersion(context.signal),
      signal: context.signal,
    });
    if (options.output === 'json') context.stdout(formatJson({ findings }));
    else if (options.output === 'yaml')
      context.stdout(formatYaml({ findings: findings.map((finding) => ({ ...finding })) }));
    else context.stdout(renderFindings(findings));
    return hasFailed(findings) ? 1 : 0;
  });
}
