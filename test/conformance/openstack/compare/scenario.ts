import type { Recorder } from './recorder.ts';

/** Requests that two clouds must answer alike. */
export interface Scenario {
  readonly name: string;
  /** catalogue type of the paths */
  readonly service: string;
  play(cloud: Recorder): Promise<void>;
}
