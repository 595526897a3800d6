import { asJson, CapstanError, formatYaml } from '../../machinery/index.ts';
import { type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { applyInstallation } from '../install/apply-installation.ts';
import { installation } from '../install/installation.ts';
import { migrateInstalled } from '../install/migrate-installed.ts';
import { refuseEmbedded, refuseSecondInstallation } from '../install/second-installation.ts';
import { requireSupportedKubernetes } from '../server-version.ts';

export interface InstallOptions extends Omit<ConnectionOptions, 'namespace'> {
  image?: string;
  registry?: string;
  replicas: string;
  shares?: boolean;
  dryRun?: boolean;
  output?: 'yaml' | 'json';
}

/** Installs the controllers into a Kubernetes, or upgrades an installation. */
export async function install(options: InstallOptions, context: CommandContext): Promise<number> {
  const { image, registry, output } = options;
  const wanted = installation({
    replicas: parseReplicas(options.replicas),
    shares: options.shares === true,
    ...(image !== undefined && { image }),
    ...(registry !== undefined && { registry }),
  });
  if (options.dryRun) {
    const objects = [...wanted.kinds, ...wanted.others].map((object) => asJson(object));
    if (output === 'json') {
      context.stdout(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }, undefined, 2)}\n`);
    } else context.stdout(objects.map((object) => `---\n${formatYaml(object)}`).join(''));
    return 0;
  }
  if (output !== undefined) throw new CapstanError('CAP_USAGE', '--output is for --dry-run');
  return await withConnection(options, context, async (connection) => {
    const { client, mapper, where } = connection;
    const { clock, signal } = context;
    await refuseEmbedded(connection, signal);
    await requireSupportedKubernetes(connection, signal);
    context.stderr(`installing into ${where}\n`);
    await refuseSecondInstallation(client, signal);
    await applyInstallation(client, mapper, wanted, {
      clock,
      signal,
      onApplied: (name, outcome) => context.stdout(`${name} ${outcome}\n`),
    });
    await migrateInstalled(client, context);
    return 0;
  });
}

export function parseReplicas(text: string): number {
  const replicas = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (replicas > 0) return replicas;
  throw new CapstanError('CAP_USAGE', `--replicas: "${text}" is not a number of replicas`);
}
