import { homedir } from 'node:os';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { seededRandom, systemClock } from '../../../src/machinery/index.ts';
import {
  type CloudConfig,
  cloudFromText,
  connect,
  httpTransport,
  loadClouds,
  type OpenStack,
  type TransportResponse,
} from '../../../src/openstack/index.ts';
import { createCloud, defaultWorld, renderCloudsYaml } from '../../../src/simulator/index.ts';
import { createTenant, type Tenant } from './tenant.ts';
import { ensureWorld, type World } from './world.ts';

/** Names the clouds.yaml of a real cloud with an entry `admin`, tested in addition to the simulated one. */
export const realCloudsVariable = 'CAPSTAN_REAL_CLOUDS_YAML';

/** A cloud under test. */
export interface ContractCloud {
  readonly admin: OpenStack;
  /** a member of its own project */
  readonly tenant: Tenant;
  /** client of the same user; sufficient for most expectations */
  readonly member: OpenStack;
  readonly world: World;
  /** a member of another project */
  stranger(): Promise<Tenant>;
  /** sends one raw request */
  wire(request: WireRequest): Promise<WireAnswer>;
}

export interface WireRequest {
  method: string;
  /** absolute */
  url: string;
  token?: string;
  headers?: Record<string, string>;
  json?: unknown;
  text?: string;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: TransportResponse['headers'];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, looked at member by member
  readonly json: any;
}

interface Target {
  readonly name: string;
  start(): Promise<{ admin: CloudConfig; stop(): Promise<void> }>;
}

/** Declares expectations for each cloud: the simulated one, and a real one if it is configured. */
export function contract(title: string, expectations: (cloud: ContractCloud) => void): void {
  for (const target of targets()) describe(`${title} (${target.name} cloud)`, () => declare(target, expectations));
  if (!process.env[realCloudsVariable]) {
    describe(`${title} (real cloud)`, () => {
      it.skip(`needs a real OpenStack: name its clouds.yaml in ${realCloudsVariable}`, () => {});
    });
  }
}

function declare(target: Target, expectations: (cloud: ContractCloud) => void): void {
  let parts: Omit<ContractCloud, 'member'> | undefined;
  const cleanUps: (() => Promise<unknown>)[] = [];
  const part = <K extends keyof Omit<ContractCloud, 'member'>>(key: K): Omit<ContractCloud, 'member'>[K] => {
    if (!parts) throw new Error(`${key} of the cloud can be used inside tests only`);
    return parts[key];
  };
  beforeAll(async () => {
    const started = await target.start();
    cleanUps.push(started.stop);
    const admin = connect(started.admin);
    const makeTenant = async (): Promise<Tenant> => {
      const made = await createTenant(admin, 'contract');
      cleanUps.push(made.remove);
      return made;
    };
    const world = await ensureWorld(admin);
    parts = { admin, world, tenant: await makeTenant(), stranger: makeTenant, wire: sendPlain };
  });
  afterAll(async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  });
  // Getters, because tests are declared before the cloud exists.
  expectations({
    get admin() {
      return part('admin');
    },
    get tenant() {
      return part('tenant');
    },
    get member() {
      return part('tenant').cloud;
    },
    get world() {
      return part('world');
    },
    stranger: () => part('stranger')(),
    wire: (request) => part('wire')(request),
  });
}

function targets(): Target[] {
  const file = process.env[realCloudsVariable];
  return [
    { name: 'simulated', start: startSimulated },
    ...(file ? [{ name: 'real', start: async () => ({ admin: await realAdmin(file), stop: async () => {} }) }] : []),
  ];
}

async function realAdmin(file: string): Promise<CloudConfig> {
  const clouds = await loadClouds({ env: { OS_CLIENT_CONFIG_FILE: file }, cwd: process.cwd(), home: homedir() });
  return clouds.cloud('admin');
}

/** Starts a cloud in this process, over real HTTP, with steps in a tenth of their time. */
async function startSimulated(): Promise<{ admin: CloudConfig; stop(): Promise<void> }> {
  const failures: unknown[] = [];
  const cloud = await createCloud({
    clock: systemClock,
    random: seededRandom(1),
    world: defaultWorld,
    timeScale: 0.1,
    onError: (error) => void failures.push(error),
  });
  const { url } = await cloud.listen({ host: '127.0.0.1', port: 0 });
  const text = renderCloudsYaml({ url, region: 'RegionOne', secrets: cloud.secrets });
  return {
    admin: await cloudFromText({ text, source: 'the simulated cloud', cloud: 'admin' }),
    async stop() {
      await cloud.close();
      if (failures.length > 0) throw new AggregateError(failures, 'the simulated cloud failed inside');
    },
  };
}

const plainTransport = httpTransport({ tls: { verify: true }, env: {} });

async function sendPlain(request: WireRequest): Promise<WireAnswer> {
  const body = request.text ?? (request.json === undefined ? undefined : JSON.stringify(request.json));
  const response = await plainTransport({
    method: request.method,
    url: request.url,
    headers: {
      // Sent by curl and most libraries. Without it services answer errors as plain text.
      accept: '*/*',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(request.token !== undefined && { 'x-auth-token': request.token }),
      ...request.headers,
    },
    ...(body !== undefined && { body }),
  });
  const text = Buffer.from(response.body).toString();
  return {
    status: response.status,
    headers: response.headers,
    text,
    get json() {
      return JSON.parse(text);
    },
  };
}
