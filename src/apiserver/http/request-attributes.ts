import { type FieldRequirement, parseFieldSelector, type Verb } from '../../machinery/index.ts';
import type { AuthorizationAttributes, UserInfo } from '../auth/index.ts';
import { singleName } from '../service/reads.ts';
import type { Exchange } from './exchange.ts';
import { parseBoolean } from './options.ts';
import { type RequestPath, requestVerb } from './request-path.ts';

/** Returns the verb for authorization. The deprecated watch paths count as watch for every method. */
export function verbOf(exchange: Exchange, path: RequestPath): Verb | undefined {
  if (path.type === 'other') return undefined;
  if (path.legacyWatch) return 'watch';
  const isWatch = path.name === undefined && parseBoolean(exchange.query, 'watch') === true;
  return requestVerb(exchange.method, path.name !== undefined, isWatch);
}

export function attributesOf(
  exchange: Exchange,
  path: RequestPath,
  verb: Verb | undefined,
  user: UserInfo,
): AuthorizationAttributes {
  const none = { group: '', version: '', resource: '', subresource: '', name: '', namespace: '' };
  if (path.type === 'other') {
    return { user, verb: exchange.method.toLowerCase(), ...none, path: exchange.path, resourceRequest: false };
  }
  // A list with a field selector on one name counts as a request for that name, so rules with resourceNames allow it.
  const reads = verb === 'list' || verb === 'watch';
  const selector = reads && path.name === undefined ? (exchange.query.get('fieldSelector') ?? '') : '';
  const selected = singleName(selector);
  const isNamespaceObject = path.group === '' && path.plural === 'namespaces';
  return {
    user,
    verb: verb ?? exchange.method.toLowerCase(),
    group: path.group,
    version: path.version,
    resource: path.plural,
    subresource: path.subresource ?? '',
    name: path.name ?? selected ?? '',
    namespace: path.namespace ?? (isNamespaceObject ? (path.name ?? '') : ''),
    path: exchange.path,
    resourceRequest: true,
    ...(selector !== '' && selected === undefined && { fieldSelector: readFieldSelector(selector) }),
  };
}

/** An invalid selector adds no requirements; the request is refused for it later. */
function readFieldSelector(text: string): FieldRequirement[] {
  try {
    return parseFieldSelector(text);
  } catch {
    return [];
  }
}
