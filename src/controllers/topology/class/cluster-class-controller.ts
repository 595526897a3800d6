import {
  type ClassVariable,
  type ClusterClass,
  ClusterClasses,
  type ExtensionConfig,
  ExtensionConfigs,
  type TemplateReference,
} from '../../../api/index.ts';
import { type ObjectKey, objectKey, withOptimisticLock } from '../../../client/index.ts';
import {
  asJson,
  asTyped,
  deepEqual,
  errorMessage,
  formatFieldError,
  isConflict,
  isJsonObject,
  parseApiVersion,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import {
  after,
  afterPatiently,
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  type Predicate,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import {
  draftOf,
  type Follower,
  fieldManager,
  isDeleting,
  isFilteredOut,
  ownerReference,
  pausedBy,
  setLegacy,
  setPausedCondition,
  setVerdict,
  type Verdict,
  watchFilter,
  withOwner,
  writeObject,
} from '../../shared/index.ts';
import { classesWith, registerClassIndex, type TopologyDependencies, templatesOf } from '../common.ts';
import { definitionsByName, inline, validateClassVariables } from '../variables/definitions.ts';

/** retry interval, because there is no event when the server of an extension works again */
const askAgainMs = 20_000;
/** an update of an extension causes no event either */
const rediscoverMs = 10 * 60_000;

const discoveriesOf = ({ spec }: ClusterClass): string[] =>
  (spec.patches ?? []).flatMap(({ external }) => external?.discoverVariablesExtension ?? []);

const hasDiscovery = (clusterClass: ClusterClass): boolean => discoveriesOf(clusterClass).length > 0;

const handlersChanged: Predicate<ExtensionConfig> = (event) =>
  event.type !== 'update' || !deepEqual(event.object.status?.handlers, event.old.status?.handlers);

/** Builds the controller of ClusterClasses, which own their templates and publish their variables. */
export function clusterClassController(dependencies: TopologyDependencies): ControllerDefinition {
  const follower = dependencies.externals.follow((object) => classesWith(dependencies.cache, object).map(objectKey));

  const classesOfExtension = ({ metadata }: ExtensionConfig): ObjectKey[] =>
    dependencies.cache
      .lister(ClusterClasses)
      .list({ filter: (one) => discoveriesOf(one).some((handler) => handler.endsWith(`.${metadata.name}`)) })
      .map(objectKey);

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const clusterClass = context.cache.lister(ClusterClasses).get(key);
    if (!clusterClass || isDeleting(clusterClass) || isFilteredOut(clusterClass, dependencies.watchFilter))
      return done();
    const now = context.clock.now();
    const draft = draftOf(clusterClass);
    const pauses = pausedBy(clusterClass, undefined);
    setPausedCondition(draft, pauses, now);
    if (pauses.length > 0) {
      await writeObject(context, ClusterClasses, clusterClass, draft, { observed: false });
      return done();
    }
    const problems: string[] = [];
    const outdated: string[] = [];
    for (const reference of templatesOf(clusterClass)) {
      try {
        outdated.push(...(await ownTemplate(context, follower, clusterClass, reference)));
      } catch (error) {
        if (context.signal.aborted) throw error;
        problems.push(`${reference.kind} ${reference.name}: ${errorMessage(error)}`);
      }
    }
    const variables = await variablesOf(context, dependencies, clusterClass);
    const status = { ...draft.status };
    if (variables.problem === undefined) {
      if (variables.definitions.length > 0) status.variables = variables.definitions;
      else delete status.variables;
    }
    draft.status = status;
    const ready = variablesVerdict(variables);
    setVerdict(draft, 'VariablesReady', ready, now);
    setLegacy(draft, 'VariablesReconciled', { ...ready, severity: 'Error' }, now);
    const versions: Verdict = refVersionsVerdict(outdated, problems);
    setVerdict(draft, 'RefVersionsUpToDate', versions, now);
    setLegacy(draft, 'RefVersionsUpToDate', { ...versions, severity: 'Warning' }, now);
    await writeObject(context, ClusterClasses, clusterClass, draft, { observed: variables.problem === undefined });
    if (variables.problem !== undefined) return after(askAgainMs, 'an extension could not define its variables');
    return hasDiscovery(clusterClass) ? afterPatiently(rediscoverMs, 'extensions may define other variables') : done();
  };

  return defineController({
    name: 'clusterclass',
    for: ClusterClasses,
    setup: registerClassIndex,
    watches: [
      watchObjects(ClusterClasses, { predicates: [...watchFilter(dependencies.watchFilter), changedBesidesStatus] }),
      watchMapped(ExtensionConfigs, classesOfExtension, { predicates: [handlersChanged] }),
    ],
    sources: [follower.source],
    reconcile,
  });
}

interface Variables {
  definitions: ReturnType<typeof definitionsByName>;
  problem?: string;
}

/** Collects variables of the class and of the extensions in its patches. */
async function variablesOf(
  context: ReconcileContext,
  { hooks }: TopologyDependencies,
  clusterClass: ClusterClass,
): Promise<Variables> {
  const { variables = [], patches = [] } = clusterClass.spec;
  const sources = [{ from: inline, variables: variables as readonly ClassVariable[] }];
  for (const { name, external } of patches) {
    const handler = external?.discoverVariablesExtension;
    if (handler === undefined) continue;
    try {
      const answer = await hooks.ask(
        'DiscoverVariables',
        handler,
        clusterClass,
        {},
        {
          signal: context.signal,
          ...(external?.settings && { settings: external.settings }),
        },
      );
      const found = (answer.variables ?? []).filter(isJsonObject).map((variable) => asTyped<ClassVariable>(variable));
      const errors = validateClassVariables(found, 'variables');
      if (errors.length > 0) throw new Error(errors.map(formatFieldError).join('; '));
      sources.push({ from: name, variables: found });
    } catch (error) {
      if (context.signal.aborted) throw error;
      return { definitions: [], problem: `patch "${name}": ${errorMessage(error)}` };
    }
  }
  return { definitions: definitionsByName(sources) };
}

function variablesVerdict({ definitions, problem }: Variables): Verdict {
  if (problem !== undefined) return { status: 'False', reason: 'VariableDiscoveryFailed', message: problem };
  const conflicts = definitions.filter(({ definitionsConflict }) => definitionsConflict === true);
  const message = conflicts.map(
    ({ name, definitions: all }) =>
      `variable "${name}" is defined differently by ${all.map(({ from }) => from).join(', ')}`,
  );
  return { status: 'True', reason: 'VariablesReady', ...(message.length > 0 && { message: message.join('; ') }) };
}

function refVersionsVerdict(outdated: readonly string[], problems: readonly string[]): Verdict {
  if (problems.length > 0) return { status: 'Unknown', reason: 'InternalError', message: problems.join('; ') };
  if (outdated.length === 0) return { status: 'True', reason: 'RefVersionsUpToDate' };
  const message = `The following refs are not using the latest apiVersion:\n${outdated.map((line) => `* ${line}`).join('\n')}`;
  return { status: 'False', reason: 'RefVersionsNotUpToDate', message };
}

/** Makes the class an owner of a template, and reports a reference with an old version. */
async function ownTemplate(
  { client, signal }: ReconcileContext,
  follower: Follower,
  clusterClass: ClusterClass,
  { apiVersion, kind, name }: TemplateReference,
): Promise<string[]> {
  const { group } = parseApiVersion(apiVersion);
  const reference = { apiGroup: group, kind, name };
  const found = await follower.get(reference, clusterClass.metadata.namespace ?? '', { client, signal });
  if (!found) throw new Error('does not exist');
  const { resource } = await follower.kindOf(reference, signal);
  await own(found.object);
  const latest = `${resource.group}/${resource.version}`;
  return apiVersion === latest ? [] : [`${kind} ${name}: ${apiVersion}, latest: ${latest}`];

  async function own(template: UnstructuredObject): Promise<void> {
    const owners = withOwner(template.metadata.ownerReferences, ownerReference(clusterClass, ClusterClasses));
    if (owners === template.metadata.ownerReferences || isDeleting(template)) return;
    const patch = { metadata: { ownerReferences: asJson(owners) } };
    try {
      await client.patch(resource, objectKey(template), 'merge', withOptimisticLock(patch, template), {
        fieldManager,
        signal,
      });
    } catch (error) {
      // conflict: the other write triggers a reconcile
      if (!isConflict(error)) throw error;
    }
  }
}
