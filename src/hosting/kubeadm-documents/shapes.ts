import type {
  KubeadmArgument,
  KubeadmBootstrapToken,
  KubeadmNodeRegistration,
  KubeadmTimeouts,
} from '../../api/index.ts';
import type { JsonObject, JsonValue } from '../../machinery/index.ts';
import type { KubeadmApiVersion } from './api-version.ts';

/** A document being built, with fields its version does not support. */
export interface Drafting {
  readonly format: KubeadmApiVersion;
  /** paths of dropped fields */
  readonly ignored: string[];
}

export const isBefore = (format: KubeadmApiVersion, other: KubeadmApiVersion): boolean => format < other;

/** Drops absent fields; undefined if none are left. */
export function compact(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject | undefined {
  const object: JsonObject = {};
  let empty = true;
  for (const key in fields) {
    const value = fields[key];
    if (value === undefined) continue;
    object[key] = value;
    empty = false;
  }
  return empty ? undefined : object;
}

/** API types are plain data. */
export const asJson = (value: unknown): JsonValue | undefined => value as JsonValue | undefined;

/** Returns a field if the version supports it; otherwise drops and records it. */
export function since<T>(
  drafting: Drafting,
  format: KubeadmApiVersion,
  path: string,
  value: T | undefined,
): T | undefined {
  if (value === undefined || !isBefore(drafting.format, format)) return value;
  drafting.ignored.push(path);
  return undefined;
}

/** Arguments are a list since v1beta4; before, they are a map in which the last value of a name wins. */
export function argumentsOf({ format }: Drafting, args: readonly KubeadmArgument[] | undefined): JsonValue | undefined {
  if (args === undefined) return undefined;
  if (!isBefore(format, 'v1beta4')) return args.map(({ name, value }) => ({ name, value }));
  const map: JsonObject = {};
  for (const { name, value } of args) map[name] = value;
  return map;
}

export const seconds = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : `${value}s`;

export const days = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : `${value * 24}h`;

export function nodeRegistration(
  drafting: Drafting,
  registration: KubeadmNodeRegistration | undefined,
  path: string,
): JsonObject | undefined {
  if (!registration) return undefined;
  const { name, criSocket, taints, kubeletExtraArgs, ignorePreflightErrors } = registration;
  return compact({
    name,
    criSocket,
    // an empty list means no taints and must be kept
    taints: asJson(taints),
    kubeletExtraArgs: argumentsOf(drafting, kubeletExtraArgs),
    ignorePreflightErrors,
    imagePullPolicy: since(drafting, 'v1beta3', `${path}.imagePullPolicy`, registration.imagePullPolicy),
    imagePullSerial: since(drafting, 'v1beta4', `${path}.imagePullSerial`, registration.imagePullSerial),
  });
}

export function bootstrapTokens(tokens: readonly KubeadmBootstrapToken[] | undefined): JsonObject[] | undefined {
  return tokens?.map(
    ({ token, description, ttlSeconds, expires, usages, groups }) =>
      compact({ token, description, ttl: seconds(ttlSeconds), expires, usages, groups }) ?? {},
  );
}

/**
 * Converts timeouts. Older versions keep two of them in other fields: those are named in `elsewhere` and do not count
 * as dropped.
 */
export function timeouts(
  drafting: Drafting,
  values: KubeadmTimeouts | undefined,
  path: string,
  elsewhere: keyof KubeadmTimeouts,
): JsonObject | undefined {
  if (!values) return undefined;
  if (isBefore(drafting.format, 'v1beta4')) {
    for (const name of Object.keys(values)) if (name !== elsewhere) drafting.ignored.push(`${path}.${name}`);
    return undefined;
  }
  return compact({
    controlPlaneComponentHealthCheck: seconds(values.controlPlaneComponentHealthCheckSeconds),
    kubeletHealthCheck: seconds(values.kubeletHealthCheckSeconds),
    kubernetesAPICall: seconds(values.kubernetesAPICallSeconds),
    etcdAPICall: seconds(values.etcdAPICallSeconds),
    tlsBootstrap: seconds(values.tlsBootstrapSeconds),
    discovery: seconds(values.discoverySeconds),
  });
}
