import { parseAllDocuments, stringify } from 'yaml';
import { builtinDefinitions } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import {
  asTyped,
  errorMessage,
  isJsonObject,
  isNotFound,
  type KubeObject,
  must,
  parseApiVersion,
  type Resource,
  type ResourceDefinition,
  trimTrailing,
} from '../../machinery/index.ts';
import type { WorkloadCluster } from '../cluster/workload-cluster.ts';
import type { ProcessFiles, SimulatedProgram } from '../process.ts';
import { kubeconfigWay } from './components/api-client.ts';
import { program } from './running.ts';

/** Environment of `kubectl`: a machine or a container. */
export interface KubectlPlace {
  readonly files: Pick<ProcessFiles, 'read' | 'list'>;
  readonly env: Readonly<Record<string, string>>;
  /** standard input for `-f -` */
  readonly input: string;
  out(line: string): void;
  /** connects to the API of a kubeconfig as its user; throws if it is unreachable */
  connect(kubeconfig: string): { readonly client: Client; readonly cluster?: WorkloadCluster | undefined };
}

const fieldManager = 'kubectl-client-side-apply';

/**
 * The subset of kubectl that node scripts and add-on Jobs use: `apply -f`, and `create secret generic` as input for it.
 */
export async function kubectl(args: readonly string[], place: KubectlPlace): Promise<number> {
  const { words, values } = parse(args);
  const [verb, ...rest] = words;
  try {
    if (verb === 'create') {
      place.out(stringify(newSecret(rest, values, place)).trimEnd());
      return 0;
    }
    if (verb !== 'apply') throw new Error(`kubectl ${verb ?? ''} is not simulated; kubectl apply -f is`);
    const objects = readObjects(values.get('filename') ?? [], place);
    const path = values.get('kubeconfig')?.at(-1) ?? place.env['KUBECONFIG'] ?? '/root/.kube/config';
    const { client, cluster } = place.connect(path);
    const namespace = values.get('namespace')?.at(-1) ?? 'default';
    for (const object of objects) place.out(await applyObject(client, cluster, object, namespace));
    return 0;
  } catch (error) {
    place.out(`error: ${errorMessage(error)}`);
    return 1;
  }
}

/** Builds the output of `create secret generic NAME --from-file=… --dry-run=client -o yaml`. */
function newSecret(words: readonly string[], values: ReadonlyMap<string, string[]>, { files }: KubectlPlace): object {
  const [kind, type, name] = words;
  if (kind !== 'secret' || type !== 'generic' || name === undefined || values.get('dry-run')?.at(-1) !== 'client') {
    throw new Error('of kubectl create only "secret generic NAME --dry-run=client --output yaml" is simulated');
  }
  const data: Record<string, string> = {};
  for (const given of values.get('from-file') ?? []) {
    const mark = given.indexOf('=');
    const path = given.slice(mark + 1);
    const content = files.read(path);
    if (content === undefined) throw new Error(`error reading ${path}: no such file or directory`);
    data[mark > 0 ? given.slice(0, mark) : (path.split('/').at(-1) ?? path)] = Buffer.from(content).toString('base64');
  }
  for (const given of values.get('from-literal') ?? []) {
    const mark = given.indexOf('=');
    data[given.slice(0, mark)] = Buffer.from(given.slice(mark + 1)).toString('base64');
  }
  const namespace = values.get('namespace')?.at(-1);
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, ...(namespace && { namespace }) }, data };
}

const shortNames: Readonly<Record<string, string>> = { f: 'filename', n: 'namespace', k: 'kustomize', o: 'output' };
const switches: ReadonlySet<string> = new Set(['server-side', 'force-conflicts', 'force', 'recursive', 'R', 'wait']);

