import { readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  CapstanError,
  checkDns1123Label,
  checkDns1123Subdomain,
  errorMessage,
  isJsonObject,
  type JsonObject,
  parseKubernetesVersion,
  parseYaml,
} from '../../machinery/index.ts';
import { substituteVariables } from '../../template/index.ts';
import type { ConnectionOptions } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { type AnswerOptions, answersFor, variablesOf } from '../generate/answers.ts';
import { checkObjects } from '../generate/check-objects.ts';
import { chooseFlavor, type Flavor, templateOf } from '../generate/flavors.ts';
import { builtInTemplate, ownTemplate, type TemplatePlace } from '../generate/template-text.ts';
import { type Answers, configAnswers, derivedFrom, firstOf, kubernetesVersion } from '../generate/variables.ts';
import { addDocuments, type ManifestDocument, type Manifests } from '../manifests/read-manifests.ts';

export interface GenerateOptions
  extends TemplatePlace,
    AnswerOptions,
    Pick<ConnectionOptions, 'kubeconfig' | 'context'> {
  flavor?: string;
  infrastructure?: string;
  targetNamespace?: string;
  kubernetesVersion?: string;
  controlPlaneMachineCount?: string;
  workerMachineCount?: string;
  cloud?: string;
  /** existing Secret with the credentials */
  credentialsSecret?: string;
  config?: string;
  listVariables?: boolean;
  writeTo?: string;
}

/** Prints the manifest of a cluster from a built-in or custom template with values for its variables. */
export async function generateCluster(
  options: GenerateOptions,
  context: CommandContext,
  name: string,
): Promise<number> {
  checkInfrastructure(options.infrastructure);
  refuse(`cluster name "${name}"`, checkDns1123Subdomain(name));
  const { targetNamespace } = options;
  if (targetNamespace !== undefined) {
    refuse(`--target-namespace "${targetNamespace}"`, checkDns1123Label(targetNamespace));
  }
  const given = firstOf([
    flagAnswers(options, name),
    (variable) => context.env[variable],
    configAnswers(await readConfig(options.config, context)),
  ]);
  const own = await ownTemplate(options, connectionOf(options), context);
  const wantedVersion = kubernetesVersion(given('KUBERNETES_VERSION'));
  const flavor = own === undefined ? chooseFlavor(options.flavor, wantedVersion) : undefined;
  const template =
    own ?? (await builtIn(flavor, { wantedVersion, withCredentials: options.credentialsSecret === undefined }));
  if (options.listVariables) {
    context.stdout(renderVariables(variablesOf(template)));
    return 0;
  }
  const answers = await answersFor(template, { given, flavor, options, context });
  const text = filledIn(template, answers);
  const documents = documentsIn(text);
  // own templates may be for other programs
  if (flavor) await checkObjects(documents, context.signal);
  if (options.writeTo === undefined) context.stdout(text);
  else await writeFile(options.writeTo, text, { mode: 0o600 });
  return 0;
}

const connectionOf = ({ kubeconfig, context }: GenerateOptions): ConnectionOptions => ({
  ...(kubeconfig !== undefined && { kubeconfig }),
  ...(context !== undefined && { context }),
});

function checkInfrastructure(infrastructure = 'openstack'): void {
  if (infrastructure.split(':')[0] === 'openstack') return;
  throw new CapstanError('CAP_USAGE', `--infrastructure: there are no templates for ${infrastructure}`, {
    hint: 'Capstan creates clusters on openstack; use --from for your own template',
  });
}

function flagAnswers(options: GenerateOptions, name: string): Answers {
  const flags: Readonly<Record<string, string | undefined>> = {
    CLUSTER_NAME: name,
    NAMESPACE: options.targetNamespace,
    KUBERNETES_VERSION: versionOf(options.kubernetesVersion),
    CONTROL_PLANE_MACHINE_COUNT: count(options.controlPlaneMachineCount, '--control-plane-machine-count'),
    WORKER_MACHINE_COUNT: count(options.workerMachineCount, '--worker-machine-count'),
    OPENSTACK_CLOUD: options.cloud,
    OPENSTACK_CLOUD_CONFIG_SECRET: options.credentialsSecret,
  };
  return (variable) => (Object.hasOwn(flags, variable) ? flags[variable] : undefined);
}

