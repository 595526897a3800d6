import { isJsonObject, type JsonObject, statusError } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { keyPrefix, objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { coreWrites } from './scope.ts';
import type { AdmissionRequest, AdmissionStep } from './types.ts';

const priorityClasses = { group: 'scheduling.k8s.io', plural: 'priorityclasses' };

/** Default time that a pod stays on a lost node. */
const evictionDelaySeconds = 300;

/** Sets the priority of a pod from its class, from the default class, or to zero (kube-apiserver: Priority). */
export function podPriority(store: Store<StoredObject>): AdmissionStep {
  return {
    name: 'Priority',
    ...coreWrites('pods', ['CREATE', 'UPDATE']),
    mutate(request) {
      const spec = request.object?.spec;
      if (!isJsonObject(spec)) return;
      if (request.operation === 'UPDATE') return keepPriority(spec, request.oldObject?.spec);
      const asked = spec['priorityClassName'];
      const chosen =
        typeof asked === 'string' && asked !== '' ? findClass(store, asked, request) : findDefaultClass(store);
      const priority = chosen?.value ?? 0;
      if (typeof spec['priority'] === 'number' && spec['priority'] !== priority) {
        throw refusal(
          request,
          `the integer value of priority (${spec['priority']}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
        );
      }
      spec['priority'] = priority;
      if (chosen) spec['priorityClassName'] = chosen.name;
      spec['preemptionPolicy'] ??= chosen?.preemptionPolicy ?? 'PreemptLowerPriority';
    },
  };
}

/** A client that replaces a Pod with its original manifest keeps the computed priority. */
function keepPriority(spec: JsonObject, old: unknown): void {
  if (!isJsonObject(old)) return;
  for (const field of ['priority', 'preemptionPolicy']) {
    if (spec[field] === undefined && old[field] !== undefined) spec[field] = old[field];
  }
}

interface ChosenClass {
  name: string;
  value: number;
  preemptionPolicy: string | undefined;
}

function chosenClass(object: StoredObject['object']): ChosenClass {
  const { value, preemptionPolicy } = object;
  return {
    name: object.metadata.name ?? '',
    value: Number(value ?? 0),
    preemptionPolicy: typeof preemptionPolicy === 'string' ? preemptionPolicy : undefined,
  };
}

function findClass(store: Store<StoredObject>, name: string, request: AdmissionRequest): ChosenClass {
  const record = store.head(objectKey(priorityClasses, undefined, name));
  if (!record) throw refusal(request, `no PriorityClass with name ${name} was found`);
  return chosenClass(record.value.object);
}

/** Returns the default class with the lowest value, as upstream does when several are marked. */
function findDefaultClass(store: Store<StoredObject>): ChosenClass | undefined {
  let lowest: ChosenClass | undefined;
  for (const { value } of store.list(keyPrefix(priorityClasses)).records) {
    if (value.object['globalDefault'] !== true) continue;
    const candidate = chosenClass(value.object);
    if (!lowest || candidate.value < lowest.value) lowest = candidate;
  }
  return lowest;
}

function refusal(request: AdmissionRequest, message: string): Error {
  return statusError.forbidden({ group: '', resource: 'pods', name: request.target.name }, message);
}

/** Adds tolerations that evict pods from a lost node after five minutes (kube-apiserver: DefaultTolerationSeconds). */
export const podTolerations: AdmissionStep = {
  name: 'DefaultTolerationSeconds',
  ...coreWrites('pods', ['CREATE', 'UPDATE']),
  mutate({ object }) {
    const spec = object?.spec;
    if (!isJsonObject(spec)) return;
    const present = Array.isArray(spec['tolerations']) ? spec['tolerations'] : [];
    const missing = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].filter(
      (key) => !present.some((toleration) => isJsonObject(toleration) && tolerates(toleration, key)),
    );
    if (missing.length === 0) return;
    const added = missing.map((key): JsonObject => {
      return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: evictionDelaySeconds };
    });
    spec['tolerations'] = [...present, ...added];
  },
};

/** An empty key or effect matches all. */
function tolerates({ key, effect }: JsonObject, wanted: string): boolean {
  return (!key || key === wanted) && (!effect || effect === 'NoExecute');
}
