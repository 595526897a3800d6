import { describe, expect, it } from 'vitest';
import {
  clusterNameLabel,
  type Machine,
  type MachineSet,
  MachineSets,
  Machines,
  setNameLabel,
} from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import {
  isObjectGone,
  type KubeObject,
  ManualClock,
  type Resource,
  seededRandom,
  statusError,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { memoryLogger, type ReconcileContext } from '../../../runtime/index.ts';
import { type FaultRule, faultyClient, type MemoryClient, memoryClient } from '../../../runtime/testkit/index.ts';
import {
  FakeConfigs,
  FakeConfigTemplates,
  FakeMachines,
  FakeMachineTemplates,
  providerKinds,
} from '../../testing/provider-kinds.ts';
import { createApplyOnce } from '../apply-once.ts';
import type { Follower } from '../external-objects.ts';
import { isControlledBy, isDeleting, ownerReference } from '../ownership.ts';
import { completeMachines, createMachine, creationProblem } from './create-machine.ts';
import { machineName } from './machine-name.ts';
import { listMachines, type MachineOwner, machineOf } from './machine-owner.ts';
import { deleteLeftoverParts, type MachinePart, templatePart } from './parts.ts';
import { syncMachines } from './sync-machines.ts';

const namespace = 'n';
const by = { fieldManager: 'test' };

function world(rules: FaultRule[] = []) {
  const clock = new ManualClock();
  const server: MemoryClient = memoryClient({ clock });
  const random = seededRandom(3);
  const kindOf: Follower['kindOf'] = async ({ kind }) => ({
    resource: providerKinds.find((one) => one.kind === kind)!,
    contract: 'v1beta2',
  });
  const follower: Follower = {
    source: { start() {} },
    kindOf,
    async get(reference, at, { client }) {
      const { resource } = await kindOf(reference);
      const object = await client.get(resource, { namespace: at, name: reference.name }).catch(() => undefined);
      return object && { object, contract: 'v1beta2' };
    },
    async controlledBy(owner, reference, { client }) {
      const { items } = await client.list((await kindOf(reference)).resource, { namespace });
      return items.filter((object) => isControlledBy(object, owner));
    },
  };
  const client: Client = faultyClient(server, rules);
  const list = async <T extends KubeObject>(resource: Resource<T>): Promise<T[]> =>
    (await server.list(resource, { namespace })).items;
  const names = async (resource: Resource<KubeObject>): Promise<(string | undefined)[]> =>
    (await list(resource)).map(({ metadata }) => metadata.name);

  /** Builds the owner with empty memory, as after a restart. */
  async function ownerAfterStart(): Promise<MachineOwner> {
    const object = await server.get(MachineSets, { namespace, name: 'ms' });
    const context = {
      client,
      clock,
      random,
      log: memoryLogger().logger,
      events: { event() {} },
      signal: new AbortController().signal,
    } as Partial<ReconcileContext> as ReconcileContext;
    return {
      context,
      follower,
      applies: { machine: createApplyOnce('owner'), metadata: createApplyOnce('owner-metadata') },
      object,
      resource: MachineSets,
      clusterName: 'c1',
      partManager: 'owner',
      labels: { [clusterNameLabel]: 'c1', [setNameLabel]: 'ms' },
      ownerLabel: setNameLabel,
      template: { labels: { tier: 'gold' }, deletion: { nodeDrainTimeoutSeconds: 60 } },
    };
  }

  const partsOf = (owner: MachineOwner, template = 't1'): MachinePart[] => [
    templatePart(owner, 'bootstrap', {
      apiGroup: FakeConfigTemplates.group,
      kind: FakeConfigTemplates.kind,
      name: template,
    }),
    templatePart(owner, 'infrastructure', {
      apiGroup: FakeMachineTemplates.group,
      kind: FakeMachineTemplates.kind,
      name: template,
    }),
  ];

  /** Performs the steps of every owner that wants one Machine. */
  async function reconcile(template = 't1'): Promise<void> {
    const owner = await ownerAfterStart();
    const parts = partsOf(owner, template);
    const known = await listMachines(owner);
    await completeMachines(owner, parts, known);
    if (known.length === 0) {
      const name = machineName('ms-{{ .random }}', {}, random);
      known.push(
        await createMachine(owner, name, parts, ({ bootstrap, infrastructure }) =>
          machineOf(owner, {
            name,
            spec: { bootstrap: { configRef: bootstrap! }, infrastructureRef: infrastructure! },
          }),
        ),
      );
    }
    await deleteLeftoverParts(owner, parts, known);
  }

  const template = (resource: Resource, name: string): UnstructuredObject => ({
    apiVersion: `${resource.group}/${resource.version}`,
    kind: resource.kind,
    metadata: { name, namespace },
    spec: { template: { spec: { size: name } } },
  });
  async function begin(): Promise<void> {
    await server.create(
      MachineSets,
      {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'MachineSet',
        metadata: { name: 'ms', namespace },
        spec: {},
      } as MachineSet,
      by,
    );
    for (const name of ['t1', 't2']) {
      await server.create(FakeConfigTemplates, template(FakeConfigTemplates, name), by);
      await server.create(FakeMachineTemplates, template(FakeMachineTemplates, name), by);
    }
  }
  return { server, begin, reconcile, list, names, ownerAfterStart, partsOf };
}

describe('the interrupted creation of a Machine', () => {
  const writes = [
    ['apply', 'Machine'],
    ['create', 'FakeConfig'],
    ['create', 'FakeMachine'],
  ] as const;
  const cases = writes.flatMap(([verb, resource]) =>
    (['before', 'after'] as const).map((when) => ({ verb, resource, when })),
  );
  it.each(cases)('$when the $verb of a $resource is completed once under the same name', async (fault) => {
    const w = world([{ ...fault, times: 1, error: () => statusError.internal('crash') }]);
    await w.begin();
    await expect(w.reconcile()).rejects.toThrow(/crash/);
    const begun = await w.names(Machines);
    for (let i = 0; i < 3; i++) await w.reconcile();
    const [machine, ...others] = await w.list(Machines);
    const made = [machine?.metadata.name];
    expect(others).toEqual([]);
    if (begun.length > 0) expect(made).toEqual(begun);
    for (const kind of [FakeConfigs, FakeMachines]) {
      expect(await w.names(kind)).toEqual(made);
      for (const part of await w.list(kind)) expect(isControlledBy(part, machine!)).toBe(true);
    }
  });

  it('is not completed while the Machine is being deleted, or once it has what it lacked', async () => {
    const w = world([
      { verb: 'create', resource: 'FakeMachine', when: 'before', times: 1, error: () => statusError.internal('crash') },
    ]);
    await w.begin();
    await expect(w.reconcile()).rejects.toThrow(/crash/);
    const owner = await w.ownerAfterStart();
    const [machine] = await w.list(Machines);
    const provisioned = { ...machine!, spec: { ...machine!.spec, providerID: 'x' } };
    await completeMachines(owner, w.partsOf(owner), [provisioned]);
    await w.server.delete(Machines, { namespace, name: machine!.metadata.name! });
    await completeMachines(owner, w.partsOf(owner), [machine!]);
    expect(await w.names(FakeMachines)).toEqual([]);
  });

  it('as of upstream, parts first, is undone', async () => {
    const w = world();
    await w.begin();
    const owner = await w.ownerAfterStart();
    const ownerReferences = [ownerReference(owner.object, owner.resource, { controller: true })];
    const part = { apiVersion: 'bootstrap.cluster.x-k8s.io/v1', kind: 'FakeConfig' };
    await w.server.create(FakeConfigs, { ...part, metadata: { name: 'x', namespace, ownerReferences } }, by);
    await w.reconcile();
    expect(await w.names(FakeConfigs)).toEqual(await w.names(Machines));
  });

  it('keeps the parts of a Machine that is missing in the cache', async () => {
    const w = world();
    await w.begin();
    await w.reconcile();
    const owner = await w.ownerAfterStart();
    await deleteLeftoverParts(owner, w.partsOf(owner), []);
    expect(await w.names(FakeConfigs)).toEqual(await w.names(Machines));
  });

  it('does not use a part of the same name with another owner', async () => {
    const w = world();
    await w.begin();
    const owner = await w.ownerAfterStart();
    const foreign = {
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1',
      kind: 'FakeConfig',
      metadata: { name: 'x', namespace },
    };
    await w.server.create(FakeConfigs, foreign, by);
    const creation = createMachine(owner, 'x', w.partsOf(owner), ({ bootstrap, infrastructure }) =>
      machineOf(owner, {
        name: 'x',
        spec: { bootstrap: { configRef: bootstrap! }, infrastructureRef: infrastructure! },
      }),
    );
    const error = await creation.catch((problem: unknown) => problem);
    expect(creationProblem(error, 'Last')).toMatchObject({
      legacyReason: 'BootstrapTemplateCloningFailed',
      message: expect.stringContaining('already exists'),
    });
    for (const machine of await w.list(Machines)) expect(isDeleting(machine)).toBe(true);
    expect((await w.list(FakeConfigs))[0]?.metadata.ownerReferences).toBeUndefined();
  });

  it('names the missing template', async () => {
    const w = world();
    await w.begin();
    const owner = await w.ownerAfterStart();
    const error = await createMachine(owner, 'x', w.partsOf(owner, 'none'), () => ({}) as Machine).catch((e) => e);
    expect(creationProblem(error, 'Last').message).toContain('FakeConfigTemplate n/none does not exist');
  });
});

describe('existing Machines', () => {
  async function made() {
    const w = world();
    await w.begin();
    await w.reconcile();
    const owner = await w.ownerAfterStart();
    const [machine] = await w.list(Machines);
    const desired = (one: Machine): Machine =>
      machineOf(owner, { name: one.metadata.name ?? '', existing: one, spec: one.spec });
    return { ...w, owner, machine: machine!, desired };
  }

  it('get changes in place, and so do their parts', async () => {
    const { owner, machine, desired, list } = await made();
    const [part] = await list(FakeMachines);
    await syncMachines(owner, [machine], { desired, parts: () => [part!] });
    expect((await list(FakeMachines))[0]?.metadata.labels).toMatchObject({ tier: 'gold' });
  });

  it('are not created again when deleted meanwhile, and a namesake is not changed', async () => {
    const { owner, machine, desired, server, list } = await made();
    await server.patch(
      Machines,
      { namespace, name: machine.metadata.name! },
      'merge',
      { metadata: { finalizers: null } },
      by,
    );
    await server.delete(Machines, { namespace, name: machine.metadata.name! });
    expect(await list(Machines)).toEqual([]);
    const { uid: _, resourceVersion: __, ...metadata } = machine.metadata;
    await server.create(Machines, { ...machine, metadata: { ...metadata, labels: {} } }, by);
    expect(await syncMachines(owner, [machine], { desired, parts: () => [] })).toEqual([]);
    expect((await list(Machines))[0]?.metadata.labels ?? {}).toEqual({});
  });
});

describe('whether an object is gone', () => {
  const subject = { group: '', resource: 'pods', name: 'a' };
  it.each([
    [statusError.notFound(subject), true],
    [statusError.conflict(subject, 'Precondition failed: UID in precondition: a, UID in object meta: b'), true],
    [statusError.conflict(subject, 'uid mismatch: the provided object specified uid a'), true],
    [statusError.conflict(subject, 'the object has been modified'), false],
    [new Error('UID in precondition'), false],
  ])('isObjectGone judges error %#', (error, expected) => {
    expect(isObjectGone(error)).toBe(expected);
  });
});