function refuse(what: string, [problem]: readonly string[]): void {
  if (problem !== undefined) throw new CapstanError('CAP_USAGE', `${what}: ${problem}`);
}

function versionOf(text: string | undefined): string | undefined {
  const version = kubernetesVersion(text);
  if (version === undefined || parseKubernetesVersion(version)) return version;
  throw new CapstanError('CAP_USAGE', `--kubernetes-version: "${text}" is no version of Kubernetes`, {
    hint: 'say all three numbers, such as v1.34.2',
  });
}

function count(text: string | undefined, flag: string): string | undefined {
  if (text === undefined || /^\d{1,5}$/.test(text)) return text;
  throw new CapstanError('CAP_USAGE', `${flag}: "${text}" is not a number of machines`, { hint: 'use 0, 1, 2, …' });
}

/** Reads clusterctl's configuration file: the given one or clusterctl's default. */
async function readConfig(file: string | undefined, context: CommandContext): Promise<JsonObject> {
  const base = context.env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  const usual = [join(base, 'cluster-api', 'clusterctl.yaml'), join(homedir(), '.cluster-api', 'clusterctl.yaml')];
  for (const path of file === undefined ? usual : [resolve(file)]) {
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (cause) {
      if (file === undefined) continue;
      throw new CapstanError('CAP_USAGE', `--config: ${path} cannot be read: ${errorMessage(cause)}`, { cause });
    }
    const { value } = parseYaml(text);
    if (isJsonObject(value)) return value;
    throw new CapstanError('CAP_TEMPLATE', `${path} is not a map of variables`, {
      hint: 'write NAME: value, one per line',
    });
  }
  return {};
}

async function builtIn(
  flavor: Flavor | undefined,
  { wantedVersion, withCredentials }: { wantedVersion: string | undefined; withCredentials: boolean },
): Promise<string> {
  const parts = [
    ...(withCredentials ? ['credentials.yaml'] : []),
    ...(flavor ? [templateOf(flavor, wantedVersion)] : []),
  ];
  return (await Promise.all(parts.map(builtInTemplate))).join('---\n');
}

function filledIn(template: string, answers: Answers): string {
  const result = substituteVariables(template, answers);
  if (result.ok) return result.value;
  throw new CapstanError('CAP_TEMPLATE', `the template cannot be filled in: ${result.error.message}`);
}

/** Substituted variables must not have broken the YAML. */
function documentsIn(text: string): ManifestDocument[] {
  const manifests: Manifests = { documents: [], problems: [] };
  addDocuments(text, 'line', manifests);
  const [problem] = manifests.problems;
  if (problem === undefined) return manifests.documents;
  throw new CapstanError('CAP_TEMPLATE', `the result is not a manifest: ${problem.origin}: ${problem.message}`, {
    hint: 'check the template, and the values for quotes and line ends',
  });
}

/** Prints variables like clusterctl; derived variables need no value. */
function renderVariables(variables: ReadonlyMap<string, string | undefined>): string {
  const rows = [...variables].map(([name, fallback]) => {
    const source = derivedFrom[name];
    if (fallback !== undefined) return { name, remark: `(defaults to ${fallback})` };
    return { name, remark: source === undefined ? undefined : `(follows from ${source})` };
  });
  const asked = new Set(rows.map(({ name }) => derivedFrom[name] ?? name));
  const required = [...asked].filter((name) => variables.get(name) === undefined).sort();
  const optional = rows.filter(({ remark }) => remark !== undefined);
  const width = Math.max(0, ...optional.map(({ name }) => name.length));
  return [
    'Required Variables:',
    ...required.map((name) => `  - ${name}`),
    '',
    'Optional Variables:',
    ...optional.map(({ name, remark }) => `  - ${name.padEnd(width)}  ${remark}`),
    '',
  ].join('\n');
}
