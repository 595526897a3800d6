import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { must } from '../../../src/machinery/index.ts';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { type CloudInventory, type CloudView, viewCloud } from '../../support/cloud-view.ts';
import { type KubectlOptions, kubectl, kubectlApply, kubectlOn } from '../../support/kubectl.ts';
import { isOnRealKubernetes } from '../../support/on-real-kubernetes.ts';
import { fillIn } from '../../support/placeholders.ts';
import { freePorts } from '../../support/ports.ts';
import type { Outcome } from '../../support/process.ts';
import { type CloudProcess, startCloud } from '../openstack-command/cloud-process.ts';

/** A cloud over HTTPS in a separate process, and a management API without its credentials yet. */
export interface Workbench {
  readonly capstan: CapstanProcess;
  /** arguments of `capstan up`, to restart it on the same data */
  readonly args: readonly string[];
  /** endpoints that clusters connect to */
  readonly endpoints: { readonly bootstrap: string; readonly agents: string };
  readonly cloud: CloudView;
  readonly before: CloudInventory;
  /** files of the reader */
  readonly cloudsYaml: string;
  readonly authority: string;
  /** runs kubectl on the management API; must succeed */
  kubectl(...args: string[]): Promise<string>;
  /** the same, but may fail */
  tryKubectl(...args: string[]): Promise<Outcome>;
  /** applies the manifest of the guide with its placeholder replaced, optionally changed */
  apply(change?: (manifest: string) => string): Promise<void>;
  /** runs kubectl with the cluster's kubeconfig; rejects if it is missing or the API does not answer */
  workload(...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

const timeScale = 0.05;

export async function openWorkbench(): Promise<Workbench> {
  const [bootstrapPort = 0, agentPort = 0] = await freePorts(2);
  const endpoints = { bootstrap: `127.0.0.1:${bootstrapPort}`, agents: `127.0.0.1:${agentPort}` };
  const reachable = ['--reachable', endpoints.bootstrap, '--reachable', endpoints.agents];
  const cloudProcess = await startCloud({ args: ['--https', ...reachable] });
  const args = ['--bootstrap-listen', endpoints.bootstrap, '--agent-listen', endpoints.agents];
  const capstan = await startCapstan({ controllers: 'all', pods: 'simulated', args });
  const { directory, kubeconfig } = capstan;
  const { authority, cloudsYaml } = await filesOfTheReader(cloudProcess, directory);
  const cloud = await viewCloud({
    cloudsYaml: cloudProcess.cloudsYaml,
    url: cloudProcess.url,
    adminToken: await cloudProcess.adminToken(),
    authority: await readFile(authority, 'utf8'),
  });
  await cloud.operate('PATCH', '/timings', { timeScale });
  const network = must(await cloud.openstack.network.networks.find('public'), 'the external network');
  const run = kubectlOn(kubeconfig, directory);
  // The embedded API has the namespaces of upstream's managers.
  if (isOnRealKubernetes()) await run('create', 'namespace', 'capo-system');
  const options: KubectlOptions = { kubeconfig, directory };
  const workloadFile = join(directory, 'my-cluster.kubeconfig');
  return {
    capstan,
    args,
    endpoints,
    cloud,
    cloudsYaml,
    authority,
    before: await cloud.inventory(),
    kubectl: run,
    tryKubectl: (...args) => kubectl(args, options),
    apply: async (change = (manifest) => manifest) => {
      const template = await readFile(new URL('testdata/my-cluster.yaml', import.meta.url), 'utf8');
      await kubectlApply(kubeconfig, directory, change(fillIn(template, { EXTERNAL_NETWORK_ID: network.id })));
    },
    workload: async (...args) => {
      // The parent's copy. The Secret beside the Cluster has moved with it.
      const path = ['-n', 'lattice-system', 'get', 'secret', 'my-cluster-kubeconfig'];
      const text = await run(...path, '-o', 'jsonpath={.data.value}');
      await writeFile(workloadFile, Buffer.from(text, 'base64'), { mode: 0o600 });
      return await kubectlOn(workloadFile, directory)(...args);
    },
    stop: async () => {
      await cloud.close();
      await capstan.stop();
      await cloudProcess.stop();
    },
  };
}

/** Writes a clouds.yaml with the fields of the guide, and the CA of the cloud. */
async function filesOfTheReader(
  cloud: CloudProcess,
  directory: string,
): Promise<{ cloudsYaml: string; authority: string }> {
  const { auth, region_name, cacert } = must((await cloud.clouds())['openstack'], 'the cloud');
  const { auth_url, username, password, project_id, project_name, user_domain_name } = auth;
  const cloudsYaml = join(directory, 'reader-clouds.yaml');
  const entry = {
    auth: { auth_url, username, password, project_id, project_name, user_domain_name },
    region_name,
    interface: 'public',
    identity_api_version: 3,
  };
  await writeFile(cloudsYaml, stringify({ clouds: { openstack: entry } }));
  return { cloudsYaml, authority: must(cacert, 'the authority of the cloud') };
}
