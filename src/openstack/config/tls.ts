import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { errorMessage, type JsonObject } from '../../machinery/index.ts';
import type { TlsSettings } from '../transport/undici.ts';
import { CloudConfigError } from './errors.ts';
import { expandHome } from './files.ts';
import { settingFlag, settingText } from './merge.ts';

export interface TlsContext {
  readonly file: string;
  readonly cloud: string;
  /** base of relative paths and of `~`; undefined if settings must not cause file reads */
  readonly paths: { readonly cwd: string; readonly home: string } | undefined;
  /** CA certificates given besides the settings, such as the `cacert` of a Secret */
  readonly ca?: string | undefined;
  warn(text: string): void;
}

/** Reads cacert, cert, key, verify and insecure. Each file may also be given as PEM instead of a path. */
export async function readTls(settings: JsonObject, context: TlsContext): Promise<TlsSettings> {
  const verify =
    settingFlag(settings['verify'], { fallback: true }) && !settingFlag(settings['insecure'], { fallback: false });
  const ca = context.ca !== undefined && context.ca.trim() !== '' ? context.ca : await pem(settings, 'cacert', context);
  if (ca !== undefined && !verify) {
    context.warn(
      `cloud "${context.cloud}" has a cacert and verify: false: the certificate of the cloud is not checked`,
    );
  }
  if (ca !== undefined) checkCertificates(ca, context);
  const cert = await pem(settings, 'cert', context);
  const key = cert === undefined ? undefined : await pem(settings, 'key', context);
  return { ca, cert, key, verify };
}

const certificates = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** TLS would silently ignore a broken bundle, and every connection would fail with a misleading error. */
function checkCertificates(ca: string, context: TlsContext): void {
  const found = ca.match(certificates);
  try {
    if (!found) throw new Error('it holds no certificate');
    for (const text of found) new X509Certificate(text);
  } catch (error) {
    throw new CloudConfigError({
      file: context.file,
      cloud: context.cloud,
      key: 'cacert',
      problem: `is not a PEM bundle of certificates (${errorMessage(error)})`,
      cure: 'give the certificate authority of the cloud, or leave cacert out to use those of the system',
    });
  }
}

async function pem(settings: JsonObject, key: string, context: TlsContext): Promise<string | undefined> {
  const value = settingText(settings[key]);
  if (value === undefined || value === '') return undefined;
  if (value.includes('-----BEGIN ')) return value;
  if (!context.paths) {
    context.warn(`${context.file}: cloud "${context.cloud}": ${key} names a file, which is not read from here`);
    return undefined;
  }
  const path = resolve(context.paths.cwd, expandHome(value, context.paths.home));
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CloudConfigError({
      file: context.file,
      cloud: context.cloud,
      key,
      problem: `cannot read ${path} (${(error as NodeJS.ErrnoException).code ?? errorMessage(error)})`,
      cure: 'correct the path, or put the PEM text itself there',
      cause: error,
    });
  }
}
