import { deepEqual, type JsonObject } from '../json/value.ts';
import type { ManagedFieldsEntry } from '../meta/types.ts';
import { formatTime } from '../time/clock.ts';
import {
  decodeFieldsV1,
  encodeFieldsV1,
  equalSets,
  type FieldOrder,
  type FieldSet,
  isEmptySet,
  union,
} from './field-set.ts';
import { isKnownSet, rememberSet } from './reconcile-schema.ts';
import type { KindOrigin } from './type-model.ts';

/** Identity of a manager. Appliers stay the same when they change the version, other managers do not. */
export interface ManagerOrigin {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
}

/** A manager and its fields during one write. Managers are immutable; a write replaces them in the list. */
export interface Manager extends ManagerOrigin {
  /** undefined for an applier that never changed anything */
  readonly time: string | undefined;
  readonly set: FieldSet;
  /** the stored entry, returned untouched when nothing changed */
  readonly entry: ManagedFieldsEntry | undefined;
}

export function isSameManager(a: ManagerOrigin, b: ManagerOrigin): boolean {
  return (
    a.name === b.name &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  );
}

export function indexOfManager(managers: readonly Manager[], origin: ManagerOrigin): number {
  return managers.findIndex((manager) => isSameManager(manager, origin));
}

/** Replaces the manager of the same identity, or adds it. A manager that owns nothing is removed. */
export function putManager(managers: Manager[], manager: Manager): void {
  const index = indexOfManager(managers, manager);
  if (isEmptySet(manager.set)) {
    if (index >= 0) managers.splice(index, 1);
  } else if (index >= 0) managers[index] = manager;
  else managers.push(manager);
}

/** Order in which upstream lists conflicts and folds old updaters: by the text that identifies a manager. */
export function compareIdentities(a: ManagerOrigin, b: ManagerOrigin): number {
  return compareText(identityText(a), identityText(b));
}

function identityText({ name, operation, apiVersion, subresource }: ManagerOrigin): string {
  return JSON.stringify({
    ...(name !== '' && { manager: name }),
    operation,
    ...(operation === 'Update' && { apiVersion }),
    ...(subresource !== '' && { subresource }),
  });
}

/**
 * Reads entries into managers.
 * @throws SyntaxError or TypeError when an entry is not one the server could have written
 */
export function decodeManagers(entries: readonly ManagedFieldsEntry[]): Manager[] {
  const managers: Manager[] = [];
  for (const entry of entries) {
    const manager = decodeEntry(entry);
    const index = indexOfManager(managers, manager);
    if (index >= 0) managers[index] = manager;
    else managers.push(manager);
  }
  return managers;
}

function decodeEntry(entry: ManagedFieldsEntry): Manager {
  const { operation, apiVersion, fieldsV1, time } = entry;
  if (operation !== 'Apply' && operation !== 'Update') throw new TypeError('operation must be `Apply` or `Update`');
  if (!apiVersion) throw new TypeError('apiVersion must not be empty');
  if (entry.fieldsType !== 'FieldsV1') throw new TypeError('invalid fieldsType');
  return {
    name: entry.manager ?? '',
    operation,
    apiVersion,
    subresource: entry.subresource ?? '',
    time: time === undefined || time === null ? undefined : normalTime(time),
    set: fieldsV1 !== undefined && isKnownSet(fieldsV1) ? (fieldsV1 as FieldSet) : canonicalFields(fieldsV1),
    entry,
  };
}

/** Returns the stored object itself when it is canonical, so that unchanged sets can be recognised by identity. */
function canonicalFields(fields: JsonObject | undefined): FieldSet {
  const set = decodeFieldsV1(fields);
  return fields !== undefined && equalSets(set, fields as FieldSet) ? (fields as FieldSet) : set;
}

const normalTimePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

function normalTime(time: string): string {
  if (normalTimePattern.test(time)) return time;
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw new TypeError(`invalid time: ${time}`);
  return formatTime(ms);
}

/** Encodes managers as entries in the order of the server. Untouched managers keep their original entry object. */
export function encodeManagers(managers: readonly Manager[], order: FieldOrder): ManagedFieldsEntry[] {
  const sorted = managers.length > 1 ? [...managers].sort(compareManagers) : managers;
  return sorted.map((manager) => encodeManager(manager, order));
}

