import { describe, expect, it } from 'vitest';
import type { ClassJsonPatch, ClassPatch, HookVariable } from '../../../api/index.ts';
import type { JsonObject, UnstructuredObject } from '../../../machinery/index.ts';
import { applyPatches, type ExternalPatches, matchesName, type PatchedTemplate } from './engine.ts';
import { valueAtPath } from './variable-path.ts';

const none: ExternalPatches = {
  generate: async () => {
    throw new Error('not asked here');
  },
  validate: async () => {},
};
const template = (place: PatchedTemplate['place'], spec: JsonObject = { list: ['a'] }): PatchedTemplate => ({
  item: { uid: '1', holderReference: { apiVersion: 'v1', kind: 'X', namespace: 'n', name: 'h', fieldPath: 'spec' } },
  place,
  object: { apiVersion: 'x.io/v1', kind: 'T', metadata: { name: 't', namespace: 'n' }, spec },
  variables: [],
});
const workers = template({ part: 'machineDeployment', class: 'worker-big' });
const patch = (
  jsonPatches: ClassJsonPatch[],
  over: Partial<ClassPatch> = {},
  matchResources: JsonObject = { machineDeploymentClass: { names: ['worker-*'] } },
): ClassPatch => ({
  name: 'p',
  definitions: [{ selector: { apiVersion: 'x.io/v1', kind: 'T', matchResources }, jsonPatches }],
  ...over,
});
const globals: HookVariable[] = [
  { name: 'size', value: 3 },
  { name: 'nested', value: { list: [{ name: 'first' }], flag: false } },
  { name: 'builtin', value: { cluster: { name: 'c1' } } },
];
const own: HookVariable[] = [
  { name: 'size', value: 5 },
  { name: 'builtin', value: { machineDeployment: { version: 'v1.34.0' } } },
];
async function run(patches: ClassPatch[], on: PatchedTemplate = workers): Promise<UnstructuredObject> {
  const [result] = await applyPatches(patches, [on], () => ({ globals, of: () => own }), none);
  return result!.object;
}

describe('inline patches', () => {
  it('take values from variables, where those of the template win over global and builtin ones', async () => {
    const object = await run([
      patch([
        { op: 'add', path: '/spec/size', valueFrom: { variable: 'size' } },
        { op: 'add', path: '/spec/name', valueFrom: { variable: 'nested.list[0].name' } },
        {
          op: 'add',
          path: '/spec/text',
          valueFrom: { template: '{{ .builtin.cluster.name }}-{{ .builtin.machineDeployment.version }}' },
        },
        { op: 'add', path: '/spec/map', valueFrom: { template: 'a: {{ .size }}\nb: [x, "{{ upper "y" }}"]' } },
        { op: 'add', path: '/spec/list/0', value: 'before' },
        { op: 'add', path: '/spec/list/-', value: 'after' },
      ]),
    ]);
    expect(object['spec']).toEqual({
      size: 5,
      name: 'first',
      text: 'c1-v1.34.0',
      map: { a: 5, b: ['x', 'Y'] },
      list: ['before', 'a', 'after'],
    });
  });

  it('see the results of earlier patches', async () => {
    const object = await run([
      patch([{ op: 'add', path: '/spec/a', value: { b: 1 } }]),
      patch([{ op: 'replace', path: '/spec/a/b', value: 2 }], { name: 'q' }),
      patch([{ op: 'remove', path: '/spec/list' }], { name: 'r' }),
    ]);
    expect(object['spec']).toEqual({ a: { b: 2 } });
  });

  it.each([
    ['true', true],
    ['{{ not .nested.flag }}', true],
    ['{{ .nested.flag }}', false],
    ['"true"', false],
    ['yes please', false],
    ['{{ if .absent }}true{{ end }}', false],
  ])('are applied only when enabledIf %s renders to true', async (enabledIf, applied) => {
    const object = await run([patch([{ op: 'add', path: '/spec/x', value: 1 }], { enabledIf })]);
    expect(object['spec']).toEqual(applied ? { list: ['a'], x: 1 } : { list: ['a'] });
  });

  it.each<[JsonObject, boolean]>([
    [{ machineDeploymentClass: { names: ['worker-big'] } }, true],
    [{ machineDeploymentClass: { names: ['other', '*'] } }, true],
    [{ machineDeploymentClass: { names: ['*-big'] } }, true],
    [{ machineDeploymentClass: { names: ['worker'] } }, false],
    [{ controlPlane: true, infrastructureCluster: true }, false],
  ])('select templates by %j', async (matchResources, chosen) => {
    const object = await run([patch([{ op: 'add', path: '/spec/x', value: 1 }], {}, matchResources)]);
    expect('x' in (object['spec'] as JsonObject)).toBe(chosen);
  });

  it.each<[string, ClassJsonPatch, RegExp]>([
    [
      'a path that is not there',
      { op: 'add', path: '/spec/no/where', value: 1 },
      /patch "p" cannot be applied to T t: .*\/spec\/no\/where/,
    ],
    [
      'nothing to replace',
      { op: 'replace', path: '/spec/none', value: 1 },
      /replace operation does not apply: doc is missing key/,
    ],
    ['nothing to remove', { op: 'remove', path: '/spec/none' }, /remove/i],
    [
      'a variable that is not there',
      { op: 'add', path: '/spec/x', valueFrom: { variable: 'absent' } },
      /T t: value of \/spec\/x \(jsonPatches\[0\]\): variable "absent" does not exist/,
    ],
    [
      'a list that is too short',
      { op: 'add', path: '/spec/x', valueFrom: { variable: 'nested.list[4]' } },
      /no item 4/,
    ],
    ['a template that fails', { op: 'add', path: '/spec/x', valueFrom: { template: '{{ fail "no way" }}' } }, /no way/],
    [
      'a template that never ends',
      {
        op: 'add',
        path: '/spec/x',
        valueFrom: { template: '{{ range until 1000000 }}{{ range until 1000000 }}x{{ end }}{{ end }}' },
      },
      /failed/,
    ],
    ['a template that is no YAML', { op: 'add', path: '/spec/x', valueFrom: { template: 'a: [' } }, /no YAML/],
  ])('report %s', async (_, operation, message) => {
    await expect(run([patch([operation])])).rejects.toThrow(message);
  });

  it('cannot change name or owner of a template', async () => {
    const operations: ClassJsonPatch[] = [{ op: 'replace', path: '/metadata/name', value: 'else' }];
    expect((await run([patch(operations)])).metadata).toEqual({ name: 't', namespace: 'n' });
  });
});

