import { CapstanError, errorMessage } from '../../machinery/index.ts';
import { type Clouds, connect } from '../../openstack/index.ts';
import { listVariables } from '../../template/index.ts';
import { builtInAppVersion } from '../built-in-charts.ts';
import type { CommandContext } from '../context.ts';
import { cloudVariables } from '../env/cloud-variables.ts';
import { readClouds, readEntry } from '../env/read-cloud.ts';
import { askCloud, type Offer } from './cloud-answers.ts';
import type { Flavor } from './flavors.ts';
import { type Answers, derivedAnswers, derivedFrom, firstOf, isId, kubernetesVersion } from './variables.ts';

export interface AnswerOptions {
  cloudsYaml?: string;
  /** false with `--no-ask-cloud` */
  askCloud: boolean;
}

/** Returns the variables of a template with their defaults. */
export function variablesOf(template: string): ReadonlyMap<string, string | undefined> {
  const variables = listVariables(template);
  if (variables.ok) return variables.value;
  throw new CapstanError('CAP_TEMPLATE', `the template cannot be read: ${variables.error.message}`, {
    hint: `variables are written \${NAME} or \${NAME:=default}; $$ is one dollar`,
  });
}

export interface Question {
  /** answers of the user: flags, environment, file */
  readonly given: Answers;
  readonly flavor: Flavor | undefined;
  readonly options: AnswerOptions;
  readonly context: CommandContext;
}

/** Combines all sources in order. The cloud is queried only for variables without other answer. */
export async function answersFor(template: string, { given, flavor, options, context }: Question): Promise<Answers> {
  const clouds = await readClouds(context, options.cloudsYaml);
  const cloud = given('OPENSTACK_CLOUD') ?? given('CAPO_CLOUD') ?? clouds.defaultName;
  const hasCredentials = given('OPENSTACK_CLOUD_YAML_B64') !== undefined;
  const fromFile =
    cloud === undefined ? new Map() : await cloudEntry(clouds, cloud, { flavor, context, hasCredentials });
  const known: Answers = firstOf([
    (variable) => (variable === 'KUBERNETES_VERSION' ? kubernetesVersion(given(variable)) : given(variable)),
    (variable) => flavor?.presets[variable],
    (variable) => fromFile.get(variable),
    (variable) => (variable === 'NAMESPACE' ? 'default' : undefined),
  ]);
  const offers = new Map<string, Offer>();
  const offered: Answers = (variable) => {
    const offer = offers.get(variable);
    return offer && 'value' in offer ? offer.value : undefined;
  };
  const basic = firstOf([known, offered]);
  const all = firstOf([basic, derivedAnswers(basic, { cloudControllerVersion })]);
  const missing = (): string[] =>
    [...variablesOf(template)]
      .filter(([name, fallback]) => fallback === undefined && all(name) === undefined)
      .map(([name]) => name);
  const open = new Set(missing().map((name) => derivedFrom[name] ?? name));
  let refusal: string | undefined;
  const network = networkToFind(template, known, flavor);
  if (network !== undefined) open.add(networkIdVariable);
  if (options.askCloud && clouds.names.length > 0 && open.size > 0) {
    try {
      await ask(clouds, { cloud, open, flavor, version: known('KUBERNETES_VERSION'), network, context, offers });
    } catch (error) {
      refusal = errorMessage(error);
    }
  }
  const still = missing();
  const found = offered(networkIdVariable);
  if (network !== undefined && found === undefined) {
    // the name is no answer here
    const unnamed = (variable: string): string | undefined =>
      variable === networkIdVariable ? undefined : basic(variable);
    throw missingVariables([...still, networkIdVariable], unnamed, offers, refusal);
  }
  if (still.length > 0) throw missingVariables(still, basic, offers, refusal);
  return network === undefined ? all : (variable) => (variable === networkIdVariable ? found : all(variable));
}

const networkIdVariable = 'OPENSTACK_EXTERNAL_NETWORK_ID';

/** Returns the name of the external network if the template needs its id. */
function networkToFind(template: string, known: Answers, flavor: Flavor | undefined): string | undefined {
  const network = known(networkIdVariable);
  if (network === undefined || isId(network) || flavor?.namesNetworks === true) return undefined;
  return variablesOf(template).has(networkIdVariable) ? network : undefined;
}

async function cloudEntry(
  clouds: Clouds,
  cloud: string,
  { flavor, context, hasCredentials }: { flavor: Flavor | undefined; context: CommandContext; hasCredentials: boolean },
): Promise<Map<string, string>> {
  // Settings in OS_* variables are no clouds.yaml entry that could go into a Secret.
  if (clouds.file === undefined || (!clouds.names.includes(cloud) && hasCredentials))
    return new Map([['OPENSTACK_CLOUD', cloud]]);
  const { entry, ca } = await readEntry(clouds, cloud);
  const atNodes =
    ca !== undefined && flavor?.authorityFile !== undefined ? { ...entry, cacert: flavor.authorityFile } : entry;
  return new Map(cloudVariables({ cloud, entry: atNodes, ca, password: context.env['OS_PASSWORD'] }));
}

async function ask(
  clouds: Clouds,
  question: {
    cloud: string | undefined;
    open: Set<string>;
    flavor: Flavor | undefined;
    version: string | undefined;
    network: string | undefined;
    context: CommandContext;
    offers: Map<string, Offer>;
  },
): Promise<void> {
  const { context, flavor, version: known, open, offers } = question;
  const cloud = connect(await clouds.cloud(question.cloud), { env: context.env });
  try {
    const found = await askCloud(
      cloud,
      { variables: open, image: flavor?.image ?? 'kubernetes', kubernetesVersion: known, network: question.network },
      context.signal,
    );
    for (const [name, offer] of found) offers.set(name, offer);
  } finally {
    await cloud.close();
  }
}

/** Returns the cloud controller version for a minor release, or the newest one. */
function cloudControllerVersion(minor: string): string | undefined {
  return builtInAppVersion('openstack-cloud-controller-manager', `2.${minor.split('.')[1] ?? ''}.`);
}

function missingVariables(
  names: readonly string[],
  known: Answers,
  offers: ReadonlyMap<string, Offer>,
  refusal: string | undefined,
): CapstanError {
  // a derived variable is missing only if the variable it derives from is known
  const wanted = [
    ...new Set(names.map((name) => (known(derivedFrom[name] ?? name) ? name : (derivedFrom[name] ?? name)))),
  ];
  const lines = wanted.map((name) => {
    const source = derivedFrom[name];
    if (source !== undefined) return `${name} (nothing is known for ${source} ${known(source)})`;
    const offer = offers.get(name);
    if (!offer || !('choose' in offer)) return name;
    return `${name} (the cloud has ${offer.choose.length === 0 ? 'none that fits' : offer.choose.slice(0, 12).join(', ')})`;
  });
  const asked = refusal === undefined ? '' : `; the cloud could not be asked: ${refusal}`;
  return new CapstanError('CAP_TEMPLATE', `variables are not set: ${lines.join('; ')}${asked}`, {
    hint: 'set them in the environment or in --config, or use --cloud NAME of clouds.yaml to read them from the cloud; --list-variables shows all',
  });
}
