import {
  Clusters,
  type OpenStackCluster,
  OpenStackClusters,
  OpenStackFloatingIPPools,
  type OpenStackServer,
  OpenStackServers,
} from '../../api/index.ts';
import {
  auditFindings,
  type CloudResource,
  cloudInventory,
  type OwnersOnRecord,
  removeResources,
} from '../../controllers/index.ts';
import {
  asJson,
  CapstanError,
  errorMessage,
  formatJson,
  formatYaml,
  type JsonObject,
  type KubeObject,
} from '../../machinery/index.ts';
import { connect } from '../../openstack/index.ts';
import { type CloudInUse, type CloudsInUse, type CloudUser, openCloudsInUse, titleOf } from '../clouds-in-use.ts';
import { type Connection, type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { parseTimeout } from '../deadline.ts';
import { readClouds } from '../env/read-cloud.ts';
import { span } from '../output/colour.ts';
import { renderTable } from '../output/table.ts';

export interface AuditOptions extends ConnectionOptions {
  cloud?: string;
  /** kubeconfigs of other management APIs with resources in the same projects */
  alsoOwnersOf?: string[];
  delete?: boolean;
  yes?: boolean;
  timeout: string;
  output: 'text' | 'json' | 'yaml';
}

interface Report {
  readonly title: string;
  readonly findings: ReturnType<typeof auditFindings>;
}

/** Compares the resources in clouds with their owners. The exit code is 1 if a resource has no owner or is missing. */
export async function audit(options: AuditOptions, context: CommandContext): Promise<number> {
  return await withConnection(options, context, async (connection) => {
    const { signal } = context;
    const { users } = await ownersOf(connection, context);
    const opened = await openClouds(options, connection, users, context);
    try {
      const problems = [...opened.problems];
      const seen: { project: CloudInUse; inventory: CloudResource[] }[] = [];
      for (const project of opened.clouds) {
        try {
          seen.push({ project, inventory: await cloudInventory(project.cloud, signal) });
        } catch (error) {
          // An unreachable cloud must not hide the others.
          signal.throwIfAborted();
          problems.push(`${project.title}: ${errorMessage(error)}`);
        }
      }
      for (const problem of problems) context.stderr(`capstan: warning: not looked at: ${problem}\n`);
      // Resources are listed before their owners, so that a resource created in between cannot appear without owner.
      const known = await allOwners(options, connection, context);
      const reports = seen.map(({ project: { cloud, title, users: here }, inventory }) => ({
        cloud,
        title,
        findings: auditFindings(inventory, known, here.filter(hasRecords)),
      }));
      print(reports, options, context);
      const orphans = reports.reduce((sum, { findings }) => sum + findings.orphans.length, 0);
      const missing = reports.reduce((sum, { findings }) => sum + findings.missing.length, 0);
      if (!options.delete || orphans === 0) return orphans + missing + problems.length === 0 ? 0 : 1;
      await confirm(orphans, options, context);
      let refused = 0;
      for (const { cloud, findings } of reports) {
        refused += await remove(cloud, findings.orphans, options, context);
      }
      return refused + missing + problems.length === 0 ? 0 : 1;
    } finally {
      await opened.close();
    }
  });
}

/** Pools record their addresses elsewhere. */
function hasRecords(user: CloudUser): user is OpenStackCluster | OpenStackServer {
  return user.kind !== 'OpenStackFloatingIPPool';
}

/** Returns the owners of this management API and of others with the same projects. */
async function allOwners(
  options: AuditOptions,
  connection: Connection,
  context: CommandContext,
): Promise<OwnersOnRecord> {
  const others = (options.alsoOwnersOf ?? []).map((kubeconfig) =>
    withConnection({ kubeconfig }, context, (other) => ownersOf(other, context)),
  );
  const all = await Promise.all([ownersOf(connection, context), ...others]);
  return { objects: all.flatMap(({ objects }) => objects), clusters: all.flatMap(({ clusters }) => clusters) };
}

/** Returns all owners in all namespaces, because resources of an unseen owner would look orphaned. */
async function ownersOf(
  { client }: Connection,
  { signal }: CommandContext,
): Promise<OwnersOnRecord & { users: readonly CloudUser[] }> {
  const [clusters, servers, pools, whole] = await Promise.all([
    client.list(OpenStackClusters, { signal }),
    client.list(OpenStackServers, { signal }),
    client.list(OpenStackFloatingIPPools, { signal }),
    client.list(Clusters, { signal }),
  ]);
  const users: CloudUser[] = [
    ...clusters.items.map((one) => ({ ...one, kind: 'OpenStackCluster' })),
    ...servers.items.map((one) => ({ ...one, kind: 'OpenStackServer' })),
    ...pools.items.map((one) => ({ ...one, kind: 'OpenStackFloatingIPPool' })),
  ];
  return {
    users,
    objects: users as readonly KubeObject[],
    clusters: whole.items.map(({ metadata: { namespace = '', name = '' } }) => ({ namespace, name })),
  };
}

/** Opens the named cloud of clouds.yaml; by default all clouds of the objects. */
async function openClouds(
  options: AuditOptions,
  { client }: Connection,
  users: readonly CloudUser[],
  context: CommandContext,
): Promise<CloudsInUse> {
  const { env, signal } = context;
  const used = await openCloudsInUse(client, users, { env, signal });
  if (options.cloud === undefined) return used;
  const config = await (await readClouds(context)).cloud(options.cloud);
  const cloud = connect(config, { env });
  const { project } = await cloud.identity.whoami({ signal });
  const title = titleOf(config, project?.name);
  const same = used.clouds.find((one) => one.title === title);
  return {
    clouds: [{ cloud, title, users: same?.users ?? [] }],
    problems: [],
    close: async () => void (await Promise.all([used.close(), cloud.close()])),
  };
}

function print(reports: readonly Report[], { output }: AuditOptions, context: CommandContext): void {
  const value: JsonObject = { clouds: asJson(reports.map(({ title, findings }) => ({ cloud: title, ...findings }))) };
  if (output === 'json') return context.stdout(formatJson(value));
  if (output === 'yaml') return context.stdout(formatYaml(value));
  for (const { title, findings } of reports) {
    const { orphans, missing, foreign } = findings;
    const rows = [
      ...orphans.map((one) => [one.type, one.name, one.id, `no owner: ${one.owner} is not here`]),
      ...missing.map((one) => [one.type, '', one.id, `not in the cloud, but in the status of ${one.object}`]),
      ...foreign.map((one) => [one.type, one.name, one.id, `${one.remark}; not deleted`]),
    ];
    context.stdout(`${title}: ${rows.length === 0 ? 'everything has its owner, and every owner what it has' : ''}\n`);
    if (rows.length === 0) continue;
    const cells = rows.map((row) => row.map((text) => [span(text)]));
    context.stdout(renderTable(['TYPE', 'NAME', 'ID', 'FINDING'], cells, { colour: context.colour }));
  }
  if (reports.length === 0)
    context.stdout('no OpenStackCluster, OpenStackServer or pool names a cloud; say --cloud NAME\n');
}

async function confirm(count: number, options: AuditOptions, context: CommandContext): Promise<void> {
  const what = `${count} cloud resource${count === 1 ? '' : 's'} without an owner in this management API`;
  context.stderr(
    'capstan: another management API that uses the same project calls its resources its own: name it with --also-owners-of FILE\n',
  );
  if (options.yes) return;
  if (context.confirm && (await context.confirm(`delete ${what}?`))) return;
  throw new CapstanError('CAP_NOT_CONFIRMED', 'nothing was deleted', {
    hint: 'use --yes to delete without a question',
  });
}

async function remove(
  cloud: CloudInUse['cloud'],
  orphans: readonly CloudResource[],
  options: AuditOptions,
  context: CommandContext,
): Promise<number> {
  const timeoutMs = parseTimeout(options.timeout);
  const refusals = await removeResources(cloud, orphans, {
    clock: context.clock,
    signal: context.signal,
    patienceMs: timeoutMs === 0 ? Number.POSITIVE_INFINITY : timeoutMs,
    onRemoved: ({ type, name, id }) => context.stderr(`deleted ${type} ${name} (${id})\n`),
  });
  for (const { resource, why } of refusals) {
    context.stderr(`capstan: ${resource.type} ${resource.name} (${resource.id}) was not deleted: ${why}\n`);
  }
  return refusals.length;
}
