/** A chart that tests one rule, with its input. */
export interface OwnChart {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** values files; later ones override earlier ones */
  readonly values?: readonly string[];
  readonly kubeVersion?: string;
  readonly apiVersions?: readonly string[];
  readonly isUpgrade?: boolean;
}

const chart = (name: string, rest = ''): string =>
  `apiVersion: v2\nname: ${name}\nversion: 1.2.3\nappVersion: "4.5"\n${rest}`;
/** A document with the values of expressions. */
const show = (name: string, ...expressions: readonly string[]): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n${expressions
    .map((expression, index) => `  v${index}: {{ ${expression} | toJson | quote }}\n`)
    .join('')}`;
/** A document with the output of templates. */
const print = (name: string, ...texts: readonly string[]): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n${texts
    .map((text, index) => `  p${index}: |-\n    ${text}\n`)
    .join('')}`;
const object = (kind: string, name: string, annotations = ''): string =>
  `---\napiVersion: v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n${annotations === '' ? '' : `  annotations: {${annotations}}\n`}`;
const dependencies = (...lines: readonly string[]): string =>
  `dependencies:\n${lines.map((line) => `  - {${line}}\n`).join('')}`;

const sub = {
  'charts/sub/Chart.yaml': chart(
    'sub',
    dependencies('name: deep, version: "*", repository: "", condition: deep.enabled, alias: well'),
  ),
  'charts/sub/values.yaml':
    'own: sub\nnested: {a: 1, b: {c: 2}}\nless: 1\ndeep: {enabled: true}\nexports: {some: {x: {z: 1}}, more: {w: [1]}}\nglobal: {g: {fromSub: 1, both: sub}}\n',
  'charts/sub/templates/s.yaml': show('sub', '.Values', '.Chart', '.Template', 'keys .Subcharts | sortAlpha'),
  'charts/sub/charts/deep/Chart.yaml': chart('deep'),
  'charts/sub/charts/deep/values.yaml': 'd: 1\nglobal: {g: {fromDeep: 1, both: deep}}\n',
  'charts/sub/charts/deep/templates/d.yaml': show('deep', '.Values', '.Chart.Name', '.Template'),
};

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  required: ['must', 'also'],
  additionalProperties: false,
  definitions: { port: { type: 'integer', minimum: 1, maximum: 65_535 } },
  properties: {
    must: { type: 'string', minLength: 3, pattern: '^[a-z]+$' },
    also: { type: ['string', 'null'] },
    port: { $ref: '#/definitions/port' },
    mode: { enum: ['a', 'b'] },
    fixed: { const: 'x' },
    list: { type: 'array', items: { type: 'object', required: ['k'] }, minItems: 2, uniqueItems: true },
    any: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
    one: { oneOf: [{ type: 'string' }, { minLength: 1 }] },
    all: { allOf: [{ required: ['a'] }, { required: ['b'] }] },
    not: { not: { type: 'string' } },
    // biome-ignore lint/suspicious/noThenProperty: a word of the schema
    when: { if: { required: ['a'] }, then: { required: ['b'] } },
    steps: { multipleOf: 5, exclusiveMinimum: 0 },
  },
};
const schemaChart = (name: string, values: string): OwnChart => ({
  name: `schema: ${name}`,
  files: { 'Chart.yaml': chart('main'), 'values.schema.json': JSON.stringify(schema) },
  values: [values],
});

