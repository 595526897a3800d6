import { join, resolve } from 'node:path';
import { type Artifacts, type Credentials, createArtifacts } from '../artifacts/index.ts';
import {
  builtInSource,
  directorySource,
  type FetchChart,
  type ReleaseSource,
  registrySource,
  releasePageSource,
} from '../controllers/index.ts';
import { CapstanError, type Clock } from '../machinery/index.ts';
import { builtInChart } from './built-in-charts.ts';
import { installedFolder } from './installed-folder.ts';

export interface StackSourcesOptions {
  env: NodeJS.ProcessEnv;
  clock: Clock;
  /** cache directory of downloads */
  cache: string;
}

/**
 * Parses `--stacks-source`: the sources of cluster stack releases in order. Only the operator chooses them; objects
 * cannot name a source.
 */
export function stackSourcesOf(
  given: readonly string[] = ['built-in'],
  { env, clock, cache }: StackSourcesOptions,
): { sources: ReleaseSource[]; close(): Promise<void> } {
  let opened: Artifacts | undefined;
  const artifacts = (): Artifacts => {
    opened ??= createArtifacts({ cache: { directory: join(cache, 'artifacts') }, clock });
    return opened;
  };
  const chart: FetchChart = async ({ name, version, repository }, signal) =>
    (await artifacts().chart({ repository, chart: name, version, signal })).files;
  const registry = (url: string): ReleaseSource =>
    registrySource(url, artifacts().registry(url, registryCredentials(env)), chart);
  const page = (url: string): ReleaseSource => {
    const token = env['GIT_ACCESS_TOKEN'];
    return releasePageSource({ url, artifacts: artifacts(), chart, ...(token && { credentials: { token } }) });
  };
  const sources = given.map((text) => {
    if (text === 'built-in') return builtIn();
    if (text === 'oci') return registry(registryUrl(env));
    if (text === 'github') return page(pageUrl(env));
    if (text.startsWith('oci://')) return registry(text);
    if (/^https?:\/\//.test(text)) return page(text);
    if (/^[a-z]+:\/\//.test(text)) throw usage(`${text} is no source`);
    return directorySource(resolve(text), chart);
  });
  return { sources, close: async () => opened?.close() };
}

/** Reads the variables of the stack operator: a registry, and a repository with or without the registry. */
function registryUrl(env: NodeJS.ProcessEnv): string {
  const repository = needed(env['OCI_REPOSITORY'], 'oci needs the variable OCI_REPOSITORY').replace(/^oci:\/\//, '');
  const host = env['OCI_REGISTRY'] ?? '';
  const isWhole = host === '' || repository.startsWith(`${host.replace(/^https?:\/\//, '')}/`);
  const scheme = host.startsWith('http://') ? 'http' : 'oci';
  const bare = host.replace(/^(?:https?|oci):\/\//, '');
  return `${scheme}://${isWhole ? repository : `${bare}/${repository}`}`;
}

function registryCredentials(env: NodeJS.ProcessEnv): Credentials | undefined {
  const token = env['OCI_ACCESS_TOKEN'];
  const username = env['OCI_USERNAME'];
  const password = env['OCI_PASSWORD'];
  if (token) return { token };
  return username && password ? { username, password } : undefined;
}

function pageUrl(env: NodeJS.ProcessEnv): string {
  const provider = env['GIT_PROVIDER'] ?? 'github';
  if (provider !== 'github') throw usage(`GIT_PROVIDER is ${provider}, and can be github only`);
  const organization = needed(env['GIT_ORG_NAME'], 'github needs the variable GIT_ORG_NAME');
  const repository = needed(env['GIT_REPOSITORY_NAME'], 'github needs the variable GIT_REPOSITORY_NAME');
  return `https://github.com/${organization}/${repository}`;
}

function needed(value: string | undefined, problem: string): string {
  if (!value) throw usage(problem);
  return value;
}

function builtIn(): ReleaseSource {
  const folder = installedFolder('stacks', 'openstack');
  if (folder === undefined) {
    throw new CapstanError('CAP_STACK_SOURCE', 'the cluster stacks are missing in the installation of Capstan', {
      hint: 'reinstall Capstan, or use a clone of its repository',
    });
  }
  return builtInSource(resolve(folder, '..'), async ({ name, version }) => builtInChart(name, version));
}

function usage(problem: string): CapstanError {
  return new CapstanError('CAP_USAGE', `--stacks-source: ${problem}`, {
    hint: 'write built-in, a directory, oci://HOST/REPOSITORY or https://HOST/ORGANIZATION/REPOSITORY',
  });
}
