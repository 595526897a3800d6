import { trimTrailing } from '../../machinery/index.ts';
import type { ServiceType } from '../config/service-types.ts';

/** Where a service's resources and its version document are. */
export interface ServiceUrls {
  /** resources are below this; no slash at the end */
  readonly resources: string;
  /** the document that tells versions and microversions */
  readonly versions: string;
}

interface Layout {
  /** the version segment put behind an endpoint that has none */
  readonly version: string;
  /** version segments that are as good */
  readonly accepted: RegExp;
  /** version segments of APIs that are no longer of use; the right one is put in their place */
  readonly outdated: RegExp;
  /** the project's id comes next */
  readonly project: boolean;
  /** whether the version document is that of the version, or the list above it */
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
 * Completes an endpoint of the catalogue, which may or may not hold a version and a project. The links inside version documents
 * are not used: behind gateways they often name hosts and schemes that nobody outside can reach.
 */
export function serviceUrls(service: ServiceType, endpoint: string, projectId: string | undefined): ServiceUrls {
  const layout = layouts[service];
  const filled = endpoint.replaceAll(/[$%]\((?:project_id|tenant_id)\)s/g, projectId ?? '');
  const [base, ...rest] = splitAtVersion(filled);
  const version = rest[0];
  const keep = version !== undefined && layout.accepted.test(version);
  const replace = version !== undefined && layout.outdated.test(version);
  // A segment that only looks like a version belongs to the path.
  const root = version === undefined || keep || replace ? base : [base, ...rest].join('/');
  const segment = keep ? version : layout.version;
  const tail = keep || replace ? rest.slice(1) : [];
  if (layout.project && tail.length === 0 && projectId !== undefined) tail.push(projectId);
  const resources = [root, segment, ...tail].join('/');
  return { resources, versions: layout.document === 'version' ? `${root}/${segment}/` : `${root}/` };
}

/** `https://host/volume/v3/PROJECT` into what is before the version, the version, and what follows. */
function splitAtVersion(endpoint: string): [base: string, version?: string, ...rest: string[]] {
  const parts = trimTrailing(endpoint, '/').split('/');
  const at = parts.findLastIndex((part, index) => index > 2 && /^v\d+(\.\d+)?$/.test(part));
  return at < 0 ? [parts.join('/')] : [parts.slice(0, at).join('/'), ...(parts.slice(at) as [string, ...string[]])];
}
