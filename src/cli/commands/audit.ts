import type { OpenStackCluster, OpenStackServer } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import {
  auditFindings,
  type CloudResource,
  cloudInventory,
  type OwnersOnRecord,
  removeResources,
} from '../../controllers/index.ts';
import { asJson, CapstanError, errorMessage, formatJson, formatYaml, type JsonObject } from '../../machinery/index.ts';
import { connect } from '../../openstack/index.ts';
import { type KnownOwners, ownersOf } from '../audit/owners.ts';
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

/** One project, with its resources as they were before its owners were read. */
interface Seen {
  readonly project: CloudInUse;
  readonly inventory: readonly CloudResource[];
}

interface Report {
  readonly cloud: CloudInUse['cloud'];
  readonly title: string;
  readonly findings: ReturnType<typeof auditFindings>;
}

type AllOwners = OwnersOnRecord & Pick<KnownOwners, 'users' | 'unasked' | 'childOfParent'>;

/** Compares the resources in clouds with their owners. The exit code is 1 if a resource has no owner or is missing. */
export async function audit(options: AuditOptions, context: CommandContext): Promise<number> {
  return await withConnection(options, context, async (connection) => {
    const { signal } = context;
    const { users } = await ownersOf(connection.client, { signal });
    const opened = await openClouds(options, connection, users, context);
    try {
      const problems = opened.problems.map((problem) => `not looked at: ${problem}`);
      const seen: Seen[] = [];
      for (const project of opened.clouds) {
        try {
          seen.push({ project, inventory: await cloudInventory(project.cloud, signal) });
        } catch (error) {
          // An unreachable cloud must not hide the others.
          signal.throwIfAborted();
          problems.push(`not looked at: ${project.title}: ${errorMessage(error)}`);
        }
      }
      // Resources are listed before their owners, so that a resource created in between cannot appear without owner.
      const known = await allOwners(options, connection.client, context);
      problems.push(...known.unasked.map((one) => `its owners are not known: ${one}`));
      for (const problem of problems) context.stderr(`capstan: warning: ${problem}\n`);
      const reports = seen.map((one) => report(one, opened.used, known));
      print(reports, problems, options, context);
      const orphans = sum(reports, 'orphans');
      const missing = sum(reports, 'missing');
      if (orphans > 0 && known.childOfParent !== undefined)
        context.stderr(`capstan: warning: ${ofParent(known.childOfParent)}\n`);
      if (!options.delete || orphans === 0) return orphans + missing + problems.length === 0 ? 0 : 1;
      refuseGuesses(known);
      await confirm(orphans, options, context);
      // the user may have taken long to answer, and owners may have come back
      const now = await allOwners(options, connection.client, context);
      refuseGuesses(now);
      let refused = 0;
      for (const { cloud, findings } of seen.map((one) => report(one, opened.used, now))) {
        refused += await remove(cloud, findings.orphans, options, context);
      }
      return refused + missing + problems.length === 0 ? 0 : 1;
    } finally {
      await opened.close();
    }
  });
}

function report({ project, inventory }: Seen, used: readonly CloudInUse[], known: AllOwners): Report {
  const { cloud, title, users } = project;
  // objects that are being deleted lack resources on purpose
  const steady = new Set(
    known.users.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.uid),
  );
  const here = users.filter(hasRecords).filter(({ metadata }) => steady.has(metadata.uid));
  const elsewhere = used
    .filter(({ projectId }) => projectId !== undefined && projectId !== project.projectId)
    .flatMap((other) => other.users);
  return { cloud, title, findings: auditFindings(inventory, known, here, elsewhere) };
}

function sum(reports: readonly Report[], what: 'orphans' | 'missing'): number {
  return reports.reduce((total, { findings }) => total + findings[what].length, 0);
}

/** Refuses to delete resources that a management API without an answer may own. */
function refuseGuesses({ unasked, childOfParent }: AllOwners): void {
  if (childOfParent !== undefined) {
    throw new CapstanError('CAP_OWNERS_UNKNOWN', `nothing was deleted: ${ofParent(childOfParent)}`, {
      hint: 'name the parent with --also-owners-of KUBECONFIG, or run the audit there',
    });
  }
  if (unasked.length === 0) return;
  throw new CapstanError('CAP_OWNERS_UNKNOWN', `nothing was deleted: it may belong to ${unasked.join('; ')}`, {
    hint: 'run it where that cluster can be reached; give up one that is permanently gone with `kubectl delete lc NAME` and the annotation lattice.dev/lost',
  });
}

