import {
  type ClusterResourceSet,
  ClusterResourceSets,
  type ConfigMap,
  ConfigMaps,
  type Secret,
  Secrets,
} from '../../../api/index.ts';
import { asJson, formatYaml } from '../../../machinery/index.ts';
import { addonNamespace, workloadCredentials } from '../addons.ts';
import type { LatticeFacts } from '../facts.ts';
import { addonsName, latticeClusterLabel } from '../names.ts';
import type { ExpandedObject, Maker } from './naming.ts';

/** The resource set controller applies only Secrets of this type. */
const resourceSetSecretType = 'addons.cluster.x-k8s.io/resource-set';

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

/** Builds a ClusterResourceSet with credentials and add-ons, which corrects drift. */
export function addonObjects(maker: Maker, { texts, addons, cloud }: LatticeFacts): ExpandedObject[] {
  const name = addonsName(maker.cluster);
  const credentials: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: workloadCredentials, namespace: addonNamespace },
    type: 'Opaque',
    data: {
      'clouds.yaml': base64(texts.cloudsYaml),
      // with several external networks, Services need to know which one to use
      'cloud.conf': base64(`${texts.cloudConf}\n[LoadBalancer]\nfloating-network-id=${cloud.externalNetworkId}\n`),
      ...(texts.ca !== undefined && { cacert: base64(texts.ca) }),
    },
  };
  const secret = maker.make<Secret>(Secrets, `${name}-credentials`, {
    type: resourceSetSecretType,
    data: { 'credentials.yaml': base64(formatYaml(asJson(credentials))) },
  });
  const charts = addons.map((addon) =>
    maker.make<ConfigMap>(ConfigMaps, `${name}-${addon.name}`, { data: { 'manifests.yaml': addon.manifests } }),
  );
  const set = maker.make<ClusterResourceSet>(ClusterResourceSets, name, {
    spec: {
      clusterSelector: { matchLabels: { [latticeClusterLabel]: maker.cluster } },
      strategy: 'Reconcile',
      resources: [
        { kind: 'Secret', name: secret.object.metadata.name ?? '' },
        ...charts.map(({ object }) => ({ kind: 'ConfigMap' as const, name: object.metadata.name ?? '' })),
      ],
    },
  });
  return [secret, ...charts, set];
}
