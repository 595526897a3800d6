import { describe, expect, it } from 'vitest';
import { type JsonObject, seededRandom } from '../../machinery/index.ts';
import { mergeValues } from './coalesce.ts';
import { hooksFor } from './hooks.ts';
import { loadChart } from './load.ts';
import { type RenderChartOptions, type RenderedChart, renderChart } from './render.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const filesOf = (files: Readonly<Record<string, string>>): Map<string, Uint8Array> =>
  new Map(Object.entries(files).map(([path, text]) => [path, bytes(text)]));

const chartYaml = (name: string, rest = ''): string => `apiVersion: v2\nname: ${name}\nversion: 1.2.3\n${rest}`;
/** Renders a ConfigMap with the given expressions as data. */
const show = (expressions: Readonly<Record<string, string>>): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shown}\ndata:\n${Object.entries(expressions)
    .map(([key, expression]) => `  ${key}: {{ ${expression} | toJson | quote }}\n`)
    .join('')}`;

type Options = Partial<Omit<RenderChartOptions, 'chart'>>;

function render(files: Readonly<Record<string, string>>, options: Options = {}): RenderedChart {
  const chart = loadChart(filesOf(files));
  if (!chart.ok) throw chart.error;
  const rendered = renderChart({ release: { name: 'rel', namespace: 'ns' }, ...options, chart: chart.value });
  if (!rendered.ok) throw rendered.error;
  return rendered.value;
}

function shown(files: Readonly<Record<string, string>>, options: Options = {}): JsonObject {
  const [first] = render(files, options).objects;
  const data = first?.object['data'] as Record<string, string>;
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, JSON.parse(text)]));
}

function refusal(files: Readonly<Record<string, string>>, options: Options = {}): string {
  const chart = loadChart(filesOf(files));
  if (!chart.ok) return chart.error.message;
  const rendered = renderChart({ release: { name: 'rel', namespace: 'ns' }, ...options, chart: chart.value });
  if (rendered.ok) throw new Error('the chart was rendered');
  return rendered.error.message;
}

describe('values of a chart', () => {
  const files = {
    'Chart.yaml': chartYaml('main'),
    'values.yaml': 'a: 1\nlist: [1, 2]\nmap: {x: 1, v: 2}\ngone: {z: 1}\nsub: {own: parent, less: 1}\nglobal: {g: 1}\n',
    'templates/x.yaml': show({ values: '.Values' }),
    'charts/sub/Chart.yaml': chartYaml('sub'),
    'charts/sub/values.yaml': 'own: sub\ndefault: 1\nless: 2\nglobal: {h: 2}\n',
    'charts/sub/templates/_none.tpl': '',
  };

  it('are merged: maps by key, lists whole, null deletes, parents override subcharts', () => {
    const values = mergeValues({ list: [9], map: { x: 7 } }, { map: { v: null }, gone: null, sub: { default: null } });
    expect(shown(files, { values })['values']).toEqual({
      a: 1,
      list: [9],
      map: { x: 7 },
      sub: { own: 'parent', less: 1, global: { g: 1, h: 2 } },
      global: { g: 1 },
    });
  });

  it('keep the nulls of a values file until the chart is rendered', () => {
    expect(mergeValues({ a: 1, b: { c: 1 } }, { a: null, b: { d: null } })).toEqual({ a: null, b: { c: 1, d: null } });
  });

  it('are checked against the schemas of the chart and its subcharts', () => {
    const schema = JSON.stringify({
      type: 'object',
      required: ['name'],
      properties: { replicas: { type: 'integer', minimum: 1 }, mode: { enum: ['a', 'b'] } },
    });
    const guarded = {
      ...files,
      'values.schema.json': schema,
      'charts/sub/values.schema.json': '{"required":["must"]}',
    };
    expect(refusal(guarded, { values: { replicas: 'x', mode: 'c' } })).toBe(
      "values don't meet the specifications of the schema(s) in the following chart(s):\n" +
        "main:\n- at '': missing property 'name'\n- at '/mode': value must be one of 'a', 'b'\n" +
        "- at '/replicas': got string, want integer\nsub:\n- at '': missing property 'must'\n",
    );
    expect(render(guarded, { values: { name: 'x', sub: { must: 1 } } }).objects).toHaveLength(1);
  });
});

describe('dependencies of a chart', () => {
  const dependency = (rest: string): string =>
    chartYaml('main', `dependencies:\n  - {name: sub, version: ">=1", repository: "", ${rest}}\n`);
  const sub = {
    'charts/sub/Chart.yaml': chartYaml('sub'),
    'charts/sub/values.yaml': 'exports: {data: {imported: 1}}\ninner: {deep: 2}\n',
    'charts/sub/templates/s.yaml': show({ name: '.Chart.Name', path: '.Template.Name', values: '.Values' }),
  };

  it('are switched by conditions, then by tags', () => {
    const files = { 'Chart.yaml': dependency('condition: "sub.enabled,other.enabled", tags: [extra]'), ...sub };
    expect(render(files).objects).toHaveLength(1);
    expect(render(files, { values: { tags: { extra: false } } }).objects).toHaveLength(0);
    expect(render(files, { values: { tags: { extra: false }, sub: { enabled: true } } }).objects).toHaveLength(1);
    expect(render(files, { values: { sub: { enabled: false } } }).objects).toHaveLength(0);
    expect(render(files, { values: { other: { enabled: false } } }).objects).toHaveLength(0);
    expect(render(files, { values: { sub: { enabled: 'no' } } }).warnings).toContain(
      "Condition path 'sub.enabled' for chart sub returned non-bool value",
    );
  });

  it('have the names of their aliases', () => {
    const files = { 'Chart.yaml': dependency('alias: other'), ...sub };
    expect(shown(files, { values: { other: { a: 1 } } })).toMatchObject({
      name: 'other',
      path: 'main/charts/other/templates/s.yaml',
      values: { a: 1 },
    });
  });

  it('give values to their parents by import-values', () => {
    const files = {
      'Chart.yaml': dependency('import-values: [data, {child: inner, parent: mine}]'),
      ...sub,
      'templates/a.yaml': show({ values: 'omit .Values "sub"' }),
    };
    const texts = render(files).objects.map(({ object }) => (object['data'] as Record<string, string>)['values']);
    expect(texts.map((text) => JSON.parse(text ?? 'null'))).toContainEqual({ imported: 1, mine: { deep: 2 } });
  });

  it('must be present, and match their versions to be switched', () => {
    expect(refusal({ 'Chart.yaml': dependency('alias: other') })).toBe(
      'chart main: found in Chart.yaml, but missing in charts/ directory: sub',
    );
  });

  it('are read from requirements.yaml in charts of the first API version', () => {
    const files = {
      'Chart.yaml': 'name: main\nversion: 0.1.0\n',
      'requirements.yaml': 'dependencies:\n  - {name: sub, version: "1.x", condition: sub.on}\n',
      ...sub,
    };
    expect(render(files, { values: { sub: { on: false } } }).objects).toHaveLength(0);
    expect(render(files).objects).toHaveLength(1);
  });

  it('may contain numbers where texts are meant', () => {
    const files = {
      'Chart.yaml':
        'apiVersion: v2\nname: main\nversion: 0.1.0\nappVersion: 1.10\nannotations: {count: 7, on-top: true}\n',
      'templates/x.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  chart: {{ .Chart.AppVersion }} {{ .Chart.Annotations.count }} {{ index .Chart.Annotations "on-top" }}\n',
    };
    expect(render(files).objects[0]?.object['data']).toEqual({ chart: '1.1 7 true' });
  });

  it('only lend their templates when they are libraries', () => {
    const files = {
      'Chart.yaml': chartYaml('main'),
      'templates/x.yaml': '{{ include "lib.map" . }}',
      'charts/lib/Chart.yaml': chartYaml('lib', 'type: library\n'),
      'charts/lib/templates/_x.tpl':
        '{{ define "lib.map" }}{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}{{ end }}',
      'charts/lib/templates/no.yaml': 'not: rendered',
    };
    expect(render(files).objects.map(({ source }) => source)).toEqual(['main/templates/x.yaml']);
  });

  it('cannot be multiplied by aliases', () => {
    const aliases = (name: string): string =>
      `dependencies:\n${Array.from({ length: 10 }, (_none, i) => `  - {name: ${name}, version: "*", alias: ${name}${i}}\n`).join('')}`;
    const files: Record<string, string> = { 'Chart.yaml': chartYaml('main', aliases('s1')) };
    let folder = 'charts/s1';
    for (let i = 1; i <= 8; i++) {
      files[`${folder}/Chart.yaml`] = chartYaml(`s${i}`, i < 8 ? aliases(`s${i + 1}`) : '');
      folder += `/charts/s${i + 1}`;
    }
    expect(refusal(files, { limits: { charts: 20 } })).toBe('chart has more than 20 subcharts');
  });
});

describe('the data of templates', () => {
  it('contains the chart, the release, capabilities and files', () => {
    const files = {
      'Chart.yaml': chartYaml('main', 'appVersion: "7"\nannotations: {x: z}\n'),
      'conf/a.txt': 'one\ntwo\n',
      'conf/b.txt': 'b',
      'templates/x.yaml': show({
        chart: '.Chart',
        release: '.Release',
        version: '.Capabilities.KubeVersion.Minor',
        has: '.Capabilities.APIVersions.Has "apps/v1"',
        given: '.Capabilities.APIVersions.Has "x/v1/Y"',
        file: '.Files.Get "conf/a.txt"',
        lines: '.Files.Lines "conf/a.txt"',
        config: '(.Files.Glob "conf/*").AsConfig',
        secrets: '(.Files.Glob "**/b.txt").AsSecrets',
        none: '.Files.Get "templates/x.yaml"',
        base: '.Template.BasePath',
        map: '.Values.AsMap',
        lookup: 'lookup "v1" "Pod" "" ""',
      }),
    };
    const options = { capabilities: { kubeVersion: '1.31', apiVersions: ['x/v1/Y'] } };
    expect(shown(files, options)).toEqual({
      chart: {
        name: 'main',
        version: '1.2.3',
        apiVersion: 'v2',
        appVersion: '7',
        annotations: { x: 'z' },
        IsRoot: true,
      },
      release: { Name: 'rel', Namespace: 'ns', IsUpgrade: false, IsInstall: true, Revision: 1, Service: 'Helm' },
      version: '31',
      has: true,
      given: true,
      file: 'one\ntwo\n',
      lines: ['one', 'two'],
      config: 'a.txt: |\n  one\n  two\nb.txt: b',
      secrets: 'b.txt: Yg==',
      none: '',
      base: 'main/templates',
      map: {},
      lookup: {},
    });
  });

  it('contains cluster objects and random values where the caller provides them', () => {
    const files = {
      'Chart.yaml': chartYaml('main'),
      'templates/x.yaml': show({
        found: '(lookup "v1" "Secret" .Release.Namespace "s").data',
        random: 'randAlphaNum 5',
      }),
    };
    const lookup = (...wanted: string[]): JsonObject => ({ data: { wanted: wanted.join(' ') } });
    const given = shown(files, { lookup, random: seededRandom(1) });
    expect(given['found']).toEqual({ wanted: 'v1 Secret ns s' });
    expect(given['random']).toMatch(/^[0-9A-Za-z]{5}$/);
    expect(refusal(files)).toContain('templates here may not use random values');
  });

  it('can be changed by a template for those after it, but not for the next rendering', () => {
    const chart = loadChart(
      filesOf({
        'Chart.yaml': chartYaml('main'),
        'values.yaml': 'map: {}\n',
        'templates/x.yaml': `{{ $_ := set .Values.map "x" (len .Values.map) }}${show({ map: '.Values.map' })}`,
      }),
    );
    if (!chart.ok) throw chart.error;
    const options = { chart: chart.value, release: { name: 'rel', namespace: 'ns' } };
    const [first, second] = [renderChart(options), renderChart(options)];
    expect(first).toEqual(second);
    if (!first?.ok) throw first?.error;
    expect(first.value.objects[0]?.object['data']).toEqual({ map: '{"x":0}' });
  });
});

describe('rendered documents', () => {
  const document = (kind: string, name: string, rest = ''): string =>
    `---\napiVersion: v1\nkind: ${kind}\nmetadata: {name: ${name}${rest}}\n`;

  it('are sorted by kind, then by file, without empty ones and with lists split', () => {
    const { objects } = render(
      {
        'Chart.yaml': chartYaml('main'),
        'templates/b.yaml': document('Zebra', 'z') + document('Deployment', 'b') + document('Ape', 'a'),
        'templates/a.yaml': `${document('Deployment', 'a')}---\n# nothing\n---\n${document('Service', 's')}`,
        'templates/l.yaml':
          'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: l}}\n',
        'templates/empty.yaml': '{{ if false }}x{{ end }}\n',
        'crds/c.yaml': document('CustomResourceDefinition', 'crd'),
      },
      { includeCrds: true },
    );
    expect(objects.map(({ object }) => `${object.kind}/${object.metadata.name}`)).toEqual([
      'CustomResourceDefinition/crd',
      'Service/s',
      'Deployment/a',
      'Deployment/b',
      'Ape/a',
      'Secret/l',
      'Zebra/z',
    ]);
  });

  it('keep the line ends of files below crds/, while templates lose their last', () => {
    const text = (name: string): string => `${document('CustomResourceDefinition', name)}spec: |\n  last\n`;
    const { objects } = render(
      {
        'Chart.yaml': chartYaml('main'),
        'crds/c.yaml': `${text('a')}${text('b')}`,
        'templates/t.yaml': text('t'),
      },
      { includeCrds: true },
    );
    expect(objects.map(({ object }) => [object.metadata.name, object.spec])).toEqual([
      ['a', 'last\n'],
      ['b', 'last\n'],
      ['t', 'last'],
    ]);
  });

  it('become hooks with weights and delete policies through hook annotations', () => {
    const hook = (name: string, annotations: string): string =>
      document('Job', name, `, annotations: {${annotations}}`);
    const rendered = render({
      'Chart.yaml': chartYaml('main'),
      'templates/x.yaml':
        hook('late', '"helm.sh/hook": "pre-install,pre-upgrade", "helm.sh/hook-weight": "5"') +
        hook(
          'early',
          '"helm.sh/hook": pre-install, "helm.sh/hook-weight": "-5", "helm.sh/hook-delete-policy": hook-succeeded',
        ) +
        hook('test', '"helm.sh/hook": test-success') +
        hook('odd', '"helm.sh/hook": crd-install') +
        document('Service', 's'),
      'templates/NOTES.txt': 'Hello {{ .Release.Name }}',
    });
    expect(rendered.objects.map(({ object }) => object.metadata.name)).toEqual(['s']);
    expect(rendered.notes).toBe('Hello rel');
    expect(rendered.warnings).toEqual(['main/templates/x.yaml: skipping unknown hook']);
    const before = hooksFor(rendered.hooks, 'pre-install');
    expect(before.map(({ object, deletePolicies }) => [object.metadata.name, deletePolicies])).toEqual([
      ['early', ['hook-succeeded']],
      ['late', ['before-hook-creation']],
    ]);
    expect(hooksFor(rendered.hooks, 'test')).toHaveLength(1);
  });
});

