import {
  type OpenStackCluster,
  OpenStackClusters,
  type OpenStackServer,
  OpenStackServers,
} from '../../../api/index.ts';
import { errorMessage, ignoreNotFound } from '../../../machinery/index.ts';
import { openCloudsInUse } from '../../clouds-in-use.ts';
import type { Connection } from '../../connection.ts';
import type { CommandContext } from '../../context.ts';
import { clusterSelector, readCluster } from '../../describe/cluster-objects.ts';
import { textAt } from '../../describe/fields.ts';
import type { Finding } from '../findings.ts';
import { cloudSideChecks } from './cloud-side.ts';
import { checkEndpoint } from './endpoint.ts';
import { inside, workloadConfig } from './inside.ts';
import { managementSideChecks } from './management-side.ts';
import { notLookedAt, runChecks } from './run-checks.ts';
import type { ManagedCluster } from './subject.ts';
import { workloadSideChecks } from './workload-side.ts';

/** Checks a cluster from the management API to its nodes. */
export async function checkCluster(connection: Connection, context: CommandContext, name: string): Promise<Finding[]> {
  const { client, namespace } = connection;
  const { signal, clock } = context;
  const found = await readCluster(connection, name, { resourceSets: true, signal });
  const subject: ManagedCluster = {
    name,
    namespace,
    client,
    found,
    machines: found.objects.filter(({ kind }) => kind === 'Machine'),
    nowMs: clock.now(),
  };
  const infrastructure = await infrastructureOf(subject, signal);
  const [ofManagement, ofCloud] = await Promise.all([
    runChecks(managementSideChecks, subject, signal),
    checkInCloud(subject, infrastructure, context),
  ]);
  const ofWorkload = await checkInside(subject, ofCloud.authUrl, context);
  return [...ofManagement, ...ofCloud.findings, ...ofWorkload];
}

async function infrastructureOf(
  { client, namespace, found }: ManagedCluster,
  signal: AbortSignal,
): Promise<OpenStackCluster | undefined> {
  if (textAt(found.cluster, 'spec', 'infrastructureRef', 'kind') !== 'OpenStackCluster') return undefined;
  const name = textAt(found.cluster, 'spec', 'infrastructureRef', 'name') ?? '';
  return await client.get(OpenStackClusters, { namespace, name }, { signal }).catch(ignoreNotFound);
}

async function checkInCloud(
  subject: ManagedCluster,
  infrastructure: OpenStackCluster | undefined,
  { env, signal }: CommandContext,
): Promise<{ findings: Finding[]; authUrl: string | undefined }> {
  if (!infrastructure)
    return { findings: notLookedAt(cloudSideChecks, 'the cluster is not on OpenStack'), authUrl: undefined };
  const { client, namespace, name } = subject;
  const opened = await openCloudsInUse(client, [{ ...infrastructure, kind: 'OpenStackCluster' }], { env, signal });
  try {
    const [project] = opened.clouds;
    if (!project) {
      const detail = opened.problems[0] ?? 'cannot connect to the cloud';
      const cure = 'put working credentials into the Secret that identityRef names, in the namespace of the cluster';
      const [, ...others] = cloudSideChecks;
      return {
        findings: [
          { check: 'credentials', status: 'failed', detail, cure },
          ...notLookedAt(others, 'the cloud does not accept the credentials'),
        ],
        authUrl: undefined,
      };
    }
    const { cloud } = project;
    const servers = await serversOf(subject, signal);
    const findings = await runChecks(
      cloudSideChecks,
      { ...subject, cloud, infrastructure, servers, name, namespace },
      signal,
    );
    return { findings, authUrl: cloud.config.authUrl };
  } finally {
    await opened.close();
  }
}

async function serversOf({ client, namespace, name }: ManagedCluster, signal: AbortSignal): Promise<OpenStackServer[]> {
  const { items } = await client.list(OpenStackServers, { namespace, labelSelector: clusterSelector(name), signal });
  return [...items];
}

/** Checks the endpoint and its certificate, then everything behind it. */
async function checkInside(
  subject: ManagedCluster,
  authUrl: string | undefined,
  { signal }: CommandContext,
): Promise<Finding[]> {
  const check = 'API endpoint';
  try {
    const config = await workloadConfig(subject, signal);
    const endpoint = (await checkEndpoint(config, subject.nowMs)).map((seen): Finding => ({ check, ...seen }));
    if (endpoint[0]?.status === 'failed') {
      return [...endpoint, ...notLookedAt(workloadSideChecks, 'the API of the cluster does not answer')];
    }
    const findings = await inside(subject, { config, authUrl }, (running) =>
      runChecks(workloadSideChecks, running, signal),
    );
    return [...endpoint, ...findings];
  } catch (error) {
    signal.throwIfAborted();
    return [
      { check, status: 'failed', detail: errorMessage(error) },
      ...notLookedAt(workloadSideChecks, 'the API of the cluster cannot be queried'),
    ];
  }
}
