import { generateKeyPairSync } from 'node:crypto';
import type { Clock } from '../machinery/index.ts';
import { authorityWithKey, type CertificateAndKey, certificateWithKey, selfSignedCertificate } from './authority.ts';
import { generateKeysAtOnce } from './keys.ts';

interface Pair {
  readonly certificate: string;
  readonly key: string;
}

interface Subject {
  readonly commonName: string;
  readonly ips: readonly string[];
  readonly dnsNames: readonly string[];
  readonly days: number;
  readonly key?: string;
}

const day = 24 * 60 * 60 * 1_000;
const usages = ['server', 'client'] as const;

/**
 * Keys and certificates for chart functions (`genCA`, `genSignedCert` and others). Templates are synchronous, so keys
 * are elliptic, which are fast to generate. RSA is used only if a chart requests it.
 */
export class ChartCertificates {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  privateKey(type: string): string {
    switch (type) {
      case 'ecdsa':
        return newKey();
      case 'ed25519':
        return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
      case '':
      case 'rsa':
        return generateKeysAtOnce('RSA-2048').privateKey;
      default:
        return `Unknown type ${type}`;
    }
  }

  authority({ commonName, days, key }: Pick<Subject, 'commonName' | 'days' | 'key'>): Pair {
    const privateKey = key ?? newKey();
    return pairOf(authorityWithKey({ commonName, clock: this.#clock, validityMs: days * day, privateKey }));
  }

  selfSigned(subject: Subject): Pair {
    return pairOf(selfSignedCertificate(this.#options(subject)));
  }

  signed(subject: Subject, authority: Pair): Pair {
    const { certificate, key } = authority;
    return pairOf(certificateWithKey({ ...this.#options(subject), authority: { certificate, privateKey: key } }));
  }

  #options({ commonName, ips, dnsNames, days, key }: Subject): Parameters<typeof selfSignedCertificate>[0] {
    return {
      commonName,
      hosts: [...ips, ...dnsNames],
      usages,
      clock: this.#clock,
      validityMs: days * day,
      privateKey: key ?? newKey(),
    };
  }
}

const newKey = (): string => generateKeysAtOnce('ECDSA-P256').privateKey;

const pairOf = ({ certificate, privateKey }: CertificateAndKey): Pair => ({ certificate, key: privateKey });
