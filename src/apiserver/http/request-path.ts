import type { Verb } from '../../machinery/index.ts';

/** What the path and method of a request say, before anything is looked up. */
export type RequestPath =
  | {
      type: 'resource';
      group: string;
      version: string;
      namespace: string | undefined;
      plural: string;
      name: string | undefined;
      subresource: string | undefined;
      /** the deprecated /watch/ prefix */
      legacyWatch: boolean;
    }
  | { type: 'other'; path: string };

/** Splits an API path; undefined segments that are not valid percent-encoding yield an 'other' path (a 404). */
export function parseRequestPath(path: string): RequestPath {
  const segments = splitPath(path);
  if (!segments) return { type: 'other', path };
  let group: string;
  let rest: string[];
  if (segments[0] === 'api' && segments.length > 2) {
    group = '';
    rest = segments.slice(1);
  } else if (segments[0] === 'apis' && segments.length > 3) {
    group = segments[1]!;
    rest = segments.slice(2);
  } else return { type: 'other', path };

  const version = rest[0]!;
  let index = 1;
  const legacyWatch = rest[index] === 'watch';
  if (legacyWatch) index++;
  let namespace: string | undefined;
  // /namespaces/x alone is the Namespace object itself; /namespaces/x/y is something inside it, except its own
  // subresources.
  if (rest[index] === 'namespaces' && rest.length > index + 2 && !isNamespaceSubresource(rest, index)) {
    namespace = rest[index + 1]!;
    index += 2;
  }
  const plural = rest[index];
  if (plural === undefined || rest.length > index + 3) return { type: 'other', path };
  return {
    type: 'resource',
    group,
    version,
    namespace,
    plural,
    name: rest[index + 1],
    subresource: rest[index + 2],
    legacyWatch,
  };
}

function isNamespaceSubresource(rest: readonly string[], index: number): boolean {
  return rest.length === index + 3 && (rest[index + 2] === 'status' || rest[index + 2] === 'finalize');
}

function splitPath(path: string): string[] | undefined {
  const segments = path.split('/');
  const result: string[] = [];
  for (const segment of segments) {
    if (segment === '') continue;
    if (!segment.includes('%')) {
      result.push(segment);
      continue;
    }
    try {
      result.push(decodeURIComponent(segment));
    } catch {
      return undefined;
    }
  }
  return result;
}

/** The Kubernetes verb of a request on a resource; undefined when the method has none. */
export function requestVerb(method: string, hasName: boolean, isWatch: boolean): Verb | undefined {
  switch (method) {
    case 'GET':
    case 'HEAD':
      return isWatch ? 'watch' : hasName ? 'get' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return hasName ? 'delete' : 'deletecollection';
    default:
      return undefined;
  }
}
