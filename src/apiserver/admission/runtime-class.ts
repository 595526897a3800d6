import {
  asJson,
  compareQuantities,
  deepEqual,
  isJsonObject,
  type JsonObject,
  statusError,
} from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { coreWrites } from './scope.ts';
import type { AdmissionRequest, AdmissionStep } from './types.ts';

const runtimeClasses = { group: 'node.k8s.io', plural: 'runtimeclasses' };

/** Sets overhead and scheduling constraints of the runtime class on pods (kube-apiserver: RuntimeClass). */
export function runtimeClassAdmission(store: Store<StoredObject>): AdmissionStep {
  return {
    name: 'RuntimeClass',
    ...coreWrites('pods', ['CREATE']),
    mutate(request) {
      const spec = request.object?.spec;
      if (!isJsonObject(spec)) return;
      const chosen = findClass(store, spec['runtimeClassName'], request);
      if (!chosen) return;
      setOverhead(request, spec, chosen);
      setScheduling(request, spec, chosen);
    },
    validate(request) {
      const spec = request.object?.spec;
      if (!isJsonObject(spec)) return;
      const chosen = findClass(store, spec['runtimeClassName'], request);
      const fixed = chosen && fixedOverhead(chosen);
      const overhead = spec['overhead'];
      if (fixed) {
        if (!isSameAmounts(fixed, isJsonObject(overhead) ? overhead : {})) throw refusal(request, overheadMismatch);
      } else if (overhead !== undefined) {
        throw refusal(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
      }
    },
  };
}

const overheadMismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

function findClass(store: Store<StoredObject>, name: unknown, request: AdmissionRequest): JsonObject | undefined {
  if (typeof name !== 'string') return undefined;
  const record = store.head(objectKey(runtimeClasses, undefined, name));
  if (!record) throw refusal(request, `pod rejected: RuntimeClass "${name}" not found`);
  return asJson(record.value.object);
}

/** Returns the overhead of the class; undefined without one. */
function fixedOverhead({ overhead }: JsonObject): JsonObject | undefined {
  if (!isJsonObject(overhead)) return undefined;
  return isJsonObject(overhead['podFixed']) ? overhead['podFixed'] : {};
}

function setOverhead(request: AdmissionRequest, spec: JsonObject, chosen: JsonObject): void {
  const fixed = fixedOverhead(chosen);
  if (!fixed) return;
  const asked = isJsonObject(spec['overhead']) ? spec['overhead'] : {};
  if (Object.keys(asked).length > 0 && !isSameAmounts(fixed, asked)) throw refusal(request, overheadMismatch);
  spec['overhead'] = { ...fixed };
}

function isSameAmounts(a: JsonObject, b: JsonObject): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => b[name] !== undefined && compareQuantities(String(a[name]), String(b[name])) === 0);
}

function setScheduling(request: AdmissionRequest, spec: JsonObject, { scheduling }: JsonObject): void {
  if (!isJsonObject(scheduling)) return;
  const selector = isJsonObject(scheduling['nodeSelector']) ? scheduling['nodeSelector'] : undefined;
  if (selector) {
    const own = isJsonObject(spec['nodeSelector']) ? spec['nodeSelector'] : {};
    for (const [key, value] of Object.entries(selector)) {
      if (own[key] === undefined || own[key] === value) continue;
      const text = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${String(value)}; pod.spec.nodeSelector[${key}] = ${String(own[key])}`;
      throw refusal(request, text);
    }
    spec['nodeSelector'] = { ...own, ...selector };
  }
  const added = tolerationsOf(scheduling);
  if (added.length > 0) spec['tolerations'] = [...mergeTolerations([...tolerationsOf(spec), ...added])];
}

function tolerationsOf({ tolerations }: JsonObject): JsonObject[] {
  return Array.isArray(tolerations) ? tolerations.filter(isJsonObject) : [];
}

/** Merging is quadratic, so longer lists keep their duplicates. */
const maxCompared = 200;

/** Removes tolerations that another one covers. */
function mergeTolerations(all: readonly JsonObject[]): readonly JsonObject[] {
  if (all.length > maxCompared) return all;
  const merged: JsonObject[] = [];
  for (const [index, one] of all.entries()) {
    const isCovered = (other: JsonObject): boolean => covers(other, one);
    const isRepeated = all.slice(index + 1).some((later) => !deepEqual(later, one) && covers(later, one));
    if (!merged.some(isCovered) && !isRepeated) merged.push(one);
  }
  return merged;
}

/** Tells whether the first toleration includes the second one. */
function covers(wide: JsonObject, narrow: JsonObject): boolean {
  if (deepEqual(wide, narrow)) return true;
  const text = (toleration: JsonObject, field: string): string => String(toleration[field] ?? '');
  if (text(wide, 'key') !== text(narrow, 'key') && !(text(wide, 'key') === '' && text(wide, 'operator') === 'Exists')) {
    return false;
  }
  if (text(wide, 'effect') !== text(narrow, 'effect') && text(wide, 'effect') !== '') return false;
  if (text(wide, 'effect') === 'NoExecute') {
    const [most, least] = [wide['tolerationSeconds'], narrow['tolerationSeconds']];
    if (most !== undefined && (least === undefined || Number(least) > Number(most))) return false;
  }
  const isAny = text(wide, 'operator') === 'Exists';
  return isAny || (text(narrow, 'operator') !== 'Exists' && text(wide, 'value') === text(narrow, 'value'));
}

function refusal(request: AdmissionRequest, message: string): Error {
  return statusError.forbidden({ group: '', resource: 'pods', name: request.target.name }, message);
}
