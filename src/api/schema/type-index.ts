import { admissionregistrationTypes } from '../admissionregistration/types.ts';
import { apiextensionsTypes } from '../apiextensions/types.ts';
import { apiregistrationTypes } from '../apiregistration/types.ts';
import { appsTypes } from '../apps/types.ts';
import { authenticationTypes } from '../authentication/types.ts';
import { authorizationTypes } from '../authorization/types.ts';
import { autoscalingV1Types, autoscalingV2Types } from '../autoscaling/types.ts';
import { batchTypes } from '../batch/types.ts';
import { certificatesTypes } from '../certificates/types.ts';
import { coordinationTypes } from '../coordination/types.ts';
import { coreTypes } from '../core/types.ts';
import { discoveryTypes } from '../discovery/types.ts';
import { eventsTypes } from '../events/types.ts';
import { metaTypes } from '../meta/types.ts';
import { networkingTypes } from '../networking/types.ts';
import { nodeTypes } from '../node/types.ts';
import { policyTypes } from '../policy/types.ts';
import { rbacTypes } from '../rbac/types.ts';
import { schedulingTypes } from '../scheduling/types.ts';
import { storageTypes } from '../storage/types.ts';
import { type FieldDeclaration, readFields, readHeaders, type TypeHeader } from './notation.ts';
import type { TypeTable } from './type-table.ts';

export const typeTables: readonly TypeTable[] = [
  metaTypes,
  coreTypes,
  admissionregistrationTypes,
  apiextensionsTypes,
  apiregistrationTypes,
  appsTypes,
  authenticationTypes,
  authorizationTypes,
  autoscalingV1Types,
  autoscalingV2Types,
  batchTypes,
  certificatesTypes,
  coordinationTypes,
  discoveryTypes,
  eventsTypes,
  networkingTypes,
  nodeTypes,
  policyTypes,
  rbacTypes,
  schedulingTypes,
  storageTypes,
];

/** One type of a table; its fields are parsed on demand. */
export interface IndexedType {
  readonly table: TypeTable;
  readonly component: string;
  readonly name: string;
  readonly description: string;
  readonly flags: ReadonlyMap<string, string>;
  readonly fields: readonly FieldDeclaration[];
}

const noFlags: ReadonlyMap<string, string> = new Map();

interface TypeIndex {
  byComponent: ReadonlyMap<string, IndexedType>;
  tableByAlias: ReadonlyMap<string, TypeTable>;
}

let index: TypeIndex | undefined;

function buildIndex(): TypeIndex {
  const byComponent = new Map<string, IndexedType>();
  const tableByAlias = new Map<string, TypeTable>();
  for (const table of typeTables) {
    tableByAlias.set(table.alias, table);
    for (const header of readHeaders(table)) {
      const type = declaredType(table, header);
      byComponent.set(type.component, type);
      if (header.flags.has('kind') && !header.flags.has('nolist')) {
        const list = listType(table, header.name);
        byComponent.set(list.component, list);
      }
    }
  }
  return { byComponent, tableByAlias };
}

function typeIndex(): TypeIndex {
  index ??= buildIndex();
  return index;
}

function declaredType(table: TypeTable, header: TypeHeader): IndexedType {
  let fields: readonly FieldDeclaration[] | undefined;
  return {
    table,
    component: `${table.componentPrefix}.${header.name}`,
    name: header.name,
    description: header.description,
    flags: header.flags,
    get fields() {
      fields ??= withCommonFields(header, readFields(table, header));
      return fields;
    },
  };
}

function withCommonFields(header: TypeHeader, fields: FieldDeclaration[]): FieldDeclaration[] {
  const isKind = header.flags.has('kind');
  if (isKind && !fields.some((field) => field.name === 'metadata')) fields.unshift(objectMetadata);
  if (isKind || header.flags.has('typed')) fields.unshift(kindField, apiVersionField);
  return fields;
}

function listType(table: TypeTable, kind: string): IndexedType {
  const items: FieldDeclaration = {
    ...plainField('items', 2, kind, `The ${kind} objects of this page.`),
    shape: 'list',
    flags: new Map([['required', '']]),
  };
  return {
    table,
    component: `${table.componentPrefix}.${kind}List`,
    name: `${kind}List`,
    description: `A list of ${kind} objects.`,
    flags: new Map([['typed', '']]),
    fields: [kindField, apiVersionField, listMetadata, items],
  };
}

function plainField(name: string, number: number, typeName: string, description: string): FieldDeclaration {
  return { name, number, typeName, shape: 'one', pointer: false, flags: noFlags, description };
}

/** Field number 0 marks these two fields, which are in the envelope and not in the message. */
const apiVersionField = plainField(
  'apiVersion',
  0,
  'string',
  'APIVersion defines the group and version this object is written in.',
);
const kindField = plainField('kind', 0, 'string', 'The kind of this object, in CamelCase.');
const objectMetadata = plainField('metadata', 1, 'meta.ObjectMeta', 'Name, labels and everything all objects have.');
const listMetadata = plainField('metadata', 1, 'meta.ListMeta', 'The version of the list and where it continues.');

/** Returns all types by component name, including inline types. */
export function indexedTypes(): ReadonlyMap<string, IndexedType> {
  return typeIndex().byComponent;
}

/** Tells whether a type can be a document of its own, with apiVersion and kind. */
export function isKind({ flags }: IndexedType): boolean {
  return flags.has('kind') || flags.has('typed') || flags.has('everywhere');
}

/**
 * Resolves a type name of a table to its component. Throws for unknown names, because tables are part of the program.
 */
export function resolveTypeName(table: TypeTable, typeName: string): IndexedType {
  const { byComponent, tableByAlias } = typeIndex();
  const dot = typeName.indexOf('.');
  const prefix =
    dot < 0 ? table.componentPrefix : (tableByAlias.get(typeName.slice(0, dot))?.componentPrefix ?? typeName);
  const type = byComponent.get(`${prefix}.${dot < 0 ? typeName : typeName.slice(dot + 1)}`);
  if (type === undefined) throw new Error(`type table ${table.alias}: unknown type ${typeName}`);
  return type;
}
