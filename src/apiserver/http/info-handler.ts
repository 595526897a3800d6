import { createHash } from 'node:crypto';
import { type JsonObject, statusError, trimTrailing } from '../../machinery/index.ts';
import {
  type AggregatedApi,
  type Aggregation,
  aggregatedGroups,
  legacyGroups,
  legacyResourceList,
} from '../aggregation.ts';
import type { Discovery } from '../discovery/index.ts';
import { emptyOpenApiV2, type OpenApi, openApiKey, openApiV2Protobuf } from '../openapi/index.ts';
import type { Exchange } from './exchange.ts';
import { parseMediaRanges } from './media-types.ts';

export interface VersionInfo {
  major: string;
  minor: string;
  gitVersion: string;
  gitCommit: string;
  gitTreeState: string;
  buildDate: string;
  goVersion: string;
  compiler: string;
  platform: string;
}

/** A named health check; throws or rejects if unhealthy. */
export interface HealthCheck {
  name: string;
  check(): void | Promise<void>;
  /** endpoints that include the check besides /healthz */
  in: readonly ('livez' | 'readyz')[];
}

export interface InfoHandlerOptions {
  discovery: Discovery;
  openApi: OpenApi;
  version: VersionInfo;
  healthChecks: readonly HealthCheck[];
  metrics(): Promise<{ contentType: string; body: string }>;
  /** documents at fixed paths, such as the keys of the service account issuer */
  documents: ReadonlyMap<string, () => unknown>;
  serverAddress(): string;
  now(): number;
  /** groups served by other servers */
  aggregation?: Aggregation;
}

const healthPath = /^\/(healthz|livez|readyz)(?:\/(.+))?$/;

export function isHealthPath(path: string): boolean {
  return healthPath.test(path);
}

const oneYearMs = 365 * 24 * 3600 * 1000;

/**
 * Serves everything except resources: discovery, OpenAPI, version, health and metrics. Returns false for unknown paths.
 */
export async function handleInfo(exchange: Exchange, options: InfoHandlerOptions): Promise<boolean> {
  const path = exchange.path.length > 1 ? trimTrailing(exchange.path, '/') : exchange.path;
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
    if (isKnownPath(path, options)) throw statusError.methodNotAllowed();
    return false;
  }
  if (path === '/api') return sendDiscovery(exchange, options, 'core');
  if (path.startsWith('/apis')) {
    const others = (await options.aggregation?.available()) ?? [];
    if (path === '/apis') return sendDiscovery(exchange, options, 'groups', others);
    if (sendAggregated(exchange, others, path)) return true;
  }
  const health = healthPath.exec(path);
  if (health) return sendHealth(exchange, options, health[1] as 'healthz', health[2]);
  if (path === '/openapi/v3') {
    exchange.sendJson(200, options.openApi.index());
    return true;
  }
  if (path === '/openapi/v2') return sendOpenApiV2(exchange, options);
  if (path.startsWith('/openapi/v3/')) return sendOpenApiV3(exchange, options, path);
  if (path === '/version') {
    exchange.sendJson(200, options.version);
    return true;
  }
  if (path === '/metrics') {
    const { contentType, body } = await options.metrics();
    exchange.send(200, contentType, Buffer.from(body));
    return true;
  }
  if (path === '/') {
    exchange.sendJson(200, { paths: rootPaths(options) });
    return true;
  }
  const document = options.documents.get(path);
  if (document) {
    exchange.sendJson(200, document(), { 'cache-control': 'public, max-age=3600' });
    return true;
  }
  return sendGroupDiscovery(exchange, options, path);
}

function isKnownPath(path: string, options: InfoHandlerOptions): boolean {
  return /^\/(api|apis|openapi|version|healthz|livez|readyz|metrics)?(\/|$)/.test(path) || options.documents.has(path);
}

function rootPaths(options: InfoHandlerOptions): string[] {
  const groups = options.discovery.groupList()['groups'] as { name: string; versions: { groupVersion: string }[] }[];
  const paths = [
    '/api',
    '/api/v1',
    '/apis',
    '/healthz',
    '/livez',
    '/metrics',
    '/openapi/v2',
    '/openapi/v3',
    '/readyz',
    '/version',
  ];
  for (const group of groups) {
    paths.push(`/apis/${group.name}`, ...group.versions.map((version) => `/apis/${version.groupVersion}`));
  }
  return [...paths, ...options.documents.keys()].sort();
}

/** Clients that accept the aggregated form get one document with everything; others get the list of groups. */
function sendDiscovery(
  exchange: Exchange,
  options: InfoHandlerOptions,
  part: 'core' | 'groups',
  others: readonly AggregatedApi[] = [],
): boolean {
  const core = part === 'core';
  for (const range of parseMediaRanges(exchange.header('accept') ?? '')) {
    const { g, v, as } = range.parameters;
    if (range.type !== 'application/json' && range.type !== '*/*') continue;
    if (g === undefined) break;
    if (g !== 'apidiscovery.k8s.io' || as !== 'APIGroupDiscoveryList' || (v !== 'v2' && v !== 'v2beta1')) continue;
    const own = options.discovery.aggregated(core, v);
    const document =
      others.length === 0 ? own : { ...own, items: [...(own['items'] as JsonObject[]), ...aggregatedGroups(others)] };
    const etag = others.length === 0 ? options.discovery.etag(core, v) : etagOf(document);
    const headers = { etag, vary: 'Accept', 'cache-control': 'public' };
    if (exchange.header('if-none-match') === etag) {
      exchange.writeHead(304, headers);
      exchange.end();
      return true;
    }
    const bytes = Buffer.from(JSON.stringify(document));
    exchange.send(200, `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`, bytes, headers);
    return true;
  }
  exchange.sendJson(
    200,
    core ? options.discovery.apiVersions(options.serverAddress()) : withGroups(options.discovery.groupList(), others),
    {
      vary: 'Accept',
    },
  );
  return true;
}