function parse(args: readonly string[]): { words: string[]; values: ReadonlyMap<string, string[]> } {
  const words: string[] = [];
  const values = new Map<string, string[]>();
  for (let i = 0; i < args.length; i++) {
    const arg = must(args[i], 'args[i]');
    if (!arg.startsWith('-') || arg === '-') {
      words.push(arg);
      continue;
    }
    const [given = '', ...rest] = arg.replace(/^--?/, '').split('=');
    const isJoined = !arg.startsWith('--') && given.length > 1 && shortNames[given.charAt(0)] !== undefined;
    const name = isJoined ? must(shortNames[given.charAt(0)], 'shortNames[given[0]]') : (shortNames[given] ?? given);
    const value = isJoined
      ? [given.slice(1), ...rest].join('=')
      : rest.length > 0
        ? rest.join('=')
        : switches.has(name)
          ? 'true'
          : (args[++i] ?? '');
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return { words, values };
}

/** Reads the objects of files, of all files in a directory, or of standard input. */
function readObjects(names: readonly string[], { files, input }: KubectlPlace): KubeObject[] {
  if (names.length === 0) throw new Error('must specify one of -f and -k');
  const objects: KubeObject[] = [];
  for (const name of names.flatMap((value) => value.split(','))) {
    if (/^https?:\/\//.test(name)) {
      const host = URL.canParse(name) ? new URL(name).hostname : name;
      throw new Error(`unable to read URL "${name}": dial tcp: lookup ${host}: no such host`);
    }
    const below = files.list(`${trimTrailing(name, '/')}/`).filter((path) => /\.(?:ya?ml|json)$/.test(path));
    // A mounted ConfigMap has hidden directories besides its files.
    const paths = below.filter((path) => !path.includes('/..'));
    const texts =
      name === '-' ? [input] : paths.length > 0 ? paths.map((path) => files.read(path)) : [files.read(name)];
    for (const text of texts) {
      if (text === undefined) throw new Error(`the path "${name}" does not exist`);
      objects.push(...documents(text));
    }
  }
  return objects;
}

function documents(text: string): KubeObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [problem] = document.errors;
    if (problem) throw new Error(`error parsing YAML: ${problem.message.split('\n')[0]}`);
    const object: unknown = document.toJS();
    if (!isJsonObject(object)) return [];
    if (object['kind'] === 'List') return asTyped<KubeObject[]>(object['items'] ?? []);
    return [asTyped<KubeObject>(object)];
  });
}

async function applyObject(
  client: Client,
  cluster: WorkloadCluster | undefined,
  object: KubeObject,
  usualNamespace: string,
): Promise<string> {
  const { apiVersion = '', kind = '' } = object;
  const served = cluster ? [...cluster.server.registry.all()].map(({ definition }) => definition) : builtinDefinitions;
  const resource = resourceOf(served, apiVersion, kind);
  if (!resource) throw new Error(`no matches for kind "${kind}" in version "${apiVersion}"`);
  const namespace = object.metadata?.namespace ?? usualNamespace;
  const wanted = resource.namespaced ? { ...object, metadata: { ...object.metadata, namespace } } : object;
  const name = object.metadata?.name ?? '';
  const key = resource.namespaced ? { namespace, name } : { name };
  const before = await client.get(resource, key).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return undefined;
  });
  const after = await client.apply(resource, wanted, { fieldManager, force: true });
  const isSame = before?.metadata.resourceVersion === after.metadata.resourceVersion;
  const what = before === undefined ? 'created' : isSame ? 'unchanged' : 'configured';
  return `${kind.toLowerCase()}${resource.group === '' ? '' : `.${resource.group}`}/${name} ${what}`;
}

function resourceOf(
  definitions: Iterable<ResourceDefinition>,
  apiVersion: string,
  kind: string,
): Resource<KubeObject> | undefined {
  const { group, version } = parseApiVersion(apiVersion);
  for (const definition of definitions) {
    if (definition.group !== group || definition.kind !== kind) continue;
    if (!definition.versions.some(({ name, served }) => served && name === version)) return undefined;
    return { group, version, kind, plural: definition.plural, namespaced: definition.namespaced };
  }
  return undefined;
}

/** kubectl in a container. */
export const kubectlProgram = (): SimulatedProgram =>
  program(async (process) => {
    let input = '';
    // Does not wait for manifests typed at a terminal.
    if (process.input && !process.screen && process.argv.includes('-')) {
      for await (const text of process.input) input += text;
    }
    return kubectl(process.argv.slice(1), {
      files: process.files,
      env: process.env,
      input,
      out: (line) => process.log(line),
      connect: (kubeconfig) => kubeconfigWay(process, kubeconfig)(),
    });
  });
