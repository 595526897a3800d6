import { labelSelector } from '../cluster/common-schema.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { asIs } from '../kind/mapping.ts';
import { ageColumn, conditionColumn, type PrinterColumn, textColumn } from '../kind/printer.ts';
import {
  atomicList,
  type Field,
  int32,
  list,
  listKeyedBy,
  mapOf,
  object,
  once,
  oneOf,
  string,
  stringMap,
} from '../kind/schema.ts';
import {
  addressType,
  controllerName,
  gatewayConditions,
  gatewayGroup,
  groupName,
  hostname,
  kindName,
  namespaceName,
  objectName,
  objectReference,
  parentReference,
  port,
  referenceFields,
  routeParentStatus,
  sectionName,
} from './common-schema.ts';
import type {
  Gateway,
  GatewayClass,
  GatewayListener,
  GatewaySpec,
  GatewayStatus,
  ReferenceGrant,
  ReferenceGrantSpec,
  TLSRoute,
  TLSRouteSpec,
} from './types.ts';

// The kinds of the Gateway API that expose hosted control planes. Their versions differ only in name.

const categories = ['gateway-api'];

const untouched = (type: string) => ({
  lastTransitionTime: '1970-01-01T00:00:00Z',
  message: 'Waiting for controller',
  reason: 'Pending',
  status: 'Unknown',
  type,
});

const gatewayClassSpec: () => Field<GatewayClass['spec']> = once(() =>
  object(
    {
      controllerName: controllerName().rule('self == oldSelf', 'field is immutable').required(),
      description: string('Description of the class.', { maxLength: 64 }),
      parametersRef: object(
        {
          group: groupName().required(),
          kind: kindName().required(),
          name: objectName().required(),
          namespace: namespaceName(),
        },
        'Settings of the implementation.',
      ),
    },
    'Desired state.',
  ),
);

const gatewayClassStatus: () => Field<NonNullable<GatewayClass['status']>> = once(() =>
  object(
    {
      conditions: gatewayConditions().default([untouched('Accepted')]),
      supportedFeatures: listKeyedBy(
        ['name'],
        object({ name: string('Name of the feature.').required() }),
        'Supported features of the implementation.',
        { maxItems: 64 },
      ),
    },
    'Observed state.',
  ).default({ conditions: [untouched('Accepted')] }),
);

const gatewayClassColumns: readonly PrinterColumn[] = [
  textColumn('Controller', '.spec.controllerName'),
  conditionColumn('Accepted', 'Accepted'),
  ageColumn,
  textColumn('Description', '.spec.description', 1),
];

export const gatewayClassKind: Kind<GatewayClass> = defineKind<GatewayClass>({
  group: gatewayGroup,
  kind: 'GatewayClass',
  plural: 'gatewayclasses',
  shortNames: ['gc'],
  categories,
  namespaced: false,
  description: 'A kind of Gateway and who serves it.',
  hub: {
    name: 'v1',
    spec: gatewayClassSpec,
    status: gatewayClassStatus,
    specRequired: true,
    columns: gatewayClassColumns,
  },
  old: [
    {
      name: 'v1beta1',
      spec: gatewayClassSpec,
      status: gatewayClassStatus,
      specRequired: true,
      columns: gatewayClassColumns,
      mapping: asIs,
    },
  ],
});

const routeKinds = (description: string): Field<{ group?: string; kind: string }[]> =>
  atomicList(object({ group: groupName().default(gatewayGroup), kind: kindName().required() }), description, {
    maxItems: 8,
  });

