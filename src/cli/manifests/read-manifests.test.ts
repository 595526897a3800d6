import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { creationOrder } from './order.ts';
import { addDocuments, type Manifests, readManifests } from './read-manifests.ts';

const configMap = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
const names = ({ documents }: Manifests): unknown[] => documents.map(({ object }) => object.metadata['name']);
const read = (text: string): Manifests => {
  const manifests: Manifests = { documents: [], problems: [] };
  addDocuments(text, 'a.yaml', manifests);
  return manifests;
};

describe('the files of -f', () => {
  let directory: string;
  const noInput = async (): Promise<string> => '';

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'capstan-manifests-'));
    await mkdir(join(directory, 'below'));
    await writeFile(join(directory, 'b.yaml'), `${configMap('b1')}---\n${configMap('b2')}`);
    await writeFile(join(directory, 'a.json'), '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}');
    await writeFile(join(directory, 'README.md'), 'not a manifest');
    await writeFile(join(directory, 'below', 'c.yml'), configMap('c'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('are read in the order of their names when -f names a directory', async () => {
    expect(names(await readManifests([directory], { recursive: false, readInput: noInput }))).toEqual([
      'a',
      'b1',
      'b2',
    ]);
  });

  it('are read from subdirectories only when recursive', async () => {
    const all = await readManifests([directory], { recursive: true, readInput: noInput });
    expect(names(all)).toEqual(['a', 'b1', 'b2', 'c']);
  });

  it('are read in the given order, standard input among them', async () => {
    const files = [join(directory, 'b.yaml'), '-', join(directory, 'a.json')];
    const all = await readManifests(files, { recursive: false, readInput: async () => configMap('typed') });
    expect(names(all)).toEqual(['b1', 'b2', 'typed', 'a']);
    expect(all.documents.map(({ origin }) => origin.split('/').at(-1))).toEqual([
      'b.yaml:1',
      'b.yaml:5',
      'standard input:1',
      'a.json:1',
    ]);
  });

  it.each([
    ['a file that is not there', 'nothing.yaml', /cannot be read: ENOENT/],
    ['a directory without manifests', 'empty', /contains no file that ends in/],
  ])('are refused for %s', async (_what, name, message) => {
    await mkdir(join(directory, 'empty'));
    await expect(readManifests([join(directory, name)], { recursive: false, readInput: noInput })).rejects.toThrow(
      message,
    );
  });
});

describe('a manifest', () => {
  it('may be a list of any list kind', () => {
    const list =
      '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}]}';
    expect(names(read(list))).toEqual(['a']);
    expect(names(read(list.replace('"List"', '"ConfigMapList"')))).toEqual(['a']);
  });

  it.each([
    ['just text', 'this is not an object'],
    ['metadata: {name: a}', 'kind is missing'],
    ['kind: ConfigMap', 'ConfigMap: apiVersion is missing'],
    ['{apiVersion: v1, kind: ConfigMap}', 'ConfigMap: metadata is missing'],
    ['{apiVersion: v1, kind: ConfigMap, metadata: {}}', 'ConfigMap: metadata.name is missing'],
    [
      '{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-}}',
      'ConfigMap: metadata.generateName cannot be applied, every apply would make another object',
    ],
    ['apiVersion: v1\nkind: ConfigMap\nkind: Secret\nmetadata: {name: a}', 'kind is given more than once'],
  ])('%j is reported as a problem while other documents are still read', (text, message) => {
    const { documents, problems } = read(`${configMap('good')}---\n${text}\n`);
    expect(documents).toHaveLength(1);
    expect(problems).toEqual([{ origin: 'a.yaml:5', message }]);
  });

  it('is reported with its line when it is not YAML', () => {
    const { problems } = read('a: b: c\n');
    expect(problems).toEqual([{ origin: 'a.yaml', message: expect.stringMatching(/^yaml: line 1: /) }]);
  });
});

describe('the order of creation', () => {
  it('puts prerequisites first and keeps the other objects in their order', () => {
    const kinds = ['Machine', 'Secret', 'Cluster', 'Namespace', 'ConfigMap', 'CustomResourceDefinition'];
    const { documents } = read(
      kinds.map((kind) => `{apiVersion: v1, kind: ${kind}, metadata: {name: a}}`).join('\n---\n'),
    );
    expect(creationOrder(documents).map(({ object }) => object.kind)).toEqual([
      'Namespace',
      'CustomResourceDefinition',
      'Secret',
      'ConfigMap',
      'Machine',
      'Cluster',
    ]);
  });
});
