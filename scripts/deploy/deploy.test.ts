import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installation } from '../../src/cli/install/installation.ts';
import { asJson, type JsonObject, type KubeObject, parseYamlDocuments } from '../../src/machinery/index.ts';
import { loadChart, renderChart } from '../../src/template/index.ts';
import { deployFiles } from './files.ts';

const directory = resolve(import.meta.dirname, '../../deploy');
const chart = join(directory, 'chart');

const filesIn = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const titleOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;
const byTitle = (objects: readonly KubeObject[]): Map<string, JsonObject> =>
  new Map(objects.map((object) => [titleOf(object), asJson(object)]));

describe('the files in deploy/', () => {
  it('are exactly what npm run deploy:write generates from the code', () => {
    const files = deployFiles();
    const written = filesIn(chart).map((file) => relative(directory, file));
    expect(written.sort()).toEqual([...files.keys()].filter((path) => path.startsWith('chart/')).sort());
    for (const [path, text] of files) {
      expect(readFileSync(join(directory, path), 'utf8') === text, `deploy/${path} is up to date`).toBe(true);
    }
  });

  it('lists every definition in kinds.yaml, one per document', () => {
    const text = readFileSync(join(chart, 'crds/kinds.yaml'), 'utf8');
    const { kinds } = installation({ replicas: 2 });
    expect(parseYamlDocuments(text).map(({ value }) => value)).toEqual(kinds.map((kind) => asJson(kind)));
  });
});

describe('the Helm chart', () => {
  const render = (values: JsonObject, namespace = 'capstan-system') => {
    const files = new Map(filesIn(chart).map((file) => [relative(chart, file), readFileSync(file)]));
    const loaded = loadChart(files);
    if (!loaded.ok) throw loaded.error;
    return renderChart({ chart: loaded.value, values, release: { name: 'capstan', namespace } });
  };
  const objectsOf = (values: JsonObject): Map<string, JsonObject> => {
    const rendered = render(values);
    if (!rendered.ok) throw rendered.error;
    return byTitle(rendered.value.objects.map(({ object }) => object as KubeObject));
  };

  it('renders the same objects that capstan install applies', () => {
    const { others } = installation({ registry: 'registry.example.org/platform/', replicas: 3 });
    const wanted = byTitle(others.filter(({ kind }) => kind !== 'Namespace'));
    expect(objectsOf({ replicas: 3, image: { registry: 'registry.example.org/platform/' } })).toEqual(wanted);
  });

  it('passes extra arguments, node selector, pull secrets and image tag on to the Pods', () => {
    const deployment = objectsOf({
      extraArgs: ['--watch-filter=ours'],
      nodeSelector: { pool: 'system' },
      imagePullSecrets: [{ name: 'pull' }],
      image: { tag: 'next' },
    }).get('Deployment capstan-controllers');
    const text = JSON.stringify(deployment);
    for (const part of [
      '"--watch-filter=ours"',
      '"nodeSelector":{"pool":"system"}',
      '"imagePullSecrets":[{"name":"pull"}]',
      '"image":"capstan:next"',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('refuses another namespace and unknown values with a readable message', () => {
    const elsewhere = render({}, 'default');
    expect(elsewhere.ok ? '' : elsewhere.error.message).toContain('--namespace capstan-system --create-namespace');
    const unknown = render({ replica: 3 });
    expect(unknown.ok ? '' : unknown.error.message).toMatch(/replica/);
  });
});
