import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OwnEtcdSpec, PlaneSpec } from '../spec.ts';
import { hostedPlaneSpec, k0smotronPlaneSpec } from '../testing/specs.ts';
import { memberName, peerUrl } from './members.ts';
import { bootstrapSettings } from './settings.ts';
import { etcdStep } from './step.ts';
import { EtcdModel } from './testing/etcd-model.ts';
import type { EtcdMember, EtcdObservation, EtcdPod } from './types.ts';

const image = 'registry.k8s.io/etcd:3.6.5-0';

function desiredOf(members: number, more: Partial<PlaneSpec> = {}): PlaneSpec {
  const store = { kind: 'own-etcd', members, storage: { size: '1Gi' }, deleteVolumes: true } as const;
  return hostedPlaneSpec({ dataStore: store, ...more });
}

const desired = desiredOf(3);
const nameOf = (index: number): string => memberName(desired.naming, index);

function member(index: number, more: Partial<EtcdMember> = {}): EtcdMember {
  return {
    id: `id-${index}`,
    name: nameOf(index),
    peerUrls: [peerUrl(desired, nameOf(index))],
    isLearner: false,
    isLeader: index === 0,
    healthy: true,
    inSync: true,
    alarms: [],
    ...more,
  };
}

/** Builds an observation of a healthy etcd with `count` members. */
function observed(count: number, more: Partial<EtcdObservation> = {}): EtcdObservation {
  const names = Array.from({ length: count }, (_, index) => nameOf(index));
  return {
    set: {
      replicas: count,
      image,
      settings: {
        image,
        ...bootstrapSettings(desired, names),
        initialClusterState: 'existing',
        claims: Object.fromEntries(names.map((name) => [name, `uid-${name}`])),
      },
    },
    pods: names.map((name) => ({ name, ready: true, image, upToDate: true, terminating: false, dataLost: false })),
    claims: new Map(names.map((name) => [name, `uid-${name}`])),
    members: names.map((_, index) => member(index)),
    defragmentDue: false,
    ...more,
  };
}

