import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestArtifactServer } from '../../../src/artifacts/testing/index.ts';
import { releaseFiles, type TestRelease } from '../../../src/controllers/stacks/testing/release-files.ts';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { eventually } from '../../support/eventually.ts';
import { kubectl, kubectlApply, kubectlOn, missingKubectl } from '../../support/kubectl.ts';

const missing = await missingKubectl();

/** A class of a third-party stack, like those for Cluster API 1.10, in v1beta1 with a template. */
const foreignClass = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: OpenStackClusterTemplate
metadata: {name: "{{ .Release.Name }}-{{ .Chart.Version }}-cluster"}
spec: {template: {spec: {identityRef: {name: openstack, cloudName: openstack}}}}
`;

const foreign = (version: string, kubernetes = 'v1.33.6', minor = '1-33'): TestRelease => ({
  id: `openstack-own-stack-${minor}-${version}`,
  kubernetes,
  classTemplates: { 'templates.yaml': foreignClass },
  stages: { 'cni/templates/x.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cni}\n' },
});

describe.skipIf(missing !== undefined)(`cluster stacks${missing ? ` (${missing})` : ''}`, () => {
  let folder: string;
  let server: TestArtifactServer;
  let capstan: CapstanProcess;
  let run: (...args: string[]) => Promise<string>;
  const apply = (text: string): Promise<string> => kubectlApply(capstan.kubeconfig, folder, text);
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await kubectl(args, { kubeconfig: capstan.kubeconfig, directory: folder });
    expect(code).not.toBe(0);
    return stderr;
  };
  const stack = (namespace: string, name: string, spec: string): string =>
    `apiVersion: clusterstack.x-k8s.io/v1alpha1\nkind: ClusterStack\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec: {provider: openstack, noProvider: true, ${spec}}\n`;
  const cluster = (namespace: string, name: string, topology: string): string =>
    `apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec: {paused: true, topology: {${topology}}}\n`;
  const names = async (kind: string, namespace: string): Promise<string[]> =>
    (await run('get', kind, '-n', namespace, '-o', 'name'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.slice(line.indexOf('/') + 1))
      .sort();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stacks-e2e-'));
    server = await TestArtifactServer.start();
    push('latest', foreign('v1'));
    for (const version of ['v2', 'v9', 'v10']) push(`openstack-own-stack-1-33-${version}`, foreign(version));
    const local = join(folder, 'releases', 'cluster-stacks', 'openstack-own-stack-1-33-v0-sha-abc');
    await mkdir(local, { recursive: true });
    for (const [name, content] of releaseFiles(foreign('v0-sha.abc'))) await writeFile(join(local, name), content);
    const sources = ['built-in', join(folder, 'releases')].flatMap((where) => ['--stacks-source', where]);
    process.env['OCI_REGISTRY'] = server.url;
    process.env['OCI_REPOSITORY'] = 'kaas/stacks';
    capstan = await startCapstan({ controllers: 'stacks', args: [...sources, '--stacks-source', 'oci'] });
    run = kubectlOn(capstan.kubeconfig, folder);
  });
  afterAll(async () => {
    await capstan?.stop();
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  function push(tag: string, release: TestRelease): void {
    const layers = [...releaseFiles(release)].map(([title, content]) => ({
      mediaType: 'application/octet-stream',
      content,
      annotations: { 'org.opencontainers.image.title': title },
    }));
    server.push('kaas/stacks', tag, layers, { artifactType: 'application/vnd.clusterstack.release' });
  }

  it('become releases and classes in any namespace when they are built in', async () => {
    for (const namespace of ['cluster', 'other']) {
      await run('create', 'namespace', namespace);
      const spec = 'name: hosted-control-plane, kubernetesVersion: "1.33", autoSubscribe: false, versions: [v1]';
      await apply(stack(namespace, `my-${namespace}`, spec));
      const release = 'openstack-hosted-control-plane-1-33-v1';
      await run('wait', '-n', namespace, '--for=condition=Ready', `cskr/${release}`, '--timeout=60s');
      expect(await names('clusterclasses', namespace)).toEqual([release]);
      await eventually(async () => {
        expect(await run('get', 'csk', '-n', namespace)).toMatch(
          /hosted-control-plane +1\.33 +stable +false +v1 +openstack-hosted-control-plane-1-33-v1 \| v1\.33\.6/,
        );
      });
      expect(await run('get', 'cskr', '-n', namespace)).toMatch(/v1\.33\.6 +true/);
    }
  });

  it('repair what somebody changes or deletes', async () => {
    const name = 'openstack-hosted-control-plane-1-33-v1';
    await run('delete', 'openstackmachinetemplate', '-n', 'cluster', `${name}-default-worker`);
    const remove = JSON.stringify([{ op: 'remove', path: '/spec/patches' }]);
    await run('patch', 'clusterclass', '-n', 'cluster', name, '--type', 'json', '-p', remove);
    await eventually(async () => {
      expect(await names('openstackmachinetemplates', 'cluster')).toEqual([`${name}-default-worker`]);
      const patches = await run('get', 'clusterclass', '-n', 'cluster', name, '-o', 'jsonpath={.spec.patches[*].name}');
      expect(patches).toContain('workerFlavor');
    });
  });

  it('hold Clusters to the version of their release and stay while one uses them', async () => {
    const name = 'openstack-hosted-control-plane-1-33-v1';
    await writeFile(
      join(folder, 'c.yaml'),
      cluster('other', 'c', `class: ${name}, classNamespace: cluster, version: v1.33.5`),
    );
    expect(await refused('apply', '-f', join(folder, 'c.yaml'))).toContain(
      `class ${name} expects Kubernetes version v1.33.6, but got v1.33.5`,
    );
    await apply(cluster('other', 'c', `class: ${name}, classNamespace: cluster, version: v1.33.6`));
    expect(await refused('delete', 'cskr', '-n', 'cluster', name)).toContain('clusters using it: other/c');
    expect(await refused('delete', 'csk', '-n', 'cluster', 'my-cluster')).toContain('clusters using it: other/c');
    const down = '{"spec":{"topology":{"version":"v1.32.8"}}}';
    expect(await refused('patch', 'cluster', '-n', 'other', 'c', '--type', 'merge', '-p', down)).toContain('decreased');
    await run('delete', 'csk', '-n', 'other', 'my-other');
    await eventually(async () => expect(await names('clusterclasses,cskr', 'other')).toEqual([]));
    const plain =
      'apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: plain, namespace: other}\nspec: {paused: true, infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: OpenStackCluster, name: x}}\n';
    expect(await apply(plain)).toContain('created');
  });

  it('from a registry follow the newest, sort numerically, report bad tags and drop unused ones', async () => {
    await apply(stack('cluster', 'own', 'name: own-stack, kubernetesVersion: "1.33", versions: [v2]'));
    await eventually(async () => {
      const ready = await run('get', 'csk', '-n', 'cluster', 'own', '-o', 'jsonpath={.status.usableVersions}');
      expect(ready).toBe('v2, v10');
    });
    const foreign = 'class: openstack-own-stack-1-33-v2, classNamespace: cluster, version: v1.33.5';
    await writeFile(join(folder, 'foreign.yaml'), cluster('other', 'foreign', foreign));
    // Objects of another namespace are not revealed without a grant.
    const ungranted = await refused('apply', '-f', join(folder, 'foreign.yaml'));
    expect(ungranted).toContain('no ReferenceGrant there lets Cluster objects');
    expect(ungranted).not.toContain('v1.33.6');
    const digest = await run('get', 'cskr', '-n', 'cluster', 'openstack-own-stack-1-33-v2', '-o', 'yaml');
    expect(digest).toMatch(/stacks\.capstan\.dev\/digest: sha256:[0-9a-f]{64}/);
    expect(await run('get', 'events', '-n', 'cluster')).toMatch(/ReleaseTagIgnored .*latest/);
    const drop = '{"spec":{"versions":[]}}';
    await run('patch', 'csk', '-n', 'cluster', 'own', '--type', 'merge', '-p', drop);
    await eventually(async () => {
      expect((await names('cskr', 'cluster')).filter((name) => name.includes('own-stack'))).toEqual([
        'openstack-own-stack-1-33-v10',
      ]);
    });
  });

  it('from a directory work in the custom channel, with a dot in the class and a dash in the release', async () => {
    const spec =
      'name: own-stack, kubernetesVersion: "1.33", channel: custom, versions: [v0-sha.abc], autoSubscribe: false';
    await apply(stack('other', 'own-custom', spec));
    await run(
      'wait',
      '-n',
      'other',
      '--for=condition=Ready',
      'cskr/openstack-own-stack-1-33-v0-sha-abc',
      '--timeout=60s',
    );
    expect(await names('openstackclustertemplates', 'other')).toContain('openstack-own-stack-1-33-v0-sha.abc-cluster');
  });

  it('report errors of a release, a version and a reference', async () => {
    await apply(
      stack('other', 'gone', 'name: own-stack, kubernetesVersion: "1.32", versions: [v7], autoSubscribe: false'),
    );
    await eventually(async () => {
      expect(await run('get', 'csk', '-n', 'other', 'gone')).toContain('no release openstack-own-stack-1-32-v7 in');
    });
    await writeFile(
      join(folder, 'bad.yaml'),
      stack('other', 'bad', 'name: own-stack, kubernetesVersion: "1.33", versions: [1.0]'),
    );
    expect(await refused('apply', '-f', join(folder, 'bad.yaml'))).toContain('spec.versions');
    await writeFile(
      join(folder, 'bad.yaml'),
      stack(
        'other',
        'bad',
        'name: own-stack, kubernetesVersion: "1.33", versions: ["1.0"], providerRef: {apiVersion: v1, kind: PodTemplate, name: x, namespace: kube-system}',
      ),
    );
    const said = await refused('apply', '-f', join(folder, 'bad.yaml'));
    expect(said).toContain('must look like v1');
    expect(said).toContain('must be a version of infrastructure.clusterstack.x-k8s.io');
    expect(said).toContain('must be the namespace of the ClusterStack');
  });
});
