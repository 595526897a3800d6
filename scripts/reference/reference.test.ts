import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { conditionMeanings, kindConditions, notActedOn, ownDefinitions, wellKnownNames } from '../../src/api/index.ts';
import { environmentVariables } from '../../src/cli/environment-variables.ts';
import { errorCodes } from '../../src/machinery/index.ts';
import { eventReasons } from '../../src/runtime/index.ts';
import { fieldsOf } from './fields.ts';
import { referencePages } from './pages.ts';
import { programSources, stringsOf } from './sources.ts';

const directory = resolve(import.meta.dirname, '../../docs/reference');

function writtenPages(): Map<string, string> {
  return new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const file = join(entry.parentPath, entry.name);
        return [relative(directory, file), readFileSync(file, 'utf8')];
      }),
  );
}

/** Files with lists whose entries would count as uses of themselves. */
const lists = [
  'api/conditions.ts',
  'api/not-acted-on.ts',
  'api/well-known.ts',
  'cli/environment-variables.ts',
  'machinery/errors/error-codes.ts',
  'runtime/events/reasons.ts',
];

describe('the reference', () => {
  let sources: Map<string, string>;
  let strings: Set<string>;

  beforeAll(() => {
    sources = programSources(lists);
    strings = new Set([...sources.values()].flatMap(stringsOf));
  });

  it('matches the definitions in the code (npm run docs:reference writes it)', async () => {
    const expected = await referencePages();
    const written = writtenPages();
    expect([...written.keys()].sort()).toEqual([...expected.keys()].sort());
    for (const [path, text] of expected) expect(written.get(path), path).toBe(text);
  });

  it.each(ownDefinitions)(
    'describes every field of $kind in $storageVersion in a sentence',
    ({ versions, storageVersion }) => {
      const { schema } = versions.find(({ name }) => name === storageVersion)!;
      expect(schema.description).toBeTruthy();
      const silent = fieldsOf(schema).filter(
        ({ description, type }) => description === '' && !type.endsWith('of Kubernetes'),
      );
      expect(silent).toEqual([]);
    },
  );

  it('lists no error code that nothing uses', () => {
    expect(Object.keys(errorCodes).filter((code) => !strings.has(code))).toEqual([]);
  });

  it('lists no event reason that nothing records', () => {
    const known = new Set([...strings].map((text) => text.toLowerCase()));
    expect(Object.keys(eventReasons).filter((reason) => !known.has(reason.toLowerCase()))).toEqual([]);
  });

  it('lists every annotation, label and other name of our domains, and no other', () => {
    const domains = [...new Set(ownDefinitions.map(({ group }) => group)), 'capstan.dev', 'clusters.x-k8s.io'];
    const inDomain = (text: string): boolean => {
      const [domain = '', rest = ''] = text.split('/', 2);
      if (rest === '' || !/^[a-z0-9.-]+$/.test(domain) || !/^[\w.*-]+$/.test(text.slice(domain.length + 1)))
        return false;
      return domains.some((known) => domain === known || domain.endsWith(`.${known}`));
    };
    const isApiVersion = (text: string): boolean => /\/(v\d\w*|\*)$/.test(text);
    const used = [...strings].filter((text) => inDomain(text) && !isApiVersion(text));
    expect(used.filter((name) => !wellKnownNames.has(name)).sort()).toEqual([]);
    expect([...wellKnownNames.keys()].filter((name) => !strings.has(name))).toEqual([]);
  });

  it('lists exactly the environment variables that the code reads', () => {
    const used = [...sources].flatMap(([path, source]) => {
      // Simulated programs read the environment of a simulated machine.
      if (/^(simkube|simulator)\//.test(path)) return [];
      return [...source.matchAll(/\benv(?:\["(\w+)"\]|\.(\w+))/g)].map((match) => (match[1] ?? match[2])!);
    });
    used.push(...[...strings].filter((text) => /^CAPSTAN_[A-Z_]+$/.test(text)));
    const ofTestRunner = 'NODE_ENV';
    const unknown = new Set(used.filter((name) => !(name in environmentVariables) && name !== ofTestRunner));
    expect([...unknown]).toEqual([]);
    expect(Object.keys(environmentVariables).filter((name) => !used.includes(name) && !strings.has(name))).toEqual([]);
  });

  it('lists only conditions of kinds that are served', () => {
    const shown = new Set(
      Object.values(kindConditions).flatMap(({ conditions, legacy = [] }) => [...conditions, ...legacy]),
    );
    expect(Object.keys(conditionMeanings).filter((type) => !strings.has(type) || !shown.has(type as never))).toEqual(
      [],
    );
    const resources = ownDefinitions.map(({ plural, group }) => `${plural}.${group}`);
    expect(Object.keys(kindConditions).filter((resource) => !resources.includes(resource))).toEqual([]);
  });

  it('lists kinds without a controller only while they are served', () => {
    const resources = new Map(ownDefinitions.map(({ plural, group, kind }) => [`${plural}.${group}`, kind]));
    // The only one of these kinds that is an ordinary CustomResourceDefinition.
    resources.set('machinepools.cluster.x-k8s.io', 'MachinePool');
    for (const { kind, resource } of notActedOn) expect(resources.get(resource)).toBe(kind);
  });
});
