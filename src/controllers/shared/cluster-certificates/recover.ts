import { gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machinery/index.ts';
import type { CertificateAndKey } from '../../../pki/index.ts';
import type { CertificatePlan } from './plan.ts';

/** Extracts a pair from the user data of a control plane machine; undefined if it is not in there. */
export function pairInUserData(userData: string, plan: CertificatePlan): CertificateAndKey | undefined {
  if (plan.keyFile === undefined) return undefined;
  const files = filesOf(userData);
  const certificate = files(plan.certificateFile);
  const privateKey = files(plan.keyFile);
  return certificate === undefined || privateKey === undefined ? undefined : { certificate, privateKey };
}

type ReadFile = (path: string) => string | undefined;

/** Reads the files of a cloud-config or Ignition configuration; unreadable user data has none. */
function filesOf(userData: string): ReadFile {
  let document: JsonValue;
  try {
    document = parse(userData) as JsonValue;
  } catch {
    return () => undefined;
  }
  if (!isJsonObject(document)) return () => undefined;
  if (isJsonObject(document['ignition'])) {
    const { storage } = document;
    return reader(isJsonObject(storage) ? storage['files'] : undefined, ignitionContent);
  }
  return reader(document['write_files'], cloudConfigContent);
}

function reader(files: JsonValue | undefined, contentOf: (file: JsonObject) => string | undefined): ReadFile {
  const all = Array.isArray(files) ? files.filter(isJsonObject) : [];
  return (path) => {
    const file = all.find((one) => one['path'] === path);
    try {
      return file && contentOf(file);
    } catch {
      return undefined;
    }
  };
}

function cloudConfigContent({ content, encoding }: JsonObject): string | undefined {
  if (typeof content !== 'string') return undefined;
  const names = typeof encoding === 'string' ? encoding.split('+') : [];
  const bytes = Buffer.from(content, names.some((name) => /^b(ase)?64$/.test(name)) ? 'base64' : 'utf8');
  return (names.some((name) => /^gz(ip)?$/.test(name)) ? gunzipSync(bytes) : bytes).toString();
}

function ignitionContent({ contents }: JsonObject): string | undefined {
  const { source, compression } = isJsonObject(contents) ? contents : {};
  const [, encoding, data] = (typeof source === 'string' && /^data:[^,;]*(;base64)?,(.*)$/s.exec(source)) || [];
  if (data === undefined) return undefined;
  const bytes =
    encoding === undefined ? Buffer.from(decodeURIComponent(data)) : Buffer.from(decodeURIComponent(data), 'base64');
  return (compression === 'gzip' ? gunzipSync(bytes) : bytes).toString();
}
