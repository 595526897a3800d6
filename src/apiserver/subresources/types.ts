import type { JsonObject, TablePrinter, Verb } from '../../machinery/index.ts';
import type { UpgradeOffer } from '../http/wire.ts';
import type { ServiceContext } from '../service/context.ts';
import type { PatchKind } from '../service/patch.ts';
import type { Caller, DecodedBody, NamedTarget, WriteSettings, WrittenObject } from '../service/types.ts';

export interface SubresourceRequest {
  context: ServiceContext;
  target: NamedTarget;
  verb: Verb;
  caller: Caller;
  settings: WriteSettings;
  /** parsed body of create and update; patches are in `patch` */
  body: DecodedBody | undefined;
  patch?: { kind: PatchKind; value: unknown };
  query: URLSearchParams;
}

/** Response of a subresource: its own object, the written main object, text, or a protocol upgrade. */
export type SubresourceAnswer =
  | { type: 'value'; code: number; value: JsonObject; printer?: TablePrinter }
  | { type: 'written'; code: number; written: WrittenObject }
  | { type: 'text'; text: AsyncIterable<string> | string }
  | { type: 'conversation'; offers: readonly UpgradeOffer[] };

export type SubresourceHandler = (request: SubresourceRequest) => Promise<SubresourceAnswer>;

/** Keyed by `<group>/<plural>/<subresource>`; `scale` is served for every kind that defines it. */
export type SubresourceHandlers = ReadonlyMap<string, SubresourceHandler>;