function encodeManager(manager: Manager, order: FieldOrder): ManagedFieldsEntry {
  const { entry, name, operation, apiVersion, time, subresource, set } = manager;
  const sameFields = entry?.fieldsV1 !== undefined && equalSets(entry.fieldsV1 as FieldSet, set);
  if (entry && sameFields && entry.time === time && entry.apiVersion === apiVersion) return entry;
  let fieldsV1: JsonObject;
  if (entry?.fieldsV1 !== undefined && sameFields) fieldsV1 = entry.fieldsV1;
  else {
    // Sets computed in this write are already in order.
    const ordered = isKnownSet(set) ? set : encodeFieldsV1(set, order);
    if (ordered !== set || !isKnownSet(ordered)) rememberSet(ordered);
    fieldsV1 = ordered as JsonObject;
  }
  const encoded: ManagedFieldsEntry =
    time === undefined
      ? { manager: name, operation, apiVersion, fieldsType: 'FieldsV1', fieldsV1 }
      : { manager: name, operation, apiVersion, time, fieldsType: 'FieldsV1', fieldsV1 };
  if (subresource !== '') encoded.subresource = subresource;
  return encoded;
}

function compareManagers(a: Manager, b: Manager): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.name, b.name) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the live list itself if it holds the same entries, which signals that nothing changed. */
export function keepSame(entries: ManagedFieldsEntry[], live: ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  if (entries.length !== live.length) return entries;
  for (let i = 0; i < live.length; i++) if (entries[i] !== live[i]) return entries;
  return live;
}

/**
 * Reports whether two records of ownership differ only in times. If the object is otherwise unchanged, the write must
 * keep the stored record, or it would count as a change.
 */
export function equalIgnoringTimes(a: readonly ManagedFieldsEntry[], b: readonly ManagedFieldsEntry[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return a.every((entry, index) => {
    const other = b[index];
    return entry === other || deepEqual({ ...entry, time: undefined }, { ...other, time: undefined });
  });
}

const maxUpdateManagers = 10;
const bucketName = 'ancient-changes';

/** Limits the number of updaters: the oldest ones are folded, per version, into one entry named ancient-changes. */
export function capUpdateManagers(managers: Manager[]): void {
  if (managers.length <= maxUpdateManagers) return;
  const updaters = managers.filter((manager) => manager.operation === 'Update');
  updaters.sort((a, b) => compareText(a.time ?? '', b.time ?? '') || compareIdentities(a, b));
  let excess = updaters.length - maxUpdateManagers;
  const firstOfVersion = new Map<string, Manager>();
  for (const manager of updaters) {
    if (excess <= 0) return;
    const { apiVersion } = manager;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, manager);
      continue;
    }
    const origin = { name: bucketName, operation: 'Update' as const, apiVersion, subresource: '' };
    let bucket = managers[indexOfManager(managers, origin)];
    if (bucket === undefined) {
      bucket = first;
      managers.splice(managers.indexOf(first), 1);
    }
    managers.splice(managers.indexOf(manager), 1);
    // The bucket keeps the time of its newest change.
    putManager(managers, { ...origin, set: union(manager.set, bucket.set), time: manager.time, entry: undefined });
    excess--;
  }
}

/**
 * Chooses the record of ownership a write starts from. Clients may edit it, or reset it with `[{}]` (built-in kinds
 * also with `[]`). If they omit or garble it, the record of the live object is used, so that clients unaware of it
 * cannot destroy it.
 */
export function startingManagers(
  sent: readonly ManagedFieldsEntry[] | undefined,
  live: readonly ManagedFieldsEntry[],
  options: { subresource: string | undefined; origin: KindOrigin },
): Manager[] {
  if (options.subresource || sent === undefined || sent === null || sent === live) return decodeOrNone(live);
  // Upstream, an empty list is lost when custom resources are decoded, so for them it is no reset.
  if (sent.length === 0 ? options.origin === 'builtin' : isReset(sent)) return [];
  if (deepEqual(sent, live)) return decodeOrNone(live);
  try {
    const managers = decodeManagers(sent);
    if (managers.length > 0) return managers;
  } catch {
    // Not a valid record of ownership: use the live one.
  }
  return decodeOrNone(live);
}

/** Other members of an entry are unknown and ignored. */
const entryFields: readonly (keyof ManagedFieldsEntry)[] = [
  'manager',
  'operation',
  'apiVersion',
  'time',
  'fieldsType',
  'fieldsV1',
  'subresource',
];

function isReset(sent: readonly ManagedFieldsEntry[]): boolean {
  if (sent.length > 1) return false;
  const [only] = sent;
  return entryFields.every((field) => !only?.[field]);
}

function decodeOrNone(entries: readonly ManagedFieldsEntry[]): Manager[] {
  try {
    return decodeManagers(entries);
  } catch {
    return [];
  }
}