describe('the next step of etcd', () => {
  it('is none when etcd is as desired', () => {
    expect(etcdStep(desired, observed(3))).toEqual({ kind: 'none' });
  });

  it('bootstraps all members at once', () => {
    const step = etcdStep(desired, { pods: [], claims: new Map(), defragmentDue: false });
    expect(step).toMatchObject({ kind: 'bootstrap', replicas: 3, image, settings: { initialClusterState: 'new' } });
  });

  describe('on volumes left by a plane of the same name', () => {
    const claimsOf = (...indexes: number[]): ReadonlyMap<string, string> =>
      new Map(indexes.map((index) => [nameOf(index), `uid-${nameOf(index)}`]));
    const begun = (wanted: number, ...indexes: number[]): EtcdObservation => {
      const claims = claimsOf(...indexes);
      const step = etcdStep(desiredOf(wanted), { pods: [], claims, defragmentDue: false });
      if (step.kind !== 'bootstrap') throw new Error(`expected a beginning, not ${step.kind}`);
      const { replicas, settings } = step;
      const pods = observed(replicas).pods;
      return { set: { replicas, image, settings }, recorded: settings, pods, claims, defragmentDue: false };
    };

    it.each([
      { wanted: 1, left: [0], replicas: 1 },
      { wanted: 3, left: [0], replicas: 1 },
      { wanted: 1, left: [0, 1, 2], replicas: 3 },
      { wanted: 3, left: [1, 2], replicas: 3 },
    ])('bootstraps the members of $left when $wanted are desired', ({ wanted, left, replicas }) => {
      const { set } = begun(wanted, ...left);
      expect(set).toMatchObject({ replicas, settings: { initialClusterState: 'new' } });
      expect(set?.settings.initialCluster.split(',').map((entry) => entry.split('=')[0])).toEqual(left.map(nameOf));
    });

    it('adds and removes members once the old ones answer', () => {
      const one = { ...begun(3, 0), members: [member(0)] };
      const recorded = etcdStep(desired, one);
      if (recorded.kind !== 'settings') throw new Error(`expected settings, not ${recorded.kind}`);
      expect(recorded.settings).toMatchObject({
        initialClusterState: 'existing',
        claims: { [nameOf(0)]: expect.anything() },
      });
      const settled = { ...one, set: { ...one.set!, settings: recorded.settings } };
      expect(etcdStep(desired, settled)).toMatchObject({ kind: 'add-learner', name: nameOf(1) });
      const three = { ...begun(1, 0, 1, 2), members: [member(0), member(1), member(2)] };
      const step = etcdStep(desiredOf(1), { ...three, set: observed(3).set! });
      expect(step).toMatchObject({ kind: 'remove', name: nameOf(2) });
    });

    it('discards volumes of members that were removed before', () => {
      const step = etcdStep(desired, { ...begun(3, 0, 1), members: [member(0)] });
      expect(step).toMatchObject({ kind: 'settings', settings: { discard: { [nameOf(1)]: `uid-${nameOf(1)}` } } });
    });

    it('says how to start without the old volumes', () => {
      const step = etcdStep(desiredOf(1), begun(1, 0));
      expect(step).toMatchObject({
        kind: 'wait',
        message: expect.stringMatching(/delete PersistentVolumeClaims \S+-0 and StatefulSet \S+$/),
      });
      const { recorded } = begun(3, 0);
      const anew = etcdStep(desired, { recorded: recorded!, pods: [], claims: new Map(), defragmentDue: false });
      expect(anew).toMatchObject({ kind: 'bootstrap', replicas: 3, settings: { claims: {} } });
    });
  });

  it('does not bootstrap while the plane hibernates', () => {
    const asleep = desiredOf(3, { replicas: 0 });
    expect(etcdStep(asleep, { pods: [], claims: new Map(), defragmentDue: false })).toEqual({ kind: 'none' });
  });

  it('hibernates after the programs that use etcd', () => {
    const asleep = desiredOf(3, { replicas: 0 });
    expect(etcdStep(asleep, { ...observed(3), users: 2 })).toMatchObject({ kind: 'wait', reason: 'Hibernating' });
    expect(etcdStep(asleep, { ...observed(3), users: 0 })).toEqual({ kind: 'scale', replicas: 0 });
  });

  it('hibernates and returns with the same members', () => {
    expect(etcdStep(desiredOf(3, { replicas: 0 }), observed(3))).toEqual({ kind: 'scale', replicas: 0 });
    const { set, ...rest } = observed(3);
    const sleeping: EtcdObservation = { ...rest, pods: [], set: { ...set!, replicas: 0 } };
    expect(etcdStep(desiredOf(3, { replicas: 0 }), sleeping)).toEqual({ kind: 'none' });
    expect(etcdStep(desired, sleeping)).toEqual({ kind: 'scale', replicas: 3 });
  });

  it('waits while the members find each other', () => {
    const { set, ...rest } = observed(3);
    const forming = { ...set!, settings: { ...set!.settings, initialClusterState: 'new' as const, claims: {} } };
    const members = [member(0), member(1), member(2, { healthy: false })];
    expect(etcdStep(desired, { ...rest, set: forming, members })).toMatchObject({
      kind: 'wait',
      reason: 'EtcdForming',
    });
    const settled = etcdStep(desired, { ...rest, set: forming });
    expect(settled).toMatchObject({ kind: 'settings', settings: { initialClusterState: 'existing' } });
  });

  it('changes nothing without a majority', () => {
    const members = [member(0), member(1, { healthy: false }), member(2, { healthy: false })];
    expect(etcdStep(desiredOf(1), observed(3, { members }))).toMatchObject({ kind: 'wait', reason: 'EtcdNoQuorum' });
  });

  it('does not bootstrap again when all data is lost', () => {
    const { pods, members: _, ...rest } = observed(1);
    const step = etcdStep(desiredOf(1), {
      ...rest,
      pods: pods.map((pod) => ({ ...pod, ready: false, dataLost: true })),
    });
    expect(step).toMatchObject({ kind: 'wait', reason: 'EtcdDataLost' });
  });

  describe('after somebody deleted the StatefulSet', () => {
    const { set, members: _, pods: __, ...rest } = observed(3);
    const without = (more: Partial<EtcdObservation>): EtcdObservation => ({
      ...rest,
      pods: [],
      recorded: set!.settings,
      ...more,
    });

    it('recreates it around its volumes, however many members are now desired', () => {
      const again = { kind: 'bootstrap', replicas: 3, image, settings: set!.settings };
      expect(etcdStep(desired, without({}))).toEqual(again);
      expect(etcdStep(desiredOf(1), without({}))).toEqual(again);
      expect(etcdStep(desired, without({ claims: new Map([[nameOf(2), `uid-${nameOf(2)}`]]) }))).toEqual(again);
    });

    it.each([
      ['no volume', new Map<string, string>()],
      ['other volumes', new Map([[nameOf(0), 'another']])],
    ])('with %s left does not bootstrap by itself, except from a backup', (_name, claims) => {
      expect(etcdStep(desired, without({ claims }))).toMatchObject({
        kind: 'wait',
        reason: 'EtcdDataLost',
        message: expect.stringContaining(`delete ConfigMap ${desired.naming.etcdSettings}`),
      });
      const anew = { kind: 'bootstrap', replicas: 3, settings: { initialClusterState: 'new' } };
      expect(etcdStep(desired, without({ claims, restores: true }))).toMatchObject(anew);
    });

    it('bootstraps when the members had not started', () => {
      const { image: _, ...settings } = set!.settings;
      const recorded = { ...settings, initialClusterState: 'new' as const, claims: {} };
      expect(etcdStep(desired, without({ recorded }))).toMatchObject({ kind: 'bootstrap', settings: recorded });
    });
  });

  it('moves the leadership before it restarts the leader, and restarts it last', () => {
    const { pods } = observed(3);
    const outdated = (...indexes: number[]) =>
      pods.map((pod, index) => ({ ...pod, upToDate: !indexes.includes(index) }));
    expect(etcdStep(desired, observed(3, { pods: outdated(0, 1, 2) }))).toEqual({ kind: 'restart', name: nameOf(1) });
    expect(etcdStep(desired, observed(3, { pods: outdated(0) }))).toEqual({
      kind: 'move-leader',
      from: 'id-0',
      to: 'id-1',
    });
    expect(etcdStep(desiredOf(1), observed(1, { pods: outdated(0).slice(0, 1) }))).toEqual({
      kind: 'restart',
      name: nameOf(0),
    });
  });

  it('does not restart a second member while one is unhealthy', () => {
    const { pods } = observed(3);
    const members = [member(0), member(1, { healthy: false }), member(2)];
    const outdated = pods.map((pod, index) => ({ ...pod, upToDate: index === 1 }));
    expect(etcdStep(desired, observed(3, { pods: outdated, members }))).toMatchObject({
      kind: 'wait',
      reason: 'EtcdRolling',
    });
    // restarting the unhealthy member loses nothing
    const all = pods.map((pod) => ({ ...pod, upToDate: false }));
    expect(etcdStep(desired, observed(3, { pods: all, members }))).toEqual({ kind: 'restart', name: nameOf(1) });
  });

  it('gives a learner a new volume when its volume has data of a removed member', () => {
    const { set, pods, ...rest } = observed(3);
    const { [nameOf(2)]: _, ...claims } = set!.settings.claims;
    const members = [member(0), member(1), member(2, { name: '', healthy: false, isLearner: true })];
    const failing = (more: Partial<EtcdPod>): EtcdObservation => ({
      ...rest,
      set: { ...set!, settings: { ...set!.settings, claims } },
      members,
      pods: pods.map((pod, index) => (index === 2 ? { ...pod, ready: false, ...more } : pod)),
    });
    expect(etcdStep(desired, failing({ dataLost: true }))).toEqual({ kind: 'restart', name: nameOf(2) });
    expect(etcdStep(desired, failing({ dataLost: true, dataOutlived: true }))).toEqual({
      kind: 'delete-claim',
      name: nameOf(2),
      uid: `uid-${nameOf(2)}`,
    });
  });

  it('upgrades the image minor by minor, and never goes back', () => {
    const at = (running: string, wanted: string) => {
      const { set, ...rest } = observed(3);
      const settings = { ...set!.settings, image: running };
      const images = { etcd: wanted };
      return etcdStep(desiredOf(3, { images }), { ...rest, set: { ...set!, image: running, settings } });
    };
    expect(at('e:v3.5.13', 'e:v3.5.21')).toEqual({ kind: 'image', image: 'e:v3.5.21' });
    expect(at('e:v3.5.13', 'e:v3.7.1')).toMatchObject({ kind: 'image', image: expect.stringMatching(/^e:v3\.6\./) });
    expect(at('e:v3.7.1', 'e:v3.5.13')).toMatchObject({ kind: 'wait', reason: 'EtcdImageRefused' });
  });

  it('records the image that wrote the data, and begins again with it', () => {
    const { set, claims } = observed(3);
    const { image: _, ...before } = set!.settings;
    const unrecorded = observed(3, { set: { ...set!, settings: before } });
    expect(etcdStep(desired, unrecorded)).toMatchObject({ kind: 'settings', settings: { image } });
    const newer = desiredOf(3, { images: { etcd: 'registry.k8s.io/etcd:3.7.1-0' } });
    const gone: EtcdObservation = { recorded: set!.settings, pods: [], claims, defragmentDue: false };
    expect(etcdStep(newer, gone)).toMatchObject({ kind: 'bootstrap', image });
  });

  it('lists members under the addresses that they registered', () => {
    const [first, ...others] = observed(3).members ?? [];
    const members = [{ ...first!, peerUrls: [`https://${nameOf(0)}.short:2380`] }, ...others];
    const step = etcdStep(desired, observed(3, { members }));
    expect(step).toMatchObject({
      kind: 'settings',
      settings: { initialCluster: expect.stringContaining(`${nameOf(0)}=https://${nameOf(0)}.short:2380,`) },
    });
  });

  it('defragments members one by one, the leader last', () => {
    const big = { dbSize: 1000, dbSizeInUse: 500 };
    const members = [member(0, big), member(1, big), member(2)];
    expect(etcdStep(desired, observed(3, { members }))).toEqual({ kind: 'none' });
    const due = { members, defragmentDue: true };
    expect(etcdStep(desired, observed(3, due))).toEqual({ kind: 'defragment', id: 'id-1', name: nameOf(1) });
    const last = { members: [member(0, big), member(1), member(2)], defragmentDue: true };
    expect(etcdStep(desired, observed(3, last))).toMatchObject({ kind: 'defragment', id: 'id-0' });
    const ill = { members: [member(0, big), member(1, { healthy: false }), member(2)], defragmentDue: true };
    expect(etcdStep(desired, observed(3, ill))).toEqual({ kind: 'none' });
  });

  it('defragments by the rule of the user only, every member once', () => {
    const ruled = (rule: string) =>
      desiredOf(3, {
        dataStore: { ...(desired.dataStore as OwnEtcdSpec), defragment: { schedule: '0 12 * * *', rule } },
      });
    const members = [member(0), member(1, { dbSize: 800, dbSizeInUse: 100 }), member(2)];
    const due = { members, defragmentDue: true, quotaBytes: 1000 };
    expect(etcdStep(ruled('dbQuotaUsage > 0.9'), observed(3, due))).toEqual({ kind: 'none' });
    expect(etcdStep(ruled('dbSizeFree > 600'), observed(3, due))).toMatchObject({ name: nameOf(1) });
    expect(etcdStep(ruled('dbQuotaUsage >= 0.8'), observed(3, due))).toMatchObject({ name: nameOf(1) });
    const tidied = new Set([nameOf(1)]);
    expect(etcdStep(ruled('true'), observed(3, { ...due, tidied }))).toMatchObject({ name: nameOf(2) });
    expect(etcdStep(ruled('dbSizeFree > 600'), observed(3, { ...due, tidied }))).toEqual({ kind: 'none' });
  });

  it('defragments a full etcd, then disarms its alarm', () => {
    const full = (dbSize: number, dbSizeInUse: number) =>
      observed(1, { members: [member(0, { alarms: ['NOSPACE'], dbSize, dbSizeInUse })], quotaBytes: 1000 });
    expect(etcdStep(desiredOf(1), full(1000, 300))).toMatchObject({ kind: 'defragment' });
    expect(etcdStep(desiredOf(1), full(300, 300))).toMatchObject({ kind: 'disarm' });
    expect(etcdStep(desiredOf(1), full(990, 990))).toMatchObject({ kind: 'wait', reason: 'EtcdNoSpace' });
  });
});

