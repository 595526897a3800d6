import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../machinery/index.ts';
import { cloudVariables, isCloudVariable } from './cloud-variables.ts';
import { shells } from './shells.ts';

const decoded = (variables: [string, string][], name: string): string =>
  Buffer.from(new Map(variables).get(name) ?? '', 'base64').toString();

describe('the environment variables of a cloud', () => {
  const auth = {
    auth_url: 'https://test1.mycloud.com:5000',
    project_name: 'Default Project 37137',
    username: 'user',
    password: 'a"b\\c#d',
    user_domain_name: 'CCP_Domain_37137',
    domain_name: 'other',
  };

  it('are those of guide 003, with quotes around values that would be misread', () => {
    const entry = { auth, region_name: 'Kna1', cacert: '/tmp/cacert.pem' };
    const variables = cloudVariables({ cloud: 'mycloud_default', entry, ca: 'PEM\n' });
    expect(variables.map(([name]) => name)).toEqual([
      'CAPO_CLOUD',
      'OPENSTACK_CLOUD',
      'OPENSTACK_CLOUD_CACERT_B64',
      'OPENSTACK_CLOUD_PROVIDER_CONF_B64',
      'OPENSTACK_CLOUD_YAML_B64',
    ]);
    expect(decoded(variables, 'OPENSTACK_CLOUD_PROVIDER_CONF_B64')).toBe(`[Global]
auth-url=https://test1.mycloud.com:5000
username="user"
password="a\\"b\\\\c#d"
tenant-name="Default Project 37137"
domain-name="CCP_Domain_37137"
ca-file="/etc/certs/cacert"
region="Kna1"
`);
    expect(decoded(variables, 'OPENSTACK_CLOUD_CACERT_B64')).toBe('PEM\n');
    const { value } = parseYaml(decoded(variables, 'OPENSTACK_CLOUD_YAML_B64'));
    expect(value).toEqual({ clouds: { mycloud_default: entry } });
  });

  it('take a missing password from the environment, and have no empty values', () => {
    const { password: _, ...rest } = auth;
    const variables = cloudVariables({ cloud: 'c', entry: { auth: rest }, password: 'given' });
    expect(decoded(variables, 'OPENSTACK_CLOUD_YAML_B64')).toContain('password: given');
    expect(new Map(variables).get('OPENSTACK_CLOUD_CACERT_B64')).toBe('Cg==');
  });

  it('are recognized by their names alone', () => {
    expect(
      ['OPENSTACK_IMAGE_NAME', 'CAPO_CLOUD', 'OPENSTACKX', 'OPENSTACK_A;reboot', 'PATH'].map(isCloudVariable),
    ).toEqual([true, true, false, false, false]);
  });
});

describe('a value for sh', () => {
  it('is read back unchanged by the shell, whatever it contains', () => {
    const text = fc.string({ unit: fc.constantFrom('a', "'", '"', '$', '`', '\\', '\n', ' ', ';', '#', '!') });
    fc.assert(
      fc.property(text, (value) => {
        const { stdout } = spawnSync('/bin/sh', ['-c', `${shells.sh.set('X', value)}; printf %s "$X"`]);
        return stdout.toString() === value;
      }),
      { numRuns: 30 },
    );
  });

  it('has quotes escaped or doubled in fish and PowerShell', () => {
    expect(shells.fish.set('X', `a'b\\c`)).toBe(`set -gx X 'a\\'b\\\\c'`);
    expect(shells.powershell.set('X', `a'b’c`)).toBe(`$Env:X = 'a''b’’c'`);
  });
});
