import type { Cause } from '../../../src/cli/why/first-cause.ts';
import type { Client } from '../../../src/client/index.ts';
import { applyMergePatch, type JsonObject, type KubeObject, type Resource } from '../../../src/machinery/index.ts';
import type { ClusterSpec, Manifest } from '../cluster-manifests.ts';
import type { System } from '../system.ts';

/** Expected answer of `why`. */
export interface Answer {
  /** kind and name of the faulty object; `*` stands for the name of the cluster */
  readonly object: RegExp;
  readonly message: RegExp;
  readonly next: RegExp;
}

/** A fault of a cluster, and the expected answer of `why`. */
export interface CausedFault {
  readonly what: string;
  readonly cluster?: Partial<ClusterSpec>;
  /** errors in the user's manifests */
  readonly manifests?: (manifests: readonly Manifest[], name: string) => Manifest[];
  /** faults that exist before the cluster is created */
  readonly before?: (system: System, name: string) => Promise<void> | void;
  /** fault of an existing cluster */
  readonly strike?: (struck: Struck) => Promise<void> | void;
  /** reverts the fault, for later tests in the same world */
  readonly after?: (system: System, name: string) => Promise<void> | void;
  readonly says: Answer;
}

export interface Struck {
  readonly system: System;
  readonly name: string;
  /** client of the cluster's API */
  readonly workload: () => Promise<Client>;
}

/** Changes some manifests by a merge patch of their spec. */
export function wrongSpec(
  resource: Resource<KubeObject>,
  spec: JsonObject,
  only: (object: KubeObject) => boolean = () => true,
): (manifests: readonly Manifest[]) => Manifest[] {
  return (manifests) =>
    manifests.map(({ resource: kind, object }) => {
      if (kind !== resource || !only(object)) return { resource: kind, object };
      const was = (object as unknown as { spec: JsonObject }).spec;
      return { resource: kind, object: { ...object, spec: applyMergePatch(was, spec) } as KubeObject };
    });
}

export const ofControlPlane = ({ metadata }: KubeObject): boolean => metadata.name?.includes('-control-plane') === true;
export const ofWorkers = (object: KubeObject): boolean => !ofControlPlane(object);

/** Returns the differences from the expected answer; empty if it matches. */
export function disagreements(cause: Cause | undefined, { object, message, next }: Answer, name: string): string[] {
  if (!cause) return ['nothing is said to hold it up'];
  const said = { ...cause, object: cause.object.replaceAll(name, '*'), message: cause.message.replaceAll(name, '*') };
  return (
    [
      ['object', object],
      ['message', message],
      ['next', next],
    ] as const
  )
    .filter(([field, pattern]) => !pattern.test(said[field]))
    .map(([field, pattern]) => `${field}: ${JSON.stringify(said[field])} is not ${pattern}`);
}
