import { type JsonObject, must, type ResourceDefinition, type VersionDefinition } from '../../machinery/index.ts';

interface OperationStyle {
  action: string;
  summary: string;
  parameters: readonly string[];
  body?: 'object' | 'patch' | 'deleteOptions';
  answers: 'object' | 'list' | 'status' | 'watch';
}

const parameterDescriptions: Record<string, [type: string, text: string]> = {
  dryRun: ['string', 'With the value All the request runs completely but nothing is stored.'],
  fieldManager: ['string', 'Name of the actor that owns the fields written by this request.'],
  fieldValidation: ['string', 'What to do about unknown and duplicate fields: Ignore, Warn or Strict.'],
  force: ['boolean', 'Take over fields owned by other managers (apply patches only).'],
  gracePeriodSeconds: ['integer', 'Seconds to wait before the object is deleted.'],
  orphanDependents: ['boolean', 'Deprecated, use propagationPolicy.'],
  propagationPolicy: ['string', 'What happens to dependents: Background, Foreground or Orphan.'],
  allowWatchBookmarks: ['boolean', 'Send BOOKMARK events.'],
  continue: ['string', 'Continues a list where the previous page ended.'],
  fieldSelector: ['string', 'Restricts the result by fields.'],
  labelSelector: ['string', 'Restricts the result by labels.'],
  limit: ['integer', 'Most items to return at once.'],
  resourceVersion: ['string', 'Oldest or exact state to answer from.'],
  resourceVersionMatch: ['string', 'How resourceVersion is meant: Exact or NotOlderThan.'],
  sendInitialEvents: ['boolean', 'Begin a watch with the present state.'],
  timeoutSeconds: ['integer', 'Ends the call after this time.'],
  watch: ['boolean', 'Stream changes instead of returning a list.'],
  pretty: ['string', 'Indent the output.'],
};

const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation'];
const deleteParameters = ['dryRun', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy'];
const listParameters = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
];

export interface PathRefs {
  object: JsonObject;
  list: JsonObject;
  status: JsonObject;
  deleteOptions: JsonObject;
  patch: JsonObject;
}

/** Renders the paths of one kind version with the extensions that kubectl reads. */
export function renderPaths(definition: ResourceDefinition, version: VersionDefinition, refs: PathRefs): JsonObject {
  const root = definition.group === '' ? `/api/${version.name}` : `/apis/${definition.group}/${version.name}`;
  const collection = definition.namespaced
    ? `${root}/namespaces/{namespace}/${definition.plural}`
    : `${root}/${definition.plural}`;
  const item = `${collection}/{name}`;
  const paths: JsonObject = {};
  const gvk = { group: definition.group, version: version.name, kind: definition.kind };
  const operation = (style: OperationStyle): JsonObject => renderOperation(definition, gvk, style, refs);

  const collectionOperations: JsonObject = {};
  if (can(definition, 'list')) {
    collectionOperations['get'] = operation({
      action: 'list',
      summary: 'list',
      parameters: listParameters,
      answers: 'list',
    });
  }
  if (can(definition, 'create')) {
    collectionOperations['post'] = operation({
      action: 'post',
      summary: 'create',
      parameters: writeParameters,
      body: 'object',
      answers: 'object',
    });
  }
  if (can(definition, 'deletecollection')) {
    collectionOperations['delete'] = operation({
      action: 'deletecollection',
      summary: 'delete a collection of',
      parameters: [...listParameters, ...deleteParameters],
      body: 'deleteOptions',
      answers: 'status',
    });
  }
  paths[collection] = {
    ...collectionOperations,
    parameters: pathParameters({ namespaced: definition.namespaced, named: false }),
  };
  if (definition.namespaced && can(definition, 'list')) {
    paths[`${root}/${definition.plural}`] = {
      get: operation({ action: 'list', summary: 'list', parameters: listParameters, answers: 'list' }),
    };
  }
  if (!can(definition, 'get')) return paths;

  const itemOperations = ({ withDelete }: { withDelete: boolean }): JsonObject => ({
    get: operation({ action: 'get', summary: 'read', parameters: [], answers: 'object' }),
    put: operation({
      action: 'put',
      summary: 'replace',
      parameters: writeParameters,
      body: 'object',
      answers: 'object',
    }),
    patch: operation({
      action: 'patch',
      summary: 'partially update',
      parameters: [...writeParameters, 'force'],
      body: 'patch',
      answers: 'object',
    }),
    ...(withDelete && {
      delete: operation({
        action: 'delete',
        summary: 'delete',
        parameters: deleteParameters,
        body: 'deleteOptions',
        answers: 'status',
      }),
    }),
    parameters: pathParameters({ namespaced: definition.namespaced, named: true }),
  });
  paths[item] = itemOperations({ withDelete: true });
  if (version.hasStatus) paths[`${item}/status`] = itemOperations({ withDelete: false });
  return paths;
}

function can(definition: ResourceDefinition, verb: string): boolean {
  return (definition.verbs as readonly string[]).includes(verb);
}

function pathParameters({ namespaced, named }: { namespaced: boolean; named: boolean }): JsonObject[] {
  const parameter = (name: string): JsonObject => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', uniqueItems: true },
  });
  return [
    ...(named ? [parameter('name')] : []),
    ...(namespaced ? [parameter('namespace')] : []),
    queryParameter('pretty'),
  ];
}

function queryParameter(name: string): JsonObject {
  const [type, description] = must(parameterDescriptions[name], 'parameterDescriptions[name]');
  return { name, in: 'query', description, schema: { type, uniqueItems: true } };
}

function renderOperation(
  definition: ResourceDefinition,
  gvk: JsonObject,
  style: OperationStyle,
  refs: PathRefs,
): JsonObject {
  const schema = style.answers === 'list' ? refs.list : style.answers === 'status' ? refs.status : refs.object;
  const content = { 'application/json': { schema }, 'application/yaml': { schema } };
  return {
    tags: [`${definition.group || 'core'}_${String(gvk['version'])}`],
    description: `${style.summary} ${definition.kind}`,
    operationId: operationId(style, gvk),
    ...(style.parameters.length > 0 && { parameters: style.parameters.map(queryParameter) }),
    ...(style.body && { requestBody: requestBody(style.body, definition, refs) }),
    responses: {
      200: { description: 'OK', content },
      ...(style.action === 'post' && { 201: { description: 'Created', content } }),
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': style.action,
    'x-kubernetes-group-version-kind': gvk,
  };
}

function operationId(style: OperationStyle, gvk: JsonObject): string {
  const group = String(gvk['group'] || 'core').replace(/(^|[.-])([a-z0-9])/g, (_all, _dot, letter: string) =>
    letter.toUpperCase(),
  );
  return `${style.action}${group}${String(gvk['version'])}${String(gvk['kind'])}${style.answers}`;
}

function requestBody(
  body: NonNullable<OperationStyle['body']>,
  definition: ResourceDefinition,
  refs: PathRefs,
): JsonObject {
  if (body === 'deleteOptions') return { content: { '*/*': { schema: refs.deleteOptions } } };
  if (body === 'object') return { content: { '*/*': { schema: refs.object } }, required: true };
  const types = [
    'application/apply-patch+yaml',
    'application/json-patch+json',
    'application/merge-patch+json',
    ...(definition.origin === 'builtin' ? ['application/strategic-merge-patch+json'] : []),
  ];
  return { content: Object.fromEntries(types.map((type) => [type, { schema: refs.patch }])), required: true };
}
