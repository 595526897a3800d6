import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CloudConfig, loadClouds, type ServiceType } from '../../src/openstack/index.ts';

/** Result of either reader for the same files and variables. */
interface Reading {
  name?: string;
  auth?: Record<string, string>;
  region?: string;
  interface?: string;
  verify?: boolean;
  endpoints?: Record<string, string>;
  microversion?: string;
  error?: true;
}

interface Case {
  name: string;
  files: Record<string, string>;
  env?: Record<string, string>;
  cloud?: string;
  region?: string;
}

const login = `
    auth:
      auth_url: https://keystone.test:5000/v3
      username: u
      password: pw
      project_name: p
      user_domain_name: Default
      project_domain_name: Default`;
const one = (more = '', auth = login): Record<string, string> => ({ 'clouds.yaml': `clouds:\n  c:${auth}${more}\n` });
const brief = (settings: string): Record<string, string> =>
  one('', `\n    auth: {auth_url: "http://k.test/v3", username: u, password: x, user_domain_id: d, ${settings}}`);

const cases: Case[] = [
  { name: 'a plain password', files: one() },
  { name: 'tenant names', files: brief('tenant_name: t, project_domain_id: d') },
  { name: 'tenant ids with a dash', files: brief('tenant-id: t') },
  { name: 'tenant and project names at once', files: brief('tenant_name: t, project_name: p, project_domain_id: d') },
  {
    name: 'one domain for both',
    files: one(
      '',
      '\n    auth: {auth_url: "http://k.test/v3", username: u, password: x, project_name: p, domain_name: D}',
    ),
  },
  {
    name: 'a domain as the scope',
    files: one('', '\n    auth: {auth_url: "http://k.test/v3", user_id: u, password: x, domain_id: d}'),
  },
  {
    name: 'the system as the scope',
    files: one('', '\n    auth: {auth_url: "http://k.test/v3", user_id: u, password: x, system_scope: all}'),
  },
  {
    name: 'a trust',
    files: one('', '\n    auth: {auth_url: "http://k.test/v3", user_id: u, password: x, trust_id: t}'),
  },
  { name: 'numbers as text', files: brief('project_id: 12345678901234567890123456789012') },
  { name: 'octal numbers', files: brief('project_id: 0123') },
  { name: 'what looks like an exponent', files: brief('project_id: 83e12345678901234567890123456789') },
  { name: 'fractions', files: brief('project_id: 1.50') },
  { name: 'booleans without quotes', files: one('\n    region_name: RegionOne\n    verify: no') },
  { name: 'sixties', files: brief('project_id: 1:30') },
  { name: 'keys given twice', files: { 'clouds.yaml': `clouds:\n  c:${login}\n      project_name: second\n` } },
  {
    name: 'anchors and merges',
    files: { 'clouds.yaml': `x: &base\n  region_name: R\nclouds:\n  c:\n    <<: *base${login}\n` },
  },
  {
    name: 'an application credential',
    files: one(
      '\n    auth_type: v3applicationcredential',
      '\n    auth: {auth_url: "http://k.test/v3", application_credential_id: i, application_credential_secret: s}',
    ),
  },
  {
    name: 'an application credential by name',
    files: one(
      '\n    auth_type: v3applicationcredential',
      '\n    auth: {auth_url: "http://k.test/v3", application_credential_name: n, application_credential_secret: s, user_id: u}',
    ),
  },
  {
    name: 'a token',
    files: one('\n    auth_type: token', '\n    auth: {auth_url: "http://k.test/v3", token: t, project_id: p}'),
  },
  { name: 'the first region of several', files: one('\n    regions: [A, B]') },
  { name: 'a chosen region', files: one('\n    regions: [A, B]'), region: 'B' },
  { name: 'a region that is not there', files: one('\n    regions: [A, B]'), region: 'C' },
  {
    name: 'regions with settings',
    files: one(
      '\n    regions:\n    - name: A\n    - name: B\n      values:\n        interface: internal\n        auth: {project_name: other}',
    ),
    region: 'B',
  },
  { name: 'a region of a cloud without any', files: one(), region: 'X' },
  { name: 'the interface', files: one('\n    interface: internal') },
  { name: 'the endpoint type of old', files: one('\n    endpoint_type: admin') },
  { name: 'insecure', files: one('\n    insecure: true') },
  {
    name: 'overrides by service',
    files: one(
      '\n    compute_endpoint_override: http://n.test/v2.1\n    volumev3_endpoint_override: http://c.test/v3\n    load-balancer_endpoint_override: http://o.test',
    ),
  },
  { name: 'a microversion', files: one("\n    compute_default_microversion: '2.60'") },
  { name: 'secure.yaml', files: { ...one(), 'secure.yaml': 'clouds:\n  c:\n    auth:\n      password: other\n' } },
  { name: 'clouds.yml', files: { 'clouds.yml': one()['clouds.yaml']! } },
  {
    name: 'clouds.json',
    files: {
      'clouds.json': JSON.stringify({
        clouds: { c: { auth: { auth_url: 'http://k.test/v3', user_id: 'u', password: 'x', project_id: 'p' } } },
      }),
    },
  },
  { name: 'the user’s directory', files: { 'home/.config/openstack/clouds.yaml': one()['clouds.yaml']! } },
  {
    name: 'XDG_CONFIG_HOME',
    files: { 'xdg/openstack/clouds.yaml': one()['clouds.yaml']! },
    env: { XDG_CONFIG_HOME: '@/xdg' },
  },
  {
    name: 'the nearest file',
    files: {
      ...one('\n    region_name: near'),
      'home/.config/openstack/clouds.yaml': one('\n    region_name: far')['clouds.yaml']!,
    },
  },
  {
    name: 'a named file',
    files: { ...one('\n    region_name: near'), 'named.yaml': one('\n    region_name: named')['clouds.yaml']! },
    env: { OS_CLIENT_CONFIG_FILE: '@/named.yaml' },
  },
  {
    name: 'a named secure file',
    files: { ...one(), 's.yaml': 'clouds:\n  c:\n    auth:\n      password: named\n' },
    env: { OS_CLIENT_SECURE_FILE: '@/s.yaml' },
  },
  {
    name: 'OS_CLOUD',
    files: { 'clouds.yaml': `clouds:\n  a:${login}\n  b:${login}\n    region_name: B\n` },
    env: { OS_CLOUD: 'b' },
  },
  { name: 'a cloud that is not there', files: one(), cloud: 'nope' },
  {
    name: 'a profile of clouds-public.yaml',
    files: {
      'clouds-public.yaml':
        'public-clouds:\n  mine:\n    auth: {auth_url: "http://public.test/v3"}\n    region_name: P\n',
      ...one('\n    profile: mine', '\n    auth: {user_id: u, password: x, project_id: p}'),
    },
  },
  {
    name: 'a profile that ships',
    files: one(
      '\n    profile: citycloud\n    region_name: Kna1',
      '\n    auth: {user_id: u, password: x, project_id: p}',
    ),
  },
  {
    name: 'placeholders',
    files: one(
      '\n    region_name: R',
      '\n    auth: {auth_url: "https://{region_name}.test/v3", user_id: u, password: x, project_id: p}',
    ),
  },
  { name: 'a value beside auth', files: one('\n    username: outer') },
  {
    name: 'variables alone',
    files: {},
    env: {
      OS_AUTH_URL: 'http://env.test/v3',
      OS_USERNAME: 'u',
      OS_PASSWORD: 'x',
      OS_PROJECT_NAME: 'p',
      OS_USER_DOMAIN_NAME: 'D',
      OS_PROJECT_DOMAIN_NAME: 'E',
      OS_REGION_NAME: 'R',
      OS_INTERFACE: 'internal',
    },
  },
  {
    name: 'variables beside a file',
    files: one(),
    env: { OS_AUTH_URL: 'http://env.test/v3', OS_USER_ID: 'u', OS_PASSWORD: 'x', OS_TENANT_ID: 'p' },
  },
  {
    name: 'another name for the variables',
    files: one(),
    env: {
      OS_CLOUD_NAME: 'mine',
      OS_AUTH_URL: 'http://env.test/v3',
      OS_USER_ID: 'u',
      OS_PASSWORD: 'x',
      OS_PROJECT_ID: 'p',
    },
  },
];

