import { OpenStackError } from '../errors/openstack-error.ts';
import { onlyOne } from '../resource/collection.ts';

/** One resource type. The cloud is listed at most once; later requests are answered from memory. */
export interface Table<T extends { readonly id: string }> {
  /** all resources of the cloud, with later changes applied */
  all(): Promise<T[]>;
  /** those of one name, without looking at all others */
  named(name: string): Promise<T[]>;
  get(id: string): Promise<T>;
  /** without a request: also undefined for resources that have not been read */
  current(id: string): T | undefined;
  /** whether the cloud was listed */
  readonly isRead: boolean;
  put(thing: T): void;
  /** returns false if it did not exist */
  remove(id: string): Promise<boolean>;
}

export interface TableOptions<T> {
  /** service name for messages */
  readonly service: string;
  readonly kind: string;
  load(): Promise<readonly T[]>;
}

/** Id prefix of resources created in a rehearsal. They are never requested from the cloud. */
const madeHere = 'new-';

export const isMadeHere = (id: string | undefined): boolean => id?.startsWith(madeHere) === true;

export function idMaker(): (kind: string) => string {
  let count = 0;
  return (kind) => `${madeHere}${kind}-${++count}`;
}

export function createTable<T extends { readonly id: string }>({ service, kind, load }: TableOptions<T>): Table<T> {
  const things = new Map<string, T>();
  const removed = new Set<string>();
  const ids = new Map<string, Set<string>>();
  let reading: Promise<void> | undefined;
  let isRead = false;

  const drop = (id: string): boolean => {
    const before = things.get(id);
    if (before) ids.get(nameOf(before))?.delete(id);
    return things.delete(id);
  };
  const keep = (thing: T): void => {
    const before = things.get(thing.id);
    if (before && nameOf(before) !== nameOf(thing)) ids.get(nameOf(before))?.delete(thing.id);
    things.set(thing.id, thing);
    const same = ids.get(nameOf(thing)) ?? new Set<string>();
    ids.set(nameOf(thing), same.add(thing.id));
  };

  const read = (): Promise<void> => {
    reading ??= load().then((loaded) => {
      // Changes made before the list was read are newer than it.
      for (const thing of loaded) if (!things.has(thing.id) && !removed.has(thing.id)) keep(thing);
      isRead = true;
    });
    return reading;
  };
  return {
    get isRead() {
      return isRead;
    },
    async all() {
      await read();
      return [...things.values()];
    },
    async named(name) {
      await read();
      return [...(ids.get(name) ?? [])].flatMap((id) => things.get(id) ?? []);
    },
    current: (id) => things.get(id),
    async get(id) {
      if (!things.has(id) && !isMadeHere(id)) await read();
      const found = things.get(id);
      if (found) return found;
      throw new OpenStackError({ kind: 'notFound', service, detail: `there is no ${kind} ${id}` });
    },
    put: keep,
    async remove(id) {
      if (!things.has(id) && !isMadeHere(id)) await read();
      removed.add(id);
      return drop(id);
    },
  };
}

/** Floating IPs and some others have no name. */
const nameOf = (thing: object): string => String(fieldsOf(thing)['name'] ?? '');

type Test = (thing: object) => boolean;
/** Prepares a filter once for many resources: a full cloud has thousands of each type. */
type Rule = (wanted: unknown) => Test;

const always: Rule = () => () => true;

/** Filters that are not fields, and those that do not restrict the result. */
const specialFilters: Readonly<Record<string, Rule>> = {
  tags: (wanted) => (thing) => namesOf(wanted).every((tag) => tagsOf(thing).includes(tag)),
  tagsAny: (wanted) => (thing) => namesOf(wanted).some((tag) => tagsOf(thing).includes(tag)),
  notTags: (wanted) => (thing) => !namesOf(wanted).every((tag) => tagsOf(thing).includes(tag)),
  notTagsAny: (wanted) => (thing) => !namesOf(wanted).some((tag) => tagsOf(thing).includes(tag)),
  metadata(wanted) {
    const entries = Object.entries(wanted as object);
    return (thing) => {
      const metadata = fieldsOf(fieldsOf(thing)['metadata']);
      return entries.every(([key, value]) => metadata[key] === value);
    };
  },
  sortKey: always,
  sortDir: always,
  sort: always,
  fields: always,
};

const fieldsOf = (value: unknown): Record<string, unknown> => value as Record<string, unknown>;
const namesOf = (value: unknown): readonly string[] => value as readonly string[];
const tagsOf = (thing: object): readonly string[] => namesOf(fieldsOf(thing)['tags'] ?? []);

/** Builds the test whether a resource matches a filter. Several values of one filter are alternatives. */
export function matcher(filter: object | undefined, rules: Readonly<Record<string, Rule>> = {}): Test {
  const tests = Object.entries(filter ?? {}).flatMap(([name, wanted]) =>
    wanted === undefined ? [] : [(rules[name] ?? specialFilters[name] ?? fieldRule(name))(wanted)],
  );
  return (thing) => tests.every((test) => test(thing));
}

function fieldRule(name: string): Rule {
  return (wanted) => (thing) => {
    // An unknown filter must not silently match everything.
    if (!(name in thing)) throw new Error(`a rehearsal does not know the filter "${name}"`);
    const value = fieldsOf(thing)[name];
    return Array.isArray(wanted) ? wanted.includes(value) : value === wanted;
  };
}

/** Read methods of a resource type, answered from a table. */
export function readFrom<T extends { readonly id: string; readonly name: string }>(
  { service, kind }: { readonly service: string; readonly kind: string },
  table: Pick<Table<T>, 'all' | 'get' | 'named'>,
  rules: Readonly<Record<string, Rule>> = {},
): {
  list(filter?: object): AsyncGenerator<T>;
  get(id: string): Promise<T>;
  find(name: string, filter?: object): Promise<T | undefined>;
} {
  const all = async (filter: object | undefined): Promise<T[]> => {
    const name = exactName(fieldsOf(filter ?? {})['name'], { isPattern: rules['name'] !== undefined });
    const found = name === undefined ? await table.all() : await table.named(name);
    return found.filter(matcher(filter, rules));
  };
  return {
    async *list(filter) {
      yield* await all(filter);
    },
    get: (id) => table.get(id),
    async find(name, filter) {
      const found = (await table.named(name)).filter(matcher(filter, rules));
      return onlyOne(service, kind, name, found);
    },
  };
}

/** Returns the only name that a filter lets pass, or undefined if there may be several. */
function exactName(wanted: unknown, { isPattern }: { isPattern: boolean }): string | undefined {
  if (typeof wanted !== 'string' || !isPattern) return typeof wanted === 'string' ? wanted : undefined;
  return /^\^((?:[\w-]|\\\.)+)\$$/.exec(wanted)?.[1]?.replaceAll('\\.', '.');
}

/** Wraps a service with partial support: reads pass through, any other call is a programming error. */
export function rehearsedPart<T extends object>(part: T, own: Partial<T>): T {
  return new Proxy(part, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function' || readOnly.has(String(name))) return member;
      return () => {
        throw new Error(`a rehearsal does not know the call "${String(name)}"`);
      };
    },
  });
}

/** Read-only calls. */
const readOnly: ReadonlySet<string> = new Set([
  'list',
  'get',
  'find',
  'consoleOutput',
  'providers',
  'availabilityZones',
  'supports',
  'quotas',
  'limits',
  'has',
  'aliases',
  'default',
]);
