import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeOutcome, isInstalled, runProcess, startProcess } from '../../support/process.ts';
import { cacheDirectory, MissingPrerequisite } from '../go-build.ts';
import type { Client, Scenario, Stage } from './client.ts';
import { expectThat, succeed } from './run.ts';

const packages = ['kubernetes==37.0.2', 'kopf==1.45.2'];
const script = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url));

/** Creates a virtual environment with the packages of both clients. */
async function findOrMakePython(say: (line: string) => void): Promise<string> {
  const directory = join(cacheDirectory(process.env), `python-clients-${packages.join('-').replaceAll('=', '')}`);
  const python = join(directory, 'bin', 'python');
  const done = join(directory, 'bin', 'kopf');
  const isThere = await access(done).then(
    () => true,
    () => false,
  );
  if (isThere) return python;
  if (!(await isInstalled('python3', '--version'))) throw new MissingPrerequisite('python3 is not installed');
  say(`installing ${packages.join(' and ')}`);
  await mkdir(directory, { recursive: true });
  for (const [program, ...args] of [
    ['python3', '-m', 'venv', directory],
    [python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages],
  ] as const) {
    const outcome = await runProcess(program, args);
    if (outcome.code !== 0) throw new MissingPrerequisite(`no ${packages.join(', ')}: ${describeOutcome(outcome)}`);
  }
  return python;
}

/** Each scenario is a function of the script, which fails with an assertion. */
export const pythonClient: Client = {
  name: 'python kubernetes',
  needs: 'pods',
  async prepare(say) {
    const python = await findOrMakePython(say);
    const names = {
      create_and_read: 'objects are made, read, listed in pages and refused with the words of the API',
      patch: 'objects are patched in every way, and a conflict is a conflict',
      watch: 'a watch tells of what is made, changed and deleted, and continues where it was',
      logs_and_exec: 'a Pod is run, its log is followed, a command is executed in it',
      dynamic: 'custom resources are used by the dynamic client, with server-side apply',
      informal: 'who am I, what may I do, and what is served',
      cleanup: 'everything is deleted, and the watch of it ends',
    };
    return ({ capstan, directory }) =>
      Object.entries(names).map(([name, words]) => ({
        name: words,
        run: async () => {
          await succeed(python, [script('python-scenarios.py'), name], {
            KUBECONFIG: capstan.kubeconfig,
            HOME: directory,
          });
        },
      }));
  },
};

/** A small operator. */
export const kopf: Client = {
  name: 'kopf',
  needs: 'pods',
  async prepare(say) {
    const python = await findOrMakePython(say);
    return (stage) => kopfScenarios(python, stage);
  },
};

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gardens.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gardens, singular: garden, kind: Garden}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {trees: {type: integer}}}
            status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`;

function kopfScenarios(python: string, { capstan, directory, kubectl }: Stage): Scenario[] {
  const env = { PATH: process.env['PATH'] ?? '', KUBECONFIG: capstan.kubeconfig, HOME: directory };
  let operator: ReturnType<typeof startProcess> | undefined;
  const garden = (trees: number): string =>
    JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Garden', metadata: { name: 'g' }, spec: { trees } });
  const apply = async (text: string): Promise<void> => {
    const args = ['--kubeconfig', capstan.kubeconfig, 'apply', '-f', '-'];
    const outcome = await runProcess(process.env['CAPSTAN_KUBECTL'] || 'kubectl', args, { env, input: text });
    expectThat(outcome.code === 0, 'success', describeOutcome(outcome));
  };
  const waitFor = (path: string, value: string): Promise<string> =>
    kubectl('wait', 'garden', 'g', `--for=jsonpath={${path}}=${value}`, '--timeout=60s');
  return [
    {
      name: 'an operator starts and makes what a new object asks for',
      async run() {
        await apply(definition);
        await kubectl('wait', 'crd', 'gardens.example.com', '--for=condition=Established', '--timeout=30s');
        const args = ['-m', 'kopf', 'run', script('kopf-operator.py'), '--namespace', 'default', '--verbose'];
        operator = startProcess(python, args, { env });
        await apply(garden(2));
        await waitFor('.status.planted', '2');
        const trees = await kubectl('get', 'configmap', 'g-trees', '-o', 'jsonpath={.data.trees}');
        expectThat(trees === '2', '2 trees', trees);
      },
    },
    {
      name: 'it holds the object by a finalizer and owns what it made',
      async run() {
        const held = await kubectl('get', 'garden', 'g', '-o', 'jsonpath={.metadata.finalizers}');
        expectThat(held.includes('kopf'), 'a finalizer of kopf', held);
        const owner = await kubectl(
          'get',
          'configmap',
          'g-trees',
          '-o',
          'jsonpath={.metadata.ownerReferences[0].kind}',
        );
        expectThat(owner === 'Garden', 'a Garden', owner);
      },
    },
    {
      name: 'it follows a change',
      async run() {
        await apply(garden(5));
        await waitFor('.status.planted', '5');
      },
    },
    {
      name: 'it is told of the deletion, acts, and lets the object go',
      async run() {
        await kubectl('delete', 'garden', 'g', '--timeout=60s');
        const felled = await kubectl('get', 'configmap', 'felled', '-o', 'jsonpath={.data.garden}');
        expectThat(felled === 'g', 'g', felled);
        await kubectl('wait', 'configmap', 'g-trees', '--for=delete', '--timeout=60s');
      },
    },
    {
      name: 'it ends when it is asked to',
      async run() {
        const outcome = await operator!.stop('SIGINT');
        expectThat(!/Traceback/.test(outcome.stderr), 'no traceback', outcome.stderr);
      },
    },
  ];
}
