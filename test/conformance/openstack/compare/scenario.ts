import type { Recorder } from './recorder.ts';

/** Requests that two clouds must answer alike. */
export interface Scenario {
  readonly name: string;
  /** catalogue type the paths belong to */
  readonly service: string;
  play(cloud: Recorder): Promise<void>;
}
