import type { StackId } from '../../../api/index.ts';
import type { ReleaseFiles } from '../release/documents.ts';

/** A chart that another one depends on. */
export interface NeededChart {
  readonly name: string;
  readonly version: string;
  /** where its author says it is */
  readonly repository: string;
}

/** Fetches the files of a chart, with their paths below it. */
export type FetchChart = (chart: NeededChart, signal: AbortSignal) => Promise<ReleaseFiles>;

/** Where releases of cluster stacks come from. The operator of the program chooses it; no tenant can name one. */
export interface ReleaseSource {
  /** for people, such as `directory /srv/stacks` */
  readonly name: string;
  /** how often new releases may appear; undefined: never while the program runs */
  readonly pollMs: number | undefined;
  /** whether a release is held to the content it had when it was used first; what comes with the program is part of it */
  readonly isPinned: boolean;
  /** names of what is there; also such that are no ids of releases */
  tags(signal: AbortSignal): Promise<readonly string[]>;
  /** the files of a release; undefined when there is none */
  files(id: StackId, signal: AbortSignal): Promise<ReleaseFiles | undefined>;
  /** charts that charts of these releases depend on, where the releases do not bring them */
  readonly chart: FetchChart;
}
