import type { StackId } from '../../../api/index.ts';
import type { ReleaseFiles } from '../release/documents.ts';

/** A chart dependency. */
export interface NeededChart {
  readonly name: string;
  readonly version: string;
  /** repository according to the chart's author */
  readonly repository: string;
}

/** Fetches the files of a chart by relative path. */
export type FetchChart = (chart: NeededChart, signal: AbortSignal) => Promise<ReleaseFiles>;

/** A source of releases. Security: only the operator of the process configures sources, never a tenant. */
export interface ReleaseSource {
  /** display name, such as `directory /srv/stacks` */
  readonly name: string;
  /** interval at which new releases may appear; undefined if never while the process runs */
  readonly pollMs: number | undefined;
  /** whether releases must keep the content they had at first use; bundled releases change with the program */
  readonly isPinned: boolean;
  /** names of available releases; may include names that are not release ids */
  tags(signal: AbortSignal): Promise<readonly string[]>;
  /** files of a release; undefined if it does not exist */
  files(id: StackId, signal: AbortSignal): Promise<ReleaseFiles | undefined>;
  /** fetches dependencies that the releases do not bundle */
  readonly chart: FetchChart;
}
