import { CapstanError, formatJson, formatYaml } from '../../machinery/index.ts';
import { cloudLists, type ListFilter } from '../cloud-lists.ts';
import type { CommandContext } from '../context.ts';
import { type CloudChoiceOptions, withCloud } from '../env/with-cloud.ts';
import { span } from '../output/colour.ts';
import { renderTable } from '../output/table.ts';

export interface GetCloudListOptions extends CloudChoiceOptions, ListFilter {
  output: 'table' | 'name' | 'json' | 'yaml';
}

/** Lists cloud resources of one kind, so that no other client is needed. */
export async function getCloudList(
  options: GetCloudListOptions,
  context: CommandContext,
  what: string,
): Promise<number> {
  const list = cloudLists.find(({ name }) => name === what);
  if (!list) throw new CapstanError('CAP_USAGE', `${what} cannot be listed`);
  return await withCloud(options, context, async (cloud) => {
    const rows = await list.rows(cloud, context.signal, options);
    const value = { [list.name]: rows.map((row) => row.value) };
    if (options.output === 'json') context.stdout(formatJson(value));
    else if (options.output === 'yaml') context.stdout(formatYaml(value));
    else if (options.output === 'name') for (const { cells } of rows) context.stdout(`${cells[0] ?? ''}\n`);
    else if (rows.length === 0) context.stderr(`the cloud has no ${options.external ? 'external ' : ''}${list.name}\n`);
    else {
      const cells = rows.map((row) => row.cells.map((text) => [span(text)]));
      context.stdout(renderTable(list.header, cells, { colour: context.colour }));
    }
    return 0;
  });
}
