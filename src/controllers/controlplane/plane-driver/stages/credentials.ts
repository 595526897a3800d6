import { randomBytes } from 'node:crypto';
import { type AuthorityName, certificatePlan, encryptionFile } from '../../../../hosting/index.ts';
import { formatTime, formatYaml } from '../../../../machinery/index.ts';
import { type EnsuredCredentials, ensureCredentials } from '../certificates/ensure.ts';
import { AuthorityLostError } from '../certificates/errors.ts';
import { withKept } from '../certificates/kept.ts';
import { lossesOfPlane } from '../certificates/losses.ts';
import { bad, flushSecrets, good, type PlaneScope, readSecret, requeueAfter, requeueAt, setStage } from '../scope.ts';
import { writeState } from '../write-state.ts';
import { judgeFunction } from './in-cluster.ts';

/** A restored Secret may lack owner references, and then triggers no reconcile. */
const lostRetryMs = 10_000;

/** Creates, adopts and renews all credentials. */
export async function issueCredentials(scope: PlaneScope): Promise<'stop' | undefined> {
  try {
    await keepCredentials(scope);
    return undefined;
  } catch (error) {
    if (!(error instanceof AuthorityLostError)) throw error;
    // running Pods stay unchanged, and their state is still reported
    judgeFunction(scope);
    setStage(scope, 'certificates', bad('AuthorityLost', error.message));
    requeueAfter(scope, lostRetryMs, 'an authority is lost');
    return 'stop';
  }
}

async function keepCredentials(scope: PlaneScope): Promise<void> {
  const { request, desired, memory, drafts, state } = scope;
  const { client, clock, signal, events, log } = request.context;
  const plan = certificatePlan(desired, scope.facts);
  const credentials = await ensureCredentials({
    client,
    clock,
    signal,
    namespace: desired.identity.namespace,
    plan,
    state,
    read: (key) => readSecret(scope, key),
    drafts,
    memory: memory.credentials,
    losses: lossesOfPlane(scope),
  });
  makeEncryptionKeys(scope);
  await flushSecrets(scope);
  await writeState(scope, withKept(scope.state, credentials.keeping, clock.now()));
  reportLosses(scope, credentials);
  credentials.rememberWritten(scope.written);
  for (const { credential, reason } of credentials.renewed) {
    log.info('Credential made', { credential: credential.name, secretName: credential.place.name, reason });
    if (reason !== 'expiring') continue;
    events.event(
      request.owner,
      'Normal',
      'CertificateRenewed',
      `${credential.name} in Secret ${credential.place.name} was renewed before its expiry`,
    );
  }
  scope.credentials = credentials;
  const trust: Partial<Record<AuthorityName, string>> = {};
  for (const [name, authority] of credentials.authorities) trust[name] = authority.trust;
  scope.facts = { ...scope.facts, trust };
  requeueAt(scope, credentials.nextMs, 'a certificate comes due');
  const ended = credentials.reports.find(({ expiresAt }) => expiresAt <= clock.now());
  setStage(
    scope,
    'certificates',
    ended
      ? bad(
          'CertificateExpired',
          `${ended.credential} in Secret ${ended.secret} ended at ${formatTime(ended.expiresAt)}`,
        )
      : good('Available'),
  );
}

function reportLosses({ request, desired }: PlaneScope, { keeping }: EnsuredCredentials): void {
  const { events } = request.context;
  for (const name of keeping.putBack) {
    const message = `Secret ${name} was missing and has been restored from the copy in Secret ${desired.naming.rotationState}`;
    events.event(request.owner, 'Warning', 'AuthorityPutBack', message);
  }
  for (const { secret } of keeping.begun) {
    const message = `Secret ${secret} was lost and holds another authority now, as was asked for; replace whatever trusts the one before`;
    events.event(request.owner, 'Warning', 'AuthorityReplaced', message);
  }
}

/** Creates the keys for encryption at rest once. A user who replaces the key keeps the old one next to it. */
function makeEncryptionKeys(scope: PlaneScope): void {
  const { desired, drafts } = scope;
  const { naming, identity } = desired;
  if (desired.apiServer.encryptionAtRest !== true) return;
  if (readSecret(scope, { namespace: identity.namespace, name: naming.encryptionKeys })) return;
  const key = { name: 'key1', secret: randomBytes(32).toString('base64') };
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [{ secretbox: { keys: [key] } }, { identity: {} }] }],
  };
  drafts.put(naming.encryptionKeys, {
    labels: naming.labels('certificate'),
    data: { [encryptionFile]: formatYaml(configuration) },
  });
}

/** Reports whether the kubeconfig Secret for users and other controllers exists. */
export function reportKubeconfig(scope: PlaneScope): undefined {
  const { desired, credentials, endpoint } = scope;
  const place = desired.naming.secrets['cluster-kubeconfig'] ?? desired.naming.secrets['admin-kubeconfig'];
  if (!place) return;
  const isThere =
    credentials?.observed.has('cluster-kubeconfig') === true || credentials?.observed.has('admin-kubeconfig') === true;
  setStage(
    scope,
    'kubeconfig',
    isThere
      ? good('Available')
      : bad(
          'WaitingForEndpoint',
          endpoint ? `Secret ${place.name} is not written yet` : 'the address of the API is not known yet',
        ),
  );
}
