import type { KubeObject } from '../machinery/index.ts';
import type { Endpoint } from './facts.ts';

/** The objects of a plane on the management API, by the phase they are applied in. */
export interface PlaneObjects {
  readonly exposure: readonly KubeObject[];
  readonly config: readonly KubeObject[];
  readonly etcd: readonly KubeObject[];
  readonly controlPlane: readonly KubeObject[];
  readonly routes: readonly KubeObject[];
  readonly policies: readonly KubeObject[];
}

/** Where clients reach the API, or why that is not known. */
export type EndpointAnswer =
  | { readonly known: true; readonly endpoint: Endpoint }
  | { readonly known: false; readonly reason: EndpointProblem; readonly message: string };

export type EndpointProblem =
  | 'WaitingForLoadBalancer'
  | 'WaitingForService'
  | 'WaitingForGateway'
  | 'GatewayNotUsable'
  | 'AddressMissing'
  | 'NodeAddressMissing';

/** An object a workload cluster must contain. */
export type WorkloadObject =
  | {
      readonly object: KubeObject;
      /**
       * `keep`: our fields are put back when they differ; `own`: and those we no longer set go; `once`: made when missing,
       * then left to the users, except for the paths in `follow`; `gone`: deleted when it shows what the object here shows
       */
      readonly mode: 'keep' | 'own' | 'once' | 'gone';
      /** paths of fields that follow the spec even so, e.g. the image of CoreDNS */
      readonly follow?: readonly (readonly string[])[];
    }
  | {
      readonly object: KubeObject;
      /** made when missing; kept as desired while it has our annotation, and somebody else's when it has not */
      readonly mode: 'marked';
      /** the annotation, whose value changes with the spec */
      readonly mark: string;
    };

/** A spec that cannot be fulfilled as it is: nothing is made until the user changes it. */
export interface SpecProblem {
  /** in CamelCase, for the reason of a condition */
  readonly reason: string;
  /** what was found, and what to do */
  readonly message: string;
}
