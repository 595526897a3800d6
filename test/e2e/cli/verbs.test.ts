import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { capstan, capstanOk } from '../../support/command.ts';
import { isInstalled, type Outcome, runProcess } from '../../support/process.ts';
import { capstanShellCommand } from '../../support/program.ts';

/** `script` of util-linux provides a pseudo-terminal. */
const hasTerminal = await isInstalled('script', '--version');

describe('the everyday verbs', () => {
  let server: CapstanProcess;
  const on = (...args: string[]): string[] => [...args, '--kubeconfig', server.kubeconfig];
  beforeAll(async () => {
    server = await startCapstan();
  });
  afterAll(() => server?.stop());

  it('apply from standard input, in any order, into a namespace created with it', async () => {
    const manifest = await readFile(new URL('../../../examples/management-api/cluster.yaml', import.meta.url), 'utf8');
    const reversed = manifest.split('\n---\n').reverse().join('\n---\n');
    const lines = (await capstanOk(on('apply', '-f', '-'), { input: reversed })).trimEnd().split('\n');
    expect(lines[0]).toBe('namespace/team-a created');
    expect(lines).toContain('cluster.cluster.x-k8s.io/blue created');
    const again = (await capstanOk(on('apply', '-f', 'examples/management-api'))).trimEnd().split('\n');
    expect(again.filter((line) => !line.endsWith(' unchanged'))).toEqual([]);
  });

  it('report every document that failed and apply the others', async () => {
    const good = '{apiVersion: v1, kind: ConfigMap, metadata: {name: good}}';
    const bad = '{apiVersion: v1, kind: ConfigMap, metadata: {name: Bad_Name}}';
    const outcome = await capstan(on('apply', '-f', '-'), { input: `${bad}\n---\n${good}\n---\nkind: Nothing\n` });
    expect(outcome.code).toBe(1);
    expect(outcome.stdout).toBe('configmap/good created\n');
    expect(outcome.stderr).toMatch(/^capstan: standard input:1: ConfigMap\/Bad_Name: /m);
    expect(outcome.stderr).toContain('capstan: standard input:5: Nothing: apiVersion is missing\n');
  });

  it('list clusters, of one namespace or all', async () => {
    const none = await capstan(on('get', 'clusters'));
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'no clusters in the namespace "default"\n' });
    expect(await capstanOk(on('get', 'clusters', '-A', '-o', 'name'))).toBe('cluster.cluster.x-k8s.io/blue\n');
    expect(await capstanOk(on('get', 'clusters', '-A'))).toMatch(/^NAMESPACE +NAME +PHASE .*\nteam-a +blue +Pending/);
  });

  it('describe a cluster as a tree, and as data', async () => {
    const tree = await capstanOk(on('describe', 'cluster', 'blue', '-n', 'team-a', '--grouping=false'));
    expect(tree).toContain('\n├─ClusterInfrastructure - OpenStackCluster/blue\n');
    const data = JSON.parse(await capstanOk(on('describe', 'cluster', 'blue', '-n', 'team-a', '-o', 'json')));
    expect(data).toMatchObject({
      kind: 'Cluster',
      name: 'blue',
      children: [{ kind: 'OpenStackCluster' }, { title: 'Workers' }],
    });
  });

  it.each([
    [
      'a cluster that is not there',
      ['get', 'kubeconfig', 'none'],
      1,
      'there is no cluster "none" in the namespace "default"',
    ],
    [
      'a kubeconfig that is not there yet',
      ['get', 'kubeconfig', 'blue', '-n', 'team-a'],
      1,
      'has no kubeconfig yet (Pending)',
    ],
    ['a file that is not there', ['apply', '-f', 'nothing.yaml'], 2, 'nothing.yaml cannot be read'],
    ['no file at all', ['apply'], 2, '-f: name at least one file'],
    ['a cluster and a file', ['delete', 'cluster', 'a', '-f', 'b.yaml'], 2, 'name a cluster or files, not both'],
    ['a deletion of nothing', ['delete'], 2, 'nothing is named to delete'],
    [
      'a cluster of another namespace',
      ['describe', 'cluster', 'blue'],
      1,
      'there is one in team-a: choose it with --namespace',
    ],
    ['a kind the doctor does not know', ['doctor', 'machine', 'blue'], 2, 'doctor: cannot check "machine"'],
    ['a LatticeCluster that is not there', ['lattice', 'token', 'none'], 1, 'lists the existing ones'],
    ['an installation into itself', ['install'], 1, 'nothing was changed; name another Kubernetes'],
    ['an adoption of itself', ['adopt', '--yes'], 1, 'nothing was changed; name another Kubernetes'],
    ['an unknown flag', ['get', 'clusters', '--nonsense'], 2, "unknown option '--nonsense'"],
  ])('explain %s', async (_what, args, code, message) => {
    const outcome = await capstan(on(...args));
    expect(outcome).toMatchObject({ code, stdout: '' });
    expect(outcome.stderr).toContain(message);
  });

  it('delete several clusters at once, even if one of them does not exist', async () => {
    const cluster = (name: string): string =>
      `{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: ${name}}, spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: OpenStackCluster, name: ${name}}}}`;
    await capstanOk(on('apply', '-f', '-'), { input: `${cluster('red')}\n---\n${cluster('green')}\n` });
    const outcome = await capstan(on('delete', 'cluster', 'red', 'none', 'green', 'red', 'nil', '--no-wait'));
    expect(outcome).toMatchObject({
      code: 1,
      stdout: 'cluster.cluster.x-k8s.io "red" is being deleted\ncluster.cluster.x-k8s.io "green" is being deleted\n',
    });
    expect(outcome.stderr).toContain('there is no cluster "none", "nil"');
    await capstanOk(on('delete', 'cluster', 'red', 'green', '--ignore-not-found', '--timeout', '60s'));
    expect((await capstan(on('get', 'clusters'))).stdout).toBe('');
  });

  it('delete by file: the cluster first, then the rest, until all are gone', async () => {
    const { code, stdout, stderr } = await capstan(on('delete', '-f', 'examples/management-api'));
    const lines = stdout.trimEnd().split('\n');
    expect(code).toBe(0);
    expect(lines[0]).toBe('cluster.cluster.x-k8s.io "blue" deleted');
    expect(lines.at(-1)).toBe('namespace "team-a" deleted');
    expect(stderr).toContain(`from ${server.url} (context capstan)\n`);
    // Deletion is complete, so the same objects can be created again at once.
    await capstanOk(on('apply', '-f', 'examples/management-api'));
    await capstanOk(on('delete', '-f', 'examples/management-api'));
  });

  it('delete by file dependents of a cluster, and the rest of an earlier deletion', async () => {
    const cluster =
      '{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: owner}, spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: OpenStackCluster, name: owner}}}';
    const owned = (uid: string): string =>
      `{apiVersion: v1, kind: ConfigMap, metadata: {name: owned, ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, name: owner, uid: '${uid}'}]}}`;
    const free = '{apiVersion: v1, kind: ConfigMap, metadata: {name: free}}';
    await capstanOk(on('apply', '-f', '-'), { input: `${cluster}\n---\n${free}\n` });
    const [{ metadata }] = JSON.parse(await capstanOk(on('get', 'clusters', '-o', 'json'))).items;
    await capstanOk(on('apply', '-f', '-'), { input: owned(metadata.uid) });
    const input = `${cluster}\n---\n${free}\n---\n${owned(metadata.uid)}\n`;
    const first = await capstan(on('delete', '-f', '-'), { input });
    expect(first).toMatchObject({ code: 0 });
    await capstanOk(on('apply', '-f', '-'), { input: free });
    const second = await capstan(on('delete', '-f', '-'), { input });
    expect(second).toMatchObject({ code: 0, stdout: 'configmap "free" deleted\n' });
    expect(second.stderr).toContain('Cluster/owner: already gone\n');
    const third = await capstan(on('delete', '-f', '-'), { input });
    expect(third).toMatchObject({ code: 1, stdout: '' });
    expect(third.stderr).toContain('none of the objects in the files exists');
    await capstanOk(on('delete', '-f', '-', '--ignore-not-found'), { input });
  });

  it.skipIf(!hasTerminal)(
    'ask at a terminal (script) before they delete, and take anything but yes for no',
    async () => {
      const free = '{apiVersion: v1, kind: ConfigMap, metadata: {name: asked}}';
      const file = join(server.directory, 'asked.yaml');
      await writeFile(file, free);
      await capstanOk(on('apply', '-f', file));
      const command = [capstanShellCommand(), ...on('delete', '-f', file)].join(' ');
      const answered = async (answer: string): Promise<Outcome> =>
        await runProcess('script', ['-qec', command, '/dev/null'], { input: `${answer}\n` });
      const no = await answered('n');
      expect(no.stdout).toContain(`delete 1 object of 1 document from ${server.url} (context capstan)? [y/N]`);
      expect(no.stdout).toContain('nothing was deleted');
      expect(no.code).toBe(1);
      const yes = await answered('yes');
      expect(yes.stdout).toContain('configmap "asked" deleted');
      expect(yes.code).toBe(0);
    },
  );

  it('report what blocks a deletion', async () => {
    const held = (finalizers: string): string =>
      `{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: ${finalizers}}}`;
    await capstanOk(on('apply', '-f', '-'), { input: held('[example.com/keep]') });
    const outcome = await capstan(on('delete', '-f', '-', '--timeout', '1s'), { input: held('[]') });
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain('ConfigMap/held: still there: finalizers example.com/keep\n');
    await capstanOk(on('apply', '-f', '-'), { input: held('[]') });
  });

  it('use the API of this computer, whatever context is current', async () => {
    const contexts = ['prod', 'capstan'].map((name) => `- {name: ${name}, context: {cluster: ${name}}}`).join('\n');
    const clusters = ['prod', 'capstan'].map(
      (name) => `- {name: ${name}, cluster: {server: 'https://127.0.0.1:1/${name}'}}`,
    );
    const file = join(server.directory, 'switched');
    await writeFile(file, `contexts:\n${contexts}\nclusters:\n${clusters.join('\n')}\ncurrent-context: prod\n`);
    const outcome = await capstan(['get', 'clusters'], { env: { KUBECONFIG: file } });
    expect(outcome.stderr).toContain('the management API at https://127.0.0.1:1/capstan does not answer');
  });

  it('distinguish another server at this address from one that is down', async () => {
    const other = await startCapstan({ port: 0 });
    try {
      const file = join(server.directory, 'confused');
      await writeFile(file, (await readFile(server.kubeconfig, 'utf8')).replace(server.url, other.url));
      const outcome = await capstan(['get', 'clusters', '--kubeconfig', file]);
      expect(outcome.code).toBe(1);
      expect(outcome.stderr).toContain('answers, but its certificate is not from the authority of the kubeconfig');
    } finally {
      await other.stop();
    }
  });

  it('say so when nobody answers', async () => {
    await server.end();
    const outcome = await capstan(on('get', 'clusters'));
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(
      /^capstan: the management API at https:\/\/127\.0\.0\.1:\d+ does not answer\n {2}hint: /,
    );
  });
});
