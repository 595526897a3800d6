import { type K0smotronClusterSpec, type Secret, Secrets } from '../../../api/index.ts';
import { type Client, type ObjectKey, withOptimisticLock } from '../../../client/index.ts';
import { ignoreNotFound, isConflict, isJsonObject, type JsonValue, parseYaml } from '../../../machinery/index.ts';
import { CloudConfigError, cloudFromText } from '../../../openstack/index.ts';
import { cloudCaKey, cloudsYamlKey, cloudTexts, fieldManager, secretText } from '../../shared/index.ts';

// Cloud charts refer to a credentials Secret that users create in the workload cluster. Their components read
// cloud.conf, but users usually have only a clouds.yaml.

const confKey = 'cloud.conf';

/** Secrets that the charts in a k0s configuration require but do not create. */
export function expectedSecrets({ k0sConfig }: K0smotronClusterSpec): ObjectKey[] {
  const charts = at(k0sConfig, 'spec', 'extensions', 'helm', 'charts');
  const keys = new Map<string, ObjectKey>();
  for (const chart of Array.isArray(charts) ? charts : []) {
    const values = at(chart, 'values');
    const secret = typeof values === 'string' ? at(readYaml(values), 'secret') : undefined;
    const name = at(secret, 'name');
    if (typeof name !== 'string' || name === '' || at(secret, 'create') !== false) continue;
    const namespace = at(chart, 'namespace');
    const key = { namespace: typeof namespace === 'string' ? namespace : 'kube-system', name };
    keys.set(`${key.namespace}/${name}`, key);
  }
  return [...keys.values()];
}

/**
 * Adds cloud.conf to Secrets that have only clouds.yaml. Returns true once all exist with cloud.conf, or with other
 * content of the user.
 */
export async function completeSecrets(
  client: Client,
  keys: readonly ObjectKey[],
  signal: AbortSignal,
): Promise<boolean> {
  let isComplete = true;
  for (const key of keys) {
    const secret = await client.get(Secrets, key, { signal }).catch(ignoreNotFound);
    if (!secret || !(await complete(client, key, secret, signal))) isComplete = false;
  }
  return isComplete;
}

async function complete(client: Client, key: ObjectKey, secret: Secret, signal: AbortSignal): Promise<boolean> {
  const cloudsYaml = secretText(secret, cloudsYamlKey);
  if (cloudsYaml === undefined || secretText(secret, confKey) !== undefined) return true;
  const text = await confOf(cloudsYaml, secretText(secret, cloudCaKey), key);
  // invalid clouds.yaml; a fix is noticed at the next poll
  if (text === undefined) return false;
  const patch = { data: { [confKey]: Buffer.from(text).toString('base64') } };
  try {
    await client.patch(Secrets, key, 'merge', withOptimisticLock(patch, secret), { fieldManager, signal });
    return true;
  } catch (error) {
    if (!isConflict(error)) throw error;
    return false;
  }
}

async function confOf(text: string, ca: string | undefined, { name }: ObjectKey): Promise<string | undefined> {
  const clouds = at(readYaml(text), 'clouds');
  const [first] = isJsonObject(clouds) ? Object.keys(clouds) : [];
  if (first === undefined) return undefined;
  const cloud = isJsonObject(clouds) && 'openstack' in clouds ? 'openstack' : first;
  try {
    return cloudTexts(await cloudFromText({ text, source: `Secret ${name}`, cloud, ca })).cloudConf;
  } catch (error) {
    if (error instanceof CloudConfigError) return undefined;
    throw error;
  }
}

function readYaml(text: string): JsonValue | undefined {
  try {
    return parseYaml(text).value as JsonValue;
  } catch {
    return undefined;
  }
}

function at(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let node = value;
  for (const step of path) node = isJsonObject(node) ? node[step] : undefined;
  return node;
}
