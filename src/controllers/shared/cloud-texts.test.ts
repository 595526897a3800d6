import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { type CloudText, cloudFromText } from '../../openstack/index.ts';
import { cloudTexts } from './cloud-texts.ts';

const authUrl = 'https://cloud.example:5000/v3';
const textsOf = async (cloud: object, more: Partial<CloudText> = {}) =>
  cloudTexts(await cloudFromText({ text: stringify({ clouds: { c: cloud } }), source: 'test', cloud: 'c', ...more }));

describe('cloud configuration for programs in a cluster', () => {
  it.each<[string, object, string[]]>([
    [
      'a user by name',
      {
        auth: {
          username: 'u',
          password: 'p;"w',
          user_domain_name: 'Default',
          project_name: 'pr',
          project_domain_id: 'd',
        },
      },
      [...['username=u', 'user-domain-name=Default', 'password="p;\\"w"'], ...['tenant-name=pr', 'tenant-domain-id=d']],
    ],
    [
      'a user by id, through the internal network',
      { auth: { user_id: 'u', password: 'p', project_id: 'pr' }, interface: 'internal', region_name: 'R1' },
      ['user-id=u', 'password=p', 'tenant-id=pr', 'region=R1', 'os-endpoint-type=internal'],
    ],
    [
      'old names of settings',
      { auth: { username: 'u', password: 'p', user_domain_id: 'd', tenant_name: 't', project_domain_id: 'd' } },
      ['username=u', 'user-domain-id=d', 'password=p', 'tenant-name=t', 'tenant-domain-id=d'],
    ],
    [
      'an application credential, without looking at certificates',
      { auth: { application_credential_id: 'i', application_credential_secret: 's' }, verify: false },
      ['application-credential-id=i', 'application-credential-secret=s', 'tls-insecure=true'],
    ],
    [
      'a password of two lines, none of which becomes a setting',
      { auth: { user_id: 'u', password: 'p\nca-file=x', project_id: 'pr' } },
      ['user-id=u', 'password="p\\nca-file=x"', 'tenant-id=pr'],
    ],
    [
      'an application credential by name',
      {
        auth: {
          ...{ application_credential_name: 'n', application_credential_secret: 's' },
          ...{ username: 'u', user_domain_name: 'D' },
        },
      },
      [...['application-credential-name=n', 'username=u', 'user-domain-name=D'], 'application-credential-secret=s'],
    ],
  ])('with %s is written as the cloud controller reads it', async (_, cloud: { auth?: object }, expected) => {
    const { cloudConf } = await textsOf({ ...cloud, auth: { auth_url: authUrl, ...cloud.auth } });
    expect(cloudConf.split('\n')).toEqual(['[Global]', `auth-url=${authUrl}`, ...expected, '']);
  });

  it('opens the same project in both forms', async () => {
    const auth = { auth_url: authUrl, username: 'u', password: 'p', user_domain_name: 'D', project_id: '12e45' };
    const { cloudsYaml, cloudConf } = await textsOf({ auth, region_name: 'R1' });
    const again = cloudTexts(await cloudFromText({ text: cloudsYaml, source: 'test', cloud: 'c' }));
    expect(again).toEqual({ cloudsYaml, cloudConf });
    expect(cloudConf).toContain('tenant-id=12e45');
  });

  it('contains no other cloud', async () => {
    const auth = { auth_url: authUrl, application_credential_id: 'i', application_credential_secret: 's' };
    const text = stringify({
      clouds: { c: { auth }, other: { auth: { ...auth, application_credential_secret: 'x' } } },
    });
    const { cloudsYaml } = cloudTexts(await cloudFromText({ text, source: 'test', cloud: 'c' }));
    expect(Object.keys(parse(cloudsYaml).clouds)).toEqual(['c']);
  });

  it('takes its region from the caller', async () => {
    const auth = { auth_url: authUrl, application_credential_id: 'i', application_credential_secret: 's' };
    const { cloudsYaml, cloudConf } = await textsOf({ auth }, { region: 'R2' });
    expect(parse(cloudsYaml).clouds.c.region_name).toBe('R2');
    expect(cloudConf).toContain('region=R2');
  });
});
