import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clone, deepFreeze, formatApiVersion, type JsonObject, type UnstructuredObject } from '../machinery/index.ts';
import { arbitraryFor } from './kind/arbitrary.test-support.ts';
import { conversionDataAnnotation } from './kind/conversion.ts';
import { ownDefinitions } from './own.ts';

/** All pairs of an old version and its hub. */
const pairs = ownDefinitions.flatMap((definition) =>
  definition.versions
    .filter(({ name }) => name !== definition.storageVersion)
    .map(({ name }) => ({ definition, kind: definition.kind, version: name, hub: definition.storageVersion })),
);

type Definition = (typeof ownDefinitions)[number];

function convert(definition: Definition, object: UnstructuredObject, version: string): UnstructuredObject {
  return definition.convert!(deepFreeze(clone(object)), version) as UnstructuredObject;
}

function objects(definition: Definition, version: string): fc.Arbitrary<UnstructuredObject> {
  const { schema } = definition.versions.find(({ name }) => name === version)!;
  const { spec, status } = schema.properties!;
  return fc
    .record({
      spec: arbitraryFor(spec!),
      ...(status === undefined ? {} : { status: fc.option(arbitraryFor(status), { nil: undefined }) }),
      annotations: fc.option(fc.constant({ note: 'kept' }), { nil: undefined }),
    })
    .map(({ annotations, ...body }) => ({
      apiVersion: formatApiVersion(definition.group, version),
      kind: definition.kind,
      metadata: { name: 'example', namespace: 'team-a', ...(annotations === undefined ? {} : { annotations }) },
      ...(body as JsonObject),
    })) as fc.Arbitrary<UnstructuredObject>;
}

const runs = { numRuns: 25 };

describe.each(pairs)('$kind $version', ({ definition, version, hub }) => {
  it('converts to the hub and back exactly as it was written', () => {
    fc.assert(
      fc.property(objects(definition, version), (written) => {
        const stored = convert(definition, written, hub);
        expect(convert(definition, stored, version)).toEqual(written);
      }),
      runs,
    );
  });

  it('converts a hub object to this version and back without loss', () => {
    fc.assert(
      fc.property(objects(definition, hub), (stored) => {
        const shown = convert(definition, stored, version);
        expect(convert(definition, shown, hub)).toEqual(stored);
      }),
      runs,
    );
  });

  it('converts a hub object written in this version through every other version unchanged', () => {
    fc.assert(
      fc.property(objects(definition, version), fc.constantFrom(...definition.versions), (written, other) => {
        const stored = convert(definition, written, hub);
        const shown = other.name === hub ? stored : convert(definition, stored, other.name);
        const again = other.name === hub ? shown : convert(definition, shown, hub);
        expect(convert(definition, again, version)).toEqual(written);
      }),
      runs,
    );
  });

  it('gets no annotation when both hub and version can express every field', () => {
    fc.assert(
      fc.property(objects(definition, version), (written) => {
        // An object converted down without the annotation has the same meaning in both versions.
        const { [conversionDataAnnotation]: _, ...annotations } =
          convert(definition, written, hub).metadata.annotations ?? {};
        const plain = {
          ...convert(definition, written, hub),
          metadata: { name: 'example', namespace: 'team-a', annotations },
        };
        const shown = convert(definition, plain, version);
        fc.pre(shown.metadata.annotations?.[conversionDataAnnotation] === undefined);
        expect(convert(definition, shown, hub).metadata.annotations?.[conversionDataAnnotation]).toBeUndefined();
      }),
      { ...runs, numRuns: 15, maxSkipsPerRun: 200 },
    );
  });
});

it.each(ownDefinitions)('$kind prints an empty row for an empty object in every version', (definition) => {
  for (const { name, printer } of definition.versions) {
    const object = {
      apiVersion: formatApiVersion(definition.group, name),
      kind: definition.kind,
      metadata: { name: 'x' },
    };
    expect(printer.row(object, 0)).toEqual(['x', ...printer.columns.slice(1).map(() => null)]);
  }
});
