import {
  formatApiVersion,
  must,
  type ProtobufField,
  type ProtobufLeaf,
  type ProtobufMessage,
  type ProtobufRegistry,
} from '../../machinery/index.ts';
import { metaTypes } from '../meta/types.ts';
import type { FieldDeclaration } from './notation.ts';
import { createSpecialTypes, type SpecialType } from './special-types.ts';
import { type IndexedType, indexedTypes, isKind, resolveTypeName } from './type-index.ts';

const messages = new Map<string, ProtobufMessage>();

export const specialTypes: ReadonlyMap<string, SpecialType> = createSpecialTypes((component) => messageOf(component));

function messageOf(component: string): ProtobufMessage {
  let message = messages.get(component);
  if (message === undefined) {
    message = createMessage(must(indexedTypes().get(component), 'indexedTypes().get(component)'));
    messages.set(component, message);
  }
  return message;
}

function createMessage(type: IndexedType): ProtobufMessage {
  let fields: ProtobufField[] | undefined;
  return {
    name: type.name,
    get fields() {
      fields ??= type.fields
        .filter((declaration) => declaration.number > 0)
        .map((declaration) => createField(type, declaration))
        .sort((a, b) => a.number - b.number);
      return fields;
    },
  };
}

function createField(owner: IndexedType, declaration: FieldDeclaration): ProtobufField {
  const type = protobufTypeOf(owner, declaration.typeName);
  return {
    name: declaration.name,
    number: declaration.number,
    type,
    shape: declaration.shape,
    pointer: declaration.pointer,
    whenUnset: isEmittedUnset(declaration, type) ? 'emit' : 'omit',
  };
}

/** In Go, `omitempty` drops unset fields except structs; only `omitzero` drops structs. */
function isEmittedUnset({ flags, pointer, shape }: FieldDeclaration, type: ProtobufLeaf | ProtobufMessage): boolean {
  if (flags.has('omitempty') || flags.has('omitzero')) return false;
  if (flags.has('required') || flags.has('always')) return true;
  return shape === 'one' && !pointer && !omitemptyLeaves.has(type);
}

const omitemptyLeaves: ReadonlySet<ProtobufLeaf | ProtobufMessage> = new Set([
  'string',
  'bool',
  'int32',
  'int64',
  'double',
  'bytes',
]);

function protobufTypeOf(owner: IndexedType, typeName: string): ProtobufLeaf | ProtobufMessage {
  const special = specialTypes.get(typeName);
  if (special !== undefined) return special.protobuf;
  if (omitemptyLeaves.has(typeName as ProtobufLeaf)) return typeName as ProtobufLeaf;
  return messageOf(resolveTypeName(owner.table, typeName).component);
}

let kinds: ReadonlyMap<string, IndexedType> | undefined;

function indexKinds(): ReadonlyMap<string, IndexedType> {
  const index = new Map<string, IndexedType>();
  for (const type of indexedTypes().values()) {
    if (!isKind(type)) continue;
    const { table } = type;
    index.set(`${formatApiVersion(table.group, table.version)}/${type.name}`, type);
    // DeleteOptions, Status and similar kinds exist in every group version. client-go sends them with the group version
    // of the resource.
    if (table === metaTypes) index.set(`*/${type.name}`, type);
  }
  return index;
}

/** Messages of all built-in kinds, of their lists, and of kinds of every group version, such as DeleteOptions. */
export const protobufRegistry: ProtobufRegistry = {
  message(apiVersion: string, kind: string): ProtobufMessage | undefined {
    kinds ??= indexKinds();
    const type = kinds.get(`${apiVersion}/${kind}`) ?? kinds.get(`*/${kind}`);
    return type === undefined ? undefined : messageOf(type.component);
  },
};