function withGroups(own: JsonObject, others: readonly AggregatedApi[]): JsonObject {
  return others.length === 0 ? own : { ...own, groups: [...(own['groups'] as JsonObject[]), ...legacyGroups(others)] };
}

/** Serves discovery documents of aggregated groups; returns false for other paths. */
function sendAggregated(exchange: Exchange, others: readonly AggregatedApi[], path: string): boolean {
  const [, , group, version, more] = path.split('/');
  const ofGroup = others.filter((api) => api.group === group);
  if (ofGroup.length === 0 || more !== undefined) return false;
  if (version === undefined) {
    exchange.sendJson(200, { kind: 'APIGroup', apiVersion: 'v1', ...legacyGroups(ofGroup)[0] });
    return true;
  }
  const api = ofGroup.find((candidate) => candidate.version === version);
  if (!api) return false;
  exchange.sendJson(200, legacyResourceList(api));
  return true;
}

function etagOf(document: JsonObject): string {
  return `"${createHash('sha512').update(JSON.stringify(document)).digest('hex').toUpperCase()}"`;
}

function sendGroupDiscovery(exchange: Exchange, options: InfoHandlerOptions, path: string): boolean {
  const match = /^\/(?:api\/([^/]+)|apis\/([^/]+)(?:\/([^/]+))?)$/.exec(path);
  if (!match) return false;
  const [, coreVersion, group = '', version] = match;
  const document =
    coreVersion !== undefined
      ? options.discovery.resourceList('', coreVersion)
      : version !== undefined
        ? options.discovery.resourceList(group, version)
        : options.discovery.group(group);
  if (!document) {
    // An unknown version of a served group is an API error, while an unknown group is no API path at all.
    if (options.discovery.group(group) || coreVersion !== undefined) throw statusError.pathNotFound();
    return false;
  }
  exchange.sendJson(200, document);
  return true;
}

function sendOpenApiV3(exchange: Exchange, options: InfoHandlerOptions, path: string): boolean {
  const key = openApiKey(path);
  const document = key && options.openApi.v3(key.group, key.version);
  if (!document) return false;
  const asked = exchange.query.get('hash');
  if (asked !== null && asked !== document.hash) {
    exchange.writeHead(301, { location: `${path}?hash=${document.hash}`, 'content-length': 0 });
    exchange.end();
    return true;
  }
  const etag = `"${document.hash}"`;
  const headers: Record<string, string> = { etag, vary: 'Accept' };
  if (asked !== null) {
    // The URL contains a content hash, so the document can be cached forever and kubectl fetches it once per change.
    headers['cache-control'] = 'public, immutable';
    headers['expires'] = new Date(options.now() + oneYearMs).toUTCString();
  }
  if (exchange.header('if-none-match') === etag) {
    exchange.writeHead(304, headers);
    exchange.end();
    return true;
  }
  exchange.send(200, 'application/json', document.bytes, headers);
  return true;
}

function sendOpenApiV2(exchange: Exchange, options: InfoHandlerOptions): boolean {
  const accept = exchange.header('accept') ?? '*/*';
  const ranges = parseMediaRanges(accept);
  const readsJson = ranges.some((range) => range.type === 'application/json' || range.type === '*/*');
  if (!readsJson) {
    // JSON would break a client that accepts only protobuf.
    if (!ranges.some((range) => openApiV2Protobuf.mediaTypes.has(range.type))) {
      throw statusError.notAcceptable('only the following media types are accepted: application/json');
    }
    const bytes = emptyOpenApiV2('Kubernetes', options.version.gitVersion);
    exchange.send(200, openApiV2Protobuf.contentType, bytes, { vary: 'Accept' });
    return true;
  }
  const document = options.openApi.v2();
  exchange.send(200, 'application/json', document.bytes, { etag: `"${document.hash}"`, vary: 'Accept' });
  return true;
}

async function sendHealth(
  exchange: Exchange,
  options: InfoHandlerOptions,
  endpoint: 'healthz' | 'livez' | 'readyz',
  single: string | undefined,
): Promise<boolean> {
  const checks = options.healthChecks.filter((check) => endpoint === 'healthz' || check.in.includes(endpoint));
  const excluded = new Set(exchange.query.getAll('exclude'));
  const selected =
    single === undefined
      ? checks.filter((check) => !excluded.has(check.name))
      : checks.filter((check) => check.name === single);
  if (single !== undefined && selected.length === 0) return false;
  const lines: string[] = [];
  let healthy = true;
  for (const check of selected) {
    try {
      await check.check();
      lines.push(`[+]${check.name} ok`);
    } catch {
      healthy = false;
      // Reasons go only to the log, because these endpoints may be public.
      lines.push(`[-]${check.name} failed: reason withheld`);
    }
  }
  if (!healthy) exchange.sendText(500, `${lines.join('\n')}\n${endpoint} check failed\n`);
  else if (exchange.query.has('verbose')) exchange.sendText(200, `${lines.join('\n')}\n${endpoint} check passed\n`);
  else exchange.sendText(200, 'ok');
  return true;
}
