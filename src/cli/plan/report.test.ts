import { describe, expect, it } from 'vitest';
import { canWork, renderPlan } from './report.ts';
import type { Plan, PlannedChange } from './types.ts';

const change = (more: Partial<PlannedChange>): PlannedChange => ({
  action: 'create',
  type: 'server',
  name: 'a-md-0-*-*',
  object: 'MachineDeployment default/a-md-0',
  cause: 'edit',
  detail: '',
  fields: [],
  ...more,
});

const plan = (changes: readonly PlannedChange[], more: Partial<Plan> = {}): Plan => ({
  clusters: [
    {
      namespace: 'default',
      name: 'a',
      exists: true,
      clouds: ['project demo'],
      changes,
      machines: [],
      costs: { before: 0, after: 0 },
    },
  ],
  quotas: [],
  problems: [],
  costs: { before: 0, after: 0, currency: 'EUR', unpriced: [] },
  notes: [],
  ...more,
});

const lines = (one: Plan): string[] => renderPlan(one, { colour: false }).split('\n');

describe('a plan printed for people', () => {
  it('prints equal changes once with their number', () => {
    expect(
      lines(plan([change({ detail: 'm1.small' }), change({ detail: 'm1.small' }), change({ action: 'delete' })])),
    ).toEqual(
      expect.arrayContaining([
        '  + server a-md-0-*-* (2): m1.small',
        '  - server a-md-0-*-*',
        '  2 to create, 0 to change, 1 to delete',
      ]),
    );
  });

  it('prints a count of rules for a new group, and single rules for an existing one', () => {
    const group = change({ type: 'securityGroup', name: 'new' });
    const rule = (name: string, detail: string): PlannedChange => change({ type: 'securityGroupRule', name, detail });
    const all = lines(plan([group, rule('new', 'tcp 1'), rule('new', 'tcp 2'), rule('old', 'tcp 3')]));
    expect(all).toContain('  + security group rule new (2)');
    expect(all).toContain('  + security group rule old: tcp 3');
  });

  it('prints drift separately from changes of the edit', () => {
    const all = lines(plan([change({ cause: 'drift', type: 'port', name: 'p' }), change({})]));
    const at = (text: string): number => all.findIndex((line) => line.includes(text));
    expect(at('differs from what is desired')).toBeLessThan(at('+ port p'));
    expect(at('+ port p')).toBeLessThan(at('the edit brings'));
    expect(at('the edit brings')).toBeLessThan(at('+ server'));
  });

  it('prints why machines are replaced, and how many more there are', () => {
    const [cluster] = plan([]).clusters;
    const machines = [
      {
        object: 'KubeadmControlPlane default/a',
        create: 3,
        delete: 3,
        replace: 3,
        because: ['Version v1, v2 required'],
      },
      { object: 'MachineDeployment default/a', create: 2, delete: 0, replace: 0, because: [] },
      { object: 'MachineDeployment default/b', create: 0, delete: 1, replace: 0, because: [] },
    ];
    const all = lines(plan([], { clusters: cluster ? [{ ...cluster, machines }] : [] }));
    expect(all).toContain('  -/+ KubeadmControlPlane default/a replaces 3 machines (Version v1, v2 required)');
    expect(all).toContain('  + MachineDeployment default/a adds 2 machines');
    expect(all).toContain('  - MachineDeployment default/b removes 1 machine');
    expect(all).toContain('  nothing would change in the cloud');
  });

  it('prints quotas, costs before and after, and resources without a price', () => {
    const quotas = [
      { cloud: 'c', resource: 'instances', needed: 3, left: 2, enough: false },
      { cloud: 'c', resource: 'ports', needed: 3, left: null, enough: true },
      { cloud: 'c', resource: 'volumes', needed: 1, enough: true },
    ];
    const text = renderPlan(
      plan([change({})], { quotas, costs: { before: 1, after: 2.5, currency: 'EUR', unpriced: ['flavor x'] } }),
      { colour: false },
    );
    expect(text).toMatch(/^instances +3 +2 +too few/m);
    expect(text).toMatch(/^ports +3 +unlimited$/m);
    expect(text).toMatch(/^volumes +1 +not told$/m);
    expect(text).toContain('cost: 2.5000 EUR per hour, 1825.00 per month; now 1.0000 EUR per hour, 730.00 per month');
    expect(text).toContain('no price for flavor x');
  });

  it('is workable unless it has an error or an exceeded quota', () => {
    const problem = { object: 'o', message: 'm' } as const;
    expect(canWork(plan([]))).toBe(true);
    expect(canWork(plan([], { problems: [{ ...problem, severity: 'warning' }] }))).toBe(true);
    expect(canWork(plan([], { problems: [{ ...problem, severity: 'error' }] }))).toBe(false);
    expect(canWork(plan([], { quotas: [{ cloud: 'c', resource: 'r', needed: 1, left: 0, enough: false }] }))).toBe(
      false,
    );
  });
});
