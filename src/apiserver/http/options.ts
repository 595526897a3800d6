import {
  checkTypes,
  decodeErrorText,
  type FieldError,
  fieldError,
  isJsonObject,
  type Schema,
  statusError,
} from '../../machinery/index.ts';
import type { DeleteSettings, PropagationPolicy } from '../service/delete.ts';
import type { ListSettings } from '../service/reads.ts';
import type { FieldValidation, WriteSettings } from '../service/types.ts';
import type { WatchSettings } from '../service/watch.ts';
import type { Exchange } from './exchange.ts';

const maxFieldManagerLength = 128;
/** Matches the field managers of nearly all clients. */
const plainManager = /^[\w.:/@ -]{0,128}$/;
const printable = /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

const fieldValidations: readonly string[] = ['', 'Ignore', 'Strict', 'Warn'];

/** Parses the query parameters of create, update and patch. */
export function parseWriteSettings(
  exchange: Exchange,
  optionsKind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
): WriteSettings {
  const { query } = exchange;
  const errors: FieldError[] = [];
  const dryRun = parseDryRun(query.getAll('dryRun'), errors);
  const fieldManager = query.get('fieldManager') ?? '';
  if (!plainManager.test(fieldManager)) checkFieldManager(fieldManager, errors);
  const fieldValidation = query.get('fieldValidation') ?? '';
  if (!fieldValidations.includes(fieldValidation)) {
    errors.push(fieldError.notSupported('fieldValidation', fieldValidation, [...fieldValidations]));
  }
  if (errors.length > 0) throw statusError.invalid('meta.k8s.io', optionsKind, '', errors);
  return {
    dryRun,
    fieldManager: fieldManager === '' ? managerFromUserAgent(exchange.header('user-agent')) : fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
  };
}

const knownManagers = new Map<string, string>();
const maxKnownManagers = 1000;
const longestKnownAgent = 500;

function checkFieldManager(fieldManager: string, errors: FieldError[]): void {
  if (fieldManager.length > maxFieldManagerLength)
    errors.push(fieldError.tooLong('fieldManager', fieldManager, maxFieldManagerLength));
  const position = [...fieldManager].findIndex((character) => !printable.test(character));
  if (position < 0) return;
  const code = (fieldManager.codePointAt(position) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  errors.push(
    fieldError.invalid('fieldManager', fieldManager, `invalid character U+${code} (at position ${position})`),
  );
}

/** Clients without a field manager are identified by the first word of their user agent. */
export function managerFromUserAgent(agent = ''): string {
  const known = knownManagers.get(agent);
  if (known !== undefined) return known;
  const manager = firstWord(agent);
  if (knownManagers.size < maxKnownManagers && agent.length <= longestKnownAgent) knownManagers.set(agent, manager);
  return manager;
}

function firstWord(agent: string): string {
  const name = (agent.split('/')[0] ?? '').slice(0, maxFieldManagerLength);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: managers must be printable
  return name.replace(/[\u0000-\u001f\u007f]/g, '') || 'unknown';
}

function parseDryRun(values: readonly string[], errors: FieldError[]): boolean {
  const wrong = values.filter((value) => value !== 'All' && value !== '');
  if (wrong.length > 0) errors.push(fieldError.notSupported('dryRun', wrong, ['All']));
  return values.includes('All');
}

export function parseListSettings(query: URLSearchParams): ListSettings {
  const limit = parseInteger(query, 'limit');
  const sendInitialEvents = parseBoolean(query, 'sendInitialEvents');
  return {
    ...textOf(query, 'labelSelector'),
    ...textOf(query, 'fieldSelector'),
    ...textOf(query, 'continue'),
    ...textOf(query, 'resourceVersion'),
    ...textOf(query, 'resourceVersionMatch'),
    ...(limit !== undefined && { limit }),
    ...(sendInitialEvents !== undefined && { sendInitialEvents }),
  };
}

export function parseWatchSettings(query: URLSearchParams): WatchSettings {
  const timeoutSeconds = parseInteger(query, 'timeoutSeconds');
  const allowWatchBookmarks = parseBoolean(query, 'allowWatchBookmarks');
  const sendInitialEvents = parseBoolean(query, 'sendInitialEvents');
  return {
    ...textOf(query, 'labelSelector'),
    ...textOf(query, 'fieldSelector'),
    ...textOf(query, 'resourceVersion'),
    ...textOf(query, 'resourceVersionMatch'),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    ...(allowWatchBookmarks !== undefined && { allowWatchBookmarks }),
    ...(sendInitialEvents !== undefined && { sendInitialEvents }),
  };
}

function textOf<K extends string>(query: URLSearchParams, name: K): { [key in K]?: string } {
  const value = query.get(name);
  return (value === null ? {} : { [name]: value }) as { [key in K]?: string };
}

function parseInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?[0-9]{1,15}$/.test(text)) {
    throw statusError.badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  }
  return Number(text);
}