/** A cluster with a parent shares its projects with the parent and with the parent's other clusters. */
const ofParent = (name: string): string =>
  `LatticeCluster ${name} has a parent; what belongs to the parent and to its other clusters looks as if nobody owned it`;

/** Pools record their addresses elsewhere. */
function hasRecords(user: CloudUser): user is OpenStackCluster | OpenStackServer {
  return user.kind !== 'OpenStackFloatingIPPool';
}

/**
 * Reads the owners of this management API, of clusters that manage themselves, and of other APIs that use the same
 * projects.
 */
async function allOwners(options: AuditOptions, client: Client, context: CommandContext): Promise<AllOwners> {
  const { signal } = context;
  const [own, ...others] = await Promise.all([
    ownersOf(client, { signal }),
    ...(options.alsoOwnersOf ?? []).map((kubeconfig) =>
      withConnection({ kubeconfig }, context, (other) => ownersOf(other.client, { signal })),
    ),
  ]);
  const all = [own, ...others];
  return {
    users: own.users,
    objects: all.flatMap(({ objects }) => objects),
    clusters: all.flatMap(({ clusters }) => clusters),
    unasked: [...new Set(all.flatMap(({ unasked }) => unasked))],
    ...(others.length === 0 && own.childOfParent !== undefined && { childOfParent: own.childOfParent }),
  };
}

/** Opens the named cloud of clouds.yaml, or all clouds of the objects. Without either it looks at $OS_CLOUD. */
async function openClouds(
  options: AuditOptions,
  { client }: Connection,
  users: readonly CloudUser[],
  context: CommandContext,
): Promise<CloudsInUse & { used: readonly CloudInUse[] }> {
  const { env, signal } = context;
  const used = await openCloudsInUse(client, users, { env, signal });
  // Whoever deletes says where: in an empty management API nothing would have an owner.
  const name = options.cloud ?? (users.length === 0 && !options.delete ? env['OS_CLOUD'] || undefined : undefined);
  if (name === undefined) return { ...used, used: used.clouds };
  const config = await (await readClouds(context)).cloud(name);
  const cloud = connect(config, { env });
  const { project } = await cloud.identity.whoami({ signal });
  const title = titleOf(config, project?.name);
  const projectId = project?.id;
  const same = used.clouds.filter(
    (one) =>
      projectId !== undefined &&
      one.projectId === projectId &&
      [undefined, one.cloud.config.region].includes(config.region ?? one.cloud.config.region),
  );
  return {
    clouds: [{ cloud, title, projectId, users: same.flatMap((one) => one.users) }],
    used: used.clouds,
    problems: [],
    close: async () => void (await Promise.all([used.close(), cloud.close()])),
  };
}

function print(
  reports: readonly Report[],
  problems: readonly string[],
  { output }: AuditOptions,
  context: CommandContext,
): void {
  const clouds = asJson(reports.map(({ title, findings }) => ({ cloud: title, ...findings })));
  const value: JsonObject = { clouds, ...(problems.length > 0 && { problems: [...problems] }) };
  if (output === 'json') return context.stdout(formatJson(value));
  if (output === 'yaml') return context.stdout(formatYaml(value));
  for (const { title, findings } of reports) {
    const { orphans, missing, foreign } = findings;
    const rows = [
      ...orphans.map((one) => [one.type, one.name, one.id, `no owner: ${one.owner} is not here`]),
      ...missing.map((one) => [one.type, '', one.id, `not in the cloud, but in the status of ${one.object}`]),
      ...foreign.map((one) => [one.type, one.name, one.id, `${one.remark}; not deleted`]),
    ];
    context.stdout(`${title}: ${verdict(findings)}\n`);
    if (rows.length === 0) continue;
    const cells = rows.map((row) => row.map((text) => [span(text)]));
    context.stdout(renderTable(['TYPE', 'NAME', 'ID', 'FINDING'], cells, { colour: context.colour }));
  }
  if (reports.length === 0)
    context.stdout('no OpenStackCluster, OpenStackServer or pool names a cloud; say --cloud NAME\n');
}

function verdict({ orphans, missing, foreign }: Report['findings']): string {
  if (orphans.length === 0 && missing.length === 0) {
    const shown = foreign.length === 0 ? '' : '; what follows may belong to others';
    return `everything has its owner, and every owner what it has${shown}`;
  }
  const lost = missing.length === 0 ? '' : `, ${missing.length} missing in the cloud`;
  return `${orphans.length} without an owner${lost}`;
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
