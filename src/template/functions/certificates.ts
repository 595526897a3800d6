import { must } from '../../machinery/index.ts';
import { FunctionError } from '../errors.ts';
import { GoObject, isList, type Value } from '../values/index.ts';
import { define, type Library, text, whole } from './function.ts';
import { keySignatures } from './keys.ts';

/** PEM certificate and key. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateSubject {
  readonly commonName: string;
  readonly ips: readonly string[];
  readonly dnsNames: readonly string[];
  readonly days: number;
  /** PEM; default: a new key */
  readonly key?: string;
}

/**
 * Creates keys and certificates for charts. The caller provides it, because templates have no cryptography of their
 * own.
 */
export interface CertificateMaker {
  /** returns PEM; the type is `rsa`, `dsa`, `ecdsa` or `ed25519` */
  privateKey(type: string): string;
  authority(subject: Pick<CertificateSubject, 'commonName' | 'days' | 'key'>): KeyPair;
  selfSigned(subject: CertificateSubject): KeyPair;
  signed(subject: CertificateSubject, authority: KeyPair): KeyPair;
  /** bcrypt hash for `htpasswd`, which fails without it */
  passwordHash?(password: string): string;
}

/** Result of `genCA`, with the fields Cert and Key. */
class Certificate extends GoObject {
  readonly typeName = 'sprig.certificate';
  readonly pair: KeyPair;

  constructor(pair: KeyPair) {
    super();
    this.pair = pair;
  }

  override field(name: string): Value {
    if (name === 'Cert') return this.pair.certificate;
    return name === 'Key' ? this.pair.key : undefined;
  }

  toText(): string {
    return `{${this.pair.certificate} ${this.pair.key}}`;
  }

  override toJson(): Value {
    return new Map([
      ['Cert', this.pair.certificate],
      ['Key', this.pair.key],
    ]);
  }
}

const pairOf = (value: Value): KeyPair => {
  if (value instanceof Certificate) return value.pair;
  throw new FunctionError('not a certificate');
};

/** Cost of a key operation, which takes much longer than other steps. */
const stepsPerKey = 20_000;
/** Cost of a new private key, because RSA keys are slow. */
const stepsPerPrivateKey = 200_000;

/** Sprig's key and certificate functions, implemented by the caller's maker. */
export function certificateFunctions(maker: CertificateMaker): Library {
  const subject = ([commonName, ips, names, days]: readonly Value[], key?: Value): CertificateSubject => ({
    commonName: text(commonName),
    ips: texts(ips, 'ip'),
    dnsNames: texts(names, 'alternate dns name'),
    days: whole(days),
    ...(key === undefined ? {} : { key: text(key) }),
  });
  const calls: Record<string, (args: readonly Value[]) => Value> = {
    genPrivateKey: ([type]) => maker.privateKey(text(type)),
    genCA: ([commonName, days]) =>
      new Certificate(maker.authority({ commonName: text(commonName), days: whole(days) })),
    genCAWithKey: ([commonName, days, key]) =>
      new Certificate(maker.authority({ commonName: text(commonName), days: whole(days), key: text(key) })),
    genSelfSignedCert: (args) => new Certificate(maker.selfSigned(subject(args))),
    genSelfSignedCertWithKey: (args) => new Certificate(maker.selfSigned(subject(args, args[4]))),
    genSignedCert: (args) => new Certificate(maker.signed(subject(args), pairOf(args[4]))),
    genSignedCertWithKey: (args) => new Certificate(maker.signed(subject(args, args[5]), pairOf(args[4]))),
    buildCustomCert: ([certificate, key]) => new Certificate({ certificate: decoded(certificate), key: decoded(key) }),
  };
  if (maker.passwordHash) {
    const hash = maker.passwordHash.bind(maker);
    calls['bcrypt'] = ([password]) => hash(text(password));
    calls['htpasswd'] = ([user, password]) => {
      if (text(user).includes(':')) return `invalid username: ${text(user)}`;
      return `${text(user)}:${hash(text(password))}`;
    };
  }
  return Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [
      name,
      define(must(keySignatures[name], name), (args, { budget }) => {
        budget.spend(name === 'genPrivateKey' ? stepsPerPrivateKey : stepsPerKey);
        try {
          return call(args);
        } catch (error) {
          // An unreadable key or certificate of the template. The original error could reveal parts of it.
          if (error instanceof FunctionError) throw error;
          throw new FunctionError('the key or certificate cannot be used');
        }
      }),
    ]),
  );
}

function texts(value: Value, what: string): string[] {
  if (!isList(value)) return [];
  return value.map((item) => {
    if (typeof item === 'string') return item;
    throw new FunctionError(`error parsing ${what}: ${String(item)} is not a string`);
  });
}

function decoded(value: Value): string {
  const clean = text(value).replace(/[\r\n]/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(clean) || clean.length % 4 !== 0) {
    throw new FunctionError('unable to decode base64');
  }
  return Buffer.from(clean, 'base64').toString('utf8');
}