const listener: () => Field<GatewayListener> = once(() =>
  object({
    allowedRoutes: object(
      {
        kinds: routeKinds('Kinds of routes that may attach.'),
        namespaces: object(
          {
            from: oneOf(['All', 'Selector', 'Same'], 'Namespaces of the routes.').default('Same'),
            selector: labelSelector().describe('Labels of the namespaces, with from Selector.'),
          },
          'Namespaces of the routes that may attach.',
        ).default({ from: 'Same' }),
      },
      'Which routes may attach.',
    ).default({ namespaces: { from: 'Same' } }),
    hostname: hostname('Host name of the listener; all if empty. A wildcard matches the first label.'),
    name: sectionName('Name of the listener.').required(),
    port: port('Port of the listener.').required(),
    protocol: string('HTTP, HTTPS, TLS, TCP or UDP.', {
      minLength: 1,
      maxLength: 255,
      pattern:
        '^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\/[A-Za-z0-9]+$',
    }).required(),
    tls: object(
      {
        certificateRefs: atomicList(objectReference('', 'Secret'), 'Certificates, with mode Terminate.', {
          maxItems: 64,
        }),
        mode: oneOf(['Terminate', 'Passthrough'], 'Terminate TLS here, or pass it through.').default('Terminate'),
        options: mapOf(string('', { minLength: 0, maxLength: 4096 }), 'Settings of the implementation.'),
      },
      'TLS settings.',
    ).rule(
      "self.mode == 'Terminate' ? size(self.certificateRefs) > 0 || size(self.options) > 0 : true",
      'certificateRefs or options must be specified when mode is Terminate',
    ),
  }),
);

const gatewaySpec: () => Field<GatewaySpec> = once(() =>
  object(
    {
      addresses: atomicList(
        object({
          type: addressType().default('IPAddress'),
          value: string('The address; any when empty.', { maxLength: 253 }),
        }),
        'Requested addresses.',
        { maxItems: 16 },
      ),
      gatewayClassName: objectName().describe('Class of the Gateway.').required(),
      infrastructure: object(
        {
          annotations: stringMap('Annotations of objects created for the Gateway.'),
          labels: stringMap('Labels of objects created for the Gateway.'),
          parametersRef: object(
            { group: groupName().required(), kind: kindName().required(), name: objectName().required() },
            'Settings of the implementation.',
          ),
        },
        'Settings of the objects created for the Gateway.',
      ),
      listeners: listKeyedBy(['name'], listener(), 'Listeners of the Gateway.', { minItems: 1, maxItems: 64 })
        .rule(
          "self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)",
          "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']",
        )
        .rule(
          "self.all(l, (l.protocol == 'HTTPS' && has(l.tls)) ? (l.tls.mode == '' || l.tls.mode == 'Terminate') : true)",
          'tls mode must be Terminate for protocol HTTPS',
        )
        .rule(
          "self.all(l, l.protocol in ['TCP', 'UDP'] ? (!has(l.hostname) || l.hostname == '') : true)",
          "hostname must not be specified for protocols ['TCP', 'UDP']",
        )
        .rule(
          'self.all(l1, self.exists_one(l2, l1.name == l2.name))',
          'Listener name must be unique within the Gateway',
        )
        .required(),
    },
    'Desired state.',
  ),
);

const gatewayStatus: () => Field<GatewayStatus> = once(() => {
  const initial = [untouched('Accepted'), untouched('Programmed')];
  return object(
    {
      addresses: atomicList(
        object({
          type: addressType().default('IPAddress'),
          value: string('The address or name.', { minLength: 1, maxLength: 253 }).required(),
        }),
        'Addresses of the Gateway.',
        { maxItems: 16 },
      ),
      conditions: gatewayConditions().default(initial),
      listeners: listKeyedBy(
        ['name'],
        object({
          attachedRoutes: int32('Number of attached routes.').required(),
          conditions: gatewayConditions().required(),
          name: sectionName('Name of the listener.').required(),
          supportedKinds: routeKinds('Kinds of routes it takes.'),
        }),
        'State of the listeners.',
        { maxItems: 64 },
      ),
    },
    'Observed state.',
  ).default({ conditions: initial });
});

const gatewayColumns: readonly PrinterColumn[] = [
  textColumn('Class', '.spec.gatewayClassName'),
  textColumn('Address', '.status.addresses[*].value'),
  conditionColumn('Programmed', 'Programmed'),
  ageColumn,
];