export const ownCharts: readonly OwnChart[] = [
  {
    name: 'numbers where texts are meant, and texts that end with their file',
    files: {
      'Chart.yaml':
        'apiVersion: v2\nname: main\nversion: 1.2.3\nappVersion: 1.10\ndescription: true\nkeywords: [1, 2.5]\nannotations: {n: 20201231, b: false, f: 0.00001}\n',
      'templates/a.yaml': `${show('a', '.Chart')}  last: |\n    text`,
      'templates/b.yaml': `${object('ConfigMap', 'b').trimEnd()}\ndata:\n  folded: >\n    x\n    y\n\n---\n${show('c', '1')}  kept: |+\n    text`,
      'templates/c.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: brackets\ndata: {\n"a": "1",\n"b": "2"\n}\n',
    },
  },
  {
    name: 'values of charts within charts, nulls, globals',
    files: {
      'Chart.yaml': chart('main', dependencies('name: sub, version: ">=1.0.0", repository: ""')),
      'values.yaml':
        'a: 1\nlist: [1, 2]\nmap: {x: 1, v: {w: 2}}\nnothing: null\nsub: {own: parent, nested: {b: {c: null}}}\nglobal: {g: {top: 1, both: main}, scalar: s}\n',
      'templates/m.yaml': show('main', '.Values', '.Values.missing', '.Values.nothing', '.Subcharts.sub.Values.own'),
      ...sub,
    },
    values: [
      'list: [9]\nmap: {x: null}\nsub: {less: null, nested: {a: null}, well: {d: null, e: 1}}\nglobal: {g: {given: 1}}\n',
      'map: {u: 1, v: null}\n',
    ],
  },
  {
    name: 'aliases, also twice, conditions and tags',
    files: {
      'Chart.yaml': chart(
        'main',
        dependencies(
          'name: sub, version: "1.x", repository: "", alias: one, condition: "one.on,shared.on", tags: [t]',
          'name: sub, version: "1.x", repository: "", alias: two, tags: [t, u]',
          'name: sub, version: "1.x", repository: "", alias: three, condition: three.on',
        ),
      ),
      'templates/m.yaml': show('main', '.Values', '.Chart.Dependencies | len', 'keys .Subcharts | sortAlpha'),
      ...sub,
    },
    values: ['tags: {t: false, u: true}\nshared: {on: true}\nthree: {on: false}\ntwo: {well: {d: 7}}\n'],
  },
  {
    name: 'import-values',
    files: {
      'Chart.yaml': chart(
        'main',
        'dependencies:\n  - name: sub\n    version: "*"\n    repository: ""\n    import-values:\n      - some\n      - more\n      - {child: nested, parent: here.there}\n      - {child: none, parent: x}\n',
      ),
      'values.yaml': 'x: {own: 1}\nhere: {there: {a: mine}}\n',
      'templates/m.yaml': show('main', '.Values'),
      ...sub,
    },
    values: ['sub: {nested: {b: given}}\n'],
  },
  {
    name: 'requirements.yaml of the first API version',
    files: {
      'Chart.yaml': 'name: main\nversion: 0.1.0\nengine: gotpl\n',
      'requirements.yaml': dependencies('name: sub, version: "*", repository: "", condition: sub.on'),
      'templates/m.yaml': show('main', '.Chart', '.Files.Get "requirements.yaml"'),
      ...sub,
    },
    values: ['sub: {on: true}\n'],
  },
  {
    name: 'library charts and templates of the same name',
    files: {
      'Chart.yaml': chart('main'),
      'templates/_h.tpl': '{{ define "shared" }}outer{{ end }}',
      'templates/m.yaml': show(
        'main',
        'include "shared" .',
        'include "lib.x" .',
        'tpl "{{ .Release.Name }}-{{ include \\"shared\\" . }}" .',
      ),
      'charts/lib/Chart.yaml': chart('lib', 'type: library\n'),
      'charts/lib/templates/_l.tpl':
        '{{ define "shared" }}inner{{ end }}{{ define "lib.x" }}{{ .Chart.Name }}{{ end }}',
      'charts/lib/templates/not.yaml': 'never: rendered',
    },
  },
  {
    name: 'order of kinds, several documents, lists, empty documents',
    files: {
      'Chart.yaml': chart('main'),
      'templates/z.yaml':
        object('Zebra', 'z') + object('Deployment', 'z') + object('Ape', 'a') + object('Namespace', 'n'),
      'templates/a.yaml': `${object('Deployment', 'a')}---\n# only a comment\n---\n\n--- # with words\n${object('Service', 's')}`,
      'templates/deep/x.yaml': object('Service', 'deep') + object('PriorityClass', 'p') + object('APIService', 'api'),
      'templates/l.yaml':
        'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: l}}\n- {apiVersion: v1, kind: Role, metadata: {name: r}}\n',
      'templates/none.yaml': '{{ if .Values.no }}x{{ end }}\n---\n',
      'templates/block.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: block\ndata:\n  x: |\n    last line\n\n\n',
      'templates/NOTES.txt': 'Hello {{ .Release.Name }}',
      'crds/one.yaml': object('CustomResourceDefinition', 'one') + object('CustomResourceDefinition', 'two'),
      'crds/no.txt': 'x',
      'charts/c/Chart.yaml': chart('c'),
      'charts/c/crds/three.yaml': object('CustomResourceDefinition', 'three'),
      'charts/c/templates/NOTES.txt': 'not shown',
    },
  },
  {
    name: 'hooks',
    files: {
      'Chart.yaml': chart('main'),
      'templates/h.yaml':
        object('Job', 'late', '"helm.sh/hook": "pre-install, PRE-upgrade", "helm.sh/hook-weight": "5"') +
        object(
          'ConfigMap',
          'first',
          '"helm.sh/hook": pre-install, "helm.sh/hook-weight": "-5", "helm.sh/hook-delete-policy": "hook-succeeded,hook-failed"',
        ) +
        object('Pod', 'test', '"helm.sh/hook": test-success') +
        object('Job', 'odd', '"helm.sh/hook": crd-install') +
        object('Service', 's', '"other": x'),
    },
    isUpgrade: true,
  },
  {
    name: 'what templates see',
    files: {
      'Chart.yaml': chart(
        'main',
        'description: some  words\nkeywords: [a, b]\nannotations: {x: z}\nhome: https://h\nsources: [https://s]\n',
      ),
      '.helmignore': '*.md\nsecret/\n/top.txt\nconf/*.bak\n',
      'readme.md': 'ignored',
      'secret/x.txt': 'ignored',
      'top.txt': 'ignored',
      'conf/a.txt': 'one\ntwo\n',
      'conf/b.bak': 'ignored',
      'conf/deep/c.txt': 'c: "d"',
      'conf/deep/e.json': '{}',
      'values.yaml': 'b: {c: 1.5, big: 12345678, text: "0123"}\n',
      'templates/.hidden.yaml': 'never: {{ fail "no" }}',
      'templates/m.yaml': show(
        'main',
        '.Chart',
        '.Release',
        '.Capabilities.KubeVersion',
        '.Capabilities.KubeVersion.GitVersion',
        '.Capabilities.APIVersions.Has "apps/v1"',
        '.Capabilities.APIVersions.Has "x.example.com/v1/Thing"',
        '.Capabilities.APIVersions.Has "none/v1"',
        'has "batch/v1" .Capabilities.APIVersions',
        '.Files.Get "conf/a.txt"',
        '.Files.Get "readme.md"',
        '.Files.Lines "conf/a.txt"',
        '(.Files.Glob "conf/**").AsConfig',
        '(.Files.Glob "conf/*").AsSecrets',
        '(.Files.Glob "conf/deep/{c.txt,e.*}").AsConfig',
        '.Files.GetBytes "conf/deep/e.json" | toString',
        '.Values.AsMap',
        'lookup "v1" "Secret" "" ""',
        'typeOf .Values',
        'typeOf .Files',
        'kindOf .Chart',
        'typeOf .Capabilities.APIVersions',
        'semverCompare ">=1.30-0" .Capabilities.KubeVersion.Version',
      ),
      'templates/p.yaml': print(
        'printed',
        '{{ .Capabilities.KubeVersion }} {{ .Capabilities.KubeVersion | quote }}',
        '{{ .Chart.Keywords }} {{ .Chart.Annotations }} {{ .Chart.IsRoot }}',
        '{{ .Release.Revision }} {{ .Values.b }} {{ .Values.none }} {{ .Template.BasePath }}',
        '{{ range $path, $_ := .Files.Glob "conf/**" }}{{ $path }};{{ end }}',
        '{{ .Values.b.c }} {{ .Values.b.big }} {{ .Values.b.text }} {{ int .Values.b.big }}',
      ),
    },
    apiVersions: ['x.example.com/v1/Thing'],
    kubeVersion: '1.31.4',
  },
  {
    name: 'values that templates change',
    files: {
      'Chart.yaml': chart('main'),
      'values.yaml': 'map: {}\n',
      'templates/a.yaml': `{{ $_ := set .Values.map "a" (len .Values.map) }}${show('a', '.Values.map')}`,
      'templates/b.yaml': `{{ $_ := set .Values.map "b" (len .Values.map) }}${show('b', '.Values.map')}`,
      'templates/deep/c.yaml': `{{ $_ := set .Values.map "c" (len .Values.map) }}${show('c', '.Values.map')}`,
    },
  },
  {
    name: 'formats',
    files: {
      'Chart.yaml': chart('main'),
      'values.yaml': 'data: {b: [1, {c: d}], a: "x: y", t: "multi\\nline\\n", e: "", n: null, f: 1.0, l: [[1], []]}\n',
      'templates/m.yaml': show(
        'main',
        'toYaml .Values.data',
        'toYamlPretty .Values.data',
        'toToml (omit .Values.data "n" "l")',
        'fromToml "a = 1\\nb = [1, 2]\\n[t]\\nx = \\"s\\"\\n[[l]]\\nk = 1.5\\n[[l]]\\nk = true\\n"',
        'fromYaml "a: [1]"',
        'fromYamlArray "- 1\\n- b"',
        'fromJson "{\\"a\\":1}"',
        'toRawJson "<>"',
      ),
    },
  },
  schemaChart('many errors', 'must: A1\nport: 70000\nmode: c\nfixed: z\nextra: 1\n'),
  schemaChart('lists and choices', 'must: abc\nalso: null\nlist: [{}]\nany: 1.5\none: abc\nall: {a: 1}\nnot: s\n'),
  schemaChart('conditions', 'must: abc\nalso: x\nwhen: {a: 1}\nsteps: 7\nlist: [{k: 1}, {k: 1}]\n'),
  schemaChart('valid', 'must: abc\nalso: x\nport: 80\nsteps: 10\nany: 3\nlist: [{k: 1}, {k: 2}]\n'),
  { name: 'refused: Kubernetes too old', files: { 'Chart.yaml': chart('main', 'kubeVersion: ">=1.99.0"\n') } },
  {
    name: 'refused: what the author fails',
    files: {
      'Chart.yaml': chart('main'),
      'templates/x.yaml': 'a\n{{ include "y" . }}',
      'templates/_y.tpl': '{{ define "y" }}\n{{ fail "say why" }}{{ end }}',
    },
  },
  {
    name: 'refused: required',
    files: { 'Chart.yaml': chart('main'), 'templates/x.yaml': '{{ required "give a" .Values.a }}' },
  },
  {
    name: 'refused: a template that cannot be read',
    files: { 'Chart.yaml': chart('main'), 'templates/x.yaml': 'a\n{{ if }}' },
  },
  { name: 'refused: an unknown function', files: { 'Chart.yaml': chart('main'), 'templates/x.yaml': '{{ nope . }}' } },
  { name: 'refused: nil', files: { 'Chart.yaml': chart('main'), 'templates/x.yaml': '{{ .Values.a.b }}' } },
  {
    name: 'refused: a field that is not there',
    files: { 'Chart.yaml': chart('main'), 'templates/x.yaml': '{{ .Chart.Nope }}' },
  },
  {
    name: 'refused: a dependency that is missing',
    files: { 'Chart.yaml': chart('main', dependencies('name: gone, version: "1"')) },
  },
  { name: 'refused: no version', files: { 'Chart.yaml': 'apiVersion: v2\nname: main\n' } },
  {
    name: 'refused: two dependencies of one name',
    files: { 'Chart.yaml': chart('main', dependencies('name: a, version: "1"', 'name: a, version: "2"')) },
  },
  { name: 'refused: a library', files: { 'Chart.yaml': chart('main', 'type: library\n') } },
];
