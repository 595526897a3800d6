import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capstan } from '../../support/command.ts';

/** As in guide 003, with a duplicate key and unknown settings. */
const cloudsYaml = (ca: string): string => `clouds:
  other:
    auth: {auth_url: "https://elsewhere", username: x, password: not-to-be-seen, project_name: y}
  mycloud_default:
    auth:
      auth_url: https://test1.mycloud.com:5000
      project_name: Default Project
      username: "it's me"
      password: "$(reboot)"
      version: 3
      domain_name: CCP_Domain_37137
      user_domain_name: "CCP_Domain_37137"
      project_name: "Default Project 37137"
      tenant_name: "Default Project 37137"
    region_name: Kna1
    cacert: ${ca}
`;

describe('capstan env', () => {
  let directory: string;
  let file: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'capstan-env-'));
    file = join(directory, 'clouds.yaml');
    await writeFile(join(directory, 'cacert.pem'), '-----BEGIN CERTIFICATE-----\nPEM\n-----END CERTIFICATE-----\n');
    await writeFile(file, cloudsYaml('cacert.pem'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('prints variables that a shell reads, only of the chosen cloud', async () => {
    const outcome = await capstan(['env', file, 'mycloud_default']);
    expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
    expect(outcome.stderr).toContain('project_name is given more than once');
    const names = ['OPENSTACK_CLOUD_YAML_B64', 'OPENSTACK_CLOUD_PROVIDER_CONF_B64', 'OPENSTACK_CLOUD_CACERT_B64'];
    const show = names.map((name) => `echo "$${name}" | base64 -d`).join('; ');
    const shell = spawnSync('/bin/sh', ['-c', `${outcome.stdout}\necho $CAPO_CLOUD $OPENSTACK_CLOUD; ${show}`]);
    const printed = shell.stdout.toString();
    expect(printed).toContain('mycloud_default mycloud_default\n');
    expect(printed).toContain('password: $(reboot)');
    expect(printed).toContain('tenant-name="Default Project 37137"');
    expect(printed).toContain('PEM\n');
    expect(printed).not.toContain('not-to-be-seen');
  });

  it('lists the existing clouds and reports a missing file', async () => {
    expect((await capstan(['env', file, 'mine'])).stderr).toContain('use one of: other, mycloud_default');
    const missing = await capstan(['env', join(directory, 'none.yaml'), 'mine']);
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(missing.stderr).toContain('none.yaml cannot be read');
    expect(await capstan(['env'])).toMatchObject({ code: 2 });
    const onlyFile = await capstan(['env', file]);
    expect(onlyFile).toMatchObject({ code: 2, stdout: '' });
    expect(onlyFile.stderr).toContain('it describes other, mycloud_default');
  });

  it('refuses a file without a certificate as the authority of the cloud', async () => {
    const empty = join(directory, 'empty.pem');
    const broken = join(directory, 'broken.yaml');
    await writeFile(empty, '');
    await writeFile(broken, cloudsYaml('empty.pem'));
    const outcome = await capstan(['env', broken, 'mycloud_default']);
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toContain('empty.pem contains no certificate');
    await Promise.all([rm(empty), rm(broken)]);
  });

  it('does not print what nobody could sign in with', async () => {
    const bare = join(directory, 'bare.yaml');
    await writeFile(bare, 'clouds: {bare: {region_name: x}, silent: {auth: {auth_url: "https://c", username: u}}}\n');
    const outcome = await capstan(['env', bare, 'bare']);
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toContain('cloud "bare" has no auth.auth_url');
    const silent = await capstan(['env', bare, 'silent']);
    expect(silent).toMatchObject({ code: 0, stderr: expect.stringContaining('cloud "silent" has no password') });
    const given = await capstan(['env', bare, 'silent'], { env: { OS_PASSWORD: 'p' } });
    expect(given).toMatchObject({ code: 0, stderr: expect.not.stringContaining('no password') });
    await rm(bare);
  });

  it('leaves nothing behind', async () => {
    expect((await readdir(directory)).sort()).toEqual(['cacert.pem', 'clouds.yaml']);
    expect(await readFile(file, 'utf8')).toBe(cloudsYaml('cacert.pem'));
  });
});
