/**
 * gophercloud's acceptance tests, from its published Go module. To upgrade, change the version here, run, and check the
 * differences.
 */
export const gophercloudVersion = '2.15.0';
export const gophercloudModule = 'github.com/gophercloud/gophercloud/v2';

/** A service and its test packages below `internal/acceptance/openstack`. */
export interface Suite {
  readonly service: string;
  readonly packages: readonly string[];
}

const extensions = [
  ...['agents', 'bgp/peers', 'bgp/speakers', 'bgpvpns', 'dns', 'fwaas_v2', 'layer3', 'mtu', 'networkipavailabilities'],
  ...[
    'portsbinding',
    'qos/policies',
    'qos/rules',
    'qos/ruletypes',
    'quotas',
    'rbacpolicies',
    'segments',
    'subnetpools',
  ],
  ...['taas', 'trunk_details', 'trunks', 'vlantransparent', 'vpnaas'],
];

/** Excluded tests: these suites must not use hosts other than the cloud. */
export const leftOut: ReadonlyMap<string, string> = new Map([
  ['image/v2 TestImageStage', 'downloads an image from a server of its makers'],
]);

export const suites: readonly Suite[] = [
  { service: 'compute', packages: ['compute/v2'] },
  {
    service: 'network',
    packages: [
      'networking/v2',
      'networking/v2/extensions',
      ...extensions.map((name) => `networking/v2/extensions/${name}`),
    ],
  },
  { service: 'volume', packages: ['blockstorage', 'blockstorage/v3'] },
  { service: 'image', packages: ['image/v2'] },
  { service: 'load-balancer', packages: ['loadbalancer/v2'] },
  { service: 'identity', packages: ['identity/v3'] },
];
