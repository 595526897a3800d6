import type { Caller } from '../core/caller.ts';
import type { Refusal } from '../core/refusal.ts';
import type { Row, Table } from '../core/state/table.ts';
import type { Attributes, Values } from './attributes/attribute.ts';
import type { ListQuery } from './attributes/list-query.ts';
import type { Matchers } from './attributes/select.ts';
import type { AttributeRules } from './policy.ts';

/** What neutron keeps of everything. Rows use the names of the wire, so that filters and sorting need no translation. */
export interface StandardRow extends Row {
  readonly tenant_id: string;
  /** null only where neutron itself wrote the object */
  readonly description: string | null;
  readonly revision_number: number;
  /** milliseconds */
  readonly created_at: number;
  readonly updated_at: number;
}

export interface TaggedRow extends StandardRow {
  readonly tags: readonly string[];
}

/** A kind of thing neutron serves: how it is named, read, written and shown. */
export interface Resource<R extends StandardRow = StandardRow> {
  /** `security_group` */
  readonly name: string;
  /** `security_groups` */
  readonly collection: string;
  /** `security-groups` */
  readonly path: string;
  readonly attributes: Attributes;
  readonly rules: AttributeRules;
  readonly table: Table<R>;
  /** resource of the quota, when it is limited */
  readonly quota?: string;
  readonly matchers?: Matchers<R>;
  notFound(id: string): Refusal;
  /** who is not an administrator sees it only when this says so */
  isVisibleTo(row: Readonly<R>, caller: Caller): boolean;
  /** who sees it may change it only when this says so */
  isOwnedBy(row: Readonly<R>, caller: Caller): boolean;
  /** a way to fewer rows than all, by an index that one of the filters goes with; more than match is fine */
  candidates?(filters: ListQuery['filters'], caller: Caller): Iterable<Readonly<R>> | undefined;
  /** an attribute that is not a column of the row */
  read?(row: Readonly<R>, name: string): unknown;
  view(row: Readonly<R>, caller: Caller): Record<string, unknown>;
  /** attributes only a new object shows */
  viewCreated?(row: Readonly<R>, caller: Caller): Record<string, unknown>;
  /** runs before a list is answered */
  beforeList?(filters: ListQuery['filters'], caller: Caller): void;
  /** what the rules of attributes need to know of an object that is changed */
  policyValues?(row: Readonly<R>): Values;
  create?(values: Values, caller: Caller, isBulk: boolean): Readonly<R>;
  /** whose parents the new object may have; comes before quota and policy */
  checkOwner?(values: Values, caller: Caller): void;
  /** several at once, when that is more than one after the other */
  checkBulk?(items: readonly Values[], caller: Caller): void;
  update?(row: Readonly<R>, values: Values, caller: Caller): Readonly<R>;
  delete?(row: Readonly<R>, caller: Caller): void;
}
