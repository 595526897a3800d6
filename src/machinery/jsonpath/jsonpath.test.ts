import { describe, expect, it } from 'vitest';
import { compileJsonPath, compileSimplePath, JsonPathError } from './index.ts';

const object = {
  metadata: { name: 'web', labels: { 'a/b': 'slash', 'foo.bar': 'dot', tier: 'front' } },
  spec: {
    replicas: 3,
    paused: false,
    ports: [{ name: 'http', port: 80 }, { name: 'https', port: 443 }, { name: 'dns' }],
  },
  status: {
    conditions: [
      { type: 'Available', status: 'True', code: 1 },
      { type: 'Ready', status: 'False', code: 7, message: 'has ) and "quotes"' },
    ],
    nothing: null,
  },
};

describe('compileJsonPath', () => {
  it.each<[string, unknown[]]>([
    ['.metadata.name', ['web']],
    ['{.metadata.name}', ['web']],
    ['$.spec.replicas', [3]],
    ['.spec.paused', [false]],
    ['.status.nothing', [null]],
    ['.status.nothing.deeper', []],
    ['.status.absent', []],
    [".metadata.labels['a/b']", ['slash']],
    [".metadata.labels['foo\\.bar']", ['dot']],
    ['.metadata.labels.foo\\.bar', ['dot']],
    [".metadata.labels['foo.bar']", []],
    ['.status.conditions[?(@.type=="Ready")].status', ['False']],
    ["{.status.conditions[?(@.type=='Ready')].status}", ['False']],
    ['.status.conditions[?(@.type == "Ready")].code', [7]],
    ['.status.conditions[?(@.code>1)].type', ['Ready']],
    ['.status.conditions[?(@.code<=1)].type', ['Available']],
    ['.status.conditions[?(@.status!="True")].type', ['Ready']],
    ['.status.conditions[?(@.message)].type', ['Ready']],
    ['.status.conditions[?(@.message=="has ) and \\"quotes\\"")].type', ['Ready']],
    ['.status.conditions[?(@.code=="1")].type', []],
    ['.absent[?(@.type=="Ready")].status', []],
    ['.spec.ports[0].name', ['http']],
    ['.spec.ports[-1].name', ['dns']],
    ['.spec.ports[7].name', []],
    ['.spec.ports[*].port', [80, 443]],
    ['.spec.ports[0:2].name', ['http', 'https']],
    ['.spec.ports[::2].name', ['http', 'dns']],
    ['.spec.ports[0,2].name', ['http', 'dns']],
    ["['metadata','absent'].name", ['web']],
    ['..port', [80, 443]],
    ['.metadata.labels.*', ['slash', 'dot', 'front']],
    ['.', []],
  ])('finds the expected values: %s', (expression, expected) => {
    expect(compileJsonPath(expression).find(object)).toEqual(expected);
  });

  it.each(['.a[', '.a[?(@.b=="c"]', '.a[?(@.b="c")]', '.a[x]', '....a', "'open", '.a[0', '{.a', '#', 'metadata'])(
    'refuses %s',
    (expression) => {
      expect(() => compileJsonPath(expression)).toThrow(JsonPathError);
    },
  );
});

describe('compileSimplePath', () => {
  it('reads existing values', () => {
    expect(compileSimplePath('.spec.replicas').get(object)).toBe(3);
    expect(compileSimplePath('.spec.absent.deeper').get(object)).toBeUndefined();
    expect(compileSimplePath('.spec.constructor').get(object)).toBeUndefined();
  });

  it('creates missing objects when it writes, and does not write through other values', () => {
    const draft: Record<string, unknown> = { spec: 'text', status: null };
    compileSimplePath('.spec.replicas').set(draft, 5);
    compileSimplePath('.status.replicas').set(draft, 5);
    compileSimplePath('.other.deep.replicas').set(draft, 1);
    expect(draft).toEqual({ spec: 'text', status: { replicas: 5 }, other: { deep: { replicas: 1 } } });
  });

  it('refuses paths that are not in dot notation', () => {
    expect(() => compileSimplePath('spec.replicas')).toThrow();
  });
});
