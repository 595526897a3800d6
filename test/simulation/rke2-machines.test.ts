import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  Machines,
  Nodes,
  OpenStackMachines,
  OpenStackMachineTemplates,
  RKE2ControlPlanes,
  Secrets,
} from '../../src/api/index.ts';
import type { JsonObject, KubeObject } from '../../src/machinery/index.ts';
import { wrongSpec } from './causes/fault.ts';
import { workloadOf } from './causes/runner.ts';
import { type ClusterSpec, type Manifest, manifestsOf, namespace } from './cluster-manifests.ts';
import { by, createSystem, type System } from './system.ts';

const hour = 3_600_000;
const release = 'v1.33.6+rke2r1';
const checksums = `${'0'.repeat(64)}  rke2.linux-amd64.tar.gz\n`;
const checksum = createHash('sha256').update(checksums).digest('hex');
/** Files on an image for machines without access to the internet. */
const artifacts = [
  'mkdir -p /opt/rke2-artifacts',
  'curl -sfL https://get.rke2.io -o /opt/install.sh',
  `echo ${release} > /opt/rke2-artifacts/version`,
];
const sums = { path: '/opt/rke2-artifacts/sha256sum-amd64.txt', content: checksums };

interface Case {
  readonly what: string;
  readonly plane: JsonObject;
  readonly machine?: JsonObject;
  /** expected console output of a failing machine; absent: it succeeds */
  readonly fails?: RegExp;
}

const agentConfig = (more: JsonObject): JsonObject => ({
  agentConfig: { kubelet: { extraArgs: ['provider-id=openstack:///{{ instance_id }}'] }, ...more },
});
const flatcar = { image: { filter: { name: 'flatcar-stable' } } };
const registries = (name: string): JsonObject => ({
  privateRegistriesConfig: {
    mirrors: { 'docker.io': { endpoint: ['https://registry.example.com'] } },
    configs: { 'registry.example.com': { authSecret: { name } } },
  },
});

const cases: readonly Case[] = [
  { what: 'a profile of CIS', plane: agentConfig({ cisProfile: 'cis' }) },
  { what: 'private registries with their credentials', plane: registries('registry') },
  {
    what: 'Ignition',
    // Ignition has no templates, so the machine reads its own id.
    plane: {
      agentConfig: { format: 'ignition', kubelet: { extraArgs: ['provider-id=openstack:///INSTANCE'] } },
      preRKE2Commands: [
        `sed -i "s/INSTANCE/$(curl -s http://169.254.169.254/openstack/latest/meta_data.json | sed 's/.*"uuid": *"\\([^"]*\\)".*/\\1/')/" /etc/rancher/rke2/config.yaml`,
      ],
    },
    machine: flatcar,
  },
  {
    what: 'artifacts on the machine',
    plane: {
      ...agentConfig({ airGapped: true, airGappedChecksum: checksum }),
      files: [sums],
      preRKE2Commands: artifacts,
    },
  },
  {
    what: 'artifacts that are not those that were meant',
    plane: {
      ...agentConfig({ airGapped: true, airGappedChecksum: 'a'.repeat(64) }),
      files: [sums],
      preRKE2Commands: artifacts,
    },
    fails: /checksums of the artifacts in \/opt\/rke2-artifacts are not the expected ones/,
  },
  {
    what: 'an image without the artifacts',
    plane: agentConfig({ airGapped: true }),
    fails: /\/opt\/install\.sh/,
  },
  {
    what: 'registries that are no YAML',
    plane: { preRKE2Commands: ['echo "mirrors: [" > /etc/rancher/rke2/registries.yaml'] },
    fails: /registries\.yaml/,
  },
];

// A booting machine runs the user data of each case. Only the result of rke2 counts.
describe('machines of rke2', () => {
  let system: System;
  beforeAll(async () => {
    system = await createSystem({ seed: 5 });
    const data = { username: btoa('me'), password: btoa('secret') };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'registry', namespace }, data } as KubeObject;
    await system.client.create(Secrets, secret as never, by);
    for (const [index, each] of cases.entries()) {
      for (const { resource, object } of changed(each, index)) await system.client.create(resource, object, by);
    }
    await system.pass(hour / 4);
  });
  afterAll(() => system.stop());

  const named = (index: number): string => `r${index}x`;

  function changed({ plane, machine }: Case, index: number): Manifest[] {
    const desired: ClusterSpec = {
      name: named(index),
      index,
      endpoint: 'floating-ip',
      controlPlanes: 1,
      workers: 0,
      version: 'v1.33.6',
      flavor: 'm1.medium',
      bootFromVolume: false,
      healthCheck: false,
      distribution: 'rke2',
    };
    const whole = wrongSpec(RKE2ControlPlanes, plane)(manifestsOf(desired));
    return machine ? wrongSpec(OpenStackMachineTemplates, { template: { spec: machine } })(whole) : whole;
  }

  async function consoleOf(name: string): Promise<string> {
    const { items } = await system.client.list(OpenStackMachines, { namespace });
    const id = items.find(({ metadata }) => metadata.name?.startsWith(`${name}-`))?.status?.instanceID ?? '';
    return await system.tenant.compute.servers.consoleOutput(id, { lines: 200 });
  }

  it.each(cases.map((each, index) => ({ ...each, index })))(
    'start or fail as expected with $what',
    async ({ index, fails }) => {
      const name = named(index);
      const { items } = await system.client.list(Machines, { namespace });
      const machine = items.find(({ spec }) => spec.clusterName === name);
      const console = await consoleOf(name);
      if (fails) {
        expect(console).toMatch(fails);
        expect(machine?.status?.nodeRef).toBeUndefined();
        return;
      }
      expect(machine?.status?.nodeRef, console).toBeDefined();
      const nodes = (await (await workloadOf(system, name)).list(Nodes, {})).items;
      expect(nodes.map(({ status }) => status?.nodeInfo?.kubeletVersion)).toEqual([release]);
      expect(nodes[0]?.spec?.providerID).toMatch(/^openstack:\/\/\/[0-9a-f-]{36}$/);
    },
  );
});
