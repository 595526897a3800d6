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

/** with the defaults the API server would give it */
export function defaulted(object: UnstructuredObject): UnstructuredObject {
  strategyOf(object.kind).applyDefaults!(object);
  return object;
}

/** what is said to a create */
export const created = (object: UnstructuredObject): string[] =>
  (strategyOf(object.kind).validateCreate?.(object, context) ?? []).map(formatFieldError);

/** what is said to an update */
export const updated = (
  object: UnstructuredObject,
  old: UnstructuredObject,
  more: Partial<StrategyContext> = {},
): string[] =>
  (strategyOf(object.kind).validateUpdate?.(object, old, { ...context, ...more }) ?? []).map(formatFieldError);

/** what the published schema of the hub version says, its rules included */
export function refusedBySchema(object: UnstructuredObject): string[] {
  const { versions } = ownDefinitions.find(({ kind }) => kind === object.kind)!;
  return validateCustomResource(asJson(object), versions[0]!.schema).map(formatFieldError);
}