describe('errors of charts', () => {
  const main = { 'Chart.yaml': chartYaml('main') };

  it.each([
    ['no chart', {}, 'Chart.yaml file is missing'],
    ['no version', { 'Chart.yaml': 'apiVersion: v2\nname: x\n' }, 'validation: chart.metadata.version is required'],
    [
      'a bad type',
      { 'Chart.yaml': chartYaml('x', 'type: app\n') },
      'validation: chart.metadata.type must be application or library',
    ],
    [
      'values that are no YAML',
      { ...main, 'values.yaml': 'a: [\n' },
      /^cannot load values.yaml: error converting YAML to JSON: yaml: line \d+: /,
    ],
    [
      'a template that cannot be read',
      { ...main, 'templates/x.yaml': 'a\n{{ if }}' },
      'parse error at (main/templates/x.yaml:2): missing value for if',
    ],
    [
      'what the author refuses',
      { ...main, 'templates/x.yaml': '{{ required "say a" .Values.a }}' },
      'execution error at (main/templates/x.yaml:1:3): say a',
    ],
    [
      'output that is no YAML',
      { ...main, 'templates/x.yaml': '---\n# a\n---\nb: [\n' },
      /^YAML parse error on main\/templates\/x.yaml: error converting YAML to JSON: yaml: line [45]: /,
    ],
    [
      'a document without kind',
      { ...main, 'templates/x.yaml': '\na: 1\n' },
      "main/templates/x.yaml:2: Object 'Kind' is missing",
    ],
    [
      'another Kubernetes',
      { 'Chart.yaml': chartYaml('x', 'kubeVersion: ">=1.99"\n') },
      'chart requires kubeVersion: >=1.99 which is incompatible with Kubernetes v1.34.0',
    ],
    [
      'a subchart',
      { ...main, 'charts/sub/x.yaml': '' },
      'error unpacking subchart sub in main: Chart.yaml file is missing',
    ],
    [
      'a loop',
      { ...main, 'templates/x.yaml': '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}' },
      /nested more than 300 levels deep/,
    ],
    [
      'an archive',
      { ...main, 'charts/sub-1.tgz': 'x' },
      'error unpacking subchart sub-1.tgz in main: not a gzipped archive: gzip: invalid header',
    ],
  ] as const)('are reported for %s', (_name, files, message) => {
    const text = refusal(files as Record<string, string>);
    if (typeof message === 'string') expect(text).toBe(message);
    else expect(text).toMatch(message);
  });
});

