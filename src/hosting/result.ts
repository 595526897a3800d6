import type { KubeObject } from '../machinery/index.ts';
import type { Endpoint } from './facts.ts';

/** Objects of a plane by the phase in which they are applied. */
export interface PlaneObjects {
  readonly exposure: readonly KubeObject[];
  readonly config: readonly KubeObject[];
  readonly etcd: readonly KubeObject[];
  readonly controlPlane: readonly KubeObject[];
  readonly routes: readonly KubeObject[];
  readonly policies: readonly KubeObject[];
}

/** The API endpoint, or why it is unknown. */
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

/** A required object of a workload cluster. */
export type WorkloadObject =
  | {
      readonly object: KubeObject;
      /**
       * `keep`: own fields are corrected; `own`: fields no longer set are removed, too; `once`: created if missing,
       * then left to users except for the paths in `follow`; `gone`: deleted if it still matches
       */
      readonly mode: 'keep' | 'own' | 'once' | 'gone';
      /** field paths that follow the spec even so, for example the CoreDNS image */
      readonly follow?: readonly (readonly string[])[];
    }
  | {
      readonly object: KubeObject;
      /** created if missing, and kept in sync while it has our annotation; otherwise it belongs to someone else */
      readonly mode: 'marked';
      /** the annotation; its value changes with the spec */
      readonly mark: string;
    };

/** A spec problem that prevents any change until the user fixes it. */
export interface SpecProblem {
  /** CamelCase, for a condition */
  readonly reason: string;
  /** the problem and its remedy */
  readonly message: string;
}
