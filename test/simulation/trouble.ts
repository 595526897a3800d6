import { collect } from '../../src/openstack/index.ts';
import type { FaultEffect, FaultRule } from '../../src/simulator/index.ts';
import { type Story, tell } from './wishes.ts';

/** What can go wrong with a request; the work was done in some of them. */
const requestTroubles: readonly FaultEffect[] = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 503 },
  { kind: 'status', status: 429, retryAfter: 2 },
  { kind: 'reset', workDone: false },
  { kind: 'reset', workDone: true },
  { kind: 'gateway-timeout' },
  { kind: 'hang', workDone: true, holdMs: 90_000 },
  { kind: 'latency', ms: [50, 3_000] },
  { kind: 'expired-token' },
];

/** Lets trouble loose in the cloud: each kind strikes now and then until it is called off. */
export function troubleTheCloud(story: Story): void {
  const { system, random } = story;
  for (const [index, effect] of requestTroubles.entries()) {
    if (random.next() < 0.5) continue;
    const rule: FaultRule = {
      id: `trouble-${index}`,
      // the onlooker of the simulation is an administrator, whom nothing happens to
      when: { project: 'demo' },
      probability: 0.01 + random.next() * 0.06,
      seed: Math.floor(random.next() * 2 ** 31),
      effect,
    };
    system.cloud.operator.faults.set(rule);
    tell(story, `trouble: ${JSON.stringify(effect)} in ${((rule.probability ?? 1) * 100).toFixed(0)} % of requests`);
  }
  if (random.next() < 0.4) {
    const message = 'No valid host was found. There are not enough hosts available.';
    system.cloud.operator.faults.set({
      id: 'no-host',
      when: { operation: 'server.build', project: 'demo' },
      count: 1,
      effect: { kind: 'error', message },
    });
    tell(story, 'trouble: one server finds no host');
  }
}

export function calmTheCloud(story: Story): void {
  story.system.cloud.operator.faults.clear();
  tell(story, 'no more trouble');
}

/** What people and hardware do to single things, behind everybody's back. */
export async function strike(story: Story): Promise<void> {
  const { system, random } = story;
  const { operator } = system.cloud;
  const project = await system.tenant.projectId();
  const servers = await collect(system.admin.compute.servers.list({ allTenants: true }));
  // Nobody replaces a machine that is lost where no health check asks for it.
  const guarded = story.wishes.filter(({ healthCheck }) => healthCheck).map(({ name }) => `${name}-md-`);
  const workers = servers.filter(({ name }) => guarded.some((prefix) => name.startsWith(prefix)));
  const blows: [string, () => void][] = [
    ['the controllers crash', () => system.crashSoon(40)],
    ['the controllers crash', () => system.crashSoon(200)],
    ['all tokens end', () => operator.expireTokens(project)],
  ];
  for (const server of workers.slice(0, 2)) {
    blows.push(
      [`worker ${server.name} is deleted in the cloud`, () => operator.deleteServer(server.id)],
      [`worker ${server.name} is stopped in the cloud`, () => operator.stopServer(server.id)],
    );
  }
  const [what, blow] = blows[Math.floor(random.next() * blows.length)]!;
  tell(story, what);
  try {
    blow();
  } catch (error) {
    tell(story, `  (it was too late for that: ${error instanceof Error ? error.message : String(error)})`);
  }
}