describe('charts that take too much', () => {
  const main = { 'Chart.yaml': chartYaml('main') };

  it('return an error value: deep values, self-referring schemas, costly patterns', () => {
    let deep: JsonObject = {};
    for (let i = 0; i < 50_000; i++) deep = { a: deep };
    expect(refusal(main, { values: deep })).toBe('chart main: values are nested too deep');
    const loop = JSON.stringify({ $ref: '#/definitions/a', definitions: { a: { $ref: '#/definitions/a' } } });
    expect(refusal({ ...main, 'values.schema.json': loop })).toContain('the schema refers to itself in a cycle');
    const branches = Array.from({ length: 20 }, () => ({ $ref: '#/definitions/a' }));
    const wide = {
      properties: { x: { $ref: '#/definitions/a' } },
      definitions: { a: { anyOf: [{ properties: { x: { anyOf: branches } } }, ...branches.slice(0, 2)] } },
    };
    let values: JsonObject = { x: 1 };
    for (let i = 0; i < 12; i++) values = { x: values };
    expect(
      typeof refusal({ ...main, 'values.schema.json': JSON.stringify({ ...wide, required: ['none'] }) }, { values }),
    ).toBe('string');
    const pattern = JSON.stringify({ properties: { x: { pattern: `(?:${'a?'.repeat(200)}){50}b` } } });
    expect(refusal({ ...main, 'values.schema.json': pattern }, { values: { x: 'a'.repeat(1_000_000) } })).toMatch(
      /patterns take too many steps|does not match pattern|bad pattern/,
    );
  });
});