describe('members of an etcd', () => {
  it.each([
    [1, 3],
    [3, 1],
    [1, 5],
    [5, 3],
    [3, 3],
  ])('change from %d to %d by real membership changes', (from, to) => {
    const model = new EtcdModel(desiredOf(from));
    model.runToRest();
    expect(model.voters()).toHaveLength(from);
    model.desired = desiredOf(to);
    const steps = model.runToRest();
    expect(model.voters().map(({ name }) => name)).toEqual(Array.from({ length: to }, (_, index) => nameOf(index)));
    expect(model.replicas()).toBe(to);
    expect(steps.filter((kind) => kind === 'add-learner')).toHaveLength(Math.max(0, to - from));
    expect(steps.filter((kind) => kind === 'remove')).toHaveLength(Math.max(0, from - to));
  });

  it('gives members that come back after a scale-down an empty volume', () => {
    const model = new EtcdModel(desiredOf(3));
    model.runToRest();
    model.desired = desiredOf(1);
    model.runToRest();
    model.desired = desiredOf(3);
    expect(model.runToRest()).toContain('delete-claim');
    expect(model.voters()).toHaveLength(3);
  });

  it('restarts members at once that were started before they had joined', () => {
    const { set, pods, members = [], ...rest } = observed(3);
    const { [nameOf(2)]: _, ...claims } = set!.settings.claims;
    const joining: EtcdObservation = {
      ...rest,
      set: { ...set!, settings: { ...set!.settings, claims } },
      members: [...members.slice(0, 2), member(2, { name: '', isLearner: true, healthy: false, inSync: false })],
      pods: pods.map((pod) => (pod.name === nameOf(2) ? { ...pod, ready: false, wasRefused: true } : pod)),
    };
    expect(etcdStep(desired, joining)).toEqual({ kind: 'restart', name: nameOf(2) });
    const going = joining.pods.map((pod) => ({ ...pod, terminating: !pod.ready }));
    expect(etcdStep(desired, { ...joining, pods: going })).toMatchObject({
      kind: 'wait',
      reason: 'EtcdMemberStarting',
    });
  });

  it('replaces members whose volume is lost', () => {
    const model = new EtcdModel(k0smotronPlaneSpec({ dataStore: desiredOf(3).dataStore, images: { etcd: image } }));
    model.runToRest();
    model.loseVolume(1);
    const steps = model.runToRest();
    expect(steps).toContain('remove');
    expect(steps).toContain('promote');
    expect(model.voters().every(({ healthy }) => healthy)).toBe(true);
  });
});