/** Prints openstacksdk's result for a list of directories. */
const script = `
import importlib, json, os, sys
from openstack.config import loader
def read(request):
    os.chdir(request['cwd'])
    os.environ.clear()
    os.environ.update(request['env'])
    # where to look is decided when the module is loaded
    importlib.reload(loader)
    try:
        given = {'region_name': request['region']} if 'region' in request else {}
        cloud = loader.OpenStackConfig().get_one(request.get('cloud'), **given)
        types = ('compute', 'block-storage', 'load-balancer')
        reading = {
            'name': cloud.name,
            'auth': {k: str(v) for k, v in cloud.config['auth'].items() if v is not None},
            'region': cloud.config['region_name'],
            'interface': cloud.get_interface(),
            'verify': bool(cloud.get_requests_verify_args()[0]),
            'endpoints': {t: cloud.get_endpoint(t) for t in types if cloud.get_endpoint(t)},
        }
        if cloud.get_default_microversion('compute'):
            reading['microversion'] = cloud.get_default_microversion('compute')
        return reading
    except Exception:
        return {'error': True}
json.dump([read(request) for request in json.load(sys.stdin)], sys.stdout)
`;

const python = ['/usr/bin/python3', 'python3'].find(
  (command) => spawnSync(command, ['-c', 'import openstack.config.loader']).status === 0,
);

