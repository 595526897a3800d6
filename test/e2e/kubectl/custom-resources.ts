import { expect } from 'vitest';
import type { Kubectl, Sandbox } from '../../support/sandbox.ts';
import type { Expectation } from './expectation.ts';
import { customResourceDefinition } from './objects.ts';
import { age, lines, table } from './output.ts';

type DefinitionOptions = Omit<Parameters<typeof customResourceDefinition>[0], 'group' | 'kind' | 'plural'>;

/** Custom kinds: the lifecycle of a definition and the effects of its schema. */
export function customResourceExpectations(expectation: Expectation): void {
  /** Installs a kind Gear in the sandbox's own group and waits until it is served. */
  const install = async (
    s: Sandbox,
    options: DefinitionOptions,
  ): Promise<{ group: string; name: string; gear: Gear }> => {
    const group = `${s.id}.example.com`;
    const name = `gears.${group}`;
    s.cleanUp(() => s.run`delete crd ${name} --ignore-not-found --wait=false`);
    await s.with(customResourceDefinition({ group, kind: 'Gear', plural: 'gears', ...options })).ok`apply -f -`;
    await s.ok`wait --for=condition=Established crd/${name} --timeout=30s`;
    const gear: Gear = (objectName, spec, more = {}) => ({
      apiVersion: `${group}/v1`,
      kind: 'Gear',
      metadata: { name: objectName },
      spec,
      ...more,
    });
    return { group, name, gear };
  };
  type Gear = (name: string, spec: object, more?: object) => object;

  const teeth = { type: 'object', properties: { teeth: { type: 'integer' } } };

  expectation('a definition is established, listed, discovered and explained', async (s) => {
    const { group, name } = await install(s, {
      properties: {
        spec: {
          type: 'object',
          description: 'What the gear should be.',
          required: ['teeth'],
          properties: {
            teeth: { type: 'integer', description: 'How many teeth.' },
            material: { type: 'string', enum: ['steel', 'brass'] },
            mounts: { type: 'array', items: { type: 'object', properties: { axis: { type: 'string' } } } },
          },
        },
      },
      names: { shortNames: [`g${s.id}`], categories: [`cat${s.id}`] },
    });
    const definition = await s.json`crd ${name}`;
    expect(definition).toMatchObject({
      spec: { conversion: { strategy: 'None' } },
      status: { acceptedNames: { kind: 'Gear', plural: 'gears' }, storedVersions: ['v1'] },
    });
    expect(
      (definition['status'].conditions as { type: string; status: string; reason: string }[]).map((c) => [
        c.type,
        c.status,
        c.reason,
      ]),
    ).toEqual([
      ['NamesAccepted', 'True', 'NoConflicts'],
      ['Established', 'True', 'InitialNamesAccepted'],
    ]);
    expect(table(await s.ok`get crd ${name}`)).toEqual([
      ['NAME', 'CREATED AT'],
      [name, expect.stringMatching(/^\d{4}-/)],
    ]);
    expect(table(await s.ok`api-resources --api-group=${group}`)[1]).toEqual([
      'gears',
      `g${s.id}`,
      `${group}/v1`,
      'true',
      'Gear',
    ]);
    const text = await s.ok`explain gear.spec --api-version=${group}/v1`;
    expect(text).toMatch(/^FIELD: spec <Object>$/m);
    expect(text).toContain('What the gear should be.');
    expect(text).toMatch(/^ {2}teeth\t<integer> -required-\n {4}How many teeth\.$/m);
    expect(text).toMatch(/^ {2}material\t<string>\n {2}enum: steel, brass$/m);
    expect(await s.ok`explain gears.${group} --recursive`).toMatch(/^ {4}mounts\t<\[\]Object>\n {6}axis\t<string>$/m);
  });

  expectation('objects are found by plural, singular, short name, category and full name', async (s) => {
    const { group, gear } = await install(s, {
      properties: { spec: teeth },
      names: { shortNames: [`g${s.id}`], categories: [`cat${s.id}`] },
    });
    expect(await s.with(gear('one', { teeth: 12 })).ok`create -f -`).toBe(`gear.${group}/one created\n`);
    for (const word of [
      `gears.${group}`,
      `gear.${group}`,
      `gears.v1.${group}`,
      `g${s.id}`,
      `cat${s.id}`,
      `gear.${group}/one`,
    ]) {
      expect(await s.ok`get ${word} -o name`).toBe(`gear.${group}/one\n`);
    }
    expect(table(await s.ok`get gears.${group}`)).toEqual([
      ['NAME', 'AGE'],
      ['one', age],
    ]);
  });

  expectation('unknown fields are refused when strict, warned about, or dropped', async (s) => {
    const { gear } = await install(s, { properties: { spec: teeth } });
    const odd = s.with(gear('odd', { teeth: 12, colour: 'red' }, { extra: 1 }));
    expect(await odd.fails`create -f -`).toContain(
      'Error from server (BadRequest): error when creating "STDIN": Gear in version "v1" cannot be handled as a Gear: strict decoding error: unknown field "extra", unknown field "spec.colour"\n',
    );
    const warned = await odd.run`create -f - --validate=warn`;
    expect(warned.code).toBe(0);
    expect(warned.stderr).toBe('Warning: unknown field "extra"\nWarning: unknown field "spec.colour"\n');
    const stored = await s.json`gears.${s.id}.example.com odd`;
    expect(stored['spec']).toEqual({ teeth: 12 });
    expect(stored['extra']).toBeUndefined();
    expect(await s.with(gear('quiet', { teeth: 1, colour: 'red' })).run`create -f - --validate=ignore`).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  expectation('x-kubernetes-preserve-unknown-fields keeps what the schema does not name', async (s) => {
    const { gear } = await install(s, {
      properties: {
        spec: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { known: { type: 'object', properties: { a: { type: 'string' } } } },
        },
      },
    });
    const object = s.with(gear('open', { anything: { deep: [1, 'two', null] }, known: { a: 'b' } }));
    await object.ok`apply -f -`;
    expect((await s.json`gears.${s.id}.example.com open`)['spec']).toEqual({
      anything: { deep: [1, 'two', null] },
      known: { a: 'b' },
    });
    expect(await s.with(gear('odd', { known: { z: 1 } })).fails`create -f -`).toContain('unknown field "spec.known.z"');
  });

  expectation('values outside the schema are refused with all their faults', async (s) => {
    const { group, gear } = await install(s, {
      properties: {
        spec: {
          type: 'object',
          required: ['teeth'],
          properties: {
            teeth: { type: 'integer', minimum: 1, maximum: 100 },
            material: { type: 'string', enum: ['steel', 'brass'] },
            label: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 },
            parts: { type: 'array', maxItems: 2, items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
            flag: { type: 'boolean' },
            when: { type: 'string', format: 'date-time' },
          },
        },
      },
    });
    const refuse = async (spec: object): Promise<string> => s.with(gear('bad', spec)).fails`create -f -`;
    expect(await refuse({})).toBe('The Gear "bad" is invalid: spec.teeth: Required value\n');
    expect(await refuse({ teeth: 0 })).toBe(
      'The Gear "bad" is invalid: spec.teeth: Invalid value: 0: spec.teeth in body should be greater than or equal to 1\n',
    );
    expect(await refuse({ teeth: 101 })).toContain(
      'spec.teeth: Invalid value: 101: spec.teeth in body should be less than or equal to 100',
    );
    expect(await refuse({ teeth: 'many' })).toContain(
      'spec.teeth: Invalid value: "string": spec.teeth in body must be of type integer: "string"',
    );
    expect(await refuse({ teeth: 1.5 })).toContain(
      'spec.teeth: Invalid value: "number": spec.teeth in body must be of type integer: "number"',
    );
    expect(await refuse({ teeth: 1, material: 'wood' })).toContain(
      'spec.material: Unsupported value: "wood": supported values: "steel", "brass"',
    );
    expect(await refuse({ teeth: 1, label: 'ABC' })).toContain(
      'spec.label: Invalid value: "ABC": spec.label in body should match \'^[a-z]+$\'',
    );
    expect(await refuse({ teeth: 1, label: 'abcdef' })).toContain('spec.label: Too long: may not be more than 5 bytes');
    expect(await refuse({ teeth: 1, parts: ['a', 'b', 'c'] })).toContain(
      'spec.parts: Too many: 3: must have at most 2 items',
    );
    expect(await refuse({ teeth: 1, parts: ['a', 'a'] })).toContain('spec.parts[1]: Duplicate value: "a"');
    expect(await refuse({ teeth: 1, flag: 'yes' })).toContain(
      'spec.flag: Invalid value: "string": spec.flag in body must be of type boolean: "string"',
    );
    expect(await refuse({ teeth: 1, when: 'soon' })).toContain(
      'spec.when: Invalid value: "soon": spec.when in body must be of type date-time: "soon"',
    );
    const several = await refuse({ teeth: 0, material: 'wood', flag: 'yes' });
    expect(lines(several)).toHaveLength(4);
    expect(several).toMatch(/^The Gear "bad" is invalid: \n/);
    expect(await s.ok`get gears.${group} -o name`).toBe('');
    // A null in a field that is not nullable is dropped.
    await s.with(gear('null', { teeth: 1, flag: null, parts: null })).ok`create -f -`;
    expect((await s.json`gears.${group} null`)['spec']).toEqual({ teeth: 1 });
  });

  expectation('defaults are filled in on write, and on read for fields added later', async (s) => {
    const spec = (more: object): object => ({
      type: 'object',
      default: {},
      properties: {
        teeth: { type: 'integer', default: 12 },
        axis: { type: 'object', default: {}, properties: { length: { type: 'string', default: '10cm' } } },
        parts: { type: 'array', items: { type: 'object', properties: { kind: { type: 'string', default: 'plain' } } } },
        ...more,
      },
    });
    const { group, name, gear } = await install(s, { properties: { spec: spec({}) } });
    await s.with({ apiVersion: `${group}/v1`, kind: 'Gear', metadata: { name: 'bare' } }).ok`create -f -`;
    await s.with(gear('some', { teeth: 5, parts: [{}, { kind: 'odd' }] })).ok`create -f -`;
    expect((await s.json`gears.${group} bare`)['spec']).toEqual({ teeth: 12, axis: { length: '10cm' } });
    expect((await s.json`gears.${group} some`)['spec']).toEqual({
      teeth: 5,
      axis: { length: '10cm' },
      parts: [{ kind: 'plain' }, { kind: 'odd' }],
    });
    const properties = { spec: spec({ colour: { type: 'string', default: 'grey' } }) };
    await s.with(customResourceDefinition({ group, kind: 'Gear', plural: 'gears', properties })).ok`apply -f -`;
    await s.ok`wait gears.${group}/bare --for=${'jsonpath={.spec.colour}=grey'} --timeout=30s`;
    expect(await s.ok`get crd ${name} -o ${'jsonpath={.status.storedVersions}'}`).toBe('["v1"]');
  });

  expectation('CEL rules check the object, its change and their own messages', async (s) => {
    const { gear } = await install(s, {
      properties: {
        spec: {
          type: 'object',
          required: ['min', 'max'],
          properties: {
            min: { type: 'integer' },
            max: { type: 'integer' },
            name: {
              type: 'string',
              maxLength: 20,
              'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'name is immutable' }],
            },
            parts: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 20 } },
          },
          'x-kubernetes-validations': [
            {
              rule: 'self.min <= self.max',
              messageExpression: "self.max < 0 ? 'max is negative' : 'min is above max'",
            },
            {
              rule: '!has(self.parts) || self.parts.all(p, p.startsWith("x-"))',
              message: 'parts begin with x-',
              fieldPath: '.parts',
            },
          ],
        },
      },
    });
    expect(await s.with(gear('bad', { min: 5, max: 1 })).fails`create -f -`).toBe(
      'The Gear "bad" is invalid: spec: Invalid value: "object": min is above max\n',
    );
    expect(await s.with(gear('bad', { min: 1, max: 1, parts: ['y'] })).fails`create -f -`).toContain(
      'spec.parts: Invalid value: "object": parts begin with x-',
    );
    await s.with(gear('good', { min: 1, max: 2, name: 'first' })).ok`create -f -`;
    expect(
      await s.fails`patch gears.${s.id}.example.com good --type=merge -p ${'{"spec":{"name":"second"}}'}`,
    ).toContain('spec.name: Invalid value: "string": name is immutable');
    await s.ok`patch gears.${s.id}.example.com good --type=merge -p ${'{"spec":{"max":20}}'}`;
  });

  expectation('a status subresource separates status from spec and counts generations', async (s) => {
    const { group, gear } = await install(s, {
      properties: { spec: teeth, status: { type: 'object', properties: { phase: { type: 'string' } } } },
      version: { subresources: { status: {} } },
    });
    await s.with(gear('one', { teeth: 1 }, { status: { phase: 'Lying' } })).ok`create -f -`;
    const created = await s.json`gears.${group} one`;
    expect(created['status']).toBeUndefined();
    expect(created.metadata.generation).toBe(1);
    await s.ok`patch gears.${group} one --type=merge --subresource=status -p ${'{"status":{"phase":"Ready"},"spec":{"teeth":99}}'}`;
    await s.ok`patch gears.${group} one --type=merge -p ${'{"spec":{"teeth":2},"status":{"phase":"Lying"}}'}`;
    expect(await s.json`gears.${group} one`).toMatchObject({
      spec: { teeth: 2 },
      status: { phase: 'Ready' },
      metadata: { generation: 2 },
    });
    await s.ok`label gears.${group} one a=b`;
    expect((await s.json`gears.${group} one`).metadata.generation).toBe(2);
  });

  expectation('a scale subresource lets kubectl scale work', async (s) => {
    const { group, gear } = await install(s, {
      properties: {
        spec: { type: 'object', properties: { replicas: { type: 'integer' } } },
        status: { type: 'object', properties: { replicas: { type: 'integer' }, selector: { type: 'string' } } },
      },
      version: {
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
      },
    });
    await s.with(gear('one', { replicas: 1 })).ok`create -f -`;
    expect(await s.ok`scale gears.${group}/one --replicas=4`).toBe(`gear.${group}/one scaled\n`);
    await s.ok`patch gears.${group} one --type=merge --subresource=status -p ${'{"status":{"replicas":3,"selector":"a=b"}}'}`;
    expect(JSON.parse(await s.ok`get --raw /apis/${group}/v1/namespaces/${s.namespace}/gears/one/scale`)).toMatchObject(
      {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'one' },
        spec: { replicas: 4 },
        status: { replicas: 3, selector: 'a=b' },
      },
    );
    expect(await s.json`gears.${group} one`).toMatchObject({ spec: { replicas: 4 }, metadata: { generation: 2 } });
  });

  expectation('printer columns of every type, wide ones apart', async (s) => {
    const { group, gear } = await install(s, {
      properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      version: {
        additionalPrinterColumns: [
          { name: 'Teeth', type: 'integer', jsonPath: '.spec.teeth' },
          { name: 'Ratio', type: 'number', jsonPath: '.spec.ratio' },
          { name: 'Sealed', type: 'boolean', jsonPath: '.spec.sealed' },
          { name: 'Since', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          { name: 'Ready', type: 'string', jsonPath: '.spec.conditions[?(@.type=="Ready")].status' },
          { name: 'Note', type: 'string', jsonPath: '.spec.note', priority: 1 },
        ],
      },
    });
    await s.with([
      gear('full', {
        teeth: 12,
        ratio: 1.5,
        sealed: true,
        note: 'hi',
        conditions: [
          { type: 'Other', status: 'False' },
          { type: 'Ready', status: 'True' },
        ],
      }),
      gear('bare', {}),
    ]).ok`create -f -`;
    const cells = (out: string): string[][] => lines(out).map((line) => line.trimEnd().split(/ {2,}/));
    expect(cells(await s.ok`get gears.${group} full`)).toEqual([
      ['NAME', 'TEETH', 'RATIO', 'SEALED', 'SINCE', 'READY'],
      ['full', '12', '1.5', 'true', age, 'True'],
    ]);
    expect(cells(await s.ok`get gears.${group} full -o wide`)[1]).toEqual([
      'full',
      '12',
      '1.5',
      'true',
      age,
      'True',
      'hi',
    ]);
    expect(cells(await s.ok`get gears.${group} bare`)[1]).toEqual(['bare', age]);
  });

  const versions = [
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: teeth } } },
    },
    {
      name: 'v1beta1',
      served: true,
      storage: false,
      deprecated: true,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { spec: { type: 'object', properties: { teeth: { type: 'integer' }, old: { type: 'string' } } } },
        },
      },
    },
  ];
  expectation('several versions serve the same object; a deprecated one warns', async (s) => {
    const { group, gear } = await install(s, { versions });
    await s.with(gear('one', { teeth: 3 })).ok`create -f -`;
    expect((await s.json`gears.v1.${group} one`).apiVersion).toBe(`${group}/v1`);
    const old = await s.run`get gears.v1beta1.${group} one -o ${'jsonpath={.apiVersion} {.spec.teeth}'}`;
    expect(old).toMatchObject({
      code: 0,
      stdout: `${group}/v1beta1 3`,
      stderr: `Warning: ${group}/v1beta1 Gear is deprecated; use ${group}/v1 Gear\n`,
    });
    expect(lines(await s.ok`api-versions`).filter((line) => line.startsWith(group))).toEqual([
      `${group}/v1`,
      `${group}/v1beta1`,
    ]);
    expect(await s.ok`get gears.${group} one -o ${'jsonpath={.apiVersion}'}`).toBe(`${group}/v1`);
  });

  expectation('server-side apply follows the list types of the schema', async (s) => {
    const { group, gear } = await install(s, {
      properties: {
        spec: {
          type: 'object',
          properties: {
            parts: {
              type: 'array',
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['name'],
              items: {
                type: 'object',
                required: ['name'],
                properties: { name: { type: 'string' }, size: { type: 'integer' } },
              },
            },
            tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
            order: { type: 'array', items: { type: 'string' } },
          },
        },
      },
    });
    const apply = (manager: string, spec: object): Kubectl & { manager: string } => ({
      ...s.with(gear('one', spec)),
      manager,
    });
    const first = apply('first', {
      parts: [
        { name: 'a', size: 1 },
        { name: 'b', size: 2 },
      ],
      tags: ['x'],
      order: ['1', '2'],
    });
    await first.ok`apply --server-side --field-manager=first -f -`;
    const second = apply('second', { parts: [{ name: 'c', size: 3 }], tags: ['y'] });
    await second.ok`apply --server-side --field-manager=second -f -`;
    await s.with(gear('one', { parts: [{ name: 'b', size: 2 }], tags: ['x'], order: ['1', '2'] }))
      .ok`apply --server-side --field-manager=first -f -`;
    expect((await s.json`gears.${group} one`)['spec']).toEqual({
      parts: [
        { name: 'b', size: 2 },
        { name: 'c', size: 3 },
      ],
      tags: ['x', 'y'],
      order: ['1', '2'],
    });
    expect(await s.with(gear('one', { order: ['2'] })).fails`apply --server-side --field-manager=third -f -`).toContain(
      'conflict with "first": .spec.order',
    );
    expect(await s.with(gear('dup', { parts: [{ name: 'a' }, { name: 'a' }] })).fails`create -f -`).toContain(
      'spec.parts[1]: Duplicate value: {"name":"a"}',
    );
  });

  expectation('client-side apply of a custom resource uses a merge patch', async (s) => {
    const { group, gear } = await install(s, {
      properties: {
        spec: {
          type: 'object',
          properties: {
            list: { type: 'array', items: { type: 'string' } },
            a: { type: 'string' },
            b: { type: 'string' },
          },
        },
      },
    });
    await s.with(gear('one', { list: ['1', '2'], a: '1' })).ok`apply -f -`;
    await s.ok`patch gears.${group} one --type=merge -p ${'{"spec":{"b":"theirs"}}'}`;
    expect(await s.with(gear('one', { list: ['3'] })).ok`apply -f -`).toBe(`gear.${group}/one configured\n`);
    expect((await s.json`gears.${group} one`)['spec']).toEqual({ list: ['3'], b: 'theirs' });
    expect(await s.fails`patch gears.${group} one --type=strategic -p ${'{"spec":{"b":"x"}}'}`).toContain(
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    );
  });

  expectation('replace of a custom resource needs the resource version', async (s) => {
    const { gear, group } = await install(s, { properties: { spec: teeth } });
    await s.with(gear('one', { teeth: 1 })).ok`create -f -`;
    const path = `/apis/${group}/v1/namespaces/${s.namespace}/gears/one`;
    const file = await s.file('one.json', JSON.stringify(gear('one', { teeth: 2 })));
    expect(await s.fails`replace --raw ${path} -f ${file}`).toContain(
      `The gears "one" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
    );
    expect(await s.with(gear('one', { teeth: 3 })).ok`replace -f -`).toBe(`gear.${group}/one replaced\n`);
  });

  expectation('cluster-scoped kinds have no namespace', async (s) => {
    const { group, gear } = await install(s, { scope: 'Cluster', properties: { spec: teeth } });
    await s.with(gear('wide', { teeth: 1 })).ok`create -f -`;
    expect((await s.json`gears.${group} wide`).metadata.namespace).toBeUndefined();
    expect(table(await s.ok`get gears.${group} -A`)[0]).toEqual(['NAME', 'AGE']);
  });

  expectation('selectable fields select', async (s) => {
    const { group, gear } = await install(s, {
      properties: { spec: { type: 'object', properties: { colour: { type: 'string' } } } },
      version: { selectableFields: [{ jsonPath: '.spec.colour' }] },
    });
    await s.with([gear('a', { colour: 'red' }), gear('b', { colour: 'blue' })]).ok`create -f -`;
    expect(await s.ok`get gears.${group} -o name --field-selector spec.colour=red`).toBe(`gear.${group}/a\n`);
    expect(await s.fails`get gears.${group} --field-selector spec.teeth=1`).toContain(
      'field label not supported: spec.teeth',
    );
  });

  expectation('deleting the definition deletes its objects, and it can be made again', async (s) => {
    const { group, name, gear } = await install(s, { properties: { spec: teeth } });
    await s.with([gear('one', { teeth: 1 }), gear('two', { teeth: 2 })]).ok`create -f -`;
    expect(await s.ok`delete crd ${name} --timeout=60s`).toBe(
      `customresourcedefinition.apiextensions.k8s.io "${name}" deleted\n`,
    );
    expect(await s.fails`get gears.${group}`).toContain(`the server doesn't have a resource type "gears"`);
    await s.with(customResourceDefinition({ group, kind: 'Gear', plural: 'gears', properties: { spec: teeth } }))
      .ok`create -f -`;
    await s.ok`wait --for=condition=Established crd/${name} --timeout=30s`;
    expect(await s.ok`get gears.${group} -o name`).toBe('');
  });

  expectation('a definition whose object has a finalizer terminates after it', async (s) => {
    const { group, name, gear } = await install(s, { properties: { spec: teeth } });
    await s.with(gear('held', { teeth: 1 }, { metadata: { name: 'held', finalizers: ['example.com/hold'] } }))
      .ok`create -f -`;
    await s.ok`delete crd ${name} --wait=false`;
    await s.ok`wait crd/${name} --for=condition=Terminating --timeout=30s`;
    expect(await s.with(gear('late', { teeth: 1 })).fails`create -f -`).toContain(
      `gears.${group} "late" is forbidden: create not allowed while custom resource definition is terminating`,
    );
    await s.ok`wait gears.${group}/held --for=${'jsonpath={.metadata.deletionTimestamp}'} --timeout=30s`;
    await s.ok`patch gears.${group} held --type=merge -p ${'{"metadata":{"finalizers":null}}'}`;
    await s.ok`wait crd/${name} --for=delete --timeout=60s`;
  });

  expectation('definitions that are not structural, misnamed or inconsistent are refused', async (s) => {
    const group = `${s.id}.example.com`;
    const refuse = async (definition: object): Promise<string> => s.with(definition).fails`create -f -`;
    const base = { group, kind: 'Gear', plural: 'gears' };
    expect(await refuse({ ...customResourceDefinition(base), metadata: { name: 'wrong' } })).toContain(
      `metadata.name: Invalid value: "wrong": must be spec.names.plural+"."+spec.group`,
    );
    expect(
      await refuse(customResourceDefinition({ ...base, properties: { spec: { properties: { a: {} } } } })),
    ).toContain(
      'spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields',
    );
    expect(await refuse(customResourceDefinition({ ...base, version: { schema: {} } }))).toContain(
      'schema.openAPIV3Schema: Required value',
    );
    expect(await refuse(customResourceDefinition({ ...base, version: { storage: false } }))).toContain(
      'spec.versions: Invalid value',
    );
    expect(
      await refuse(
        customResourceDefinition({
          ...base,
          properties: { spec: { type: 'object', properties: { a: { type: 'integer', default: 'text' } } } },
        }),
      ),
    ).toMatch(
      /properties\[spec\]\.properties\[a\]\.default: Invalid value: "string": .*must be of type integer: "string"/,
    );
    expect(
      await refuse(
        customResourceDefinition({
          ...base,
          properties: { spec: { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.missing > 1' }] } },
        }),
      ),
    ).toContain('x-kubernetes-validations[0].rule: Invalid value');
  });
}
