import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../machinery/index.ts';
import { extendedKeyUsageIds, parseCertificate, splitCertificates } from '../../pki/index.ts';
import type { CertificateAuthenticator, CertificateOutcome } from './authenticator.ts';
import type { UserInfo } from './user.ts';

export interface ClientCertificateOptions {
  /** PEM of the trusted CAs; must be the same bundle as the TLS `ca` of the server */
  authorities: string;
  clock: Clock;
}

interface Identity {
  user: UserInfo | undefined;
  error: string | undefined;
  notBefore: number;
  notAfter: number;
}

const longestChain = 5;
const credentialIdKey = 'authentication.kubernetes.io/credential-id';

/** Tells whether the chain sent by the client ends at one of the CAs. */
function chainsTo(certificate: X509Certificate, authorities: readonly X509Certificate[]): boolean {
  let current: X509Certificate | undefined = certificate;
  for (let length = 0; current !== undefined && length < longestChain; length++) {
    const link: X509Certificate = current;
    if (authorities.some((authority) => link.checkIssued(authority) && link.verify(authority.publicKey))) return true;
    const issuer: X509Certificate | undefined = link.issuerCertificate;
    if (issuer === undefined || issuer.fingerprint256 === link.fingerprint256) return false;
    if (!issuer.ca || !link.verify(issuer.publicKey)) return false;
    current = issuer;
  }
  return false;
}

/**
 * Takes the user from the CN and the groups from the O fields of a verified client certificate, as kube-apiserver does.
 * The chain is verified again, because a TLS server without `ca` would authorize every publicly trusted certificate.
 * Verification runs once per connection; only the validity dates are checked again.
 */
export function clientCertificateAuthenticator(options: ClientCertificateOptions): CertificateAuthenticator {
  const authorities = splitCertificates(options.authorities).map((pem) => new X509Certificate(pem));
  const identities = new WeakMap<TLSSocket, Identity | 'none'>();

  const identify = (socket: TLSSocket): Identity | 'none' => {
    const certificate = socket.getPeerX509Certificate();
    if (certificate === undefined) return 'none';
    const info = parseCertificate(certificate);
    const { commonName, organizations } = info.subject;
    const identity: Identity = {
      user: undefined,
      error: undefined,
      notBefore: info.notBefore,
      notAfter: info.notAfter,
    };
    const { extendedKeyUsages } = info;
    const forClients = extendedKeyUsages.length === 0 || extendedKeyUsages.includes(extendedKeyUsageIds.clientAuth);
    if (!socket.authorized || !chainsTo(certificate, authorities)) {
      return { ...identity, error: 'x509: certificate signed by unknown authority' };
    }
    if (!forClients) return { ...identity, error: 'x509: certificate specifies an incompatible key usage' };
    // A certificate without a CN is ignored, so that a token can be used instead.
    if (commonName === '') return 'none';
    return {
      ...identity,
      user: {
        name: commonName,
        groups: organizations,
        extra: { [credentialIdKey]: [`X509SHA256=${info.fingerprint}`] },
      },
    };
  };

  return (socket): CertificateOutcome => {
    let identity = identities.get(socket);
    if (identity === undefined) {
      identity = identify(socket);
      identities.set(socket, identity);
    }
    if (identity === 'none') return undefined;
    if (identity.user === undefined) return { error: identity.error ?? '' };
    const now = options.clock.now();
    return now < identity.notBefore || now > identity.notAfter
      ? { error: 'x509: certificate has expired or is not yet valid' }
      : { user: identity.user };
  };
}