describe.skipIf(python === undefined)(
  'clouds.yaml is read as openstacksdk reads it (needs python3-openstacksdk)',
  () => {
    let root: string;
    const readings = new Map<string, { theirs: Reading; cwd: string; env: Record<string, string> }>();
    beforeAll(async () => {
      root = await mkdtemp(join(tmpdir(), 'clouds-yaml-'));
      const requests: { cwd: string; env: Record<string, string>; cloud?: string; region?: string }[] = [];
      for (const { files, env = {}, cloud, region } of cases) {
        const cwd = await mkdtemp(join(root, 'case-'));
        for (const [name, text] of Object.entries(files)) {
          await mkdir(dirname(join(cwd, name)), { recursive: true });
          await writeFile(join(cwd, name), text);
        }
        const filled = Object.entries(env).map(([name, value]) => [name, value.replace('@', cwd)]);
        const variables = { HOME: join(cwd, 'home'), ...Object.fromEntries(filled) };
        requests.push({ cwd, env: variables, ...(cloud && { cloud }), ...(region && { region }) });
      }
      const { stdout, stderr, status } = spawnSync(python!, ['-W', 'ignore', '-c', script], {
        input: JSON.stringify(requests),
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(stderr);
      for (const [index, theirs] of (JSON.parse(stdout) as Reading[]).entries()) {
        readings.set(cases[index]!.name, { theirs, ...requests[index]! });
      }
    });
    afterAll(() => rm(root, { recursive: true, force: true }));

    it.each(cases.map((one) => [one.name, one] as const))('is read the same way: %s', async (name, wanted) => {
      const { theirs, cwd, env } = readings.get(name)!;
      expect(await readOurselves(cwd, env, wanted)).toEqual(theirs);
    });

    async function readOurselves(cwd: string, env: Record<string, string>, { cloud, region }: Case): Promise<Reading> {
      try {
        const clouds = await loadClouds({ env, cwd, home: join(cwd, 'home'), root: join(cwd, 'nowhere') });
        return describeConfig(await clouds.cloud(cloud, { region }));
      } catch {
        return { error: true };
      }
    }
  },
);

/** Converts the configuration to openstacksdk's terms. */
function describeConfig(config: CloudConfig): Reading {
  const { credential, scope, services } = config;
  const domain = (prefix: string, reference: { id: string } | { name: string }): Record<string, string> =>
    'id' in reference ? { [`${prefix}_id`]: reference.id } : { [`${prefix}_name`]: reference.name };
  const user = (reference: CloudConfig['credential'] & object): Record<string, string> => {
    if (!('user' in reference)) return {};
    const who = reference.user;
    return 'id' in who ? { user_id: who.id } : { username: who.name, ...domain('user_domain', who.domain) };
  };
  const auth: Record<string, string> = { auth_url: config.authUrl, ...user(credential) };
  if (credential.method === 'password') auth['password'] = credential.password;
  if (credential.method === 'token') auth['token'] = credential.token;
  if (credential.method === 'applicationCredential') {
    auth['application_credential_secret'] = credential.secret;
    if ('id' in credential) auth['application_credential_id'] = credential.id;
    else auth['application_credential_name'] = credential.name;
  }
  if (scope.kind === 'project') {
    const { project } = scope;
    Object.assign(
      auth,
      'id' in project
        ? { project_id: project.id }
        : { project_name: project.name, ...domain('project_domain', project.domain) },
    );
  }
  if (scope.kind === 'domain') Object.assign(auth, domain('domain', scope.domain));
  if (scope.kind === 'system') auth['system_scope'] = 'all';
  if (scope.kind === 'trust') auth['trust_id'] = scope.trustId;
  const names: [ServiceType, string][] = [
    ['compute', 'compute'],
    ['volume', 'block-storage'],
    ['load-balancer', 'load-balancer'],
  ];
  const endpoints = Object.fromEntries(
    names.flatMap(([type, name]) => {
      const endpoint = services[type]?.endpoint;
      return endpoint === undefined ? [] : [[name, endpoint]];
    }),
  );
  return {
    name: config.name,
    auth,
    region: config.region ?? '',
    interface: config.interfaces[0]!,
    verify: config.tls.verify,
    endpoints,
    ...(services.compute?.microversion !== undefined && { microversion: services.compute.microversion }),
  };
}
