import type { Caller } from '../core/caller.ts';
import type { Refusal } from '../core/refusal.ts';
import type { Row, Table } from '../core/state/table.ts';
import type { Attributes, Values } from './attributes/attribute.ts';
import type { ListQuery } from './attributes/list-query.ts';
import type { Matchers } from './attributes/select.ts';
import type { AttributeRules } from './policy.ts';

/** Common columns of all neutron rows. Names are those on the wire, so filters and sort keys need no mapping. */
export interface StandardRow extends Row {
  readonly tenant_id: string;
  /** null only for objects created by neutron itself */
  readonly description: string | null;
  readonly revision_number: number;
  /** milliseconds */
  readonly created_at: number;
  readonly updated_at: number;
}

export interface TaggedRow extends StandardRow {
  readonly tags: readonly string[];
}

/** A resource type of neutron: its names, and how it is read, written and rendered. */
export interface Resource<R extends StandardRow = StandardRow> {
  /** for example `security_group` */
  readonly name: string;
  /** for example `security_groups` */
  readonly collection: string;
  /** for example `security-groups` */
  readonly path: string;
  readonly attributes: Attributes;
  readonly rules: AttributeRules;
  readonly table: Table<R>;
  /** quota resource, if limited */
  readonly quota?: string;
  readonly matchers?: Matchers<R>;
  notFound(id: string): Refusal;
  /** visibility for callers who are not administrators */
  isVisibleTo(row: Readonly<R>, caller: Caller): boolean;
  /** whether a caller who sees it may change it */
  isOwnedBy(row: Readonly<R>, caller: Caller): boolean;
  /** rows preselected by the index of a filter; may include rows that do not match */
  candidates?(filters: ListQuery['filters'], caller: Caller): Iterable<Readonly<R>> | undefined;
  /** reads an attribute that is not a column */
  read?(row: Readonly<R>, name: string): unknown;
  view(row: Readonly<R>, caller: Caller): Record<string, unknown>;
  /** attributes shown only in the answer to creation */
  viewCreated?(row: Readonly<R>, caller: Caller): Record<string, unknown>;
  /** runs before a list is answered */
  beforeList?(filters: ListQuery['filters'], caller: Caller): void;
  /** values of an existing object that attribute rules need */
  policyValues?(row: Readonly<R>): Values;
  create?(values: Values, caller: Caller, isBulk: boolean): Readonly<R>;
  /** whether the caller may use the parents of the new object; runs before quota and policy */
  checkOwner?(values: Values, caller: Caller): void;
  /** additional checks of a bulk creation */
  checkBulk?(items: readonly Values[], caller: Caller): void;
  update?(row: Readonly<R>, values: Values, caller: Caller): Readonly<R>;
  delete?(row: Readonly<R>, caller: Caller): void;
}