describe('.helmignore', () => {
  it("leaves files out by Helm's rules", () => {
    const names = (ignore: string, paths: readonly string[]): string[] => {
      const files = Object.fromEntries(paths.map((path) => [path, '']));
      const chart = loadChart(filesOf({ 'Chart.yaml': chartYaml('x'), '.helmignore': ignore, ...files }));
      if (!chart.ok) throw chart.error;
      return [...chart.value.files.keys(), ...chart.value.templates.map(({ name }) => name)].filter((name) =>
        paths.includes(name),
      );
    };
    const paths = ['a.txt', 'b/a.txt', 'b/c.md', 'd/e/f.md', 'templates/.x', 'templates/y.yaml'];
    expect(names('# note\n*.md\n', paths)).toEqual(['a.txt', 'b/a.txt', 'templates/y.yaml']);
    expect(names('b/\n', paths)).toEqual(['a.txt', 'd/e/f.md', 'templates/y.yaml']);
    expect(names('/a.txt\nd/e/*.md\n', paths)).toEqual(['b/a.txt', 'b/c.md', 'templates/y.yaml']);
    expect(refusal({ 'Chart.yaml': chartYaml('x'), '.helmignore': 'a\n**/b\n' })).toBe(
      '.helmignore:2: double-star (**) syntax is not supported',
    );
  });
});
