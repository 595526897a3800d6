import { isDeepStrictEqual } from 'node:util';
import type { StoredObject } from '../../../src/apiserver/index.ts';
import type { Store, StoreEvent } from '../../../src/store/index.ts';
import type { InProcessServer } from '../../support/rough/in-process-server.ts';
import { statusProblem } from '../../support/rough/status.ts';
import type { WireAnswer, WireClient } from '../../support/rough/wire.ts';
import type { FuzzRequest } from './requests.ts';

/** Intentional answers above 499: a revision in the future, and a contradiction for which upstream answers the same. */
const deliberate: readonly (readonly [status: number, text: RegExp])[] = [
  [504, /Too large resource version/],
  [500, /without impersonating a user/],
];

/** Returns what is wrong with an answer, for any request. */
export function answerProblem(request: FuzzRequest, answer: WireAnswer): string | undefined {
  const { status } = answer;
  const text = answer.body.toString();
  if (
    status >= 500 &&
    request.method !== 'HEAD' &&
    !deliberate.some(([code, words]) => code === status && words.test(text))
  ) {
    return `answer ${status}: ${text.slice(0, 300)}`;
  }
  if (status >= 400) return statusProblem(answer, request.method);
  if (status < 200 || status >= 400) return `answer ${status}`;
  if (request.method === 'HEAD' && answer.body.length > 0) return 'HEAD was answered with a body';
  return undefined;
}

/** Records every change of the store, to detect side effects of a request. */
export class ChangeLog {
  readonly #keys: string[] = [];
  readonly #stop: () => void;

  constructor(store: Store<StoredObject>) {
    this.#stop = store.watch('', store.revision, (events) => {
      for (const event of events) if (!isOwnBusiness(event)) this.#keys.push(keyOf(event));
    });
  }

  /** keys changed since the last call */
  take(): string[] {
    return this.#keys.splice(0);
  }

  close(): void {
    this.#stop();
  }
}

const definedGroups = /^\/(fuzz\.example\.com|other\.example\.org|constructor\.io)\//;

/**
 * Changes by controllers of the server: it completes definitions, deletes objects of deleted ones, updates the status
 * of quotas and fills aggregated roles. All of them may follow the answer to the causing request.
 */
function isOwnBusiness(event: StoreEvent<StoredObject>): boolean {
  const key = keyOf(event);
  if (key.startsWith('/apiextensions.k8s.io/customresourcedefinitions/')) return true;
  if (event.type === 'delete') return definedGroups.test(key);
  if (!event.previous) return false;
  const { object } = event.record.value;
  const before = event.previous.value.object;
  if (key.startsWith('/core/resourcequotas/')) return isDeepStrictEqual(object.spec, before.spec);
  return key.startsWith('/rbac.authorization.k8s.io/clusterroles/') && object['aggregationRule'] !== undefined;
}

function keyOf(event: StoreEvent<StoredObject>): string {
  return event.type === 'put' ? event.record.key : event.key;
}

/** Reports whether a request with this answer may have changed the store. */
export function mayChange(request: FuzzRequest, answer: WireAnswer): boolean {
  if (answer.status >= 300) return false;
  if (['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(request.method)) return false;
  return !/[?&]dryRun=All(&|$)/.test(request.path);
}

/** Checks that every object of every kind can be read in all served versions and formats. */
export async function unreadableCollections({ server }: InProcessServer, client: WireClient): Promise<string[]> {
  const problems: string[] = [];
  const accepts = [
    'application/json',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    'application/yaml',
  ];
  for (const { definition } of server.registry.all()) {
    if (!definition.verbs.includes('list')) continue;
    for (const version of definition.versions) {
      if (!version.served) continue;
      const root = definition.group === '' ? `/api/${version.name}` : `/apis/${definition.group}/${version.name}`;
      for (const accept of accepts) {
        const path = `${root}/${definition.plural}`;
        const answer = await client.send({ method: 'GET', path, headers: [['accept', accept]] });
        if (answer.status !== 200)
          problems.push(`${path} as ${accept}: ${answer.status} ${answer.body.toString().slice(0, 300)}`);
      }
    }
  }
  return problems;
}

const prototypes = {
  Object: Object.prototype,
  Array: Array.prototype,
  Function: Function.prototype,
  String: String.prototype,
  Map: Map.prototype,
};

/** Returns a snapshot of the built-in prototypes, to detect prototype pollution. */
export function inherited(): string {
  return Object.entries(prototypes)
    .map(([name, prototype]) => `${name}: ${Reflect.ownKeys(prototype).map(String).sort().join(' ')}`)
    .join('\n');
}
