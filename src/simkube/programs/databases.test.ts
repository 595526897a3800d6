import { afterEach, describe, expect, it } from 'vitest';
import { ConfigMaps } from '../../api/index.ts';
import { parseDataSource } from './databases/source.ts';
import { createProgramLab, type ProgramLab } from './testing/lab.ts';
import { adminOf, apiArgs, apiServerImage, createPlanePki, isServing } from './testing/plane.ts';

let lab: ProgramLab;
afterEach(() => lab?.close());

const kineImage = 'docker.io/rancher/kine:v0.11.10-amd64';
const kineArgs = (schema: string): string[] => [
  `--endpoint=postgres://tenant:secret@db:5432/${schema}`,
  '--listen-address=unix:///uds/kine',
];

describe('kine', () => {
  it('lets an API server in the same Pod keep its objects in a database schema', async () => {
    lab = createProgramLab();
    const pki = await createPlanePki(lab.clock);
    lab.pod('db').start('docker.io/library/postgres:16', []);
    const files = await pki.apiFiles('api-0', 'api-1', 'api-2');
    for (const [name, schema] of Object.entries({ 'api-0': 'one', 'api-1': 'one', 'api-2': 'two' })) {
      const pod = lab.pod(name, files);
      pod.start(kineImage, kineArgs(schema));
      pod.start(apiServerImage, apiArgs('unix:///uds/kine'));
    }
    await lab.until(() => ['api-0', 'api-1', 'api-2'].every((name) => isServing(lab, name)));
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mine', namespace: 'default' } };
    await (await adminOf(lab, pki, 'api-0')).create(ConfigMaps, object, { fieldManager: 'test' });
    const names = async (name: string): Promise<(string | undefined)[]> => {
      const { items } = await (await adminOf(lab, pki, name)).list(ConfigMaps, { namespace: 'default' });
      return items.map(({ metadata }) => metadata.name);
    };
    expect(await names('api-1')).toContain('mine');
    expect(await names('api-2')).not.toContain('mine');
  });

  it('gives up on a database that does not answer and on an unknown one', async () => {
    lab = createProgramLab();
    const pod = lab.pod('api-0');
    const lost = pod.start(kineImage, kineArgs('one'));
    await lab.until(() => lost.exitCode() !== undefined);
    expect(lost.exitCode()).toBe(1);
    expect(pod.lines.at(-1)).toContain('dial tcp db:5432: connect: connection refused');
    const unknown = pod.start(kineImage, ['--endpoint=oracle://db']);
    await lab.until(() => unknown.exitCode() !== undefined);
    expect(unknown.exitCode()).toBe(1);
    expect(pod.lines.at(-1)).toContain('unsupported storage backend');
  });
});

describe('the address of a database', () => {
  it.each([
    ['postgres://u:p@db.example.org:5433/tenant?sslmode=disable', 'postgres', 'db.example.org', 5433, 'tenant'],
    ['postgresql://db/tenant', 'postgres', 'db', 5432, 'tenant'],
    ['mysql://u:p@tcp(db:3307)/tenant', 'mysql', 'db', 3307, 'tenant'],
    ['nats://127.0.0.1:4222?bucket=one', 'nats', '127.0.0.1', 4222, 'one'],
    ['sqlite:///var/lib/k0s/db/state.db', 'sqlite', '', 0, 'kine'],
  ])('is parsed from %s', (text, kind, host, port, schema) => {
    expect(parseDataSource(text)).toEqual({ kind, host, port, schema });
  });
});