/** Parses like Go's form decoder: absent is unset, empty is true, and only these words are false. */
export function parseBoolean(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  return !(text === '0' || text.toLowerCase() === 'false');
}

const propagationPolicies: readonly string[] = ['Background', 'Foreground', 'Orphan'];

const text: Schema = { type: 'string' };

const deleteOptionsSchema: Schema = {
  type: 'object',
  properties: {
    apiVersion: text,
    kind: text,
    gracePeriodSeconds: { type: 'integer', format: 'int64' },
    preconditions: { type: 'object', properties: { uid: text, resourceVersion: text } },
    orphanDependents: { type: 'boolean' },
    propagationPolicy: text,
    dryRun: { type: 'array', items: text },
  },
};

/**
 * An invalid option must not turn into another one: a precondition of the wrong type does not mean "no precondition".
 */
function checkDeleteOptions(body: unknown): void {
  const mismatch = body === undefined ? undefined : checkTypes(body, deleteOptionsSchema);
  if (mismatch) throw statusError.badRequest(`unable to decode DeleteOptions: ${decodeErrorText(mismatch)}`);
}

/** Reads DeleteOptions from the body, or from the query if there is no body. */
export function parseDeleteSettings(query: URLSearchParams, body: unknown): DeleteSettings {
  checkDeleteOptions(body);
  const errors: FieldError[] = [];
  const source = isJsonObject(body) ? body : Object.fromEntries(query);
  const policy = source['propagationPolicy'];
  if (policy !== undefined && policy !== null && policy !== '' && !propagationPolicies.includes(String(policy))) {
    const detail = 'supported values: "Foreground", "Background", "Orphan", "nil"';
    errors.push({ type: 'NotSupported', field: 'propagationPolicy', value: String(policy), detail });
  }
  const dryRunValues =
    isJsonObject(body) && Array.isArray(body['dryRun']) ? body['dryRun'].map(String) : query.getAll('dryRun');
  const dryRun = parseDryRun([...dryRunValues, ...(isJsonObject(body) ? query.getAll('dryRun') : [])], errors);
  const grace = source['gracePeriodSeconds'];
  const graceSeconds = grace === undefined || grace === null || grace === '' ? undefined : Number(grace);
  if (graceSeconds !== undefined && !Number.isInteger(graceSeconds)) {
    throw statusError.badRequest(`gracePeriodSeconds: "${String(grace)}" is not an integer`);
  }
  const orphan = source['orphanDependents'];
  if (orphan !== undefined && orphan !== null && policy) {
    errors.push(
      fieldError.invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  }
  if (errors.length > 0) throw statusError.invalid('meta.k8s.io', 'DeleteOptions', '', errors);
  const preconditions = isJsonObject(source['preconditions']) ? source['preconditions'] : undefined;
  const uid = preconditions?.['uid'];
  const resourceVersion = preconditions?.['resourceVersion'];
  return {
    dryRun,
    ...(policy && { propagationPolicy: policy as PropagationPolicy }),
    ...(orphan !== undefined && orphan !== null && { orphanDependents: String(orphan) === 'true' }),
    // Upstream treats a negative grace period as one second.
    ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds < 0 ? 1 : graceSeconds }),
    ...(preconditions && {
      preconditions: {
        ...(typeof uid === 'string' && { uid }),
        ...(typeof resourceVersion === 'string' && { resourceVersion }),
      },
    }),
  };
}
