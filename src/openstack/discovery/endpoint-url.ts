import { trimTrailing } from '../../machinery/index.ts';
import type { ServiceType } from '../config/service-types.ts';

/** URLs of a service. */
export interface ServiceUrls {
  /** base URL of resources, without a trailing slash */
  readonly resources: string;
  /** URL of the document with versions and microversions */
  readonly versions: string;
}

interface Layout {
  /** version segment added to an endpoint without one */
  readonly version: string;
  /** version segments that are kept */
  readonly accepted: RegExp;
  /** version segments of obsolete APIs, which are replaced */
  readonly outdated: RegExp;
  /** the project id follows */
  readonly project: boolean;
  /** whether the version document is that of the version or the list above it */
  readonly document: 'version' | 'list';
}

const layouts: Readonly<Record<ServiceType, Layout>> = {
  identity: { version: 'v3', accepted: /^v3(\.\d+)?$/, outdated: /^v2(\.\d+)?$/, project: false, document: 'version' },
  compute: { version: 'v2.1', accepted: /^v2\.1$/, outdated: /^v2(\.0)?$/, project: false, document: 'version' },
  network: { version: 'v2.0', accepted: /^v2(\.0)?$/, outdated: /^v1(\.\d+)?$/, project: false, document: 'list' },
  image: { version: 'v2', accepted: /^v2(\.\d+)?$/, outdated: /^v1(\.\d+)?$/, project: false, document: 'list' },
  volume: { version: 'v3', accepted: /^v3$/, outdated: /^v[12]$/, project: true, document: 'version' },
  'load-balancer': {
    version: 'v2.0',
    accepted: /^v2(\.0)?$/,
    outdated: /^v1(\.0)?$/,
    project: false,
    document: 'list',
  },
};

/**
 * Completes a catalogue endpoint, which may lack the version or the project. Links inside version documents are
 * ignored: behind gateways they often name hosts and schemes that are unreachable from outside.
 */
export function serviceUrls(service: ServiceType, endpoint: string, projectId: string | undefined): ServiceUrls {
  const layout = layouts[service];
  const filled = endpoint.replaceAll(/[$%]\((?:project_id|tenant_id)\)s/g, projectId ?? '');
  const [base, ...rest] = splitAtVersion(filled);
  const version = rest[0];
  const keep = version !== undefined && layout.accepted.test(version);
  const replace = version !== undefined && layout.outdated.test(version);
  // A segment that only resembles a version belongs to the path.
  const root = version === undefined || keep || replace ? base : [base, ...rest].join('/');
  const segment = keep ? version : layout.version;
  const tail = keep || replace ? rest.slice(1) : [];
  if (layout.project && tail.length === 0 && projectId !== undefined) tail.push(projectId);
  const resources = [root, segment, ...tail].join('/');
  return { resources, versions: layout.document === 'version' ? `${root}/${segment}/` : `${root}/` };
}

/** Splits `https://host/volume/v3/PROJECT` into the part before the version, the version, and the rest. */
function splitAtVersion(endpoint: string): [base: string, version?: string, ...rest: string[]] {
  const parts = trimTrailing(endpoint, '/').split('/');
  const at = parts.findLastIndex((part, index) => index > 2 && /^v\d+(\.\d+)?$/.test(part));
  return at < 0 ? [parts.join('/')] : [parts.slice(0, at).join('/'), ...(parts.slice(at) as [string, ...string[]])];
}
