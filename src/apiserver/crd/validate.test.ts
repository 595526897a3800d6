import { describe, expect, it } from 'vitest';
import { clone, deepFreeze, formatFieldError } from '../../machinery/index.ts';
import { defaultCrd, prepareCrdStatus } from './defaults.ts';
import type { CustomResourceDefinition } from './types.ts';
import { validateCrd } from './validate.ts';

/** Invalid definitions are untyped, like parsed JSON. */
type Loose = ReturnType<typeof JSON.parse>;

interface Parts {
  crd: Loose;
  version: Loose;
  root: Loose;
  spec: Loose;
}

function definition(change: (parts: Parts) => void = () => {}): CustomResourceDefinition {
  const crd: Loose = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.stable.example.com', resourceVersion: '1' },
    spec: {
      group: 'stable.example.com',
      names: { kind: 'Thing', plural: 'things' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: {
                    a: { type: 'string' },
                    n: { type: 'integer' },
                    list: { type: 'array', items: { type: 'string' } },
                    m: { type: 'object', additionalProperties: { type: 'string' } },
                  },
                },
                status: { type: 'object', properties: { r: { type: 'integer' } } },
              },
            },
          },
        },
      ],
    },
  };
  const version = crd.spec.versions[0];
  const root = version.schema.openAPIV3Schema;
  change({ crd, version, root, spec: root.properties.spec });
  defaultCrd(crd);
  prepareCrdStatus(crd);
  return crd;
}

