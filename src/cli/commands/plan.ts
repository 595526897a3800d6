import { Namespaces, ownDefinitions } from '../../api/index.ts';
import {
  asJson,
  CapstanError,
  errorMessage,
  formatJson,
  formatYaml,
  isNotFound,
  type Resource,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { connect, createSessionPool, type OpenStack } from '../../openstack/index.ts';
import { type Connection, type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { readClouds } from '../env/read-cloud.ts';
import { loadPrices } from '../load-prices.ts';
import { fieldManager } from '../manifests/apply-documents.ts';
import { creationOrder } from '../manifests/order.ts';
import { type ManifestDocument, readManifests } from '../manifests/read-manifests.ts';
import { targetOf } from '../manifests/targets.ts';
import { type MemoryApi, startMemoryApi, withoutPublishedSchema } from '../memory-api.ts';
import { expandLattices } from '../plan/lattice.ts';
import { makePlan } from '../plan/make-plan.ts';
import { canWork, renderPlan } from '../plan/report.ts';
import type { PlanProblem } from '../plan/types.ts';
import { describeDocument, filenames } from './apply.ts';

export interface PlanOptions extends ConnectionOptions {
  filename?: string[];
  recursive?: boolean;
  cloud?: string;
  prices?: string;
  /** false with --no-management-api: assume an empty management API */
  managementApi: boolean;
  output: 'text' | 'json' | 'yaml';
}

/** Shows the OpenStack changes that applying files would cause. The exit code is 2 if they cannot work. */
export async function plan(options: PlanOptions, context: CommandContext): Promise<number> {
  const files = filenames(options);
  const prices = await loadPrices(options.prices);
  const { documents, problems: unreadable } = await readManifests(files, {
    recursive: options.recursive ?? false,
    readInput: context.readInput,
  });
  if (documents.length === 0 && unreadable.length === 0) {
    throw new CapstanError('CAP_USAGE', '-f: the files contain nothing to plan');
  }
  const problems: PlanProblem[] = unreadable.map(({ origin, message }) => ({
    object: origin,
    message,
    severity: 'error',
  }));
  const { env, clock, signal } = context;
  const sessions = createSessionPool({ env });
  const cloud = await namedCloud(options.cloud, context);
  try {
    return await withManagementApi(options, context, async (connection, isThrowAway) => {
      const edited = await storedForms(documents, connection, { isThrowAway, signal }, problems);
      const { objects, deleted, notes, ...lattices } = await withThrowAway((asStored) =>
        expandLattices(edited, {
          client: connection.client,
          connect: (config) => sessions.connect(config),
          ...(cloud && { instead: cloud }),
          signal,
          asStored: (resource, object) => asStored(resource, object, signal),
        }),
      );
      const result = await makePlan({
        client: connection.client,
        isBeginning: isThrowAway,
        edited: [...edited, ...objects],
        deleted,
        problems: [...problems, ...lattices.problems],
        notes,
        sessions,
        ...(cloud && { cloud }),
        prices,
        clock,
        signal,
      });
      const works = canWork(result);
      if (options.output === 'text') {
        context.stdout(renderPlan(result, { colour: context.colour }));
        if (!works) context.stderr('capstan: this cannot work as it is\n');
      } else {
        const value = { works, ...result };
        context.stdout(options.output === 'json' ? formatJson(asJson(value)) : formatYaml(asJson(value)));
      }
      return works ? 0 : 2;
    });
  } finally {
    await Promise.all([sessions.close(), cloud?.close()]);
  }
}

async function namedCloud(name: string | undefined, context: CommandContext): Promise<OpenStack | undefined> {
  if (name === undefined) return undefined;
  return connect(await (await readClouds(context)).cloud(name), { env: context.env });
}

type Work = (connection: Connection, isThrowAway: boolean) => Promise<number>;

/** Uses the management API of the flags, or an empty temporary one. */
async function withManagementApi(options: PlanOptions, context: CommandContext, work: Work): Promise<number> {
  if (options.managementApi) {
    try {
      return await withConnection(options, context, (connection) => work(connection, false));
    } catch (error) {
      const isNamed = options.kubeconfig !== undefined || options.context !== undefined;
      if (isNamed || !(error instanceof CapstanError) || !withoutOne.includes(error.code)) throw error;
      if (error.code !== 'CAP_NO_MANAGEMENT_API') {
        throw new CapstanError('CAP_API_UNREACHABLE', error.message, {
          hint: `${error.hint ?? ''}; --no-management-api plans as if no object existed`,
          cause: error,
        });
      }
      context.stderr('capstan: there is no management API: planned as if no object existed\n');
    }
  }
  const api = await startThrowAway(options);
  try {
    return await work(api.connection, true);
  } finally {
    await api.close();
  }
}

function startThrowAway({ namespace }: Pick<PlanOptions, 'namespace'>): Promise<MemoryApi> {
  const given = namespace === undefined ? {} : { namespace, namespaceGiven: true };
  return startMemoryApi(given, ownDefinitions.map(withoutPublishedSchema));
}

type AsStored = (
  resource: Resource<UnstructuredObject>,
  object: UnstructuredObject,
  signal: AbortSignal,
) => Promise<UnstructuredObject>;

/** Uses a temporary API to compute the stored form of objects that must not be written. */
async function withThrowAway<T>(work: (asStored: AsStored) => Promise<T>): Promise<T> {
  let api: MemoryApi | undefined;
  try {
    return await work(async (resource, object, signal) => {
      api ??= await startThrowAway({});
      const { client } = api.connection;
      const { namespace } = object.metadata;
      if (namespace !== undefined) await ensureNamespace(client, namespace, signal);
      return await client.apply(resource, object, { fieldManager, force: true, signal });
    });
  } finally {
    await api?.close();
  }
}

const withoutOne: readonly string[] = ['CAP_NO_MANAGEMENT_API', 'CAP_API_UNREACHABLE'];

/**
 * Returns the documents as the server would store them: defaulted and validated. A dry run cannot create objects in a
 * namespace of the same documents, so a temporary API is used for those.
 */
async function storedForms(
  documents: readonly ManifestDocument[],
  connection: Connection,
  { isThrowAway, signal }: { isThrowAway: boolean; signal: AbortSignal },
  problems: PlanProblem[],
): Promise<UnstructuredObject[]> {
  const edited: UnstructuredObject[] = [];
  const newNamespaces = new Set<string>();
  let elsewhere: MemoryApi | undefined;
  try {
    for (const document of creationOrder(documents)) {
      try {
        const { resource, object, key } = await targetOf(document, connection, signal);
        if (!isThrowAway && resource.kind === Namespaces.kind && !(await isThere(connection, key.name, signal))) {
          newNamespaces.add(key.name);
        }
        const isNew = key.namespace !== undefined && newNamespaces.has(key.namespace);
        if (isNew) elsewhere ??= await startThrowAway({});
        const { client } = isNew && elsewhere ? elsewhere.connection : connection;
        const isKept = isThrowAway || isNew;
        if (isKept && key.namespace !== undefined) await ensureNamespace(client, key.namespace, signal);
        edited.push(await client.apply(resource, object, { fieldManager, force: true, dryRun: !isKept, signal }));
      } catch (error) {
        signal.throwIfAborted();
        problems.push({ object: describeDocument(document), message: errorMessage(error), severity: 'error' });
      }
    }
    return edited;
  } finally {
    await elsewhere?.close();
  }
}

async function isThere({ client }: Pick<Connection, 'client'>, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.get(Namespaces, { name }, { signal });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function ensureNamespace(client: Connection['client'], name: string, signal: AbortSignal): Promise<void> {
  if (await isThere({ client }, name, signal)) return;
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  await client.create(Namespaces, namespace, { fieldManager, signal });
}