describe('random changes of volumes, Pods and the desired state', () => {
  const happening = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('steps' as const), count: fc.integer({ min: 1, max: 4 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose' as const), index: fc.nat(4) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash' as const), index: fc.nat(4), turns: fc.nat(8) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('want' as const), members: fc.constantFrom(1, 3, 5) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('roll' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('sleep' as const) }) },
  );

  it('never gives the majority away and ends in the desired state', () => {
    fc.assert(
      fc.property(fc.constantFrom(1, 3, 5), fc.array(happening, { maxLength: 40 }), (first, story) => {
        const model = new EtcdModel(desiredOf(first));
        model.runToRest();
        let wanted = first;
        for (const one of story) {
          if (one.kind === 'steps') model.run(one.count);
          else if (one.kind === 'lose') model.loseVolumeIfBearable(one.index);
          else if (one.kind === 'crash') model.crashIfBearable(one.index, one.turns);
          else if (one.kind === 'roll') model.outdateAll();
          else if (one.kind === 'want') {
            wanted = one.members;
            model.desired = desiredOf(wanted);
          } else {
            model.desired = desiredOf(wanted, { replicas: 0 });
            model.run(2);
            model.desired = desiredOf(wanted);
          }
        }
        model.desired = desiredOf(wanted);
        model.runToRest();
        expect(model.voters()).toHaveLength(wanted);
        expect(model.voters().every(({ healthy }) => healthy)).toBe(true);
        expect(model.replicas()).toBe(wanted);
      }),
      { numRuns: 200 },
    );
  });
});