describe('name patterns and paths of patches', () => {
  it('match with one star', () => {
    expect(['*', 'a*', '*c', 'abc', 'b*', '*b'].map((pattern) => matchesName(pattern, 'abc'))).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  it.each(['a[', 'a]', 'a[x]', 'a[0]b', 'a[-1]'])('refuse %s', (path) => {
    expect(() => valueAtPath({ a: [1] }, path)).toThrow(/is invalid/);
  });
});

describe('patches that take too many steps together', () => {
  const busy: ClassJsonPatch = {
    op: 'add',
    path: '/spec/x',
    valueFrom: { template: '{{ range until 20000 }}{{ end }}1' },
  };
  const costly = (count: number): ClassPatch[] =>
    Array.from({ length: count }, (_, i) => ({ ...patch([busy]), name: `p${i}` }));

  it('are refused, and do not block the process until then', async () => {
    await run(costly(5));
    let turns = 0;
    let isOver = false;
    const other = (): void => {
      turns++;
      if (!isOver) setImmediate(other);
    };
    setImmediate(other);
    await expect(run(costly(1_000))).rejects.toThrow(/patch "p\d+" cannot be applied to T t: .* for all together/);
    isOver = true;
    expect(turns).toBeGreaterThan(10);
  });

  it('are refused for large variables and for many operations', async () => {
    const large = [{ name: 'text', value: 'a'.repeat(1_000_000) }];
    const many = Array.from({ length: 500 }, (_, i) => ({
      ...patch([{ op: 'add', path: '/spec/x', valueFrom: { template: '{{ len .text }}' } }]),
      name: `p${i}`,
    }));
    const withLarge = applyPatches(many, [workers], () => ({ globals: large, of: () => [] }), none);
    await expect(withLarge).rejects.toThrow(/all patches of the class together take more than 1100000 steps/);
    const long = Array.from({ length: 100 }, (_, i) => ({
      ...patch(Array.from({ length: 1_000 }, () => ({ op: 'add', path: '/spec/x', value: 1 }))),
      name: `p${i}`,
    }));
    await expect(run(long)).rejects.toThrow(/all patches of the class together take more than/);
  });
});
