import type { KubeObject } from '../../machinery/index.ts';
import type { LabelSelector, StatusCondition } from '../cluster/types.ts';

export interface ParametersReference {
  group: string;
  kind: string;
  name: string;
  namespace?: string;
}

export interface GatewayClassSpec {
  controllerName: string;
  description?: string;
  parametersRef?: ParametersReference;
}

export interface GatewayClass extends KubeObject {
  spec: GatewayClassSpec;
  status?: { conditions?: StatusCondition[]; supportedFeatures?: { name: string }[] };
}

/** A reference in the Gateway API, by default to the same namespace. */
export interface GatewayObjectReference {
  group?: string;
  kind?: string;
  name: string;
  namespace?: string;
}

export interface GatewayAddress {
  type?: string;
  value?: string;
}

export interface GatewayListener {
  name: string;
  hostname?: string;
  port: number;
  /** HTTP, HTTPS, TLS, TCP, UDP or an implementation-specific name */
  protocol: string;
  tls?: {
    mode?: 'Terminate' | 'Passthrough';
    certificateRefs?: GatewayObjectReference[];
    options?: Record<string, string>;
  };
  allowedRoutes?: {
    namespaces?: { from?: 'All' | 'Selector' | 'Same'; selector?: LabelSelector };
    kinds?: { group?: string; kind: string }[];
  };
}

export interface GatewaySpec {
  gatewayClassName: string;
  listeners: GatewayListener[];
  addresses?: GatewayAddress[];
  infrastructure?: {
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    parametersRef?: { group: string; kind: string; name: string };
  };
}

export interface GatewayListenerStatus {
  name: string;
  attachedRoutes: number;
  supportedKinds?: { group?: string; kind: string }[];
  conditions: StatusCondition[];
}

export interface GatewayStatus {
  addresses?: { type?: string; value: string }[];
  conditions?: StatusCondition[];
  listeners?: GatewayListenerStatus[];
}

export interface Gateway extends KubeObject {
  spec: GatewaySpec;
  status?: GatewayStatus;
}

/** Attachment of a route to a Gateway or to one of its listeners. */
export interface ParentReference extends GatewayObjectReference {
  sectionName?: string;
  port?: number;
}

export interface RouteParentStatus {
  parentRef: ParentReference;
  controllerName: string;
  conditions: StatusCondition[];
}

export interface RouteBackend extends GatewayObjectReference {
  port?: number;
  weight?: number;
}

export interface TLSRouteSpec {
  parentRefs?: ParentReference[];
  hostnames?: string[];
  rules: { name?: string; backendRefs: RouteBackend[] }[];
}

export interface TLSRoute extends KubeObject {
  spec: TLSRouteSpec;
  status?: { parents: RouteParentStatus[] };
}

export interface ReferenceGrantSpec {
  from: { group: string; kind: string; namespace: string }[];
  to: { group: string; kind: string; name?: string }[];
}

export interface ReferenceGrant extends KubeObject {
  spec: ReferenceGrantSpec;
}
