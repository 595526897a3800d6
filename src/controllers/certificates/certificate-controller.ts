import { type Secret, Secrets } from '../../api/index.ts';

import { objectKey } from '../../client/index.ts';
import { clone, formatTime, ignoreNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';
import { type CertificateAndKey, parseCertificate } from '../../pki/index.ts';
import {
  afterPatiently,
  type CacheReader,
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../runtime/index.ts';
import { fieldManager, isDeleting, setVerdict, type Verdict, writeObject } from '../shared/index.ts';
import { durationMs, hostsOf, issueSecretData } from './issue.ts';
import { type Certificate, Certificates, ClusterIssuers, certManagerGroup, type Issuer, Issuers } from './types.ts';

/** Namespace where cert-manager reads the Secrets of ClusterIssuers; only administrators can write there. */
const clusterSecretsNamespace = 'cert-manager';
const certificateAnnotation = 'cert-manager.io/certificate-name';
const issuerAnnotation = 'cert-manager.io/issuer-name';

type Signer = { readonly authority: CertificateAndKey | undefined } | { readonly problem: string };

/**
 * Builds controllers for cert-manager's Certificates and Issuers, limited to what provider manifests need: self-signed
 * issuers and CA issuers. Other issuers report that cert-manager is required.
 */
export function certificateControllers(cache: CacheReader): ControllerDefinition[] {
  return [
    certificateController(cache),
    issuerController('certificate-issuer', Issuers),
    issuerController('certificate-cluster-issuer', ClusterIssuers),
  ];
}

const byIssuer = 'certificateIssuer';
const issuerIndexValue = (namespace: string | undefined, name: string | undefined): string =>
  `${namespace ?? ''}/${name ?? ''}`;

function certificateController(cache: CacheReader): ControllerDefinition {
  return defineController({
    name: 'certificate',
    for: Certificates,
    background: true,
    watches: [
      watchObjects(Certificates, { predicates: [changedBesidesStatus] }),
      watchMapped(Secrets, ({ metadata: { namespace = '', annotations } }) => {
        const name = annotations?.[certificateAnnotation];
        return name === undefined ? [] : [{ namespace, name }];
      }),
      ...[Issuers, ClusterIssuers].map((resource) =>
        watchMapped(
          resource,
          ({ metadata }) =>
            cache
              .lister(Certificates)
              .byIndex(byIssuer, issuerIndexValue(metadata.namespace, metadata.name))
              .map(objectKey),
          { predicates: [changedBesidesStatus] },
        ),
      ),
    ],
    setup(factory) {
      factory.informer(Secrets);
      factory
        .informer(Certificates)
        .addIndexer(byIssuer, ({ spec, metadata }) => [
          issuerIndexValue(
            spec?.issuerRef?.kind === ClusterIssuers.kind ? '' : metadata.namespace,
            spec?.issuerRef?.name,
          ),
        ]);
    },
    async reconcile(context, key) {
      const certificate = context.cache.lister(Certificates).get(key);
      if (!certificate || isDeleting(certificate)) return done();
      const draft = clone(certificate);
      const result = await reconcileNormal(context, draft);
      await writeObject(context, Certificates, certificate, draft, { observed: false });
      return result;
    },
  });
}

async function reconcileNormal(context: ReconcileContext, draft: Certificate): Promise<Result> {
  const { spec, metadata } = draft;
  const { namespace = '', name = '' } = metadata;
  const now = context.clock.now();
  const say = (verdict: Verdict): void => setVerdict(draft, 'Ready', verdict, now);
  const secretName = spec?.secretName ?? '';
  if (secretName === '') {
    say({ status: 'False', reason: 'InvalidSpec', message: 'spec.secretName is missing' });
    return done();
  }
  const signer = await signerOf(context, draft);
  if ('problem' in signer) {
    say({ status: 'False', reason: 'DoesNotExist', message: signer.problem });
    // CA Secrets are not watched
    return afterPatiently(30_000, signer.problem);
  }
  const key = { namespace, name: secretName };
  const found = context.cache.lister(Secrets).get(key);
  if (found && found.metadata.annotations?.[certificateAnnotation] !== name) {
    say({ status: 'False', reason: 'SecretTaken', message: `Secret ${secretName} is not of this Certificate` });
    return done();
  }
  let ends = found && endOf(found, draft);
  if (ends === undefined || renewalAt(ends, draft) <= now) {
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...key,
        annotations: { [certificateAnnotation]: name, [issuerAnnotation]: spec?.issuerRef?.name ?? '' },
      },
      type: 'kubernetes.io/tls',
      data: await issueSecretData(draft, signer.authority, context.clock),
    };
    await context.client.apply(Secrets, secret, { fieldManager, force: true, signal: context.signal });
    ends = endOf(secret, draft);
  }
  say({ status: 'True', reason: 'Ready', message: 'Certificate is up to date and has not expired' });
  if (ends === undefined) return done();
  const renewal = renewalAt(ends, draft);
  draft.status = { ...draft.status, notAfter: formatTime(ends), renewalTime: formatTime(renewal) };
  return afterPatiently(Math.max(60_000, renewal - now), 'the certificate is renewed');
}

