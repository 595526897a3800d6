import { describe, expect, it } from 'vitest';
import { type ClusterStackSpec, classNameOf, parseStackId, releaseNameOf, type StackId } from '../../../api/index.ts';
import { planStack, type StackFacts } from './plan.ts';

const family = 'openstack-hosted-control-plane-1-33';
const id = (version: string): StackId => parseStackId(`${family}-${version}`)!;
const spec = (more: Partial<ClusterStackSpec> = {}): { spec: ClusterStackSpec } => ({
  spec: {
    provider: 'openstack',
    name: 'hosted-control-plane',
    kubernetesVersion: '1.33',
    channel: 'stable',
    autoSubscribe: false,
    noProvider: true,
    ...more,
  },
});
const facts = (more: Partial<StackFacts> = {}): StackFacts => ({
  offered: undefined,
  owned: [],
  used: new Set(),
  ...more,
});
const names = (ids: readonly StackId[]): string[] => ids.map((one) => classNameOf(one).slice(family.length + 1));

describe('the releases of a ClusterStack', () => {
  it('are those that its spec names', () => {
    const { wanted, unneeded } = planStack(spec({ versions: ['v2', 'v10', 'v1'] }), facts());
    expect(names(wanted)).toEqual(['v1', 'v2', 'v10']);
    expect(unneeded).toEqual([]);
  });

  it('include with autoSubscribe the newest of the same family and channel', () => {
    const others = ['openstack-hosted-control-plane-1-32-v9', 'openstack-scs2-1-33-v9', `${family}-v0-sha.1`];
    const offered = [id('v2'), id('v10'), id('v9'), ...others.map((text) => parseStackId(text)!)];
    expect(names(planStack(spec({ autoSubscribe: true }), facts({ offered })).wanted)).toEqual(['v10']);
    expect(names(planStack(spec({ autoSubscribe: false }), facts({ offered })).wanted)).toEqual([]);
    expect(
      names(planStack(spec({ autoSubscribe: true, channel: 'custom', versions: [] }), facts({ offered })).wanted),
    ).toEqual(['v0-sha.1']);
  });

  it('include the newest ready one until a newer one is ready', () => {
    const owned = [
      { id: id('v1'), ready: true },
      { id: id('v2'), ready: false },
    ];
    const coming = planStack(spec({ versions: ['v2'] }), facts({ owned }));
    expect(names(coming.wanted)).toEqual(['v1', 'v2']);
    const there = planStack(
      spec({ versions: ['v2'] }),
      facts({ owned: owned.map((one) => ({ ...one, ready: true })) }),
    );
    expect(names(there.wanted)).toEqual(['v2']);
    expect(there.unneeded).toEqual([`${family}-v1`]);
  });

  it('include those used by Clusters, whose classes have dots instead of dashes', () => {
    const used = id('v0-sha.abc');
    const owned = [
      { id: used, ready: true },
      { id: id('v0-sha.xyz'), ready: true },
      { id: id('v0-sha.aaa'), ready: true },
    ];
    const plan = planStack(
      spec({ channel: 'custom', versions: ['v0-sha.xyz'] }),
      facts({ owned, used: new Set([releaseNameOf(used)]) }),
    );
    expect(names(plan.wanted)).toEqual(['v0-sha.abc', 'v0-sha.xyz']);
    expect(plan.unneeded).toEqual([`${family}-v0-sha-aaa`]);
  });
});
