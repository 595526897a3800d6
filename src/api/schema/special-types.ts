import type {
  JsonObject,
  JsonValue,
  ProtobufField,
  ProtobufLeaf,
  ProtobufMessage,
  Schema,
} from '../../machinery/index.ts';

/**
 * Types that are messages in protobuf but no objects in JSON. Tables name them without an alias. Types that hold any
 * JSON carry x-kubernetes-preserve-unknown-fields for our own code; upstream publishes no such mark on its components.
 */
export interface SpecialType {
  readonly schema: Schema;
  readonly protobuf: ProtobufLeaf | ProtobufMessage;
}

/** Resolves the recursive unions around JSONSchemaProps. */
export type MessageLookup = (component: string) => ProtobufMessage;

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const apiextensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
const schemaProps = `${apiextensions}.JSONSchemaProps`;

export function createSpecialTypes(messageOf: MessageLookup): ReadonlyMap<string, SpecialType> {
  return new Map<string, SpecialType>([
    ['Time', { schema: dateTime(`${meta}.Time`, 'A point in time, RFC 3339, to the second.'), protobuf: 'time' }],
    [
      'MicroTime',
      {
        schema: dateTime(`${meta}.MicroTime`, 'A point in time, RFC 3339, to the microsecond.'),
        protobuf: 'microTime',
      },
    ],
    [
      'Quantity',
      {
        schema: {
          description:
            'An amount, such as 500m, 2 or 1.5Gi: a number with a suffix from n, u, m, k, M, G, T, P, E or Ki, Mi, Gi, Ti, Pi, Ei.',
          oneOf: [{ type: 'string' }, { type: 'number' }],
          component: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
        },
        protobuf: 'quantity',
      },
    ],
    [
      'IntOrString',
      {
        schema: {
          description: 'Either an integer or text, such as a port number or a port name, or a count or a percentage.',
          format: 'int-or-string',
          oneOf: [{ type: 'integer' }, { type: 'string' }],
          'x-kubernetes-int-or-string': true,
          component: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
        },
        protobuf: 'intOrString',
      },
    ],
    [
      'RawExtension',
      {
        schema: anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension', 'An object of any kind, kept as it is.'),
        protobuf: 'rawJson',
      },
    ],
    [
      'FieldsV1',
      {
        schema: anyObject(`${meta}.FieldsV1`, 'A set of fields: each member is a field, a list item or a value in it.'),
        protobuf: 'rawJson',
      },
    ],
    ['Patch', { schema: anyObject(`${meta}.Patch`, 'The body of a PATCH request.'), protobuf: 'rawJson' }],
    ['JSON', { schema: anyValue(`${apiextensions}.JSON`, 'Any JSON value.'), protobuf: 'rawJson' }],
    ['StringList', { schema: stringList, protobuf: stringListMessage }],
    [
      'JSONSchemaPropsOrBool',
      {
        schema: anyValue(`${apiextensions}.JSONSchemaPropsOrBool`, 'A schema, or whether anything is allowed at all.'),
        protobuf: schemaOrBool(messageOf),
      },
    ],
    [
      'JSONSchemaPropsOrArray',
      {
        schema: anyValue(`${apiextensions}.JSONSchemaPropsOrArray`, 'A schema, or a list of schemas.'),
        protobuf: schemaOrArray(messageOf),
      },
    ],
    [
      'JSONSchemaPropsOrStringArray',
      {
        schema: anyValue(`${apiextensions}.JSONSchemaPropsOrStringArray`, 'A schema, or a list of names.'),
        protobuf: schemaOrStringArray(messageOf),
      },
    ],
  ]);
}

function dateTime(component: string, description: string): Schema {
  return { description, type: 'string', format: 'date-time', component };
}

function anyObject(component: string, description: string): Schema {
  return { description, type: 'object', 'x-kubernetes-preserve-unknown-fields': true, component };
}

function anyValue(component: string, description: string): Schema {
  return { description, 'x-kubernetes-preserve-unknown-fields': true, component };
}

const stringList: Schema = { type: 'array', items: { type: 'string', default: '' } };

/**
 * A list wrapped in a message, for maps of lists and optional lists, which protobuf cannot express: ExtraValue, Verbs.
 */
const stringListMessage: ProtobufMessage = {
  name: 'StringList',
  fields: [field('items', 1, 'string', { shape: 'list' })],
  toJson: (fields) => fields['items'] ?? null,
  fromJson: (value) => ({ items: value }),
};

function schemaOrBool(messageOf: MessageLookup): ProtobufMessage {
  return lazyMessage(
    'JSONSchemaPropsOrBool',
    () => [field('allows', 1, 'bool'), field('schema', 2, messageOf(schemaProps), { pointer: true })],
    (fields) => fields['schema'] ?? fields['allows'] ?? false,
    (value) => (typeof value === 'boolean' ? { allows: value } : { allows: true, schema: value }),
  );
}

function schemaOrArray(messageOf: MessageLookup): ProtobufMessage {
  return lazyMessage(
    'JSONSchemaPropsOrArray',
    () => [
      field('schema', 1, messageOf(schemaProps), { pointer: true }),
      field('jSONSchemas', 2, messageOf(schemaProps), { shape: 'list' }),
    ],
    (fields) => fields['jSONSchemas'] ?? fields['schema'] ?? null,
    (value) => (Array.isArray(value) ? { jSONSchemas: value } : { schema: value }),
  );
}

function schemaOrStringArray(messageOf: MessageLookup): ProtobufMessage {
  return lazyMessage(
    'JSONSchemaPropsOrStringArray',
    () => [
      field('schema', 1, messageOf(schemaProps), { pointer: true }),
      field('property', 2, 'string', { shape: 'list' }),
    ],
    (fields) => fields['property'] ?? fields['schema'] ?? null,
    (value) => (Array.isArray(value) ? { property: value } : { schema: value }),
  );
}

function field(
  name: string,
  number: number,
  type: ProtobufLeaf | ProtobufMessage,
  how: { shape?: 'list'; pointer?: boolean } = {},
): ProtobufField {
  return { name, number, type, shape: how.shape ?? 'one', pointer: how.pointer ?? false, whenUnset: 'omit' };
}

function lazyMessage(
  name: string,
  createFields: () => ProtobufField[],
  toJson: (fields: JsonObject) => JsonValue,
  fromJson: (value: JsonValue) => JsonObject,
): ProtobufMessage {
  let fields: ProtobufField[] | undefined;
  return {
    name,
    get fields() {
      fields ??= createFields();
      return fields;
    },
    toJson,
    fromJson,
  };
}
