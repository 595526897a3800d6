import { must } from '../errors/must.ts';
import type { Schema } from './types.ts';

export interface ResolvedFieldPath {
  /** normalized, e.g. `spec.labels[a]` */
  path: string;
  root: string;
  schema: Schema;
}

/**
 * Resolves a path of fields and map keys such as `.spec.labels['a']` against a schema. Returns the error text of
 * kube-apiserver if the path does not exist.
 */
export function resolveFieldPath(
  text: string,
  schema: Schema,
  options: { allowBrackets: boolean },
): ResolvedFieldPath | string {
  const tokens = text.match(/'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]']+/gs) ?? [];
  const resolved: ResolvedFieldPath = { path: '', root: '', schema };
  for (let i = 0; i < tokens.length; i++) {
    const token = must(tokens[i], 'tokens[i]');
    let name: string | undefined;
    if (token === '[') {
      if (!options.allowBrackets) return 'array notation is not allowed';
      const quoted = tokens[++i];
      if (quoted === undefined) return 'unexpected end of JSON path';
      if (!/^'.*'$/s.test(quoted)) return `expected single quoted string but got ${quoted}`;
      name = quoted.slice(1, -1).replace(/\\(.)/gs, '$1');
      const problem = step(resolved, name);
      if (problem !== undefined) return problem;
      const close = tokens[++i];
      if (close === undefined) return 'unexpected end of JSON path';
      if (close !== ']') return `expected ] but got ${close}`;
    } else if (token === '.') {
      name = tokens[++i];
      if (name === undefined) return 'unexpected end of JSON path';
      const problem = step(resolved, name);
      if (problem !== undefined) return problem;
    } else return `expected [ or . but got: ${token}`;
  }
  return resolved;
}

function step(resolved: ResolvedFieldPath, name: string): string | undefined {
  const { properties, additionalProperties } = resolved.schema;
  if (properties) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!property) return 'does not refer to a valid field';
    resolved.schema = property;
    resolved.path += resolved.path === '' ? name : `.${name}`;
  } else if (typeof additionalProperties === 'object') {
    resolved.schema = additionalProperties;
    resolved.path += `[${name}]`;
  } else return 'does not refer to a valid field';
  if (resolved.root === '') resolved.root = name;
  return undefined;
}