export const gatewayKind: Kind<Gateway> = defineKind<Gateway>({
  group: gatewayGroup,
  kind: 'Gateway',
  plural: 'gateways',
  shortNames: ['gtw'],
  categories,
  description: 'Addresses and listeners through which traffic comes in.',
  hub: { name: 'v1', spec: gatewaySpec, status: gatewayStatus, specRequired: true, columns: gatewayColumns },
  old: [
    {
      name: 'v1beta1',
      spec: gatewaySpec,
      status: gatewayStatus,
      specRequired: true,
      columns: gatewayColumns,
      mapping: asIs,
    },
  ],
});

/**
 * Hostnames are optional and several rules are allowed, as in the alpha versions, so that objects accepted by those can
 * still be stored.
 */
const tlsRouteSpec: () => Field<TLSRouteSpec> = once(() =>
  object(
    {
      hostnames: atomicList(hostname(''), 'Names in the TLS handshake; all if empty.', {
        maxItems: 1024,
      }).rule('self.all(h, !isIP(h))', 'Hostnames cannot contain an IP'),
      parentRefs: atomicList(parentReference(), 'The Gateways.', { maxItems: 32 }),
      rules: atomicList(
        object({
          backendRefs: atomicList(
            object({
              ...referenceFields('', 'Service'),
              port: port('Port of the Service.'),
              weight: int32('Share of the connections.', { minimum: 0, maximum: 1_000_000 }).default(1),
            }).rule(
              "(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true",
              'Must have port for Service reference',
            ),
            'Targets of connections.',
            { minItems: 1, maxItems: 16 },
          ).required(),
          name: sectionName('Name of the rule.'),
        }),
        'Targets of connections.',
        { minItems: 1, maxItems: 16 },
      ).required(),
    },
    'Desired state.',
  ),
);

const tlsRouteStatus: () => Field<NonNullable<TLSRoute['status']>> = once(() =>
  object(
    { parents: atomicList(routeParentStatus(), 'Status of the route at its Gateways.', { maxItems: 32 }).required() },
    'Observed state.',
  ),
);

export const tlsRouteKind: Kind<TLSRoute> = defineKind<TLSRoute>({
  group: gatewayGroup,
  kind: 'TLSRoute',
  plural: 'tlsroutes',
  categories,
  description: 'Carries TLS connections to a Service by the name in their handshake.',
  hub: { name: 'v1', spec: tlsRouteSpec, status: tlsRouteStatus, specRequired: true, columns: [ageColumn] },
  old: ['v1alpha3', 'v1alpha2'].map((name) => ({
    name,
    deprecated: true,
    spec: tlsRouteSpec,
    status: tlsRouteStatus,
    specRequired: true,
    columns: [ageColumn],
    mapping: asIs,
  })),
});

const referenceGrantSpec: () => Field<ReferenceGrantSpec> = once(() =>
  object(
    {
      from: list(
        object({
          group: groupName().required(),
          kind: kindName().required(),
          namespace: namespaceName().required(),
        }),
        'Objects that may refer to objects in this namespace.',
        { 'x-kubernetes-list-type': 'atomic', minItems: 1, maxItems: 16 },
      ).required(),
      to: list(
        object({ group: groupName().required(), kind: kindName().required(), name: objectName() }),
        'Target objects.',
        { 'x-kubernetes-list-type': 'atomic', minItems: 1, maxItems: 16 },
      ).required(),
    },
    'Desired state.',
  ),
);

export const referenceGrantKind: Kind<ReferenceGrant> = defineKind<ReferenceGrant>({
  group: gatewayGroup,
  kind: 'ReferenceGrant',
  plural: 'referencegrants',
  shortNames: ['refgrant'],
  categories,
  description: 'Lets objects of other namespaces refer to objects of this one.',
  hub: { name: 'v1', spec: referenceGrantSpec, hasStatus: false, specRequired: true, columns: [ageColumn] },
  old: [
    {
      name: 'v1beta1',
      spec: referenceGrantSpec,
      hasStatus: false,
      specRequired: true,
      columns: [ageColumn],
      mapping: asIs,
    },
  ],
});