// Expected errors are those of kube-apiserver 1.34.
describe('validateCrd', () => {
  it.each<[string, (parts: Parts) => void, string[]]>([
    ['a plain definition', () => {}, []],
    [
      'a name that is not plural and group',
      ({ crd }) => {
        crd.metadata.name = 'x.y';
      },
      ['metadata.name: Invalid value: "x.y": must be spec.names.plural+"."+spec.group'],
    ],
    [
      'a group without a dot',
      ({ crd }) => {
        crd.spec.group = 'nodots';
        crd.metadata.name = 'things.nodots';
      },
      ['spec.group: Invalid value: "nodots": should be a domain with at least one dot'],
    ],
    [
      'a group that is no domain',
      ({ crd }) => {
        crd.spec.group = 'A.b';
        crd.metadata.name = 'things.A.b';
      },
      [
        "metadata.name: Invalid value: \"things.A.b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.group: Invalid value: \"A.b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      'an unknown scope',
      ({ crd }) => {
        crd.spec.scope = 'World';
      },
      ['spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"'],
    ],
    [
      'no scope',
      ({ crd }) => {
        delete crd.spec.scope;
      },
      ['spec.scope: Required value'],
    ],
    [
      'two storage versions',
      ({ crd }) => {
        crd.spec.versions.push({ ...clone(crd.spec.versions[0]), name: 'v2' });
      },
      [
        'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v2","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
        'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2',
      ],
    ],
    [
      'no storage version',
      ({ version }) => {
        version.storage = false;
      },
      [
        'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
        'status.storedVersions: Invalid value: null: must have at least one stored version',
      ],
    ],
    [
      'versions of one name',
      ({ crd }) => {
        crd.spec.versions.push({ ...clone(crd.spec.versions[0]), storage: false });
      },
      [
        'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must contain unique version names',
      ],
    ],
    [
      'a version that is no label',
      ({ version }) => {
        version.name = '1v';
      },
      [
        "spec.versions[0].name: Invalid value: \"1v\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
        "spec.version: Invalid value: \"1v\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [
      'names that are no labels',
      ({ crd }) => {
        crd.spec.names = { kind: 'Th_ing', plural: 'things', singular: 'Thing', shortNames: ['T_'], categories: ['A'] };
      },
      [
        "spec.names.singular: Invalid value: \"Thing\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
        "spec.names.kind: Invalid value: \"Th_ing\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
        "spec.names.listKind: Invalid value: \"Th_ingList\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
        "spec.names.shortNames[0]: Invalid value: \"T_\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
        "spec.names.categories[0]: Invalid value: \"A\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [
      'a list kind equal to the kind',
      ({ crd }) => {
        crd.spec.names.listKind = 'Thing';
      },
      ['spec.names.listKind: Invalid value: "Thing": kind and listKind may not be the same'],
    ],
    [
      'no kind',
      ({ crd }) => {
        delete crd.spec.names.kind;
      },
      ['spec.names.singular: Required value', 'spec.names.kind: Required value', 'spec.names.listKind: Required value'],
    ],
    [
      'a version without schema',
      ({ version }) => {
        delete version.schema;
      },
      ['spec.versions[0].schema.openAPIV3Schema: Required value'],
    ],
    [
      'a field without type',
      ({ spec }) => {
        delete spec.properties.a.type;
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[a].type: Required value: must not be empty for specified object fields',
      ],
    ],
    [
      'a list without items',
      ({ spec }) => {
        delete spec.properties.list.items;
      },
      ['spec.validation.openAPIV3Schema.properties[spec].properties[list].items: Required value: must be specified'],
    ],
    [
      'items without type',
      ({ spec }) => {
        delete spec.properties.list.items.type;
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[list].items.type: Required value: must not be empty for specified array items',
      ],
    ],
    [
      'a root that is no object',
      ({ root }) => {
        root.type = 'string';
      },
      ['spec.validation.openAPIV3Schema.type: Invalid value: "string": must be object at the root'],
    ],
    [
      'a root without type',
      ({ root }) => {
        delete root.type;
      },
      ['spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root'],
    ],
    [
      'a type that does not exist',
      ({ spec }) => {
        spec.properties.a.type = 'strin';
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[a].type: Unsupported value: "strin": supported values: "array", "boolean", "integer", "number", "object", "string"',
      ],
    ],
    [
      'the type null',
      ({ spec }) => {
        spec.properties.a.type = 'null';
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[a].type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
        'spec.validation.openAPIV3Schema.properties[spec].properties[a].type: Forbidden: type cannot be set to null, use nullable as an alternative',
      ],
    ],
    [
      'additionalProperties at the root',
      ({ root }) => {
        root.additionalProperties = { type: 'string' };
        delete root.properties;
      },
      ['spec.validation.openAPIV3Schema.additionalProperties: Forbidden: must not be used at the root'],
    ],
    [
      'properties beside additionalProperties',
      ({ spec }) => {
        spec.additionalProperties = { type: 'string' };
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
      ],
    ],
    [
      'uniqueItems',
      ({ spec }) => {
        spec.properties.list.uniqueItems = true;
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[list].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ],
    ],
    [
      'a type below anyOf',
      ({ spec }) => {
        spec.anyOf = [{ properties: { a: { type: 'string' } } }];
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].anyOf[0].properties[a].type: Forbidden: must be empty to be structural',
      ],
    ],
    [
      'a field that only a deep anyOf knows',
      ({ spec }) => {
        spec.anyOf = [{ properties: { zz: { minLength: 1 } }, required: ['zz'] }];
      },
      [],
    ],
    [
      'what belongs to the structure below oneOf',
      ({ spec }) => {
        spec.oneOf = [
          { description: 'x', title: 'y', default: {}, nullable: true, 'x-kubernetes-preserve-unknown-fields': true },
        ];
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].oneOf[0].default: Forbidden: must be undefined to be structural',
        'spec.validation.openAPIV3Schema.properties[spec].oneOf[0].description: Forbidden: must be empty to be structural',
        'spec.validation.openAPIV3Schema.properties[spec].oneOf[0].nullable: Forbidden: must be false to be structural',
        'spec.validation.openAPIV3Schema.properties[spec].oneOf[0].title: Forbidden: must be empty to be structural',
        'spec.validation.openAPIV3Schema.properties[spec].oneOf[0].x-kubernetes-preserve-unknown-fields: Forbidden: must be false to be structural',
      ],
    ],
    [
      'additionalProperties below allOf',
      ({ spec }) => {
        spec.allOf = [{ additionalProperties: { minLength: 1 } }];
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].allOf[0].additionalProperties: Forbidden: must be undefined to be structural',
      ],
    ],
    [
      'metadata below anyOf',
      ({ root }) => {
        root.anyOf = [{ properties: { metadata: { required: ['name'] } } }];
      },
      [
        'spec.validation.openAPIV3Schema.anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context',
        'spec.validation.openAPIV3Schema.properties[metadata]: Required value: because it is defined in spec.validation.openAPIV3Schema.anyOf[0].properties[metadata]',
      ],
    ],
    [
      'a pattern that does not compile',
      ({ spec }) => {
        spec.properties.a.pattern = '[a';
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[a].pattern: Invalid value: "[a": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ]: `[a`',
      ],
    ],
    [
      'a pattern with lookahead',
      ({ spec }) => {
        spec.properties.a.pattern = '^(?=x)';
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[a].pattern: Invalid value: "^(?=x)": must be a valid regular expression, but isn\'t: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
      ],
    ],
    [
      'more of metadata than names',
      ({ root }) => {
        root.properties.metadata = { type: 'object', properties: { labels: { type: 'object' } } };
      },
      [
        'spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
    ],
    [
      'a restriction of names',
      ({ root }) => {
        root.properties.metadata = { type: 'object', properties: { name: { type: 'string', maxLength: 5 } } };
      },
      [],
    ],
    [
      'any other restriction of metadata',
      ({ root }) => {
        root.properties.metadata = { type: 'object', minProperties: 1 };
      },
      [
        'spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
    ],
    [
      'a kind that is no string',
      ({ root }) => {
        root.properties.kind = { type: 'integer' };
      },
      ['spec.validation.openAPIV3Schema.properties[kind].type: Invalid value: "integer": must be string'],
    ],
    [
      'preserve-unknown-fields set to false',
      ({ spec }) => {
        spec['x-kubernetes-preserve-unknown-fields'] = false;
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined',
      ],
    ],
    [
      'the old preserveUnknownFields',
      ({ crd }) => {
        crd.spec.preserveUnknownFields = true;
      },
      [
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    ],
    [
      'an embedded resource without properties',
      ({ spec }) => {
        spec.properties.e = { type: 'object', 'x-kubernetes-embedded-resource': true };
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[e].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ],
    ],
    [
      'an embedded resource that is no object',
      ({ spec }) => {
        spec.properties.e = {
          type: 'string',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        };
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[e].type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
      ],
    ],
    [
      'an int-or-string with unknown fields',
      ({ spec }) => {
        spec.properties.e = { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true };
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[e].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true',
      ],
    ],
    [
      'an int-or-string with anyOf',
      ({ spec }) => {
        spec.properties.e = { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] };
      },
      [],
    ],
    [
      'an int-or-string with allOf',
      ({ spec }) => {
        spec.properties.e = {
          'x-kubernetes-int-or-string': true,
          allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'x' }],
        };
      },
      [],
    ],
    [
      'a list type on an object',
      ({ spec }) => {
        spec['x-kubernetes-list-type'] = 'set';
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].type: Invalid value: "object": must be array if x-kubernetes-list-type is specified',
      ],
    ],
    [
      'a map type on a string',
      ({ spec }) => {
        spec.properties.a['x-kubernetes-map-type'] = 'atomic';
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[a].type: Invalid value: "string": must be object if x-kubernetes-map-type is specified',
      ],
    ],
    [
      'an unknown map type',
      ({ spec }) => {
        spec['x-kubernetes-map-type'] = 'foo';
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-map-type: Unsupported value: "foo": supported values: "atomic", "granular"',
      ],
    ],
    [
      'an unknown list type',
      ({ spec }) => {
        spec.properties.list['x-kubernetes-list-type'] = 'foo';
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[list].x-kubernetes-list-type: Unsupported value: "foo": supported values: "atomic", "set", "map"',
      ],
    ],
    [
      'a list-type map of strings without keys',
      ({ spec }) => {
        spec.properties.list['x-kubernetes-list-type'] = 'map';
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[list].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
        'spec.validation.openAPIV3Schema.properties[spec].properties[list].items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
      ],
    ],
    [
      'list-map keys that are optional, repeated or unknown',
      ({ spec }) => {
        spec.properties.lm = {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k', 'k', 'z'],
          items: { type: 'object', properties: { k: { type: 'string' } } },
        };
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[lm].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        'spec.validation.openAPIV3Schema.properties[spec].properties[lm].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        'spec.validation.openAPIV3Schema.properties[spec].properties[lm].x-kubernetes-list-map-keys: Invalid value: ["k","k","z"]: must not contain duplicate entries',
        'spec.validation.openAPIV3Schema.properties[spec].properties[lm].x-kubernetes-list-map-keys: Invalid value: ["k","k","z"]: entries must all be names of item properties',
      ],
    ],
    [
      'list-map keys that are null or no scalars',
      ({ spec }) => {
        spec.properties.lm = {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k', 'o'],
          items: {
            type: 'object',
            nullable: true,
            required: ['k'],
            properties: { k: { type: 'string', nullable: true }, o: { type: 'object' } },
          },
        };
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[lm].items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
        'spec.validation.openAPIV3Schema.properties[spec].properties[lm].items.properties[o].type: Invalid value: "object": must be a scalar type if parent array\'s x-kubernetes-list-type is map',
        'spec.validation.openAPIV3Schema.properties[spec].properties[lm].items.properties[o].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        'spec.validation.openAPIV3Schema.properties[spec].properties[lm].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map',
      ],
    ],
    [
      'list-map keys without list type',
      ({ spec }) => {
        spec.properties.list['x-kubernetes-list-map-keys'] = ['a'];
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[list].x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty',
      ],
    ],
    [
      'a set of granular objects',
      ({ spec }) => {
        spec.properties.lm = {
          type: 'array',
          'x-kubernetes-list-type': 'set',
          items: { type: 'object', properties: { k: { type: 'string' } } },
        };
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[lm].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
      ],
    ],
    [
      'a default of the wrong type',
      ({ spec }) => {
        spec.properties.n.default = 'x';
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[n].default: Invalid value: "string":  in body must be of type integer: "string"',
      ],
    ],
    [
      'a default out of bounds',
      ({ spec }) => {
        spec.properties.n.default = 0;
        spec.properties.n.minimum = 1;
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[n].default: Invalid value: 0:  in body should be greater than or equal to 1',
      ],
    ],
    [
      'a default with unknown fields',
      ({ spec }) => {
        spec.default = { zz: 1 };
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].default: Invalid value: {"zz":1}: must not have unknown fields',
      ],
    ],
    [
      'a default with a wrong member',
      ({ spec }) => {
        spec.default = { n: 'x' };
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].default.n: Invalid value: "string": n in body must be of type integer: "string"',
      ],
    ],
    [
      'a default in metadata',
      ({ root }) => {
        root.properties.metadata = { type: 'object', properties: { name: { type: 'string', default: 'x' } } };
      },
      [
        'spec.validation.openAPIV3Schema.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata',
      ],
    ],
    [
      'a default that violates a rule',
      ({ spec }) => {
        spec.properties.n.default = 1;
        spec.properties.n['x-kubernetes-validations'] = [{ rule: 'self > 5', message: 'too small' }];
      },
      ['spec.validation.openAPIV3Schema.properties[spec].properties[n].default: Invalid value: "integer": too small'],
    ],
    [
      'a default of the whole object',
      ({ root }) => {
        root.default = {};
      },
      [
        'spec.validation.openAPIV3Schema.default.apiVersion: Required value',
        'spec.validation.openAPIV3Schema.default.kind: Required value',
      ],
    ],
    [
      'a nullable root',
      ({ root }) => {
        root.nullable = true;
      },
      ['spec.validation.openAPIV3Schema.nullable: Forbidden: nullable cannot be true at the root'],
    ],
    [
      'scale paths elsewhere',
      ({ version }) => {
        version.subresources = {
          status: {},
          scale: { specReplicasPath: '.status.x', statusReplicasPath: 'status.r', labelSelectorPath: '.x' },
        };
      },
      [
        'spec.subresources.scale.specReplicasPath: Invalid value: ".status.x": should be a json path under .spec',
        'spec.subresources.scale.statusReplicasPath: Invalid value: "status.r": must be a simple json path starting with .',
        'spec.subresources.scale.labelSelectorPath: Invalid value: ".x": should be a json path under either .spec or .status',
      ],
    ],
    [
      'empty scale paths',
      ({ version }) => {
        version.subresources = { scale: { specReplicasPath: '', statusReplicasPath: '' } };
      },
      [
        'spec.subresources.scale.specReplicasPath: Required value',
        'spec.subresources.scale.statusReplicasPath: Required value',
      ],
    ],
    [
      'columns without name, type or path',
      ({ version }) => {
        version.additionalPrinterColumns = [
          { name: '', type: 'foo', format: 'bar', jsonPath: 'x' },
          { name: 'A', type: 'string', jsonPath: '.spec[' },
          { name: 'B', type: '', jsonPath: '' },
        ];
      },
      [
        'spec.additionalPrinterColumns[0].name: Required value',
        'spec.additionalPrinterColumns[0].type: Invalid value: "foo": must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[0].format: Invalid value: "bar": must be one of byte,date,date-time,double,float,int32,int64,password',
        'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "x": must be a simple json path starting with .',
        'spec.additionalPrinterColumns[2].type: Required value: must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[2].JSONPath: Required value',
      ],
    ],
    [
      'fields that cannot be selected',
      ({ version }) => {
        version.selectableFields = [
          { jsonPath: '.spec.a' },
          { jsonPath: '.spec.a' },
          { jsonPath: '.spec.list' },
          { jsonPath: '.spec.zz' },
          { jsonPath: 'spec.a' },
          { jsonPath: '' },
          { jsonPath: '.metadata.name' },
          { jsonPath: ".spec['a']" },
        ];
      },
      [
        'spec.selectableFields[1].jsonPath: Duplicate value: ".spec.a"',
        'spec.selectableFields[2].jsonPath: Invalid value: ".spec.list": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        'spec.selectableFields[3].jsonPath: Invalid value: ".spec.zz": is an invalid path: does not refer to a valid field',
        'spec.selectableFields[4].jsonPath: Invalid value: "spec.a": is an invalid path: expected [ or . but got: spec',
        'spec.selectableFields[5].jsonPath: Required value',
        'spec.selectableFields[6].jsonPath: Invalid value: ".metadata.name": is an invalid path: does not refer to a valid field',
        'spec.selectableFields[7].jsonPath: Invalid value: ".spec[\'a\']": is an invalid path: array notation is not allowed',
      ],
    ],
    [
      'a warning of a version that is not deprecated',
      ({ version }) => {
        version.deprecationWarning = 'x';
      },
      ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'],
    ],
    [
      'a warning of two lines',
      ({ version }) => {
        version.deprecated = true;
        version.deprecationWarning = 'x\ny';
      },
      [
        'spec.versions[0].deprecationWarning: Invalid value: "x\\ny": must only contain printable UTF-8 characters; non-printable character found at index 1',
      ],
    ],
    [
      'an empty warning',
      ({ version }) => {
        version.deprecated = true;
        version.deprecationWarning = '';
      },
      ['spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string'],
    ],
    [
      'a webhook without the strategy',
      ({ crd }) => {
        crd.spec.conversion = {
          strategy: 'None',
          webhook: { clientConfig: { url: 'https://x' }, conversionReviewVersions: ['v1'] },
        };
      },
      [
        'spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook',
        'spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook',
      ],
    ],
    [
      'the strategy without a webhook',
      ({ crd }) => {
        crd.spec.conversion = { strategy: 'Webhook' };
      },
      [
        'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
        'spec.conversion.conversionReviewVersions: Required value',
      ],
    ],
    [
      'a webhook URL with everything',
      ({ crd }) => {
        crd.spec.conversion = {
          strategy: 'Webhook',
          webhook: { clientConfig: { url: 'http://u:p@h/x?y#z' }, conversionReviewVersions: ['v2', 'v2'] },
        };
      },
      [
        'spec.conversion.webhookClientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
        'spec.conversion.webhookClientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
        'spec.conversion.webhookClientConfig.url: Invalid value: "z": fragments are not permitted in the URL',
        'spec.conversion.webhookClientConfig.url: Invalid value: "y": query parameters are not permitted in the URL',
        'spec.conversion.conversionReviewVersions[1]: Invalid value: "v2": duplicate version',
        'spec.conversion.conversionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
      ],
    ],
    [
      'a webhook without address',
      ({ crd }) => {
        crd.spec.conversion = { strategy: 'Webhook', webhook: { clientConfig: {}, conversionReviewVersions: [] } };
      },
      [
        'spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required',
        'spec.conversion.conversionReviewVersions: Required value',
      ],
    ],
    [
      'a webhook service that cannot be',
      ({ crd }) => {
        crd.spec.conversion = {
          strategy: 'Webhook',
          webhook: {
            clientConfig: { service: { name: '', namespace: '', path: 'a//B', port: 99999 } },
            conversionReviewVersions: ['v1'],
          },
        };
      },
      [
        'spec.conversion.webhookClientConfig.service.name: Required value',
        'spec.conversion.webhookClientConfig.service.namespace: Required value',
        'spec.conversion.webhookClientConfig.service.port: Invalid value: 99999: port is not valid: must be between 1 and 65535, inclusive',
        'spec.conversion.webhookClientConfig.service.path: Invalid value: "a//B": must start with a \'/\'',
        'spec.conversion.webhookClientConfig.service.path: Invalid value: "a//B": segment[0] may not be empty',
        'spec.conversion.webhookClientConfig.service.path: Invalid value: "a//B": segment[1] may not be empty',
        "spec.conversion.webhookClientConfig.service.path: Invalid value: \"a//B\": segment[2]: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      'an unknown conversion strategy',
      ({ crd }) => {
        crd.spec.conversion = { strategy: 'Foo' };
      },
      ['spec.conversion.strategy: Unsupported value: "Foo": supported values: "None", "Webhook"'],
    ],
    [
      'rules with wrong texts',
      ({ spec }) => {
        spec['x-kubernetes-validations'] = [
          { rule: ' ' },
          { rule: 'true', message: ' ' },
          { rule: 'true', message: 'a\nb' },
          { rule: 'true\n' + '&& true' },
          { rule: 'true', messageExpression: ' ' },
          { rule: 'true', reason: 'Foo' },
          { rule: 'true', fieldPath: '.zz' },
          { rule: 'true', fieldPath: 'a' },
        ];
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Required value: rule is not specified',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[1].message: Invalid value: " ": must be non-empty if specified',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[2].message: Invalid value: "a\\nb": must not contain line breaks',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[3].message: Required value: message must be specified if rule contains line breaks',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[4].messageExpression: Required value: messageExpression must be non-empty if specified',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[5].reason: Unsupported value: "Foo": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[6].fieldPath: Invalid value: ".zz": must be a valid path',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[7].fieldPath: Invalid value: "a": must be a valid path',
      ],
    ],
    [
      'rules with field paths',
      ({ spec }) => {
        spec['x-kubernetes-validations'] = [
          { rule: 'true', fieldPath: '.a' },
          { rule: 'true', fieldPath: ".m['x']" },
        ];
      },
      [],
    ],
    [
      'a rule about an unknown field',
      ({ spec }) => {
        spec['x-kubernetes-validations'] = [{ rule: 'self.zz == 1' }];
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.zz == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field \'zz\'\n | self.zz == 1\n | ....^',
      ],
    ],
    [
      'a rule that is no condition',
      ({ spec }) => {
        spec['x-kubernetes-validations'] = [{ rule: 'self.n' }];
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.n","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool',
      ],
    ],
    [
      'a message expression that is no string',
      ({ spec }) => {
        spec['x-kubernetes-validations'] = [{ rule: 'self.n == 1', messageExpression: 'self.n' }];
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].messageExpression: Invalid value: {"Rule":"self.n == 1","Message":"","MessageExpression":"self.n","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression must evaluate to a string',
      ],
    ],
    [
      'a message expression about an unknown field',
      ({ spec }) => {
        spec['x-kubernetes-validations'] = [{ rule: 'self.n == 1', messageExpression: 'self.q' }];
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].messageExpression: Invalid value: {"Rule":"self.n == 1","Message":"","MessageExpression":"self.q","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression compilation failed: ERROR: <input>:1:5: undefined field \'q\'\n | self.q\n | ....^',
      ],
    ],
    [
      'oldSelf inside a plain list',
      ({ spec }) => {
        spec.properties.list.items['x-kubernetes-validations'] = [{ rule: 'self == oldSelf' }];
        spec.properties.list.maxItems = 3;
        spec.properties.list.items.maxLength = 5;
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[list].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties[spec].properties[list]',
      ],
    ],
    [
      'optionalOldSelf without oldSelf',
      ({ spec }) => {
        spec['x-kubernetes-validations'] = [{ rule: 'true', optionalOldSelf: true }];
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule',
      ],
    ],
    [
      'a rule that ends too early',
      ({ spec }) => {
        spec['x-kubernetes-validations'] = [{ rule: 'self.n ==' }];
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.n ==","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:10: Syntax error: mismatched input \'<EOF>\' expecting {\'[\', \'{\', \'(\', \'.\', \'-\', \'!\', \'true\', \'false\', \'null\', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | self.n ==\n | .........^',
      ],
    ],
    [
      'a rule that ends too late',
      ({ spec }) => {
        spec['x-kubernetes-validations'] = [{ rule: 'self.n == 1)' }];
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.n == 1)","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:12: Syntax error: extraneous input \')\' expecting <EOF>\n | self.n == 1)\n | ...........^',
      ],
    ],
    [
      'a rule that compares apples and oranges',
      ({ spec }) => {
        spec['x-kubernetes-validations'] = [{ rule: "self.n == 'a'" }];
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.n == \'a\'","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:8: found no matching overload for \'_==_\' applied to \'(int, string)\'\n | self.n == \'a\'\n | .......^',
      ],
    ],
    [
      'a community group without approval',
      ({ crd }) => {
        crd.spec.group = 'x.k8s.io';
        crd.metadata.name = 'things.x.k8s.io';
      },
      [
        'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
    [
      'a community group with a bad approval',
      ({ crd }) => {
        crd.spec.group = 'x.k8s.io';
        crd.metadata.name = 'things.x.k8s.io';
        crd.metadata.annotations = { 'api-approved.kubernetes.io': 'foo' };
      },
      [
        'metadata.annotations[api-approved.kubernetes.io]: Invalid value: "foo": protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
    [
      'a reference',
      ({ spec }) => {
        spec.properties.a.$ref = '#/x';
      },
      ['spec.validation.openAPIV3Schema.properties[spec].properties[a].$ref: Forbidden: $ref is not supported'],
    ],
    [
      'versions with different schemas',
      ({ crd }) => {
        const w = clone(crd.spec.versions[0]);
        w.name = 'v2';
        w.storage = false;
        delete w.schema.openAPIV3Schema.properties.spec.properties.a.type;
        crd.spec.versions.push(w);
      },
      [
        'spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[a].type: Required value: must not be empty for specified object fields',
      ],
    ],
  ])('checks %s', (_name, change, expected) => {
    expect(validateCrd(definition(change)).map(formatFieldError).sort()).toEqual(expected.sort());
  });

  it('names the fields allowed at the root of a schema with a status subresource', () => {
    const crd = definition(({ version, root }) => {
      version.subresources = { status: {} };
      root.oneOf = [{ required: ['spec'] }];
    });
    const [error] = validateCrd(crd);
    expect(error?.field).toBe('spec.validation.openAPIV3Schema');
    expect(error?.detail).toMatch(
      /^only \[Description Type .* XValidations\] fields are allowed at the root of the schema/,
    );
  });
});

