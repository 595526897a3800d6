import {
  type Gateway,
  type GatewayClass,
  GatewayClasses,
  type GatewayListenerStatus,
  type GatewayStatus,
  Gateways,
  gatewayGroup,
  type TLSRoute,
  TlsRoutes,
} from '../../api/index.ts';
import { formatKey, type ObjectKey, objectKey } from '../../client/index.ts';
import { deepEqual, isNotFound } from '../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../runtime/index.ts';
import type { AddressBook, AddressGrant } from '../network/address-book.ts';
import { attach, isParent, isServed } from './attachment.ts';
import { type Finding, withFindings } from './conditions.ts';
import { type GatewayView, gatewayControllerName, isOurClass } from './view.ts';

const fieldManager = 'gateway-controller';
const retryMs = 10_000;

/** The GatewayClass of this host. */
export const standardGatewayClass: GatewayClass = {
  apiVersion: `${gatewayGroup}/v1`,
  kind: 'GatewayClass',
  metadata: { name: 'capstan' },
  spec: { controllerName: gatewayControllerName },
};

export interface GatewayControllerOptions {
  readonly view: GatewayView;
  readonly book: AddressBook;
  /** reports whether the address is recorded in the status of another object */
  isHeldByOther(address: string, gateway: Gateway): boolean;
  /** range of Gateway addresses */
  readonly cidr: string;
}

/** Marks our GatewayClasses as accepted. */
export function gatewayClassController(): ControllerDefinition {
  return defineController({
    name: 'gateway-class',
    for: GatewayClasses,
    async reconcile({ client, cache, clock, signal }, key) {
      const found = cache.lister(GatewayClasses).get(key);
      if (!found || !isOurClass(found)) return done();
      const findings: Finding[] = [{ type: 'Accepted', isTrue: true, reason: 'Accepted' }];
      const conditions = withFindings(found.status?.conditions, findings, found.metadata.generation, clock.now());
      if (deepEqual(conditions, found.status?.conditions)) return done();
      const next: GatewayClass = { ...found, status: { ...found.status, conditions } };
      await client.update(GatewayClasses, next, { fieldManager, subresource: 'status', signal });
      return done();
    },
  });
}

/** Assigns a reachable address to each Gateway and reports the status of its listeners. */
export function gatewayController({ view, book, cidr, isHeldByOther }: GatewayControllerOptions): ControllerDefinition {
  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const gateway = context.cache.lister(Gateways).get(key);
    const owner = `gateway ${formatKey(key)}`;
    if (!gateway || gateway.metadata.deletionTimestamp !== undefined || !view.isOurs(gateway)) {
      await book.release(owner);
      return done();
    }
    const asked = gateway.spec.addresses?.find(({ type }) => (type ?? 'IPAddress') === 'IPAddress')?.value;
    const recorded = gateway.status?.addresses?.[0]?.value;
    const grant = await book.grant({
      owner,
      ports: [...new Set(gateway.spec.listeners.filter(isServed).map(({ port }) => port))],
      ...(recorded !== undefined && { recorded }),
      ...(asked !== undefined && { asked }),
      isHeldByOther: (address) => isHeldByOther(address, gateway),
    });
    await writeStatus(
      context,
      gateway,
      gatewayStatus(gateway, grant ?? { refusedOutside: cidr }, view, context.clock.now()),
    );
    const isTaken = grant?.problems.some(({ problem }) => problem.code === 'EADDRINUSE') ?? false;
    return isTaken ? after(retryMs, 'another program holds an address') : done();
  };

  return defineController({
    name: 'gateway',
    for: Gateways,
    watches: [
      watchObjects(Gateways),
      watchMapped(GatewayClasses, ({ metadata }) =>
        view
          .gateways()
          .filter(({ spec }) => spec.gatewayClassName === metadata.name)
          .map(objectKey),
      ),
      watchMapped(TlsRoutes, parentsOf),
    ],
    reconcile,
  });
}

/** The Gateways a route refers to. */
export function parentsOf({ spec, metadata }: TLSRoute): ObjectKey[] {
  return (spec.parentRefs ?? [])
    .filter(({ kind }) => (kind ?? 'Gateway') === 'Gateway')
    .map(({ namespace, name }) => ({ namespace: namespace ?? metadata.namespace ?? '', name }));
}

function gatewayStatus(
  gateway: Gateway,
  granted: AddressGrant | { readonly refusedOutside: string },
  view: GatewayView,
  nowMs: number,
): GatewayStatus {
  const grant = 'refusedOutside' in granted ? undefined : granted;
  const { generation } = gateway.metadata;
  const isUsable = gateway.spec.listeners.some(isServed);
  const programmed: Finding = grant
    ? { type: 'Programmed', isTrue: isUsable, reason: isUsable ? 'Programmed' : 'Invalid' }
    : {
        type: 'Programmed',
        isTrue: false,
        reason: 'AddressNotAssigned',
        message: `the address asked for cannot be given: it must be a free one of ${'refusedOutside' in granted ? granted.refusedOutside : ''}`,
      };
  const accepted: Finding = isUsable
    ? { type: 'Accepted', isTrue: true, reason: 'Accepted' }
    : { type: 'Accepted', isTrue: false, reason: 'ListenersNotValid', message: 'no listener is for TLS passthrough' };
  return {
    ...(grant && { addresses: [{ type: 'IPAddress', value: grant.address }] }),
    conditions: withFindings(gateway.status?.conditions, [accepted, programmed], generation, nowMs),
    listeners: gateway.spec.listeners.map((listener): GatewayListenerStatus => {
      const before = gateway.status?.listeners?.find(({ name }) => name === listener.name);
      const problem = grant?.problems.find(({ port }) => port === listener.port)?.problem;
      const findings: Finding[] = isServed(listener)
        ? [
            { type: 'Accepted', isTrue: true, reason: 'Accepted' },
            { type: 'ResolvedRefs', isTrue: true, reason: 'ResolvedRefs' },
            {
              type: 'Programmed',
              isTrue: grant !== undefined,
              reason: grant ? 'Programmed' : 'Pending',
              // Callers in this process reach the port anyway.
              ...(problem && { message: `port ${listener.port} is not open on this machine: ${problem.message}` }),
            },
          ]
        : [
            {
              type: 'Accepted',
              isTrue: false,
              reason: 'UnsupportedProtocol',
              message: 'only protocol TLS with mode Passthrough is served here',
            },
            { type: 'Programmed', isTrue: false, reason: 'Invalid' },
          ];
      return {
        name: listener.name,
        attachedRoutes: attachedRoutes(gateway, listener.name, view),
        supportedKinds: isServed(listener) ? [{ group: gatewayGroup, kind: 'TLSRoute' }] : [],
        conditions: withFindings(before?.conditions, findings, generation, nowMs),
      };
    }),
  };
}

function attachedRoutes(gateway: Gateway, listener: string, view: GatewayView): number {
  let count = 0;
  for (const route of view.routes()) {
    const isAttached = (route.spec.parentRefs ?? []).some((reference) => {
      if (!isParent(reference, route, gateway)) return false;
      const attached = attach(gateway, route, reference, (name) => view.namespace(name));
      return !('reason' in attached) && attached.some((one) => one.listener.name === listener);
    });
    if (isAttached) count++;
  }
  return count;
}

async function writeStatus(
  { client, signal }: ReconcileContext,
  gateway: Gateway,
  status: GatewayStatus,
): Promise<void> {
  if (deepEqual(status, gateway.status)) return;
  const options = { fieldManager, subresource: 'status', signal };
  await client.update(Gateways, { ...gateway, status }, options).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
