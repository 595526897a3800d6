import {
  asJson,
  clone,
  formatFieldError,
  type JsonObject,
  type ResourceStrategy,
  type StrategyContext,
  type UnstructuredObject,
  validateCustomResource,
} from '../machinery/index.ts';
import { ownDefinitions } from './own.ts';

export const context: StrategyContext = { nowMs: 0, random: undefined as never, user: 'tester' };

export function strategyOf(kind: string): ResourceStrategy {
  return ownDefinitions.find((definition) => definition.kind === kind)!.strategy;
}

export function make(kind: string, spec: JsonObject, metadata: object = {}, status?: JsonObject): UnstructuredObject {
  return {
    apiVersion: 'x/v1beta2',
    kind,
    metadata: { name: 'x', namespace: 'n', ...metadata },
    spec: clone(spec),
    ...(status ? { status } : {}),
  };
}

/** Adds the defaults that the API server would set. */
export function defaulted(object: UnstructuredObject): UnstructuredObject {
  strategyOf(object.kind).applyDefaults!(object);
  return object;
}

export const created = (object: UnstructuredObject): string[] =>
  (strategyOf(object.kind).validateCreate?.(object, context) ?? []).map(formatFieldError);

export const updated = (
  object: UnstructuredObject,
  old: UnstructuredObject,
  more: Partial<StrategyContext> = {},
): string[] =>
  (strategyOf(object.kind).validateUpdate?.(object, old, { ...context, ...more }) ?? []).map(formatFieldError);

/** Returns the errors of the published schema of the hub version, including its CEL rules. */
export function refusedBySchema(object: UnstructuredObject): string[] {
  const { versions } = ownDefinitions.find(({ kind }) => kind === object.kind)!;
  return validateCustomResource(asJson(object), versions[0]!.schema).map(formatFieldError);
}
