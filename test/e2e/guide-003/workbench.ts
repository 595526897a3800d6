import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { type CloudInventory, type CloudView, viewCloud } from '../../support/cloud-view.ts';
import { kubectlApply, kubectlOn } from '../../support/kubectl.ts';
import { fillIn } from '../../support/placeholders.ts';
import { type CloudProcess, startCloud } from '../openstack-command/cloud-process.ts';

/** A cloud over HTTPS in a separate process, as in the guide, and a management API without its credentials yet. */
export interface Workbench {
  readonly capstan: CapstanProcess;
  readonly cloud: CloudView;
  readonly before: CloudInventory;
  /** runs kubectl on the management API; must succeed */
  kubectl(...args: string[]): Promise<string>;
  /** the reader's cloud.conf */
  readonly cloudConf: string;
  /** the reader's clouds.yaml */
  readonly cloudsYaml: string;
  /** applies a manifest of the guide with its placeholders replaced, optionally changed */
  apply(file: string, change?: (manifest: string) => string): Promise<void>;
  /** runs kubectl with the kubeconfig of the Secret; rejects if it is missing or the API does not answer */
  workload(...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

const timeScale = 0.05;
const externalNetworkName = 'public';

export async function openWorkbench(): Promise<Workbench> {
  const cloudProcess = await startCloud({ args: ['--https'] });
  const capstan = await startCapstan({ controllers: 'all' });
  const placeholders = await leftToTheReader(cloudProcess);
  const cacert = Buffer.from(placeholders['CACERT_B64'] ?? '', 'base64').toString();
  const cloud = await viewCloud({
    cloudsYaml: cloudProcess.cloudsYaml,
    url: cloudProcess.url,
    adminToken: await cloudProcess.adminToken(),
    authority: cacert,
  });
  await cloud.operate('PATCH', '/timings', { timeScale });
  const network = await cloud.openstack.network.networks.find(externalNetworkName);
  placeholders['EXTERNAL_NETWORK_ID'] = network?.id ?? '';
  const { directory, kubeconfig } = capstan;
  const run = kubectlOn(kubeconfig, directory);
  const workloadFile = join(directory, 'k.config.yaml');
  return {
    capstan,
    cloud,
    before: await cloud.inventory(),
    kubectl: run,
    cloudConf: Buffer.from(placeholders['CLOUD_CONF_B64'] ?? '', 'base64').toString(),
    cloudsYaml: Buffer.from(placeholders['CLOUDS_YAML_B64'] ?? '', 'base64').toString(),
    apply: async (file, change = (manifest) => manifest) => {
      const template = await readFile(new URL(`testdata/${file}`, import.meta.url), 'utf8');
      await kubectlApply(kubeconfig, directory, change(fillIn(template, placeholders)));
    },
    workload: async (...args) => {
      const secret = JSON.parse(await run('get', 'secret', 'basic-1-kubeconfig', '-o', 'json')) as {
        data: { value: string };
      };
      await writeFile(workloadFile, Buffer.from(secret.data.value, 'base64'), { mode: 0o600 });
      return await kubectlOn(workloadFile, directory)(...args);
    },
    stop: async () => {
      await cloud.close();
      await capstan.stop();
      await cloudProcess.stop();
    },
  };
}

/**
 * Returns the files that the guide leaves to its reader, including an unusual clouds.yaml: a duplicate key, old names,
 * a path of another host.
 */
async function leftToTheReader(cloud: CloudProcess): Promise<Record<string, string>> {
  const { auth, region_name: region, cacert = '' } = (await cloud.clouds())['openstack']!;
  const authority = await readFile(cacert, 'utf8');
  const cloudsYaml = `clouds:
  mycloud_default:
    auth:
      auth_url: ${auth['auth_url']}
      project_name: ${auth['project_name']}
      username: ${auth['username']}
      password: ${JSON.stringify(auth['password'])}
      version: 3
      domain_name: ${auth['user_domain_name']}
      user_domain_name: "${auth['user_domain_name']}"
      project_name: "${auth['project_name']}"
      tenant_name: "${auth['project_name']}"
    region_name: ${region}
    cacert: /tmp/cacert.pem
`;
  const cloudConf = `[Global]
auth-url=${auth['auth_url']}
username=${auth['username']}
password=${auth['password']}
tenant-name="${auth['project_name']}"
domain-name="${auth['user_domain_name']}"
ca-file="/etc/certs/cacert"
region="${region}"
`;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return {
    CACERT_B64: base64(authority),
    CLOUDS_YAML_B64: base64(cloudsYaml),
    CLOUD_CONF_B64: base64(cloudConf),
    SSH_KEY_NAME: 'demo',
  };
}