describe('an update of a CustomResourceDefinition', () => {
  const established = definition();
  established.status = {
    ...established.status!,
    conditions: [{ type: 'Established', status: 'True' }],
  };
  deepFreeze(established);

  function update(change: (crd: Loose) => void, old: CustomResourceDefinition = established): string[] {
    const crd = clone(old);
    change(crd);
    defaultCrd(crd);
    prepareCrdStatus(crd, old);
    return validateCrd(crd, old).map(formatFieldError);
  }

  it('may add a version and move storage to it', () => {
    const crd = clone(established);
    crd.spec.versions[0]!.storage = false;
    crd.spec.versions.push({ ...clone(crd.spec.versions[0]!), name: 'v2', storage: true });
    prepareCrdStatus(crd, established);
    expect(crd.status?.storedVersions).toEqual(['v1', 'v2']);
    expect(validateCrd(crd, established)).toEqual([]);
  });

  it('is refused when it drops a version that objects are stored in', () => {
    const texts = update((crd) => {
      crd.spec.versions[0].name = 'v2';
    });
    expect(texts).toEqual([
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
    ]);
  });

  it('is refused when it changes scope, kind, plural or group', () => {
    const texts = update((crd) => {
      crd.spec.scope = 'Cluster';
      crd.spec.names.kind = 'Other';
      crd.spec.names.plural = 'others';
      crd.spec.group = 'other.example.com';
    });
    expect(texts).toEqual([
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Other": field is immutable',
      'spec.group: Invalid value: "other.example.com": field is immutable',
      'spec.names.plural: Invalid value: "others": field is immutable',
    ]);
  });

  it('may change scope and kind before the definition is established', () => {
    const fresh = definition();
    const texts = update((crd) => {
      crd.spec.scope = 'Cluster';
      crd.spec.names.kind = 'Other';
    }, fresh);
    expect(texts).toEqual([]);
  });

  it('keeps the old status', () => {
    const crd = clone(established);
    crd.status = { storedVersions: ['v9'], conditions: [] };
    prepareCrdStatus(crd, established);
    expect(crd.status).toEqual(established.status);
  });
});
