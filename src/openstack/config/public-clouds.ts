import type { JsonObject } from '../../machinery/index.ts';

/** Settings of a public cloud shared by all its customers; clouds.yaml refers to it by `profile`. */
export interface PublicCloud {
  readonly authUrl?: string;
  readonly regions?: readonly string[];
  /** domain of users and projects, if the cloud has only one */
  readonly domainName?: string;
  /** set if the cloud is closed or closing */
  readonly closed?: string;
}

/** Profiles that openstacksdk knows. Clouds with only Identity v2 are left out, because Capstan requires v3. */
const publicClouds: Readonly<Record<string, PublicCloud>> = {
  auro: { authUrl: 'https://api.van2.auro.io:5000/v3', regions: ['RegionOne'], domainName: 'Default' },
  betacloud: { closed: 'it has ceased business' },
  binero: { authUrl: 'https://auth.binero.cloud:5000/v3', regions: ['europe-se-1'] },
  catalyst: { authUrl: 'https://api.cloud.catalyst.net.nz:5000/v3', regions: ['nz-por-1', 'nz_wlg_2'] },
  citycloud: {
    authUrl: 'https://{region_name}.citycloud.com:5000/v3/',
    regions: ['Buf1', 'Fra1', 'Sto2', 'Kna1', 'dx1', 'tky1'],
  },
  dreamcompute: { authUrl: 'https://iad2.dream.io:5000', regions: ['RegionOne'] },
  elastx: { authUrl: 'https://ops.elastx.cloud:5000/v3', regions: ['se-sto'] },
  entercloudsuite: { authUrl: 'https://api.entercloudsuite.com/', regions: ['it-mil1', 'nl-ams1', 'de-fra1'] },
  fuga: { authUrl: 'https://identity.api.fuga.io:5000', regions: ['cystack'], domainName: 'Default' },
  ibmcloud: { closed: 'its API no longer answers' },
  internap: { closed: 'it goes by another name now' },
  limestonenetworks: { authUrl: 'https://auth.cloud.lstn.net:5000/v3', regions: ['us-dfw-1', 'us-slc'] },
  otc: { authUrl: 'https://iam.{region_name}.otc.t-systems.com/v3', regions: ['eu-de', 'eu-nl'] },
  'otc-swiss': { authUrl: 'https://iam-pub.eu-ch2.sc.otc.t-systems.com/v3', regions: ['eu-ch2'] },
  ovh: { authUrl: 'https://auth.cloud.ovh.net/v3', domainName: 'Default' },
  'ovh-us': {
    authUrl: 'https://auth.cloud.ovh.us/',
    regions: ['US-EAST-VA-1', 'US-WEST-OR-1', 'US-EAST-VA', 'US-WEST-OR'],
    domainName: 'Default',
  },
  switchcloud: { authUrl: 'https://identity.compute.cloud.switch.ch/v3', regions: ['zhw', 'zhc'] },
  switchengines: { authUrl: 'https://keystone.cloud.switch.ch:5000/v3', regions: ['LS', 'ZH'] },
  ultimum: { closed: 'it has ceased business' },
  unitedstack: { closed: 'its API no longer answers' },
  vexxhost: { authUrl: 'https://auth.vexxhost.net/v3' },
  zetta: { authUrl: 'https://identity.api.zetta.io/v3', regions: ['no-osl1'] },
};

export function publicCloud(name: string): PublicCloud | undefined {
  return Object.hasOwn(publicClouds, name) ? publicClouds[name] : undefined;
}

/** Converts a profile to clouds.yaml settings. */
export function profileSettings(cloud: PublicCloud): JsonObject {
  return {
    auth: {
      ...(cloud.authUrl !== undefined && { auth_url: cloud.authUrl }),
      ...(cloud.domainName !== undefined && {
        user_domain_name: cloud.domainName,
        project_domain_name: cloud.domainName,
      }),
    },
    ...(cloud.regions !== undefined && { regions: [...cloud.regions] }),
  };
}
