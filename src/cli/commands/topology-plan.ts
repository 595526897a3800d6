import {
  concernedClusters,
  createOverlay,
  type PlannedObject,
  planTopology,
  type TopologyPlan,
} from '../../controllers/index.ts';
import {
  asJson,
  CapstanError,
  errorMessage,
  formatJson,
  formatYaml,
  type JsonObject,
  systemRandom,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { type Connection, type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { fieldManager } from '../manifests/apply-documents.ts';
import { type ManifestDocument, readManifests } from '../manifests/read-manifests.ts';
import { targetOf } from '../manifests/targets.ts';
import { describeDocument, filenames } from './apply.ts';

export interface TopologyPlanOptions extends ConnectionOptions {
  filename?: string[];
  recursive?: boolean;
  output: 'text' | 'json' | 'yaml';
}

interface Problem {
  /** a document, or `cluster NAMESPACE/NAME` */
  readonly of: string;
  readonly message: string;
}

/** Shows the effect of an edit on every affected cluster. The exit code is 1 if the edit would be refused. */
export async function topologyPlan(options: TopologyPlanOptions, context: CommandContext): Promise<number> {
  const { documents, problems: unreadable } = await readManifests(filenames(options), {
    recursive: options.recursive ?? false,
    readInput: context.readInput,
  });
  if (documents.length === 0 && unreadable.length === 0) {
    throw new CapstanError('CAP_USAGE', '-f: the files contain nothing to plan');
  }
  const problems: Problem[] = unreadable.map(({ origin, message }) => ({ of: origin, message }));
  return await withConnection(options, context, async (connection) => {
    const { signal, clock } = context;
    const edited = await dryRun(documents, connection, problems, signal);
    const overlay = createOverlay(connection.client, edited);
    const io = { client: overlay.client, clock, random: systemRandom, signal };
    const plans: TopologyPlan[] = [];
    for (const key of await concernedClusters(connection.client, edited, signal)) {
      try {
        plans.push(await planTopology(io, key));
      } catch (error) {
        if (signal.aborted) throw error;
        problems.push({ of: `cluster ${key.namespace}/${key.name}`, message: errorMessage(error) });
      }
    }
    if (options.output === 'text') {
      for (const plan of plans) context.stdout(textOf(plan));
      if (plans.length === 0 && problems.length === 0) context.stderr('no cluster with a topology is concerned\n');
    } else {
      const value: JsonObject = { clusters: asJson(plans), problems: asJson(problems) };
      context.stdout(options.output === 'json' ? formatJson(value) : formatYaml(value));
    }
    for (const { of, message } of problems) context.stderr(`capstan: ${of}: ${message}\n`);
    return problems.length === 0 ? 0 : 1;
  });
}

/** Returns the documents as the server would store them. */
async function dryRun(
  documents: readonly ManifestDocument[],
  connection: Connection,
  problems: Problem[],
  signal: AbortSignal,
): Promise<UnstructuredObject[]> {
  const edited: UnstructuredObject[] = [];
  for (const document of documents) {
    try {
      const { resource, object } = await targetOf(document, connection, signal);
      edited.push(await connection.client.apply(resource, object, { fieldManager, force: true, dryRun: true, signal }));
    } catch (error) {
      if (signal.aborted) throw error;
      problems.push({ of: describeDocument(document), message: errorMessage(error) });
    }
  }
  return edited;
}

function textOf({ namespace, name, className, version, steps, objects, notes }: TopologyPlan): string {
  const lines = [`cluster ${namespace}/${name}: class ${className}, ${version}`];
  const shown = objects.filter(({ action }) => action !== 'unchanged');
  if (shown.length === 0) lines.push('  nothing would change');
  for (const object of shown) lines.push(`  ${lineOf(object)}`);
  const passed = [
    ...(steps.controlPlane.length > 0 ? [`control plane ${steps.controlPlane.join(', ')}`] : []),
    ...(steps.workers.length > 0 ? [`workers ${steps.workers.join(', ')}`] : []),
  ];
  if (passed.length > 0) lines.push(`  upgrade  ${passed.join('; ')}`);
  for (const note of notes) lines.push(`  note     ${note}`);
  return `${lines.join('\n')}\n`;
}

function lineOf({ action, kind, name, replacedBy, fields, rolls }: PlannedObject): string {
  const what = `${action.padEnd(8)} ${kind} ${name}${replacedBy === undefined ? '' : ` by ${replacedBy}`}`;
  const why = fields.length > 0 ? `: ${fields.join(', ')}` : '';
  if (!rolls) return `${what}${why}`;
  const count = rolls.machines === undefined ? 'its machines' : `${rolls.machines} machines`;
  return `${what}${why}\n    ${action === 'delete' ? 'deletes' : 'rolls'} ${count} (${rolls.because.join(', ')})`;
}
