import { must } from '../../../machinery/index.ts';

/**
 * Node of the route tree. A pattern looks like `/servers/{id}/action`. A literal segment takes precedence over a named
 * one.
 */
interface Node<R> {
  readonly literals: Map<string, Node<R>>;
  named: Node<R> | undefined;
  readonly routes: Map<string, { readonly route: R; readonly names: readonly string[] }>;
}

export interface Routable {
  readonly method: string;
  readonly path: string;
}

export type RouteMatch<R> =
  | { readonly kind: 'found'; readonly route: R; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'wrong method'; readonly allowed: readonly string[] }
  | { readonly kind: 'unknown path' };

export type Router<R> = (method: string, path: string) => RouteMatch<R>;

const noParams: Readonly<Record<string, string>> = Object.freeze({});
const unknownPath: RouteMatch<never> = { kind: 'unknown path' };

/** Compiles routes into a tree that is walked by segment, instead of trying all patterns. */
export function compileRoutes<R extends Routable>(routes: readonly R[]): Router<R> {
  const root = newNode<R>();
  for (const route of routes) {
    let node = root;
    const names: string[] = [];
    for (const segment of segmentsOf(route.path)) {
      if (segment.startsWith('{')) {
        names.push(segment.slice(1, -1));
        node.named ??= newNode();
        node = node.named;
      } else {
        let next = node.literals.get(segment);
        if (!next) {
          next = newNode();
          node.literals.set(segment, next);
        }
        node = next;
      }
    }
    if (node.routes.has(route.method)) throw new Error(`${route.method} ${route.path} is routed twice`);
    node.routes.set(route.method, { route, names });
  }
  return (method, path) => {
    const segments = segmentsOf(path);
    const values: string[] = [];
    const node = find(root, segments, 0, values);
    if (!node) return unknownPath;
    const found = node.routes.get(method);
    if (!found) return { kind: 'wrong method', allowed: [...node.routes.keys()] };
    const { route, names } = found;
    if (names.length === 0) return { kind: 'found', route, params: noParams };
    const params: Record<string, string> = {};
    for (let i = 0; i < names.length; i++)
      params[must(names[i], 'names[i]')] = decodeSegment(must(values[i], 'values[i]'));
    return { kind: 'found', route, params };
  };
}

function newNode<R>(): Node<R> {
  return { literals: new Map(), named: undefined, routes: new Map() };
}

/** Ignores a trailing slash. */
function segmentsOf(path: string): string[] {
  const segments = path.split('/');
  segments.shift();
  if (segments.at(-1) === '') segments.pop();
  return segments;
}

function find<R>(node: Node<R>, segments: readonly string[], at: number, values: string[]): Node<R> | undefined {
  if (at === segments.length) return node.routes.size > 0 ? node : undefined;
  const segment = must(segments[at], 'segments[at]');
  const literal = node.literals.get(segment);
  if (literal) {
    const found = find(literal, segments, at + 1, values);
    if (found) return found;
  }
  if (!node.named || segment === '') return undefined;
  const depth = values.length;
  values.push(segment);
  const found = find(node.named, segments, at + 1, values);
  if (!found) values.length = depth;
  return found;
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
