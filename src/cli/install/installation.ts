import type { CustomResourceDefinition, Namespace } from '../../api/index.ts';
import { type KubeObject, trimTrailing } from '../../machinery/index.ts';
import {
  customResourceDefinitionFor,
  mutatingConfiguration,
  validatingConfiguration,
  type WebhookEndpoint,
} from '../../webhooks/index.ts';
import { controllerIdentityObjects } from '../controller-identity.ts';
import { machinePoolKind } from '../machine-pool-kind.ts';
import { providerInventory } from '../provider-inventory.ts';
import { version } from '../version.ts';
import { installedDefinitions } from './installed-kinds.ts';
import { describedRules } from './installed-rules.ts';
import { installedLabels } from './labels.ts';
import { userRoles } from './user-roles.ts';
import { webhooksRole, webhooksRoleBinding } from './webhook-rights.ts';
import { webhookService } from './webhook-service.ts';
import { controllersDeployment, disruptionBudget, networkPolicy, webhooksService } from './workload.ts';

export interface InstallationOptions {
  /** full name of the image; overrides the registry */
  image?: string;
  /** registry and path of the image */
  registry?: string;
  replicas: number;
  /** whether the replicas shard the clusters instead of electing a leader */
  shares?: boolean;
  /** image pull Secret in the namespace of the Deployment */
  pullSecret?: string;
}

/** All objects of an installation in apply order. */
export interface Installation {
  kinds: readonly CustomResourceDefinition[];
  /** objects that need the kinds */
  others: readonly KubeObject[];
}

export function installation(options: InstallationOptions): Installation {
  const endpoint: WebhookEndpoint = { service: webhookService };
  const common = { endpoint, labels: installedLabels };
  const { namespace, account, roles, bindings } = controllerIdentityObjects;
  const configured = { ...common, definitions: installedDefinitions, rules: describedRules };
  return {
    kinds: installedKinds(endpoint),
    others: [
      restricted(namespace),
      labelled(account),
      ...roles.map(labelled),
      labelled(webhooksRole),
      ...bindings.map(labelled),
      labelled(webhooksRoleBinding),
      ...userRoles,
      webhooksService,
      networkPolicy,
      disruptionBudget,
      controllersDeployment({
        image: imageOf(options),
        replicas: options.replicas,
        shares: options.shares === true,
        ...(options.pullSecret !== undefined && { pullSecret: options.pullSecret }),
      }),
      ...providerInventory.map(labelled),
      mutatingConfiguration(configured),
      validatingConfiguration(configured),
    ],
  };
}

/** Builds the definitions of all kinds with a webhook endpoint, and with a CA bundle if it is known. */
export function installedKinds(endpoint: WebhookEndpoint, bundle?: string): CustomResourceDefinition[] {
  const options = { endpoint, labels: installedLabels, ...(bundle !== undefined && { bundle }) };
  return [
    ...installedDefinitions.map((definition) => customResourceDefinitionFor(definition, options)),
    labelled(machinePoolKind),
  ];
}

function imageOf({ image, registry }: InstallationOptions): string {
  if (image !== undefined) return image;
  const name = `capstan:${version}`;
  return registry === undefined ? name : `${trimTrailing(registry, '/')}/${name}`;
}

function labelled<T extends KubeObject>(object: T): T {
  return { ...object, metadata: { ...object.metadata, labels: { ...installedLabels, ...object.metadata.labels } } };
}

function restricted(namespace: Namespace): Namespace {
  const levels = ['enforce', 'audit', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']);
  const { metadata, ...rest } = labelled(namespace);
  return { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, ...Object.fromEntries(levels) } } };
}
