import type { Verb } from '../../machinery/index.ts';

/** Result of parsing path and method, before any lookup. */
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

/** Splits an API path. Invalid percent-encoding gives a path of type 'other' (a 404). */
export function parseRequestPath(path: string): RequestPath {
  const segments = splitPath(path);
  if (!segments) return { type: 'other', path };
  let group: string;
  let index: number;
  if (segments[0] === 'api' && segments.length > 2) {
    group = '';
    index = 1;
  } else if (segments[0] === 'apis' && segments.length > 3) {
    group = segments[1] ?? '';
    index = 2;
  } else return { type: 'other', path };

  const version = segments[index++] ?? '';
  const legacyWatch = segments[index] === 'watch';
  if (legacyWatch) index++;
  let namespace: string | undefined;
  // /namespaces/x is the Namespace object itself, and /namespaces/x/y is inside the namespace, except for subresources
  // of Namespace.
  if (segments[index] === 'namespaces' && segments.length > index + 2 && !isNamespaceSubresource(segments, index)) {
    namespace = segments[index + 1];
    index += 2;
  }
  const plural = segments[index];
  if (plural === undefined || segments.length > index + 3) return { type: 'other', path };
  return {
    type: 'resource',
    group,
    version,
    namespace,
    plural,
    name: segments[index + 1],
    subresource: segments[index + 2],
    legacyWatch,
  };
}

function isNamespaceSubresource(rest: readonly string[], index: number): boolean {
  return rest.length === index + 3 && (rest[index + 2] === 'status' || rest[index + 2] === 'finalize');
}

function splitPath(path: string): string[] | undefined {
  const segments: string[] = [];
  const encoded = path.includes('%');
  for (let start = 0; start < path.length; ) {
    let end = path.indexOf('/', start);
    if (end < 0) end = path.length;
    if (end > start) segments.push(path.slice(start, end));
    start = end + 1;
  }
  if (!encoded) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** Returns the Kubernetes verb of a request on a resource; undefined for methods without one. */
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

/** As in kube-apiserver, HEAD does not read resources, and the deprecated watch paths only allow GET. */
export function allowsMethod(path: Extract<RequestPath, { type: 'resource' }>, method: string): boolean {
  return path.legacyWatch ? method === 'GET' : method !== 'HEAD';
}
