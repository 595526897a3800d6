import { OpenStackError } from '../errors/openstack-error.ts';
import { onlyOne } from '../resource/collection.ts';

/** Reads one kind of resource from the cloud, at most once: what follows is answered from there. */
export interface Table<T extends { readonly id: string }> {
  /** everything: what the cloud has, with what was changed since */
  all(): Promise<T[]>;
  get(id: string): Promise<T>;
  /** without a request: undefined also for what nobody has read yet */
  current(id: string): T | undefined;
  /** whether the cloud was asked */
  readonly isRead: boolean;
  put(thing: T): void;
  /** false when it was not there */
  remove(id: string): Promise<boolean>;
}

export interface TableOptions<T> {
  /** the service, for messages */
  readonly service: string;
  readonly kind: string;
  load(): Promise<readonly T[]>;
}

/** Ids of what was made in a rehearsal begin so: no cloud is asked for them. */
const madeHere = 'new-';

export const isMadeHere = (id: string | undefined): boolean => id?.startsWith(madeHere) === true;

export function idMaker(): (kind: string) => string {
  let count = 0;
  return (kind) => `${madeHere}${kind}-${++count}`;
}

export function createTable<T extends { readonly id: string }>({ service, kind, load }: TableOptions<T>): Table<T> {
  const things = new Map<string, T>();
  const removed = new Set<string>();
  let reading: Promise<void> | undefined;
  let isRead = false;

  const read = (): Promise<void> => {
    reading ??= load().then((loaded) => {
      // what was changed before the first look is newer than it
      for (const thing of loaded) if (!things.has(thing.id) && !removed.has(thing.id)) things.set(thing.id, thing);
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
    current: (id) => things.get(id),
    async get(id) {
      if (!things.has(id) && !isMadeHere(id)) await read();
      const found = things.get(id);
      if (found) return found;
      throw new OpenStackError({ kind: 'notFound', service, detail: `there is no ${kind} ${id}` });
    },
    put: (thing) => void things.set(thing.id, thing),
    async remove(id) {
      if (!things.has(id) && !isMadeHere(id)) await read();
      removed.add(id);
      return things.delete(id);
    },
  };
}

type Rule = (thing: object, wanted: unknown) => boolean;

/** Filters that are no fields, and those that say nothing of a match. */
const specialFilters: Readonly<Record<string, Rule>> = {
  tags: (thing, wanted) => namesOf(wanted).every((tag) => tagsOf(thing).includes(tag)),
  tagsAny: (thing, wanted) => namesOf(wanted).some((tag) => tagsOf(thing).includes(tag)),
  notTags: (thing, wanted) => !namesOf(wanted).every((tag) => tagsOf(thing).includes(tag)),
  notTagsAny: (thing, wanted) => !namesOf(wanted).some((tag) => tagsOf(thing).includes(tag)),
  metadata: (thing, wanted) =>
    Object.entries(wanted as object).every(([key, value]) => fieldsOf(fieldsOf(thing)['metadata'])[key] === value),
  sortKey: () => true,
  sortDir: () => true,
  sort: () => true,
  fields: () => true,
};

const fieldsOf = (value: unknown): Record<string, unknown> => value as Record<string, unknown>;
const namesOf = (value: unknown): readonly string[] => value as readonly string[];
const tagsOf = (thing: object): readonly string[] => namesOf(fieldsOf(thing)['tags'] ?? []);

/** Whether a resource is among those a filter asks for; several values of one filter mean "one of". */
export function matches(
  thing: object,
  filter: object | undefined,
  rules: Readonly<Record<string, Rule>> = {},
): boolean {
  return Object.entries(filter ?? {}).every(([name, wanted]) => {
    if (wanted === undefined) return true;
    const rule = rules[name] ?? specialFilters[name];
    if (rule) return rule(thing, wanted);
    // a filter that is not understood must not look like one that everything passes
    if (!(name in thing)) throw new Error(`a rehearsal does not know the filter "${name}"`);
    const value = fieldsOf(thing)[name];
    return Array.isArray(wanted) ? wanted.includes(value) : value === wanted;
  });
}

/** What every readable kind of resource can do, answered from a table. */
export function readFrom<T extends { readonly id: string; readonly name: string }>(
  { service, kind }: { readonly service: string; readonly kind: string },
  table: Pick<Table<T>, 'all' | 'get'>,
  rules: Readonly<Record<string, Rule>> = {},
): {
  list(filter?: object): AsyncGenerator<T>;
  get(id: string): Promise<T>;
  find(name: string, filter?: object): Promise<T | undefined>;
} {
  const all = async (filter: object | undefined): Promise<T[]> =>
    (await table.all()).filter((thing) => matches(thing, filter, rules));
  return {
    async *list(filter) {
      yield* await all(filter);
    },
    get: (id) => table.get(id),
    async find(name, filter) {
      const found = (await all(filter)).filter((thing) => thing.name === name);
      return onlyOne(service, kind, name, found);
    },
  };
}

/** A service of which only some calls are rehearsed: reading goes through, everything else is a mistake of ours. */
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

/** Calls that change nothing. */
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
