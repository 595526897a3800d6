import { resolve } from 'node:path';
import {
  type LatticeBootstrap,
  type LatticeCluster,
  LatticeClusters,
  type LatticeSettings,
  latticeSettings,
  Namespaces,
  type Secret,
  Secrets,
} from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { accessName, accessNamespace, imageAnnotation } from '../../controllers/index.ts';
import { asJson, asTyped, CapstanError, formatYaml, isAlreadyExists } from '../../machinery/index.ts';
import { privateFileMode, writeFileAtomic } from '../../pki/index.ts';
import type { CommandContext } from '../context.ts';
import { parseTimeout } from '../deadline.ts';
import { follow, withBootstrap } from '../lattice/bootstrap.ts';
import { checkedCluster } from '../lattice/checked-cluster.ts';
import { credentialsFrom } from '../lattice/credentials.ts';
import { credentialsOfEnvironment } from '../lattice/environment-credentials.ts';
import { registrySecrets } from '../lattice/registry-credentials.ts';
import { readManifests } from '../manifests/read-manifests.ts';

export interface LatticeInstallOptions {
  filename?: string;
  /** aliases of the file option */
  cluster?: string;
  config?: string;
  cloudsYaml?: string;
  image?: string;
  registryCredentialsFile?: string;
  bootstrap?: LatticeBootstrap;
  dryRun?: boolean;
  kubeconfigOut?: string;
  timeout: string;
}

const by = { fieldManager: 'capstan', force: true };

/** Creates the first self-managed cluster; this program acts as its parent meanwhile. */
export async function latticeInstall(options: LatticeInstallOptions, context: CommandContext): Promise<number> {
  const timeoutMs = parseTimeout(options.timeout);
  const { cluster, settings, secrets } = await readCluster(options, context);
  const credentials = await chooseCredentials(options, context, { settings, secrets });
  const registry = await registrySecrets(options.registryCredentialsFile);
  const { name = '' } = cluster.metadata;
  if (options.dryRun) {
    context.stdout(formatYaml(asJson(await checkedCluster(cluster, context))));
    context.stderr('nothing was made; `capstan plan -f` says what would be in the cloud\n');
    return 0;
  }
  const out = resolve(options.kubeconfigOut ?? `${name}.kubeconfig`);
  return await withBootstrap({ name, timeoutMs }, context, async (client, signal) => {
    for (const secret of [...credentials, ...registry]) await applySecret(client, secret, signal);
    await client.apply(LatticeClusters, cluster, { ...by, signal });
    await follow(client, name, context, { signal, isDone: (live) => live?.status?.pivotComplete === true });
    const key = { namespace: accessNamespace, name: accessName(name) };
    const { data } = await client.get(Secrets, key, { signal });
    await writeFileAtomic(out, Buffer.from(data?.['value'] ?? '', 'base64').toString('utf8'), privateFileMode);
    context.stdout(`LatticeCluster ${name} manages itself\nkubeconfig      ${out}\n`);
  });
}

interface Given {
  readonly cluster: LatticeCluster;
  readonly settings: LatticeSettings;
  readonly secrets: readonly Secret[];
}

/** Returns the file from any of the options, which must agree. */
function fileOf({ filename, cluster, config }: LatticeInstallOptions): string {
  const [file, ...others] = [...new Set([filename, cluster, config].filter((name) => name !== undefined))];
  if (file !== undefined && others.length === 0) return file;
  const problem =
    file === undefined ? 'no LatticeCluster is given' : `${[file, ...others].join(' and ')} are both given`;
  throw new CapstanError('CAP_USAGE', problem, { hint: 'name one file with -f' });
}

async function readCluster(options: LatticeInstallOptions, { readInput }: CommandContext): Promise<Given> {
  const { image, bootstrap } = options;
  const filename = fileOf(options);
  const { documents, problems } = await readManifests([filename], { recursive: false, readInput });
  const [problem] = problems;
  if (problem) throw new CapstanError('CAP_USAGE', `${problem.origin}: ${problem.message}`);
  const other = documents.find(({ object: { kind } }) => kind !== LatticeClusters.kind && kind !== 'Secret');
  if (other) {
    throw new CapstanError(
      'CAP_USAGE',
      `${other.origin}: ${other.object.kind} is neither a LatticeCluster nor a Secret`,
      {
        hint: 'apply it in the new cluster later',
      },
    );
  }
  const [found, second] = documents.filter(({ object: { kind } }) => kind === LatticeClusters.kind);
  if (!found || second) {
    throw new CapstanError('CAP_USAGE', `${filename} has ${second ? 'more than one' : 'no'} LatticeCluster`, {
      hint: 'it must contain only the cluster to create; apply others in that cluster',
    });
  }
  const given = asTyped<LatticeCluster>(found.object);
  const { metadata, spec } = given;
  const cluster: LatticeCluster = {
    ...given,
    metadata: {
      ...metadata,
      ...(image !== undefined && { annotations: { ...metadata.annotations, [imageAnnotation]: image } }),
    },
    spec: {
      ...spec,
      ...(bootstrap !== undefined && {
        provider: { ...spec?.provider, kubernetes: { ...spec?.provider?.kubernetes, bootstrap } },
      }),
      // An installed cluster should always manage itself.
      ...(spec?.parentConfig === undefined && { endpoints: spec?.endpoints ?? {} }),
    },
  };
  const settings = spec?.provider?.config === undefined ? undefined : latticeSettings(cluster);
  if (settings === undefined || (metadata.name ?? '') === '') {
    throw new CapstanError(
      'CAP_USAGE',
      `${found.origin}: the LatticeCluster needs a name and spec.provider.config.openstack`,
    );
  }
  const secrets = documents
    .filter(({ object: { kind } }) => kind === 'Secret')
    .map(({ object }) => asTyped<Secret>(object));
  return { cluster, settings, secrets };
}

async function chooseCredentials(
  { cloudsYaml }: LatticeInstallOptions,
  { env }: CommandContext,
  { settings, secrets }: Pick<Given, 'settings' | 'secrets'>,
): Promise<readonly Secret[]> {
  const { namespace, name } = settings.secret;
  const isGiven = secrets.some(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  if (cloudsYaml !== undefined) return [...secrets, await credentialsFrom(resolve(cloudsYaml), settings)];
  if (isGiven) return secrets;
  const found = await credentialsOfEnvironment(env, settings);
  if (found) return [...secrets, found];
  throw new CapstanError(
    'CAP_USAGE',
    `there are no credentials: the LatticeCluster names the Secret ${namespace}/${name}`,
    {
      hint: 'name a clouds.yaml with --clouds-yaml or OPENSTACK_CLOUD_CONFIG, set the OS_* variables, or put the Secret into the file',
    },
  );
}

async function applySecret(client: Client, secret: Secret, signal: AbortSignal): Promise<void> {
  const { namespace = 'default' } = secret.metadata;
  const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  await client.create(Namespaces, home, { fieldManager: by.fieldManager, signal }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  const placed = { ...secret, metadata: { ...secret.metadata, namespace } };
  await client.apply(Secrets, placed, { ...by, signal });
}