const renewalAt = (ends: number, certificate: Certificate): number => ends - durationMs(certificate) / 3;

/** Returns the expiry of the certificate in a Secret; undefined if it does not match the Certificate. */
function endOf({ data, metadata }: Secret, certificate: Certificate): number | undefined {
  if (metadata.annotations?.[issuerAnnotation] !== (certificate.spec?.issuerRef?.name ?? '')) return undefined;
  if (data?.['tls.key'] === undefined) return undefined;
  try {
    const info = parseCertificate(Buffer.from(data['tls.crt'] ?? '', 'base64').toString('utf8'));
    const names = new Set([...info.dnsNames, ...info.ipAddresses]);
    const isWhole = certificate.spec?.isCA === true || hostsOf(certificate).every((host) => names.has(host));
    return isWhole ? info.notAfter : undefined;
  } catch {
    return undefined;
  }
}

async function signerOf(context: ReconcileContext, { spec, metadata }: Certificate): Promise<Signer> {
  const { name = '', kind = 'Issuer', group = certManagerGroup } = spec?.issuerRef ?? {};
  if (group !== certManagerGroup) return { problem: `issuers of ${group} need their own controller` };
  const isCluster = kind === 'ClusterIssuer';
  const resource = isCluster ? ClusterIssuers : Issuers;
  const namespace = metadata.namespace ?? '';
  const issuer = await context.client
    .get(resource, isCluster ? { name } : { namespace, name }, { signal: context.signal })
    .catch(ignoreNotFound);
  if (!issuer) return { problem: `there is no ${kind} "${name}"` };
  const problem = problemOf(issuer);
  if (problem !== undefined) return { problem: `${kind} ${name}: ${problem}` };
  const secretName = issuer.spec?.ca?.secretName;
  if (secretName === undefined) return { authority: undefined };
  const place = { namespace: isCluster ? clusterSecretsNamespace : namespace, name: secretName };
  const secret = await context.client.get(Secrets, place, { signal: context.signal }).catch(ignoreNotFound);
  const text = (item: string): string => Buffer.from(secret?.data?.[item] ?? '', 'base64').toString('utf8');
  const authority = { certificate: text('tls.crt'), privateKey: text('tls.key') };
  if (authority.certificate === '' || authority.privateKey === '') {
    return { problem: `${kind} ${name}: Secret ${place.namespace}/${secretName} has no tls.crt and tls.key` };
  }
  return { authority };
}

function problemOf({ spec }: Issuer): string | undefined {
  if (spec?.selfSigned || spec?.ca?.secretName !== undefined) return undefined;
  return 'only selfSigned and ca are built in; other issuers need cert-manager';
}

function issuerController(name: string, resource: Resource<Issuer>): ControllerDefinition {
  return defineController({
    name,
    for: resource as Resource<KubeObject>,
    background: true,
    watches: [watchObjects(resource, { predicates: [changedBesidesStatus] })],
    async reconcile(context, key) {
      const issuer = context.cache.lister(resource).get(key);
      if (!issuer || isDeleting(issuer)) return done();
      const draft = clone(issuer);
      const problem = problemOf(issuer);
      const verdict: Verdict =
        problem === undefined
          ? { status: 'True', reason: 'IsReady', message: 'The issuer is built in' }
          : { status: 'False', reason: 'NotBuiltIn', message: problem };
      setVerdict(draft, 'Ready', verdict, context.clock.now());
      await writeObject(context, resource, issuer, draft, { observed: false });
      return done();
    },
  });
}
