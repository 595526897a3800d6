import { formatJson, formatYaml } from '../../machinery/index.ts';
import type { CommandContext } from '../context.ts';
import { version } from '../version.ts';

export async function printVersion(
  options: { output: 'text' | 'json' | 'yaml' },
  { stdout }: CommandContext,
): Promise<number> {
  const info = { version, node: process.version, platform: `${process.platform}/${process.arch}` };
  if (options.output === 'json') stdout(formatJson(info));
  else if (options.output === 'yaml') stdout(formatYaml(info));
  else stdout(`capstan ${version} (node ${process.version}, ${info.platform})\n`);
  return 0;
}
