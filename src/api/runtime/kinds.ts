import { conditions, deprecatedConditions, labelSelector, text } from '../cluster/common-schema.ts';
import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { each, field, fields, type Mapping } from '../kind/mapping.ts';
import { ageColumn, conditionColumn, wide } from '../kind/printer.ts';
import {
  type Field,
  int32,
  listKeyedBy,
  object,
  once,
  oneOf,
  string,
  stringMap,
  type UntypedField,
} from '../kind/schema.ts';
import { conditionMappings } from '../kind/values.ts';
import { extensionConfigStrategy } from './admission.ts';
import type {
  ExtensionClientConfig,
  ExtensionConfig,
  ExtensionConfigSpec,
  ExtensionConfigStatus,
  ExtensionHandler,
} from './types.ts';

export const runtimeGroup = 'runtime.cluster.x-k8s.io';

const clientFields = () => ({
  url: text('URL of the server: https://host[:port][/path]. Either this or service.', 512),
  service: object(
    {
      namespace: text('Namespace of the Service.', 63).required(),
      name: text('Name of the Service.', 63).required(),
      path: text('Prefix of the paths of the hooks.', 512),
      port: int32('Port of the Service; 443 by default.'),
    },
    'Service of the server. Either this or url.',
  ),
  caBundle: string('Certificate authorities for the certificate of the server, as PEM in base64.', {
    format: 'byte',
    minLength: 1,
    maxLength: 51200,
  }),
});
const clientDescription = 'How the server of the extension is reached.';
const clientConfig = (): Field<ExtensionClientConfig> =>
  object(clientFields(), clientDescription, { minProperties: 1 });
const oldClientConfig = (): UntypedField => object(clientFields(), clientDescription);

const sharedSpecFields = () => ({
  namespaceSelector: labelSelector().describe('Namespaces whose objects the extension is called for; all by default.'),
  settings: stringMap('Passed with every call. A ClusterClass may override them.'),
});

const spec: () => Field<ExtensionConfigSpec> = once(() =>
  object({ clientConfig: clientConfig().required(), ...sharedSpecFields() }, 'Desired state.'),
);
const oldSpec: () => UntypedField = once(() =>
  object({ clientConfig: { ...oldClientConfig(), isRequired: true }, ...sharedSpecFields() }, 'Desired state.'),
);

const handler = (timeout: { minimum?: number }): Field<ExtensionHandler> =>
  object({
    name: text('Name of the handler, a dot and the name of the ExtensionConfig.', 512).required(),
    requestHook: object(
      {
        apiVersion: text('Group and version of the hook.', 512).required(),
        hook: text('Name of the hook.', 256).required(),
      },
      'The hook it answers.',
    ).required(),
    timeoutSeconds: int32('Timeout of a call; 10 by default.', timeout),
    failurePolicy: oneOf(['Ignore', 'Fail'], 'Whether a server that does not answer blocks the operation of the hook.'),
  });
const handlers = (timeout: { minimum?: number }): Field<ExtensionHandler[]> =>
  listKeyedBy(['name'], handler(timeout), 'Handlers of the server.', { maxItems: 512 });

const status: () => Field<ExtensionConfigStatus> = once(() =>
  object(
    {
      conditions: conditions(32),
      handlers: handlers({ minimum: 1 }),
      deprecated: object(
        { v1beta1: object({ conditions: deprecatedConditions() }, 'Status in the form of v1beta1.') },
        'Kept for old clients.',
      ),
    },
    'Observed state.',
    { minProperties: 1 },
  ),
);
const oldStatus: () => UntypedField = once(() =>
  object(
    {
      handlers: handlers({}),
      conditions: deprecatedConditions(),
      v1beta2: object({ conditions: conditions(32) }, 'Status fields of v1beta2.'),
    },
    'Observed state.',
  ),
);

/** In the old version, 0 means the default; the hub omits the field instead. */
const positive: Mapping = {
  up: (value) => (typeof value === 'number' && value > 0 ? value : undefined),
  down: (value) => value,
};
const mapping: Mapping = fields(
  field(
    'status',
    'status',
    fields(
      ...conditionMappings,
      field('handlers', 'handlers', each(fields(field('timeoutSeconds', 'timeoutSeconds', positive)))),
    ),
  ),
);

export const extensionConfigKind: Kind<ExtensionConfig> = defineKind<ExtensionConfig>({
  group: runtimeGroup,
  kind: 'ExtensionConfig',
  plural: 'extensionconfigs',
  shortNames: ['ext'],
  namespaced: false,
  description: 'A server that is asked at certain moments in the life of clusters.',
  labels: contractLabels('cluster-api', 'v1alpha1'),
  strategy: extensionConfigStrategy,
  hub: {
    name: 'v1beta2',
    spec,
    status,
    specRequired: true,
    columns: [conditionColumn('Paused', 'Paused', wide), conditionColumn('Discovered', 'Discovered'), ageColumn],
  },
  old: [{ name: 'v1alpha1', deprecated: true, spec: oldSpec, status: oldStatus, mapping, columns: [ageColumn] }],
});
