import { randomBytes } from 'node:crypto';
import { type AuthorityName, certificatePlan, encryptionFile } from '../../../../hosting/index.ts';
import { formatTime, formatYaml } from '../../../../machinery/index.ts';
import { ensureCredentials } from '../certificates/ensure.ts';
import { bad, flushSecrets, good, lookAgainAt, type PlaneScope, readSecret, tell } from '../scope.ts';

/** Everything with a key in it: made, adopted, renewed. */
export async function issueCredentials(scope: PlaneScope): Promise<undefined> {
  const { request, wish, memory, drafts, state } = scope;
  const { client, clock, signal, events, log } = request.context;
  const plan = certificatePlan(wish, scope.facts);
  const credentials = await ensureCredentials({
    client,
    clock,
    signal,
    namespace: wish.identity.namespace,
    plan,
    state,
    read: (key) => readSecret(scope, key),
    drafts,
    memory: memory.credentials,
  });
  makeEncryptionKeys(scope);
  await flushSecrets(scope);
  credentials.rememberWritten(scope.written);
  for (const { credential, reason } of credentials.renewed) {
    log.info('Credential made', { credential: credential.name, secret: credential.place.name, reason });
    if (reason !== 'expiring') continue;
    events.event(
      request.owner,
      'Normal',
      'CertificateRenewed',
      `${credential.name} in Secret ${credential.place.name} was made anew before its end`,
    );
  }
  scope.credentials = credentials;
  const trust: Partial<Record<AuthorityName, string>> = {};
  for (const [name, authority] of credentials.authorities) trust[name] = authority.trust;
  scope.facts = { ...scope.facts, trust };
  lookAgainAt(scope, credentials.nextMs, 'a certificate comes due');
  const ended = credentials.reports.find(({ expiresAt }) => expiresAt <= clock.now());
  tell(
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

/** The key Secrets of the workload cluster are stored under: made once; whoever replaces it keeps the old one beside it. */
function makeEncryptionKeys(scope: PlaneScope): void {
  const { wish, drafts } = scope;
  const { naming, identity } = wish;
  if (wish.apiServer.encryptionAtRest !== true) return;
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

/** Whether people and other controllers find their kubeconfig. */
export function tellKubeconfig(scope: PlaneScope): undefined {
  const { wish, credentials, endpoint } = scope;
  const place = wish.naming.secrets['cluster-kubeconfig'] ?? wish.naming.secrets['admin-kubeconfig'];
  if (!place) return;
  const isThere =
    credentials?.observed.has('cluster-kubeconfig') === true || credentials?.observed.has('admin-kubeconfig') === true;
  tell(
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
