import { type CloudChange, changedFields, type RehearsedType, type RehearsedTypes } from './changes.ts';
import type { Rehearsal } from './rehearsal.ts';
import type { Table } from './table.ts';

/** Changes a table and records the requests. */
export interface Recorder {
  made<K extends RehearsedType>(type: K, table: Table<RehearsedTypes[K]>, thing: RehearsedTypes[K]): RehearsedTypes[K];
  /** records nothing if the state does not differ */
  changed<K extends RehearsedType>(
    type: K,
    table: Table<RehearsedTypes[K]>,
    id: string,
    change: (before: RehearsedTypes[K]) => RehearsedTypes[K],
  ): Promise<RehearsedTypes[K]>;
  /** returns false if there was nothing to delete */
  deleted<K extends RehearsedType>(type: K, table: Table<RehearsedTypes[K]>, id: string): Promise<boolean>;
  tagging<K extends TaggedType>(
    type: K,
    table: Table<RehearsedTypes[K]>,
  ): { replaceTags(id: string, tags: readonly string[]): Promise<void> };
}

type TaggedType = 'network' | 'subnet' | 'router' | 'port' | 'trunk' | 'securityGroup' | 'floatingIp';

export function createRecorder({ journal, isNew }: Pick<Rehearsal, 'journal' | 'isNew'>): Recorder {
  const note = (action: CloudChange['action'], type: RehearsedType, thing: object, fields: readonly string[] = []) =>
    // Callers below always pass a matching pair of type and resource.
    journal.note({ action, type, thing, fields } as CloudChange);
  return {
    made(type, table, thing) {
      table.put(thing);
      note('create', type, thing);
      return thing;
    },
    async changed(type, table, id, change) {
      const before = await table.get(id);
      const thing = change(before);
      const fields = changedFields(before, thing);
      if (fields.length === 0) return before;
      table.put(thing);
      note('change', type, thing, fields);
      return thing;
    },
    async deleted(type, table, id) {
      const thing = await table.get(id).catch(() => undefined);
      if (!thing) return false;
      await table.remove(id);
      note('delete', type, thing);
      return true;
    },
    tagging: (type, table) => ({
      async replaceTags(id, tags) {
        const thing = { ...(await table.get(id)), tags };
        table.put(thing);
        // The tags of a new resource are set by a separate call, but are not a change of it.
        if (!isNew(id)) note('change', type, thing, ['tags']);
      },
    }),
  };
}
